# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_moons
from sklearn.metrics import roc_auc_score
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.utils.estimator_checks import parametrize_with_checks

from aucmax.estimators.sparse_kernel_auc import SparseKernelAUC


@pytest.fixture
def moons():
    X, y = make_moons(600, noise=0.25, random_state=0)
    return X, y


def make(**kwargs):
    settings = {"n_basis": 12, "gamma": 1.0, "alpha": 1e-4, "random_state": 0}
    return SparseKernelAUC(**{**settings, **kwargs})


# Without the search for gamma and alpha, which takes most of the time of a small fit.
FIXED = {"n_basis": 16, "gamma": "scale-mean", "alpha": 1e-3}


@parametrize_with_checks([SparseKernelAUC(**FIXED, refine="centres")])
def test_sklearn_check(estimator, check):
    check(estimator)


def test_attributes(moons):
    X, y = moons
    model = make(early_stopping=False).fit(X, y)
    assert model.n_basis_ == len(model.support_) == len(set(model.support_)) == 12
    assert_array_equal(model.basis_, X[model.support_])
    assert model.dual_coef_.shape == (1, 12)
    assert [stage.n_basis for stage in model.history_] == [
        1,
        2,
        3,
        4,
        5,
        6,
        7,
        8,
        10,
        12,
    ]
    assert model.objective_ == model.history_[-1].value
    assert model.validation_scores_ is None
    scores = rbf_kernel(X, model.basis_, gamma=1.0) @ model.dual_coef_[0]
    assert_allclose(model.decision_function(X), scores + model.intercept_[0])
    margins = 1 - scores[y == 1][:, None] + scores[y == 0]
    norm = model.dual_coef_[0] @ rbf_kernel(model.basis_, gamma=1.0)
    norm = norm @ model.dual_coef_[0]
    value = (np.maximum(margins, 0) ** 2).mean() + 1e-4 / 2 * norm
    assert model.objective_ == pytest.approx(value)
    assert model.score(X, y) == pytest.approx(roc_auc_score(y, scores))
    assert model.score(X, y) > 0.97


@pytest.mark.parametrize("select", ["joint", "newton", "exact"])
def test_few_functions_rank_well(moons, select):
    X, y = moons
    model = make(n_basis=20, n_candidates=30, select=select).fit(X[:400], y[:400])
    assert model.score(X[400:], y[400:]) > 0.96


def test_early_stopping_keeps_the_best_and_trains_it_on_all_rows(moons):
    X, y = moons
    model = make(n_basis=300, n_candidates=10, validation_fraction=0.2).fit(X, y)
    sizes = [stage.n_basis for stage in model.history_]
    scores = model.validation_scores_
    assert len(scores) == len(sizes)
    assert sizes[-1] < 300
    grown = np.array(sizes) / sizes[np.argmax(scores)]
    assert grown[-2] < 4 <= grown[-1]
    assert model.n_basis_ == sizes[np.flatnonzero(scores == scores.max())[-1]]
    # The same functions with the same rows, trained to the end: nothing to gain.
    everything = rbf_kernel(X, model.basis_, gamma=1.0) @ model.dual_coef_[0]
    margins = np.maximum(0, 1 - everything[y == 1][:, None] + everything[y == 0])
    assert (margins**2).mean() < model.objective_ < 1.0


def test_too_few_rows_to_hold_out(moons):
    X, y = moons
    assert make().fit(X, y).validation_scores_ is None  # 30 of either class
    more = make(validation_fraction=0.2).fit(X, y)
    assert more.validation_scores_ is not None


@pytest.mark.parametrize("refine", [None, "centres"])
@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csr_matrix])
def test_sparse_equals_dense(moons, kind, refine):
    X, y = moons
    X = np.where(np.abs(X) < 0.3, 0, X)[:250]
    dense = make(refine=refine, refine_iter=10).fit(X, y[:250])
    other = make(refine=refine, refine_iter=10).fit(kind(X), y[:250])
    assert_array_equal(dense.support_, other.support_)
    # Ten rounds of descent on the centres carry other roundings of distances along.
    assert_allclose(dense.basis_, other.basis_, atol=1e-5)
    assert_allclose(
        dense.decision_function(X), other.decision_function(kind(X)), atol=1e-5
    )


@pytest.mark.parametrize("refine", [None, "centres"])
def test_float32_is_close_to_float64(moons, refine):
    X, y = moons
    double = make(refine=refine, refine_iter=20).fit(X, y)
    single = make(refine=refine, refine_iter=20).fit(X.astype(np.float32), y)
    assert single.basis_.dtype == np.float32
    assert single.objective_ == pytest.approx(double.objective_, rel=0.05)
    assert single.score(X, y) == pytest.approx(double.score(X, y), abs=3e-3)


def test_large_problems_are_computed_in_float32(moons, monkeypatch):
    monkeypatch.setattr("aucmax.estimators._kernel_choice.PRECISE_VALUES", 100)
    X, y = moons
    rough = make(early_stopping=False).fit(X + 100, y)
    scores = rbf_kernel(X + 100, rough.basis_, gamma=1.0) @ rough.dual_coef_[0]
    assert rough.basis_.dtype == np.float64
    assert_allclose(rough.decision_function(X + 100) - rough.intercept_, scores)
    monkeypatch.undo()
    exact = make(early_stopping=False).fit(X, y)
    assert rough.objective_ == pytest.approx(exact.objective_, rel=0.05)


def test_random_state_and_n_jobs(moons):
    X, y = moons
    first = make(random_state=3).fit(X, y)
    again = make(random_state=3, n_jobs=2).fit(X, y)
    other = make(random_state=4).fit(X, y)
    assert_array_equal(first.support_, again.support_)
    assert_array_equal(first.dual_coef_, again.dual_coef_)
    assert not np.array_equal(first.support_, other.support_)
    state = np.random.RandomState(3)
    assert_array_equal(make(random_state=state).fit(X, y).support_, first.support_)


@pytest.mark.parametrize("select", ["joint", "newton", "exact"])
@pytest.mark.parametrize("refine", [None, "centres"])
def test_one_positive_row(moons, select, refine):
    X, _ = moons
    y = np.arange(600) == 7
    model = make(select=select, refine=refine, n_candidates=30, refine_iter=5)
    model.fit(X[:100], y[:100])
    assert model.validation_scores_ is None
    assert model.score(X[:100], y[:100]) > 0.9


@pytest.mark.parametrize("refine", [None, "centres"])
def test_rows_given_many_times_and_more_functions_than_rows(refine):
    X = np.repeat([[0.0, 0.0], [1.0, 0.5], [2.0, 0.0]], 6, axis=0)
    y = np.arange(18) % 3 > 0
    y[:6] = False
    model = make(n_basis=50, refine=refine).fit(X, y)
    assert model.n_basis_ <= 18
    assert np.isfinite(model.dual_coef_).all()
    assert len(np.unique(model.decision_function(X).round(6))) <= 3
    assert model.score(X, y) > 0.7


def test_constant_features(moons):
    y = moons[1]
    model = make().fit(np.ones((600, 2)), y)
    assert model.score(np.ones((600, 2)), y) == 0.5


@pytest.mark.parametrize("kernel", ["laplacian", "polynomial", rbf_kernel])
def test_other_kernels(moons, kernel):
    X, y = moons
    model = make(kernel=kernel, n_basis=20).fit(X, y)
    assert model.score(X, y) > 0.95


def test_refining_lowers_the_objective_and_moves_the_basis(moons):
    X, y = moons
    plain = make(n_basis=4, early_stopping=False).fit(X, y)
    moved = clone(plain).set_params(refine="centres").fit(X, y)
    assert_array_equal(moved.support_, plain.support_)
    assert np.abs(moved.basis_ - X[moved.support_]).max() > 0.05
    assert moved.objective_ < 0.9 * plain.objective_
    assert moved.score(X, y) > plain.score(X, y)
    fewer = clone(moved).set_params(refine_iter=1).fit(X, y)
    assert moved.objective_ < fewer.objective_


def test_verbose_writes_to_stderr(moons, capsys):
    X, y = moons
    make(verbose=1, refine="centres", refine_iter=2, validation_fraction=0.2).fit(X, y)
    out, err = capsys.readouterr()
    assert out == ""
    assert "12 functions" in err
    assert "held-out AUC" in err
    assert "refining" in err


def test_auto_chooses_both(moons):
    X, y = moons
    model = make(gamma="auto", alpha="auto").fit(X[:200], y[:200])
    assert model.gamma_ > 0
    assert model.alpha_ > 0
    assert model.tuning_.shape[1] == 3


@pytest.mark.parametrize(
    "bad",
    [
        {"n_basis": 0},
        {"n_basis": 0.5},
        {"n_candidates": 0},
        {"select": "best"},
        {"refine": True},
        {"validation_fraction": 1.0},
        {"alpha": 0.0},
        {"gamma": "wide"},
    ],
)
def test_bad_parameters(moons, bad):
    name = next(iter(bad))
    with pytest.raises(ValueError, match=name):
        make(**bad).fit(*moons)


def test_errors_say_what_to_do_and_leave_nothing_behind(moons):
    X, y = moons
    model = make(refine="centres", kernel="laplacian")
    with pytest.raises(ValueError, match="kernel='rbf'"):
        model.fit(X, y)
    with pytest.raises(TypeError, match="sample_weight"):
        model.fit(X, y, sample_weight=np.ones(600))
    huge = make(kernel="polynomial", early_stopping=False)
    with pytest.raises(ValueError, match="Scale the features"):
        huge.fit(X * 1e120, y)
    assert not hasattr(huge, "classes_")
    with pytest.raises(ValueError, match="not positive semi-definite"):
        make(kernel=lambda A, B: -rbf_kernel(A, B)).fit(X, y)
