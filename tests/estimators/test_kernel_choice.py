# SPDX-License-Identifier: BSD-3-Clause
"""Width and penalty chosen together."""

from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_moons

from aucmax import NBAUC
from aucmax._utils.validation import FitInputs
from aucmax.design import LocalDesign
from aucmax.estimators import _kernel_choice as module
from aucmax.estimators._kernel_choice import (
    choose_kernel,
    refine_alpha,
    tune_kernel,
    uniform_nystroem,
    working_dtype,
)
from aucmax.features.kernels import scale_mean_gamma
from aucmax.losses import Square
from aucmax.metrics import roc_auc
from aucmax.solvers.base import Problem
from aucmax.solvers.nonlinear_cg import nonlinear_cg

X, Y = make_moons(400, noise=0.2, random_state=0)


def inputs(X=X, y=Y, weight=None):
    weight = np.ones(len(y)) if weight is None else weight
    return FitInputs(X, np.asarray(y, dtype=bool), weight, np.array([0, 1]))


def choose(data, **options):
    model = NBAUC(**options)
    return choose_kernel(data, model, partial(uniform_nystroem, model, 0))


def tune(data, **options):
    return tune_kernel(data, NBAUC(**options), 0)


def test_nothing_to_choose():
    choice = choose(inputs(), gamma=0.7, alpha=0.1)
    assert (choice.gamma, choice.alpha) == (0.7, 0.1)
    assert len(choice.tried) == 0
    rule = scale_mean_gamma("rbf", X)
    assert choose(inputs(), gamma="scale-mean", alpha=0.1).gamma == rule


@pytest.mark.parametrize("scale", [0.2, 5.0])
def test_the_rule_is_where_it_starts_not_where_it_ends(scale):
    # Features that say nothing make the rule too narrow or, small, leave it alone.
    noise = scale * np.random.default_rng(0).normal(size=(400, 4))
    data = inputs(np.hstack([X, noise]))
    choice = choose(data)
    gammas, alphas, aucs = choice.tried.T
    rule = scale_mean_gamma("rbf", data.X)
    (used,) = np.flatnonzero((gammas == choice.gamma) & (alphas == choice.alpha))
    assert aucs[used] >= aucs.max() - module.TOLERATED
    assert rule in gammas
    assert len(np.unique(gammas)) >= 3
    # Nearly as good and nearer to the rule would have been chosen instead.
    nearer = np.abs(np.log(gammas / rule)) < abs(np.log(choice.gamma / rule)) - 1e-9
    assert np.all(aucs[nearer] < aucs.max() - module.TOLERATED)


@pytest.mark.parametrize("n_pos", [1, 2])
def test_too_few_positives_to_judge_by(n_pos):
    y = np.arange(400) < n_pos
    choice = choose(inputs(y=y))
    if n_pos == 1:
        assert choice.alpha == module.FALLBACK_ALPHA
        assert len(choice.tried) == 0
    else:
        assert len(choice.tried) > 0


def test_a_callable_has_no_width():
    choice = choose(inputs(), kernel=lambda a, b: (a @ b.T + 1) ** 3)
    assert choice.gamma == 1.0
    assert set(choice.tried[:, 0]) == {1.0}


def test_squared_loss_is_solved_and_judged_on_rows_left_out(rng):
    weight = rng.integers(1, 4, 400).astype(float)
    data = inputs(weight=weight)
    features = np.hstack([X, X**2])
    folds = [np.arange(400) % 3 == k for k in range(3)]
    alphas = np.array([1e-1, 1e-4])
    aucs = module._squared_loss_aucs(features, data, folds, alphas)
    expected = np.zeros((3, 2))
    for k, fold in enumerate(folds):
        kept = np.where(fold, 0.0, weight)
        problem = Problem(LocalDesign(features), Square(), data.is_pos, kept)
        for j, alpha in enumerate(alphas):
            coef = nonlinear_cg(problem, alpha, tol=1e-12).coef
            expected[k, j] = roc_auc(
                Y[fold], features[fold] @ coef, sample_weight=weight[fold]
            )
    assert_allclose(aucs, expected.mean(axis=0), atol=1e-5)


@pytest.mark.parametrize("few_rows", [0, 2000])
def test_penalties_fall_while_the_squared_hinge_gains(monkeypatch, few_rows):
    monkeypatch.setattr(module, "FEW_ROWS", few_rows)
    data = inputs()
    rough = choose(data, gamma=4.0)
    refined, coef = refine_alpha(LocalDesign(X), data, rough)
    gammas, alphas, aucs = refined.tried[len(rough.tried) :].T
    assert np.all(gammas == 4.0)
    assert_allclose(alphas, rough.alpha * 0.1 ** np.arange(len(alphas)))
    assert np.all(np.diff(aucs)[:-1] > module.GAIN)
    assert refined.alpha == alphas[aucs.argmax()] or np.ptp(aucs) <= module.GAIN
    assert coef.shape == (2,)


def test_models_without_mapped_rows_refine_on_a_part(monkeypatch):
    monkeypatch.setattr(module, "MAX_ROWS", 200)
    rough, tuned = choose(inputs()), tune(inputs())
    assert tuned.gamma == rough.gamma
    assert_array_equal(tuned.tried[: len(rough.tried)], rough.tried)
    assert tuned.alpha in tuned.tried[len(rough.tried) :, 1]
    assert tune(inputs(), alpha=1e-3).alpha == 1e-3


def test_order_of_rows_changes_nothing(rng):
    order = rng.permutation(400)
    one, other = choose(inputs()), choose(inputs(X[order], Y[order]))
    assert_array_equal(one.tried[:, :2], other.tried[:, :2])


def test_small_problems_are_in_double_precision():
    assert working_dtype(X, 1600) == "float64"
    assert working_dtype(X.astype(np.float32), 1600) == "float32"
    assert working_dtype(np.zeros((100_000, 1)), 1600) == "float32"
