# SPDX-License-Identifier: BSD-3-Clause
"""Width and penalty chosen together."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.datasets import make_moons

from aucmax._utils.validation import FitInputs
from aucmax.estimators import _kernel_choice as module
from aucmax.estimators._kernel_choice import choose_kernel, working_dtype
from aucmax.features.kernels import scale_mean_gamma

X, Y = make_moons(400, noise=0.2, random_state=0)


def inputs(X=X, y=Y, weight=None):
    weight = np.ones(len(y)) if weight is None else weight
    return FitInputs(X, np.asarray(y, dtype=bool), weight, np.array([0, 1]))


def choose(data, **options):
    options = {"kernel": "rbf", "gamma": "auto", "alpha": "auto", **options}
    return choose_kernel(data, random_state=0, **options)


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


def test_a_part_of_many_rows_says_so(monkeypatch):
    assert not choose(inputs()).is_from_a_part
    monkeypatch.setattr(module, "MAX_ROWS", 200)
    assert choose(inputs()).is_from_a_part


def test_order_of_rows_changes_nothing(rng):
    order = rng.permutation(400)
    one, other = choose(inputs()), choose(inputs(X[order], Y[order]))
    assert_array_equal(one.tried[:, :2], other.tried[:, :2])


def test_small_problems_are_in_double_precision():
    assert working_dtype(X, 1600) == "float64"
    assert working_dtype(X.astype(np.float32), 1600) == "float32"
    assert working_dtype(np.zeros((100_000, 1)), 1600) == "float32"
