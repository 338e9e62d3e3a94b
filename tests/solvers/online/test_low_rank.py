# SPDX-License-Identifier: BSD-3-Clause
import copy
import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from aucmax.solvers.online import low_rank as module
from aucmax.solvers.online.low_rank import LowRankExact, LowRankGradient
from aucmax.summaries import low_rank as summaries


def draw_rows(rng, n=150, d=12):
    """Sparse rows with rows and columns of zeros; one class only at first."""
    X = (rng.normal(size=(n, d)) + 0.3) * (rng.random((n, d)) < 0.4)
    X[5:8] = 0.0
    X[:, 2] = 0.0
    is_pos = rng.random(n) < 0.4
    is_pos[:20] = True
    X[is_pos] += 0.5 * (X[is_pos] != 0)
    return X, is_pos


def gradient(d=12, rank=5, alpha=1e-2, step_size=None, seed=0):
    rng = np.random.default_rng(seed)
    return LowRankGradient(d, rank=rank, alpha=alpha, step_size=step_size, rng=rng)


def exact(d=12, rank=5, alpha=1e-2, seed=0):
    rng = np.random.default_rng(seed)
    return LowRankExact(d, rank=rank, alpha=alpha, rng=rng)


def learned(learner, X, is_pos, size=None):
    size = size or X.shape[0]
    for low in range(0, X.shape[0], size):
        learner.learn(X[low : low + size], is_pos[low : low + size])
    return learner.model().coef


def minimiser(X, is_pos, alpha):
    pos, neg = X[is_pos], X[~is_pos]
    gap = pos.mean(axis=0) - neg.mean(axis=0)
    matrix = np.cov(pos.T, bias=True) + np.cov(neg.T, bias=True) + np.outer(gap, gap)
    return np.linalg.solve(matrix + alpha / 2 * np.eye(len(gap)), gap)


LEARNERS = {
    "automatic steps": gradient,
    "constant steps": lambda **options: gradient(step_size=0.05, **options),
    "exact": exact,
}


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("make", LEARNERS.values(), ids=LEARNERS)
def test_any_split_gives_the_same_weights(make, form, rng, monkeypatch):
    """Bit for bit, also where the weights are written out, and through a copy."""
    monkeypatch.setattr(module, "FOLD_ROWS", 40)
    X, is_pos = draw_rows(rng)
    rows = form(X)
    whole = learned(make(), rows, is_pos)
    assert np.any(whole)
    for size in (1, 7, 60):
        assert_array_equal(learned(make(), rows, is_pos, size), whole)
    half = make()
    half.learn(rows[:31], is_pos[:31])
    for twin in (pickle.loads(pickle.dumps(half)), copy.deepcopy(half)):
        assert_array_equal(learned(twin, rows[31:], is_pos[31:], 50), whole)


@pytest.mark.parametrize("make", LEARNERS.values(), ids=LEARNERS)
def test_sparse_rows_are_dense_rows(make, rng):
    X, is_pos = draw_rows(rng)
    dense = learned(make(), X, is_pos)
    assert_allclose(learned(make(), sparse.csr_matrix(X), is_pos), dense, rtol=1e-9)


@pytest.mark.parametrize("make", LEARNERS.values(), ids=LEARNERS)
def test_weights_are_zero_until_both_classes_came(make, rng):
    X, is_pos = draw_rows(rng)
    learner = make()
    learner.learn(X[:0], is_pos[:0])
    assert_array_equal(learner.model().coef, np.zeros(12))
    learner.learn(X[:20], is_pos[:20])
    assert_array_equal(learner.model().coef, np.zeros(12))
    learner.learn(X[20:], is_pos[20:])
    assert np.any(learner.model().coef)


@pytest.mark.parametrize("make", LEARNERS.values(), ids=LEARNERS)
def test_rows_of_zeros(make):
    is_pos = np.arange(10) % 2 == 0
    assert_array_equal(learned(make(), np.zeros((10, 12)), is_pos), np.zeros(12))


@pytest.mark.parametrize("make", LEARNERS.values(), ids=LEARNERS)
def test_swapped_labels_turn_the_weights_around(make, rng):
    X, is_pos = draw_rows(rng)
    assert_allclose(learned(make(), X, ~is_pos), -learned(make(), X, is_pos), rtol=1e-9)


@pytest.mark.parametrize("step_size", [None, 0.05])
def test_writing_the_weights_out_changes_nothing(step_size, rng, monkeypatch):
    X, is_pos = draw_rows(rng)
    usual = learned(gradient(step_size=step_size), X, is_pos)
    monkeypatch.setattr(module, "FOLD_ROWS", 10)
    often = gradient(step_size=step_size)
    assert_allclose(learned(often, X, is_pos), usual, rtol=1e-9)
    assert_array_equal(often.state.mix, np.zeros(12))


def test_automatic_steps_reach_the_minimum(rng):
    """Nearly: the sketch is random, and steps of rows far from the others shorter."""
    X, is_pos = draw_rows(rng, n=5000, d=6)
    best = minimiser(X, is_pos, 1e-2)
    found = learned(gradient(d=6, rank=200), X, is_pos)
    assert np.linalg.norm(found - best) < 0.15 * np.linalg.norm(best)


def test_constant_steps_follow_the_scaling_law(rng):
    """Rows ten times as large, with a step and a penalty to match."""
    X, is_pos = draw_rows(rng)
    usual = learned(gradient(step_size=0.05), X, is_pos)
    scaled = gradient(step_size=0.05 / 100, alpha=1e-2 * 100)
    assert_allclose(learned(scaled, 10 * X, is_pos), usual / 10, rtol=1e-9)


def test_steps_too_long(rng):
    X, is_pos = draw_rows(rng, n=1000)
    with pytest.raises(FloatingPointError, match="Lower it, use 'auto'"):
        gradient(step_size=50.0).learn(X, is_pos)
    with pytest.raises(ValueError, match="must be below 2"):
        gradient(step_size=20.0, alpha=0.1)


@pytest.mark.parametrize("make", [gradient, exact])
@pytest.mark.parametrize("size", [1e-60, 1e60])
def test_extreme_scales_stay_finite(make, size, rng):
    X, is_pos = draw_rows(rng)
    assert np.all(np.isfinite(learned(make(), size * X, is_pos)))


def test_exact_is_a_dense_solve(rng):
    """Woodbury's formula, in blocks of features, against the matrix itself."""
    X, is_pos = draw_rows(rng)
    learner = exact(rank=4)
    coef = learned(learner, X, is_pos)
    neg, pos = (moments.covariance() for moments in learner.moments)
    matrix = np.diag(np.full(12, 0.5e-2))
    for part in (neg, pos):
        _, factor, rest = part.features(slice(None))
        matrix += factor @ factor.T + np.diag(rest)
    gap = X[is_pos].mean(axis=0) - X[~is_pos].mean(axis=0)
    matrix += np.outer(gap, gap)
    assert_allclose(coef, np.linalg.solve(matrix, gap), rtol=1e-9, atol=1e-13)


def test_blocks_do_not_matter(rng, monkeypatch):
    X, is_pos = draw_rows(rng)
    whole = learned(exact(), X, is_pos)
    monkeypatch.setattr(summaries, "BLOCK_VALUES", 40)
    assert_allclose(learned(exact(), X, is_pos), whole, rtol=1e-9)


@pytest.mark.parametrize("shift", [0.0, 1e6])
def test_exact_with_all_directions(shift, rng):
    """Means far from zero do no harm to dense rows."""
    X, is_pos = draw_rows(rng)
    best = minimiser(X, is_pos, 1e-2)
    assert_allclose(learned(exact(rank=12), X + shift, is_pos), best, atol=1e-7)


def test_order_does_not_matter_to_exact(rng):
    X, is_pos = draw_rows(rng)
    order = rng.permutation(len(X))
    assert exact().is_order_free
    assert not gradient().is_order_free
    assert_allclose(
        learned(exact(), X[order], is_pos[order]),
        learned(exact(), X, is_pos),
        rtol=1e-8,
    )


@pytest.mark.parametrize("make", [gradient, exact])
def test_single_precision_for_very_many_features(make, rng, monkeypatch):
    X, is_pos = draw_rows(rng)
    rows = sparse.csr_matrix(X)
    usual = learned(make(), rows, is_pos)
    monkeypatch.setattr(summaries, "LARGE_BYTES", 100)
    found = learned(make(), rows, is_pos)
    assert_allclose(found, usual, atol=1e-3 * np.abs(usual).max())
    assert not np.array_equal(found, usual)
    with pytest.raises(FloatingPointError, match="Scale the features"):
        make().learn(1e20 * rows, is_pos)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_automatic_penalty_of_the_sketch(form, rng):
    X, is_pos = draw_rows(rng)
    squares = ((X[is_pos][:, None] - X[~is_pos][None]) ** 2).sum(axis=2)
    alpha = module.SHARE_OF_DISTANCE * squares.mean()
    found = learned(exact(alpha=None), form(X), is_pos)
    assert_allclose(found, learned(exact(alpha=alpha), form(X), is_pos), rtol=1e-7)
    same = np.ones((6, 12))
    assert_array_equal(learned(exact(alpha=None), same, np.arange(6) < 3), np.zeros(12))
