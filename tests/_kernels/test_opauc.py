# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from aucmax._kernels.opauc import (
    AdaptiveRule,
    GradientRule,
    Iterate,
    Moments,
    adaptive_steps,
    add_csr_rows,
    gradient_steps,
)

RIDGE, STEP = 0.01, 0.003
RULE = GradientRule(RIDGE, STEP)
ADAPTIVE = AdaptiveRule(RIDGE, STEP, offset=0.5, threshold=1e-3, radius=0.01)


def begin(d):
    moments = Moments(
        np.zeros(2, dtype=np.int64),
        np.zeros((2, d)),
        np.zeros(2),
        np.zeros((2, d, d)),
    )
    return moments, Iterate(np.zeros(d), np.zeros(d), np.zeros(d), np.zeros(2))


def gradient(coef, rows, is_pos, t):
    """Of half the loss of row t with all earlier rows of the other class."""
    earlier = rows[:t][is_pos[:t] != is_pos[t]]
    if len(earlier) == 0:
        return None
    sign = 1.0 if is_pos[t] else -1.0
    total = np.zeros_like(coef)
    for other in earlier:
        away = rows[t] - other
        total -= (1.0 - sign * (coef @ away)) * sign * away
    return RIDGE * coef + total / len(earlier)


def draw(rng, d, n=50):
    X = rng.normal(size=(n, d)) + 3.0
    X[10:14] = X[9]
    return X, rng.random(n) < 0.4


@pytest.mark.parametrize("d", [1, 4, 7, 54])
def test_every_step_is_the_mean_over_stored_rows(rng, d):
    X, is_pos = draw(rng, d)
    moments, iterate = begin(d)
    coef = np.zeros(d)
    for t in range(len(X)):
        grad = gradient(coef, X, is_pos, t)
        coef = coef if grad is None else coef - STEP * grad
        row = slice(t, t + 1)
        assert gradient_steps(X[row], is_pos[row], moments, iterate, RULE) == 1
        assert_allclose(iterate.coef, coef, rtol=1e-11, atol=1e-15)


def test_adaptive_steps_are_those_of_stored_rows(rng):
    X, is_pos = draw(rng, 5)
    X[:, 3] = 2.0
    moments, iterate = begin(5)
    coef, squares, norms = np.zeros(5), np.zeros(5), []
    for t in range(len(X)):
        grad = gradient(coef, X, is_pos, t)
        if grad is not None:
            squares += grad**2
            rate = STEP / (ADAPTIVE.offset + np.sqrt(squares))
            moved = coef - rate * grad
            reach = np.maximum(np.abs(moved) - rate * ADAPTIVE.threshold, 0.0)
            coef = np.sign(moved) * reach
            norms.append(np.linalg.norm(coef))
            coef *= min(1.0, ADAPTIVE.radius / max(norms[-1], 1e-300))
        row = slice(t, t + 1)
        assert adaptive_steps(X[row], is_pos[row], moments, iterate, ADAPTIVE) == 1
        assert_allclose(iterate.coef, coef, rtol=1e-9, atol=1e-15)
    assert coef[3] == 0.0
    assert min(norms) < ADAPTIVE.radius < max(norms)


def test_moments_are_those_of_numpy(rng):
    X, is_pos = draw(rng, 6)
    moments, iterate = begin(6)
    gradient_steps(X + 1e4, is_pos, moments, iterate, RULE)
    for own in (0, 1):
        rows = X[is_pos == own]
        assert moments.n_seen[own] == len(rows)
        scatter = len(rows) * np.cov(rows.T, ddof=0)
        assert_allclose(moments.mean[own], rows.mean(axis=0) + 1e4, rtol=1e-13)
        assert_allclose(np.tril(moments.scatter[own]), np.tril(scatter), atol=1e-8)
        assert_allclose(moments.spread[own], np.trace(scatter), rtol=1e-9)


@pytest.mark.parametrize(
    ("steps", "rule"),
    [
        (gradient_steps, RULE._replace(step_size=50.0)),
        (adaptive_steps, ADAPTIVE._replace(step_size=1e150, offset=0.0, radius=1e200)),
    ],
)
def test_stops_before_the_row_that_overflows(rng, steps, rule):
    X, is_pos = rng.normal(size=(400, 3)), np.arange(400) % 2 == 0
    state = begin(3)
    n_done = steps(X, is_pos, *state, rule)
    assert 1 < n_done < 400
    assert state[0].n_seen.sum() == n_done
    again = begin(3)
    steps(X[:n_done], is_pos[:n_done], *again, rule)
    for got, expected in zip(state[0] + state[1], again[0] + again[1], strict=True):
        assert np.all(np.isfinite(got))
        assert_array_equal(got, expected)


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
@pytest.mark.parametrize(
    ("steps", "rule"), [(gradient_steps, RULE), (adaptive_steps, ADAPTIVE)]
)
def test_sums_do_not_depend_on_where_arrays_are(rng, d, steps, rule):
    X, is_pos = rng.normal(size=(90, d)) + 1.0, rng.random(90) < 0.4
    found = []
    for gap in (0, 2, 8, 1000):
        moments, iterate = begin(d)
        near = placed([*moments[1:], *iterate], gap)
        near_moments = Moments(moments.n_seen, *near[:3])
        steps(X, is_pos, near_moments, Iterate(*near[3:]), rule)
        found.append([array.tobytes() for array in near])
    assert all(other == found[0] for other in found)


def test_products_of_csr_rows(rng):
    X = rng.normal(size=(40, 6)) * (rng.random((40, 6)) < 0.4)
    is_pos = rng.random(40) < 0.3
    rows = sparse.csr_matrix(X)
    n_seen, sums = np.array([2, 0]), np.ones((2, 6))
    products = np.zeros((2, 6, 6))
    add_csr_rows((rows.data, rows.indices, rows.indptr), is_pos, n_seen, sums, products)
    for own in (0, 1):
        part = X[is_pos == own]
        assert n_seen[own] == len(part) + 2 * (own == 0)
        assert_allclose(sums[own], 1.0 + part.sum(axis=0))
        assert_allclose(products[own], np.tril(part.T @ part), atol=1e-14)
