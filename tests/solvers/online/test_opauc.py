# SPDX-License-Identifier: BSD-3-Clause
import copy
import pickle

import numpy as np
import pytest
from drawing import draw_problem
from numpy.testing import assert_allclose
from scipy import sparse

from aucmax.solvers.closed_form import solve_moments
from aucmax.solvers.online.exact import ExactLearner
from aucmax.solvers.online.opauc import GradientLearner
from aucmax.summaries import ClassMoments

ALPHA = 0.02
LEARNERS = {
    "auto": lambda d: GradientLearner(d, alpha=ALPHA, step_size=None),
    "constant": lambda d: GradientLearner(d, alpha=ALPHA, step_size=0.01),
    "exact": lambda d: ExactLearner(d, alpha=ALPHA),
}


def learned(name, X, is_pos, size=None):
    learner = LEARNERS[name](X.shape[1])
    size = size or X.shape[0]
    for low in range(0, X.shape[0], size):
        learner.learn(X[low : low + size], is_pos[low : low + size])
    return learner


def automatic(X, is_pos):
    """Steps and average as documented, from all rows stored."""
    coef, average, distances = np.zeros(X.shape[1]), np.zeros(X.shape[1]), []
    for t in range(len(X)):
        others = X[:t][is_pos[:t] != is_pos[t]]
        if len(others) == 0:
            continue
        sign = 1.0 if is_pos[t] else -1.0
        covariance = np.cov(others.T, ddof=0).reshape(len(coef), len(coef))
        away = X[t] - others.mean(axis=0)
        grad = ALPHA / 2 * coef + (coef @ away - sign) * away + covariance @ coef
        distances.append(away @ away)
        divisor = 2 * (np.mean(distances) + np.trace(covariance))
        divisor = max(divisor, distances[-1] + np.trace(covariance))
        coef = coef - grad / (ALPHA / 2 + divisor)
        average += min(1.0, 4 / (len(distances) + 3)) * (coef - average)
    return average


def test_automatic_steps_as_documented(rng):
    X, is_pos, _ = draw_problem(rng, n=150, d=3)
    X[::20] *= 10
    coef = learned("auto", X + 20, is_pos).model().coef
    assert_allclose(coef, automatic(X + 20, is_pos), rtol=1e-9)


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("late", [False, True])
def test_any_split_gives_the_same_bits(rng, name, late):
    X, is_pos, _ = draw_problem(rng, n=300, d=6)
    if late:
        is_pos[:150] = False
    expected = learned(name, X, is_pos).model().coef
    assert expected.any()
    for size in (1, 7):
        assert np.array_equal(learned(name, X, is_pos, size).model().coef, expected)
    csr = sparse.csr_matrix(X)
    from_csr = learned(name, csr, is_pos).model().coef
    assert_allclose(from_csr, expected, rtol=1e-9)
    assert np.array_equal(learned(name, csr, is_pos, 7).model().coef, from_csr)
    for save in (copy.deepcopy, lambda learner: pickle.loads(pickle.dumps(learner))):
        half = save(learned(name, X[:101], is_pos[:101]))
        half.learn(X[101:], is_pos[101:])
        assert np.array_equal(half.model().coef, expected)


@pytest.mark.parametrize("name", LEARNERS)
def test_a_model_does_not_change_later(rng, name):
    X, is_pos, _ = draw_problem(rng)
    learner = learned(name, X, is_pos)
    before = learner.model().coef
    kept = before.copy()
    learner.learn(X, ~is_pos)
    assert np.array_equal(before, kept)


@pytest.mark.parametrize("name", LEARNERS)
def test_swapped_labels_negate(rng, name):
    X, is_pos, _ = draw_problem(rng)
    coef = learned(name, X, is_pos).model().coef
    assert_allclose(learned(name, X, ~is_pos).model().coef, -coef, rtol=1e-12)


@pytest.mark.parametrize("name", LEARNERS)
def test_zero_until_both_classes_came(rng, name):
    X = rng.normal(size=(40, 3))
    learner = learned(name, X, np.ones(40, dtype=bool))
    assert not learner.model().coef.any()
    learner.learn(X[:1] + 1, np.zeros(1, dtype=bool))
    assert learner.model().coef.any()


def test_scaling_law(rng):
    X, is_pos, _ = draw_problem(rng)
    plain = GradientLearner(4, alpha=0.1, step_size=0.01)
    scaled = GradientLearner(4, alpha=0.1 * 3**2, step_size=0.01 / 3**2)
    plain.learn(X, is_pos)
    scaled.learn(3 * X, is_pos)
    assert_allclose(scaled.model().coef, plain.model().coef / 3, rtol=1e-10)


def test_many_passes_lead_to_the_closed_form(rng):
    X, is_pos, weight = draw_problem(rng, n=100, d=3)
    X /= np.linalg.norm(X, axis=1).max()
    parts = [ClassMoments.of_rows(X[m], weight[m]) for m in (is_pos, ~is_pos)]
    expected = solve_moments(*parts, alpha=ALPHA).coef
    learner = GradientLearner(3, alpha=ALPHA, step_size=None)
    errors = []
    for n_passes in (1, 1000):
        for _ in range(n_passes):
            order = rng.permutation(100)
            learner.learn(X[order], is_pos[order])
        errors.append(np.linalg.norm(learner.model().coef - expected))
    assert errors[1] < 0.02 * np.linalg.norm(expected) < errors[0]


@pytest.mark.parametrize("size", [1e-150, 1e-6, 1e6, 1e70])
def test_automatic_steps_at_any_size(rng, size):
    X, is_pos, _ = draw_problem(rng, n=200)
    learner = GradientLearner(4, alpha=1e-3, step_size=None)
    learner.learn(X * size, is_pos)
    assert np.all(np.isfinite(learner.model().coef))


def test_automatic_steps_when_the_rare_class_is_wide(rng):
    # The mean size of rows says nothing of the covariance in the gradient.
    X, is_pos = rng.normal(size=(3000, 3)), np.arange(3000) % 500 < 2
    X[is_pos] *= 1e4
    learner = GradientLearner(3, alpha=1e-3, step_size=None)
    learner.learn(X, is_pos)
    assert np.linalg.norm(learner.model().coef) < 10


@pytest.mark.parametrize("step_size", [None, 0.1])
def test_rows_of_zeros_and_constant_columns(rng, step_size):
    learner = GradientLearner(3, alpha=1e-3, step_size=step_size)
    learner.learn(np.zeros((50, 3)), np.arange(50) % 2 == 0)
    assert not learner.model().coef.any()
    X, is_pos = rng.normal(size=(50, 3)), rng.random(50) < 0.5
    X[:, 1] = 0
    learner.learn(X, is_pos)
    assert learner.model().coef[1] == 0
    assert np.all(np.isfinite(learner.model().coef))


def test_a_step_too_long_is_an_error(rng):
    X, is_pos, _ = draw_problem(rng, n=400)
    learner = GradientLearner(4, alpha=1e-3, step_size=30.0)
    with pytest.raises(FloatingPointError, match="step_size=30 or X is too large"):
        learner.learn(X, is_pos)
    assert np.all(np.isfinite(learner.model().coef))
