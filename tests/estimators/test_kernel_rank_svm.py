# SPDX-License-Identifier: BSD-3-Clause
import pickle
import warnings

import numpy as np
import pytest
from drawing import draw_problem
from numpy.testing import assert_allclose, assert_array_equal
from oracles import pair_terms
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import laplacian_kernel, polynomial_kernel, rbf_kernel
from sklearn.utils.estimator_checks import (
    check_sample_weight_equivalence_on_dense_data,
    check_sample_weight_equivalence_on_sparse_data,
    parametrize_with_checks,
)

from aucmax.estimators import kernel_rank_svm as module
from aucmax.estimators.kernel_rank_svm import KernelRankSVM
from aucmax.metrics.auc import roc_auc
from aucmax.solvers import kernel_newton

FIXED = {"gamma": 0.2, "alpha": 1e-3}


@parametrize_with_checks([KernelRankSVM(gamma="scale-mean", alpha=1e-3)])
def test_sklearn_check(estimator, check):
    check(estimator)


@pytest.mark.parametrize(
    "check",
    [
        check_sample_weight_equivalence_on_dense_data,
        check_sample_weight_equivalence_on_sparse_data,
    ],
)
def test_weights_are_repetitions_with_default_parameters(check):
    check("KernelRankSVM", KernelRankSVM())


@pytest.fixture
def problem(rng):
    X, is_pos, _ = draw_problem(rng, n=120, d=3)
    return X, np.where(is_pos, "yes", "no")


def test_fitted_attributes_describe_the_minimum(problem):
    X, y = problem
    model = KernelRankSVM(**FIXED).fit(X, y)
    coef = np.zeros(120)
    coef[model.support_] = model.dual_coef_[0]
    kernel = rbf_kernel(X, gamma=0.2)
    is_pos = y == "yes"
    terms = pair_terms("SquaredHinge", kernel @ coef, is_pos, np.ones(120))
    assert_allclose(coef, -terms.grad / 1e-3, atol=1e-6 * np.abs(coef).max())
    assert_array_equal(model.support_, np.flatnonzero(terms.grad))
    assert 0 < len(model.support_) < 120
    assert abs(coef.sum()) < 1e-8 * np.abs(coef).sum()
    penalty = 1e-3 / 2 * coef @ kernel @ coef
    assert model.objective_ == pytest.approx(terms.value + penalty, rel=1e-10)
    assert model.history_[-1].value == model.objective_
    assert model.n_iter_ == len(model.history_)
    assert_array_equal(model.basis_, X[model.support_])
    assert (model.gamma_, model.alpha_) == (0.2, 1e-3)
    assert_array_equal(model.classes_, ["no", "yes"])


@pytest.mark.parametrize(
    ("options", "kernel"),
    [
        ({"kernel": "laplacian"}, lambda X, Y: laplacian_kernel(X, Y, gamma=0.2)),
        (
            {"kernel": "polynomial", "degree": 2, "coef0": 0.5},
            lambda X, Y: polynomial_kernel(X, Y, gamma=0.2, degree=2, coef0=0.5),
        ),
    ],
)
def test_named_kernels_equal_callables(options, kernel, problem):
    X, y = problem
    named = KernelRankSVM(**FIXED, **options).fit(X, y)
    called = KernelRankSVM(kernel, gamma=1.0, alpha=1e-3).fit(X, y)
    assert named.objective_ == pytest.approx(called.objective_, rel=1e-9)
    scores = named.decision_function(X)
    assert_allclose(scores, called.decision_function(X), atol=1e-6)
    by_hand = kernel(X, named.basis_) @ named.dual_coef_[0] + named.intercept_[0]
    assert_allclose(scores, by_hand, atol=1e-9)


def test_score_is_the_auc_and_predict_follows_the_sign(problem):
    X, y = problem
    model = KernelRankSVM(**FIXED).fit(X[:80], y[:80])
    scores = model.decision_function(X[80:])
    assert model.score(X[80:], y[80:]) == roc_auc(y[80:] == "yes", scores)
    assert_array_equal(model.predict(X[80:]), np.where(scores > 0, "yes", "no"))


def test_weights_are_repetitions(problem, rng):
    X, y = problem
    weight = rng.integers(0, 4, 120)
    index = np.repeat(np.arange(120), weight)
    weighted = KernelRankSVM(gamma=0.2, alpha=1e-5).fit(X, y, sample_weight=weight)
    repeated = KernelRankSVM(gamma=0.2, alpha=1e-5).fit(X[index], y[index])
    assert_allclose(
        weighted.decision_function(X), repeated.decision_function(X), atol=1e-8
    )
    assert np.all(weight[weighted.support_] > 0)
    assert_array_equal(weighted.basis_, X[weighted.support_])


def test_sparse_equals_dense(problem, monkeypatch):
    X, y = problem
    X = np.where(np.abs(X) < 0.5, 0.0, X)
    dense = KernelRankSVM(**FIXED).fit(X, y)
    monkeypatch.setattr(module, "DENSE_BYTES", 1)  # tiles of 64 rows
    for rows in (sparse.csr_matrix(X), sparse.csr_array(X)):
        model = KernelRankSVM(**FIXED).fit(rows, y)
        assert isinstance(model.basis_, np.ndarray)
        scores = dense.decision_function(X)
        assert_allclose(model.decision_function(X), scores, atol=1e-8)
        assert_allclose(model.decision_function(rows), scores, atol=1e-8)


def test_float32_rows(problem):
    X, y = problem
    wide = KernelRankSVM(**FIXED).fit(X, y)
    narrow = KernelRankSVM(**FIXED).fit(X.astype(np.float32), y)
    assert narrow.basis_.dtype == np.float64
    assert_allclose(
        narrow.decision_function(X.astype(np.float32)),
        wide.decision_function(X),
        atol=1e-4,
    )


def test_a_kernel_that_does_not_fit_is_computed_again(problem, capsys):
    X, y = problem
    full = KernelRankSVM(**FIXED).fit(X, y)
    assert capsys.readouterr().err == ""
    blocked = KernelRankSVM(**FIXED, memory_budget="1kB", verbose=1).fit(X, y)
    shown = capsys.readouterr().err
    assert "float32: 0 of" in shown
    assert "the rest computed anew" in shown
    assert shown.count("objective") == blocked.n_iter_
    assert blocked.objective_ == pytest.approx(full.objective_, rel=1e-5)
    assert_allclose(blocked.decision_function(X), full.decision_function(X), atol=1e-2)


def test_large_problem_path(rng, monkeypatch):
    """Landmarks, and idle rows cleared with their help, against direct steps."""
    X, is_pos, _ = draw_problem(rng, n=600, d=3)
    options = {"gamma": 0.2, "alpha": 1e-4}
    exact = KernelRankSVM(**options).fit(X, is_pos)
    monkeypatch.setattr(kernel_newton, "MAX_DIRECT", 0)
    rough = KernelRankSVM(**options).fit(X, is_pos)
    assert -1e-9 < rough.objective_ / exact.objective_ - 1 < 2e-4
    assert len(rough.support_) < 1.05 * len(exact.support_) < 600
    assert rough.score(X, is_pos) == pytest.approx(exact.score(X, is_pos), abs=1e-3)


def test_one_positive(problem):
    X, y = problem
    keep = np.append(np.flatnonzero(y == "no"), np.flatnonzero(y == "yes")[0])
    for options in (FIXED, {}):
        model = KernelRankSVM(**options).fit(X[keep], y[keep])
        assert model.score(X[keep], y[keep]) > 0.9


@pytest.mark.parametrize("gamma", [1e-12, 1e-5, 1e5, 1e12])
@pytest.mark.parametrize("alpha", [1e-8, 1e6])
def test_any_width_gives_finite_scores(gamma, alpha, problem):
    X, y = problem
    model = KernelRankSVM(gamma=gamma, alpha=alpha).fit(X, y)
    assert np.isfinite(model.decision_function(X)).all()
    assert np.isfinite(model.objective_)
    assert model.score(X, y) > 0.5


def test_equal_rows_score_alike():
    X, y = np.ones((12, 2)), np.arange(12) < 4
    model = KernelRankSVM(gamma=1.0, alpha=1e-3).fit(X, y)
    assert model.score(X, y) == 0.5
    assert model.objective_ == 1.0
    assert len(model.support_) == 1
    assert model.dual_coef_[0, 0] == 0.0


def test_auto_learns_what_is_not_linear(rng):
    X = rng.normal(size=(300, 4))
    y = (X[:, :2] ** 2).sum(axis=1) > 2.5
    model = KernelRankSVM(random_state=0).fit(X[:200], y[:200])
    assert model.score(X[200:], y[200:]) > 0.97
    assert model.tuning_.shape[1] == 3
    again = clone(model).fit(X[:200], y[:200])
    assert_array_equal(model.decision_function(X), again.decision_function(X))
    copied = pickle.loads(pickle.dumps(model))
    assert_array_equal(model.decision_function(X), copied.decision_function(X))


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (lambda X, Y: (X @ Y.T)[:1], "shape"),
        (lambda X, Y: np.full((len(X), len(Y)), np.nan), "finite real numbers"),
        (lambda X, Y: X @ Y.T + np.arange(len(Y)), "not symmetric"),
        (lambda X, Y: -X @ Y.T, "not positive semi-definite"),
        (lambda X, Y: np.tanh(X @ Y.T - 1), "not positive semi-definite"),
    ],
)
def test_bad_kernels_are_refused(kernel, message, problem):
    X, y = problem
    model = KernelRankSVM(kernel, gamma=1.0, alpha=1e-3)
    with pytest.raises(ValueError, match=message):
        model.fit(X, y)
    assert not hasattr(model, "gamma_")


def test_too_many_rows_are_sent_elsewhere(problem, monkeypatch):
    monkeypatch.setattr(module, "MAX_ROWS", 100)
    X, y = problem
    with pytest.raises(ValueError, match=r"all 120 rows.*GB.*NBAUC or SparseKernelAUC"):
        KernelRankSVM().fit(X, y)
    # Rows of no weight are absent.
    weight = np.arange(120) < 90
    KernelRankSVM(**FIXED).fit(X, y, sample_weight=weight)


@pytest.mark.parametrize(
    "options",
    [
        {"kernel": "linear"},
        {"gamma": -1.0},
        {"alpha": 0.0},
        {"alpha": "best"},
        {"tol": 0.0},
        {"max_iter": 0},
        {"memory_budget": 0},
        {"memory_budget": "lots"},
    ],
)
def test_bad_parameters(options, problem):
    with pytest.raises(ValueError, match=next(iter(options)) + "|amount of memory"):
        KernelRankSVM(**options).fit(*problem)


def test_warns_when_stopped_early(problem):
    with pytest.warns(ConvergenceWarning, match="after 2 steps"):
        KernelRankSVM(gamma=0.2, alpha=1e-6, max_iter=2).fit(*problem)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        KernelRankSVM(gamma=0.2, alpha=1e-6).fit(*problem)
