# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pytest
from numpy.testing import assert_allclose

from aucmax._kernels.opauc import ADAPTIVE, GRADIENT, SHORT, Rule, learn_rows
from aucmax.summaries.streamed_moments import StreamedMoments, start_at_zero

RIDGE, STEP = 0.01, 0.003
RULE = Rule(GRADIENT, RIDGE, STEP, 0.0, 0.0, 0.0, False)


def gradient(coef, rows, is_pos, t):
    """Of half the loss of row t with all earlier rows of the other class."""
    earlier = rows[:t][is_pos[:t] != is_pos[t]]
    if len(earlier) == 0:
        return np.zeros_like(coef)
    sign = 1.0 if is_pos[t] else -1.0
    total = np.zeros_like(coef)
    for other in earlier:
        away = rows[t] - other
        total -= (1.0 - sign * (coef @ away)) * sign * away
    return RIDGE * coef + total / len(earlier)


# Widths with and without padding, blocks that fill often and never, and rows too long
# for the form of eight.
@pytest.mark.parametrize(
    ("d", "n_block"), [(1, 4), (4, 8), (7, 4), (9, 64), (54, 8), (SHORT + 1, 8)]
)
def test_every_step_is_the_mean_over_stored_rows(rng, d, n_block):
    n = 50
    X = rng.normal(size=(n, d)) + 3.0
    X[10:14] = X[9]
    is_pos = rng.random(n) < 0.4
    moments, iterate = StreamedMoments(d, n_block), start_at_zero(d)
    coef = np.zeros(d)
    for t in range(n):
        coef = coef - STEP * gradient(coef, X, is_pos, t)
        row = slice(t, t + 1)
        n_done = learn_rows(X[row], is_pos[row], *moments.state, *RULE, *iterate)
        assert n_done == 1
        assert_allclose(iterate.coef[:d], coef, rtol=1e-12, atol=1e-15)
    assert np.all(iterate.coef[d:] == 0)


def test_stops_before_the_row_that_overflows(rng):
    X, is_pos = rng.normal(size=(400, 3)), np.arange(400) % 2 == 0
    rule = RULE._replace(step_size=50.0)
    moments, iterate = StreamedMoments(3, 4), start_at_zero(3)
    n_done = learn_rows(X, is_pos, *moments.state, *rule, *iterate)
    assert 2 < n_done < 400
    assert moments.state.n_seen.sum() == n_done
    assert np.all(np.isfinite(iterate.coef))
    again, same = StreamedMoments(3, 4), start_at_zero(3)
    learn_rows(X[:n_done], is_pos[:n_done], *again.state, *rule, *same)
    assert np.array_equal(same.coef, iterate.coef)
    assert np.array_equal(again.state.scatter, moments.state.scatter)


def placed(arrays, gap):
    """Copies of arrays in one piece of memory, ``gap`` values between them."""
    buffer = np.zeros(sum(gap + a.size for a in arrays) + gap)
    at, copies = gap, []
    for array in arrays:
        copies.append(buffer[at : at + array.size].reshape(array.shape))
        copies[-1][...] = array
        at += array.size + gap
    return copies


# Widths at which arrays lie within the reach of one round of a compiled loop.
@pytest.mark.parametrize("d", [1, 3, 4, 8, 12, 30])
@pytest.mark.parametrize("kind", [GRADIENT, ADAPTIVE])
def test_sums_do_not_depend_on_where_arrays_are(rng, d, kind):
    X, is_pos = rng.normal(size=(90, d)) + 1.0, rng.random(90) < 0.4
    rule = RULE._replace(kind=kind, radius=1e6, averaged=True)
    found = []
    for gap in (0, 2, 8, 1000):
        moments, iterate = StreamedMoments(d, 4).state, start_at_zero(d)
        near = placed([*moments[2:], *iterate], gap)
        learn_rows(X, is_pos, *moments[:2], *near[:5], *rule, *near[5:])
        found.append([array.tobytes() for array in near])
    assert all(other == found[0] for other in found)
