# SPDX-License-Identifier: BSD-3-Clause
"""OnlineUnivariate as users meet it."""

import pickle

import numpy as np
import pytest
from drawing import draw_problem
from scipy import sparse

from aucmax import UnivariateAUC
from aucmax.estimators.online_univariate import OnlineUnivariate

LOSSES = ["exponential", "square", "logistic"]
VARIANTS = [
    {},
    {"loss": "logistic", "average": False},
    {"loss": "square", "step_size": 0.01, "center": False, "fit_intercept": False},
]


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(0)
    X, is_pos, _ = draw_problem(rng, n=300, d=6)
    X[rng.random(X.shape) < 0.3] = 0.0
    return X, is_pos.astype(int)


@pytest.mark.parametrize("options", VARIANTS)
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_any_split_is_the_same(problem, options, form):
    X, y = problem
    y = y.copy()
    y[:30] = 1
    X = form(X)
    whole = OnlineUnivariate(**options, random_state=0)
    whole.partial_fit(X, y, classes=[0, 1])
    for size in (1, 7):
        model = OnlineUnivariate(**options, random_state=0)
        for low in range(0, 300, size):
            rows = slice(low, low + size)
            model.partial_fit(X[rows], y[rows], classes=[0, 1])
            if low == 28:
                model = pickle.loads(pickle.dumps(model))
        assert np.array_equal(model.coef_, whole.coef_)
        assert np.array_equal(model.intercept_, whole.intercept_)


@pytest.mark.parametrize("options", VARIANTS)
def test_sparse_is_dense(problem, options):
    X, y = problem
    model = OnlineUnivariate(**options, n_passes=2, random_state=0)
    dense = model.fit(X, y).coef_
    csr = model.fit(sparse.csr_array(X), y).coef_
    np.testing.assert_allclose(csr, dense, atol=1e-8 * np.abs(dense).max())


@pytest.mark.parametrize("loss", LOSSES)
def test_defaults_are_near_the_minimum(problem, loss):
    """One pass over few rows, far from zero and on other scales, untuned."""
    X, y = problem
    for rows, alpha in ((X, 1e-3), (1e3 * X + 1e4, 1e-3), (1e-3 * X, 1e-9)):
        best = UnivariateAUC(1e-3, loss=loss).fit(X, y).score(X, y)
        model = OnlineUnivariate(alpha, loss=loss, random_state=0).fit(rows, y)
        assert model.score(rows, y) > best - 0.02


def test_float32_is_float64(problem):
    X, y = problem
    X = X.astype(np.float32)
    single = OnlineUnivariate(random_state=0).fit(X, y)
    double = OnlineUnivariate(random_state=0).fit(X.astype(np.float64), y)
    assert np.array_equal(single.coef_, double.coef_)


def test_the_intercept_is_our_threshold(problem):
    """Not the one learned with the weights, which is kept in the learner."""
    X, y = problem
    model = OnlineUnivariate(random_state=0).fit(X, y)
    scores = X @ model.coef_[0] + model.intercept_[0]
    np.testing.assert_allclose(model.decision_function(X), scores)
    assert np.array_equal(model.predict(X), (scores > 0).astype(int))


def test_rare_rows_weigh_at_most(problem):
    X, y = problem
    y = np.zeros_like(y)
    y[[40, 170]] = 1
    heavy, light = (
        OnlineUnivariate(max_class_weight=most, shuffle=False).fit(X, y)
        for most in (1000.0, 1.0)
    )
    assert np.isfinite(heavy.coef_).all()
    assert np.linalg.norm(heavy.coef_) > 5 * np.linalg.norm(light.coef_)


@pytest.mark.parametrize(
    "options",
    [
        {"alpha": -1.0},
        {"loss": "hinge"},
        {"step_size": "big"},
        {"fit_intercept": "yes"},
        {"center": 3},
        {"average": "no"},
        {"max_class_weight": 0.0},
        {"n_passes": 1.5},
    ],
)
def test_bad_parameters(problem, options):
    with pytest.raises(ValueError, match=next(iter(options))):
        OnlineUnivariate(**options).fit(*problem)


def test_divergence_leaves_the_estimator_unfitted(problem):
    X, y = problem
    model = OnlineUnivariate(loss="square", step_size=1e4)
    with pytest.raises(FloatingPointError, match="auto"):
        model.fit(X, y)
    assert not hasattr(model, "classes_")
