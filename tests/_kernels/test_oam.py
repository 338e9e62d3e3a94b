# SPDX-License-Identifier: BSD-3-Clause
"""Corners of the compiled loops; the comparison with oracles is with the learner."""

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

from aucmax._kernels import oam
from aucmax.summaries.row_buffer import as_batch, empty_buffer


def run_dense(X, is_pos, slots, *, is_sequential=True, step_size=0.0, size=3):
    X, d = np.asarray(X, dtype=float), np.shape(X)[1]
    sums, coef, average = np.zeros((2, d)), np.zeros(d), np.zeros(d)
    counts, kept = (
        np.zeros(3, dtype=np.int64),
        empty_buffer(2 * size, d, sparse_rows=False),
    )
    state = oam.State(counts, np.zeros(3), sums, coef, average, kept)
    batch = as_batch(X, np.asarray(is_pos), np.asarray(slots))
    oam.oam_steps(batch, oam.Rule(is_sequential, step_size), state)
    return coef, coef - average / max(1, counts[2]), kept.values, state


def test_spread_is_the_mean_squared_distance_of_all_pairs(rng):
    X, is_pos = rng.normal(size=(30, 4)) + 3.0, rng.random(30) < 0.4
    *_, state = run_dense(X, is_pos, np.full(30, -1), size=1)
    pos, neg = X[is_pos], X[~is_pos]
    expected = np.mean(np.sum((pos[:, None] - neg) ** 2, axis=2))
    n_neg, n_pos, _ = state.counts
    squares = state.squares
    found = squares[0] / n_neg + squares[1] / n_pos
    found -= 2 * squares[2] / (n_neg * n_pos)
    assert_allclose(found, expected, rtol=1e-12)


def test_first_pair():
    """w = min(C / 2, 1 / |u|^2) u."""
    X = [[1.0, 2.0], [2.0, 0.0]]
    gap = np.array([1.0, -2.0])
    for step_size, factor in ((0.1, 0.05), (10.0, 0.2), (0.0, 0.5 * 3.0 / (2 * 5.0))):
        coef, mean, buffer, state = run_dense(
            X, [False, True], [0, 0], step_size=step_size
        )
        assert_allclose(coef, min(factor, 0.2) * gap)
        assert_array_equal(mean, coef)
        assert_array_equal(buffer[[0, 3]], X)
        assert state.counts.tolist() == [1, 1, 1]


def test_pairs_of_equal_rows_do_nothing():
    X = [[1.0, 2.0]] * 4
    for is_sequential in (True, False):
        for step_size in (0.0, 1.0):
            coef, mean, *_ = run_dense(
                X,
                [False, True, False, True],
                [0, 0, 1, 1],
                is_sequential=is_sequential,
                step_size=step_size,
            )
            assert_array_equal(coef, 0.0)
            assert_array_equal(mean, 0.0)


def test_no_step_overflows():
    """Values as large, and a step as long, as they come."""
    rng = np.random.default_rng(0)
    X = 1e70 * rng.choice([-1.0, 1.0], size=(200, 5))
    X[::7] *= 1e-140
    is_pos = rng.random(200) < 0.5
    for is_sequential in (True, False):
        for step_size in (0.0, 1e100):
            coef, mean, *_ = run_dense(
                X,
                is_pos,
                rng.integers(-1, 3, 200),
                is_sequential=is_sequential,
                step_size=step_size,
            )
            assert np.isfinite(coef).all()
            assert np.isfinite(mean).all()
