# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from aucmax._kernels.low_rank import (
    State,
    add_products,
    sketch_steps,
    write_out,
)
from aucmax._kernels.rows import as_rows


def draw_rows(rng, n=60, d=9):
    """Sparse rows with a mean, a row of zeros, a column of zeros, and labels."""
    X = (rng.normal(size=(n, d)) + 0.5) * (rng.random((n, d)) < 0.5)
    X[7] = 0.0
    X[:, 3] = 0.0
    is_pos = rng.random(n) < 0.4
    # One class only, at first.
    is_pos[:10] = False
    X[is_pos] += 0.3 * (X[is_pos] != 0)
    return X, is_pos


def empty_state(d, rank, dtype=np.float64):
    size = 2 * (rank + 1)
    return State(
        sums=np.zeros((d, size), dtype=dtype),
        gram=np.zeros((size, size)),
        image=np.zeros(size),
        mix=np.zeros(size),
        mix_sum=np.zeros(size),
        parts=np.zeros((d, 2)),
        totals=np.zeros((2, rank + 1)),
        scalars=np.array([1.0, 0.0, 0.0, 0.0]),
    )


def run(X, is_pos, draws, ridge, step_size, state=None, fold_every=10_000):
    """The kernel: the last weights, their weighted mean, the state, rows done."""
    X = sparse.csr_matrix(X)
    state = state or empty_state(X.shape[1], draws.shape[1])
    draws = np.column_stack([draws, np.ones(len(draws))])
    n_done = sketch_steps(
        as_rows(X), is_pos, draws, ridge, step_size, fold_every, state
    )
    last, total = write_out(state).T
    mass_all = state.scalars[3]
    return last, total / max(mass_all, 1.0), state, n_done


def plain_low_rank(X, is_pos, draws, ridge, step_size):
    """The paper's low-rank update, centred, with dense vectors throughout."""
    d, rank = X.shape[1], draws.shape[1]
    w, iterates = np.zeros(d), []
    count, total = np.zeros(2), np.zeros((2, d))
    Z, s = np.zeros((2, d, rank)), np.zeros((2, rank))
    for x, own, r in zip(X, is_pos.astype(int), draws, strict=True):
        other = 1 - own
        count[own] += 1
        total[own] += x
        Z[own] += np.outer(x, r)
        s[own] += r
        if count[other] > 0:
            mean = total[other] / count[other]
            half = (Z[other] - np.outer(mean, s[other])) / np.sqrt(count[other])
            covariance = half @ half.T
            u = x - mean
            step = step_size
            if step == 0.0:
                step = 1.0 / (u @ u + np.trace(covariance) + 2.0 * ridge)
            label = 1.0 if own else -1.0
            w = w - step * (ridge * w + (w @ u - label) * u + covariance @ w)
            iterates.append(w)
    if not iterates:
        return w, w
    weight = np.arange(1.0, len(iterates) + 1) ** 2
    return w, np.average(iterates, axis=0, weights=weight)


def full_opauc(X, is_pos, ridge, step_size):
    """One step per row with the mean and covariance of all earlier opposite rows."""
    w = np.zeros(X.shape[1])
    for t, (x, own) in enumerate(zip(X, is_pos, strict=True)):
        others = X[:t][is_pos[:t] != own]
        if len(others) == 0:
            continue
        label = 1.0 if own else -1.0
        gaps = x - others
        w = w - step_size * (
            ridge * w + ((gaps @ w - label)[:, None] * gaps).mean(axis=0)
        )
    return w


@pytest.mark.parametrize("step_size", [0.05, 0.0])
@pytest.mark.parametrize("ridge", [1e-3, 5.0])
@pytest.mark.parametrize("fold_every", [7, 10_000])
def test_steps_are_those_of_the_dense_form(step_size, ridge, fold_every, rng):
    """A large ridge makes the scale tiny many times."""
    X, is_pos = draw_rows(rng)
    draws = rng.normal(size=(len(X), 4)) / 2.0
    last, mean, *_ = run(X, is_pos, draws, ridge, step_size, fold_every=fold_every)
    expected_last, expected_mean = plain_low_rank(X, is_pos, draws, ridge, step_size)
    assert np.abs(expected_last).max() > 1e-3
    assert_allclose(last, expected_last, rtol=1e-9, atol=1e-13)
    assert_allclose(mean, expected_mean, rtol=1e-9, atol=1e-13)


def test_unit_draws_give_the_full_covariance(rng):
    X, is_pos = draw_rows(rng)
    last, *_ = run(X, is_pos, np.eye(len(X)), 1e-2, 0.03)
    assert_allclose(last, full_opauc(X, is_pos, 1e-2, 0.03), rtol=1e-10, atol=1e-14)


def test_error_falls_like_one_over_the_root_of_the_rank(rng):
    X, is_pos = draw_rows(rng, n=200)
    exact = full_opauc(X, is_pos, 1e-2, 0.03)

    def error(rank):
        found = (
            run(X, is_pos, rng.normal(size=(200, rank)) / np.sqrt(rank), 1e-2, 0.03)[0]
            for _ in range(20)
        )
        return np.sqrt(np.mean([np.sum((w - exact) ** 2) for w in found]))

    # 16 times the rank: a quarter of the error.
    assert 2.8 < error(10) / error(160) < 5.7


def test_products_are_kept_up_to_date(rng):
    X, is_pos = draw_rows(rng)
    draws = rng.normal(size=(len(X), 4)) / 2.0
    last, _, state, _ = run(X, is_pos, draws, 1e-2, 0.0)
    assert_allclose(state.gram, state.sums.T @ state.sums, rtol=1e-12, atol=1e-12)
    assert_allclose(
        state.image + state.gram @ state.mix,
        state.sums.T @ last,
        rtol=1e-9,
        atol=1e-12,
    )
    assert_array_equal(state.totals[:, -1], [np.sum(~is_pos), np.sum(is_pos)])


def test_steps_in_single_precision_sums(rng):
    X, is_pos = draw_rows(rng)
    draws = rng.normal(size=(len(X), 4)) / 2.0
    exact, *_ = run(X, is_pos, draws, 1e-2, 0.0)
    state = empty_state(X.shape[1], 4, np.float32)
    last, *_ = run(X, is_pos, draws, 1e-2, 0.0, state)
    assert_allclose(last, exact, rtol=1e-4, atol=1e-6)


def test_overflow_stops_before_the_row(rng):
    """The state is that of the rows before."""
    X, is_pos = draw_rows(rng, n=400)
    draws = rng.normal(size=(400, 4)) / 2.0
    *_, state, n_done = run(X, is_pos, draws, 1e-3, 10.0)
    assert 10 < n_done < 400
    before = slice(0, n_done)
    *_, expected, n_before = run(X[before], is_pos[before], draws[before], 1e-3, 10.0)
    assert n_before == n_done
    for got, want in zip(state, expected, strict=True):
        assert np.all(np.isfinite(got))
        assert_array_equal(got, want)


def test_automatic_steps_never_overflow(rng):
    """Heavy tails, and two classes whose pair has four times the square of a row."""
    X = rng.standard_t(1, size=(500, 3)) ** 3
    *_, n_done = run(X, rng.random(500) < 0.5, rng.normal(size=(500, 1)), 1e-6, 0.0)
    assert n_done == 500
    signs = np.where(np.arange(500) % 2, 1.0, -1.0)
    last, *_ = run(signs[:, None], signs > 0, np.ones((500, 1)), 1e-6, 0.0)
    assert_allclose(last, [0.5], rtol=1e-3)


def test_products_with_signs(rng):
    X, _ = draw_rows(rng)
    signs = rng.choice(np.array([-1, 1], dtype=np.int8), (9, 4))
    rows = as_rows(sparse.csr_matrix(X))
    sums = np.ones((9, 6))
    add_products(rows, signs, sums)
    assert_allclose(sums[:, :4], 1.0 + X.T @ (X @ signs))
    assert_allclose(sums[:, 4], 1.0 + X.sum(axis=0))
    assert_allclose(sums[:, 5], 1.0 + (X**2).sum(axis=0))
