# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pytest
from drawing import draw_problem
from numpy.testing import assert_allclose

from aucmax.solvers.online.ada_oam import AdaptiveLearner
from aucmax.solvers.online.opauc import GradientLearner

DEFAULTS = {
    "alpha": 0.02,
    "l1": 0.0,
    "step_size": None,
    "offset": 0.5,
    "averaged": True,
}


def learned(X, is_pos, size=None, **parameters):
    learner = AdaptiveLearner(X.shape[1], **(DEFAULTS | parameters))
    size = size or len(X)
    for low in range(0, len(X), size):
        learner.learn(X[low : low + size], is_pos[low : low + size])
    return learner.model().coef


def literal(X, is_pos, *, alpha, l1, step_size, offset, averaged):
    """The steps as written in the paper, from all rows stored."""
    d = X.shape[1]
    coef, average, squares = np.zeros(d), np.zeros(d), np.zeros(d)
    distances = []
    for t in range(len(X)):
        others = X[:t][is_pos[:t] != is_pos[t]]
        if len(others) == 0:
            continue
        sign = 1.0 if is_pos[t] else -1.0
        away = X[t] - others
        grad = alpha / 2 * coef + ((away @ coef - sign)[:, None] * away).mean(axis=0)
        distances.append(np.sum((X[t] - others.mean(axis=0)) ** 2))
        scale = np.sqrt(np.mean(distances))
        squares += grad**2
        metric = (offset if step_size else offset * scale) + np.sqrt(squares)
        rate = (step_size or 0.5 * scale / (scale**2 + alpha / 2)) / metric
        coef = coef - rate * grad
        coef = np.sign(coef) * np.maximum(np.abs(coef) - rate * l1 / 2, 0)
        coef = coef * min(1.0, np.sqrt(2 / alpha) / max(np.linalg.norm(coef), 1e-9))
        average += min(1.0, 4 / (len(distances) + 3)) * (coef - average)
    return average if averaged and not step_size else coef


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"averaged": False},
        {"step_size": 0.1},
        {"step_size": 0.1, "offset": 0.0, "l1": 0.05},
        {"averaged": False, "l1": 0.1},
        # The ball is felt.
        {"step_size": 0.5, "alpha": 50.0},
    ],
)
def test_steps_as_written(rng, parameters):
    X, is_pos, _ = draw_problem(rng, n=120, d=5)
    expected = literal(X + 2, is_pos, **(DEFAULTS | parameters))
    assert_allclose(learned(X + 2, is_pos, **parameters), expected, rtol=1e-9)


def test_the_ball_holds_the_weights(rng):
    X, is_pos, _ = draw_problem(rng, n=50)
    coef = learned(X, is_pos, alpha=50.0, step_size=5.0)
    assert_allclose(np.linalg.norm(coef), np.sqrt(2 / 50.0))


def test_plain_steps_are_a_limit(rng):
    X, is_pos, _ = draw_problem(rng, n=100)
    plain = GradientLearner(4, alpha=0.02, step_size=0.01)
    plain.learn(X, is_pos)
    coef = learned(X, is_pos, step_size=0.01 * 1e8, offset=1e8)
    assert_allclose(coef, plain.model().coef, rtol=1e-5)


def test_a_penalty_gives_zeros(rng):
    X, is_pos = rng.normal(size=(2000, 10)), rng.random(2000) < 0.3
    X[is_pos, :2] += 1.0
    dense = learned(X, is_pos, averaged=False)
    assert np.all(dense != 0)
    sparse = learned(X, is_pos, averaged=False, l1=1.0)
    assert np.all(sparse[:2] > 0)
    assert np.sum(sparse[2:] == 0) >= 3


@pytest.mark.parametrize("step_size", [None, 0.1])
def test_any_split_gives_the_same_bits(rng, step_size):
    X, is_pos, _ = draw_problem(rng, n=200, d=5)
    is_pos[:90] = True
    expected = learned(X, is_pos, step_size=step_size)
    assert expected.any()
    for size in (1, 7):
        assert np.array_equal(learned(X, is_pos, size, step_size=step_size), expected)


def test_swapped_labels_negate(rng):
    X, is_pos, _ = draw_problem(rng)
    assert_allclose(learned(X, ~is_pos), -learned(X, is_pos), rtol=1e-12)


def test_automatic_steps_follow_the_scale_exactly(rng):
    X, is_pos, _ = draw_problem(rng)
    coef = learned(X, is_pos, alpha=2.0**-6)
    scaled = learned(X * 2.0**-8, is_pos, alpha=2.0**-22)
    assert np.array_equal(scaled, coef * 2.0**8)


@pytest.mark.parametrize("offset", [0.0, 0.5])
@pytest.mark.parametrize("step_size", [None, 0.1])
def test_rows_of_zeros_and_constant_columns(rng, offset, step_size):
    learner = AdaptiveLearner(
        3, **(DEFAULTS | {"offset": offset, "step_size": step_size, "l1": 0.1})
    )
    learner.learn(np.zeros((50, 3)), np.arange(50) % 2 == 0)
    assert not learner.model().coef.any()
    X, is_pos = rng.normal(size=(50, 3)), rng.random(50) < 0.5
    X[:, 1] = 0
    learner.learn(X, is_pos)
    assert learner.model().coef[1] == 0
    assert np.all(np.isfinite(learner.model().coef))
