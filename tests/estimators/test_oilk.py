# SPDX-License-Identifier: BSD-3-Clause
"""What users of OILK rely on."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.datasets import load_breast_cancer, make_circles
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import StandardScaler

from aucmax import LeastSquaresAUC
from aucmax.estimators.oilk import OILK

X, Y = make_circles(900, noise=0.15, factor=0.5, random_state=0)
TRAIN, TEST = slice(0, 600), slice(600, None)
X_CANCER, Y_CANCER = load_breast_cancer(return_X_y=True)
X_CANCER = StandardScaler().fit_transform(X_CANCER)
# OILK as in the papers.
PAPER = {"step_size": 0.01, "loss_weight": 1.0, "compensate": False}


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("policy", ["reservoir", "fifo"])
@pytest.mark.parametrize("given", [{}, {"n_neighbors": 10}, {"loss_weight": 0.1}])
def test_learns_what_no_linear_model_can(loss, policy, given):
    model = OILK(policy=policy, budget=60, loss=loss, random_state=0, **given)
    model.fit(X[TRAIN], Y[TRAIN])
    assert LeastSquaresAUC().fit(X[TRAIN], Y[TRAIN]).score(X[TEST], Y[TEST]) < 0.6
    assert model.score(X[TEST], Y[TEST]) > 0.95


def test_default_on_easy_rows_is_as_good_as_linear():
    model = OILK(random_state=0).fit(X_CANCER[:400], Y_CANCER[:400])
    linear = LeastSquaresAUC().fit(X_CANCER[:400], Y_CANCER[:400])
    least = linear.score(X_CANCER[400:], Y_CANCER[400:]) - 0.01
    assert model.score(X_CANCER[400:], Y_CANCER[400:]) > least


def test_paper_form_is_reachable():
    """Two rows by hand: the first has weight eta C, the second eta C |V|."""
    model = OILK(gamma=1.0, shuffle=False, **PAPER).fit([[0.0], [2.0]], [0, 1])
    assert_allclose(model.dual_coef_, [[-0.01 * 0.99 - 0.01, 0.01]])


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix])
def test_scores_are_the_expansion(make):
    rows = make(np.where(np.abs(X_CANCER) > 0.5, X_CANCER, 0))
    model = OILK(budget=30, random_state=0).fit(rows, Y_CANCER)
    assert model.basis_.shape == (60, 30)
    assert sparse.issparse(model.basis_) == sparse.issparse(rows)
    assert model.dual_coef_.shape == (1, 60)
    values = rbf_kernel(rows, model.basis_, gamma=model.gamma_)
    expected = values @ model.dual_coef_[0] + model.intercept_[0]
    assert_allclose(model.decision_function(rows), expected, rtol=1e-8, atol=1e-10)
    assert_array_equal(model.predict(rows), model.decision_function(rows) > 0)


def test_sparse_equals_dense_and_float32():
    holes = np.where(np.abs(X_CANCER) > 0.5, X_CANCER, 0).astype(np.float32)
    dense = OILK(random_state=0).fit(holes, Y_CANCER)
    by_csr = OILK(random_state=0).fit(sparse.csr_array(holes), Y_CANCER)
    assert by_csr.gamma_ == dense.gamma_
    size = np.abs(dense.dual_coef_).max()
    assert_allclose(by_csr.dual_coef_, dense.dual_coef_, atol=1e-10 * size)
    assert_array_equal(by_csr.basis_.toarray(), dense.basis_)
    double = OILK(random_state=0).fit(holes.astype(np.float64), Y_CANCER)
    assert_array_equal(double.dual_coef_, dense.dual_coef_)


def test_many_features(rng):
    """Memory and time follow the nonzeros: dense support rows would be 320 MB."""
    labels = rng.random(300) < 0.5
    columns = rng.integers(10, 2_000_000, size=(300, 20))
    columns[:, 0] = np.where(labels, 3, 7)
    indptr = np.arange(0, 6001, 20)
    rows = sparse.csr_matrix(
        (np.ones(6000), columns.ravel(), indptr), shape=(300, 2_000_000)
    )
    model = OILK(budget=10, random_state=0).fit(rows, labels)
    assert model.score(rows, labels) > 0.9
    assert model._stream.learner.rows.values.nbytes < 1e5


@pytest.mark.parametrize("gamma", ["auto", 0.7])
def test_batches_give_the_same_model(gamma):
    rows, labels = X[:220], Y[:220].copy()
    labels[:30] = 1
    whole = OILK(budget=20, gamma=gamma, random_state=3).partial_fit(rows, labels)
    for size in (1, 7):
        parts = OILK(budget=20, gamma=gamma, random_state=3)
        for low in range(0, 220, size):
            part = slice(low, low + size)
            parts.partial_fit(rows[part], labels[part], classes=[0, 1])
            if low in (70, 140):
                parts.decision_function(rows)
                parts = pickle.loads(pickle.dumps(parts))
        assert parts.gamma_ == whole.gamma_
        assert_array_equal(parts.dual_coef_, whole.dual_coef_)
        assert_array_equal(parts.intercept_, whole.intercept_)


def test_width():
    spread = np.mean(np.sum((X - X.mean(axis=0)) ** 2, axis=1))
    assert OILK(gamma=2.5).fit(X, Y).gamma_ == 2.5
    assert OILK(random_state=0).fit(X, Y).gamma_ == pytest.approx(1 / spread, rel=0.2)


@pytest.mark.parametrize("options", [{}, PAPER, {"policy": "fifo"}])
def test_zeros_late_class_and_one_positive(options):
    rows, labels = np.zeros((150, 2)), np.zeros(150)
    labels[-1] = 1
    model = OILK(budget=20, shuffle=False, **options).fit(rows, labels)
    assert np.ptp(model.decision_function(rows)) == 0.0
    rows[-1] = 3.0
    model.fit(rows, labels)
    assert model.score(rows, labels) == 1.0
    assert np.isfinite(model.dual_coef_).all()


def test_few_rows_and_a_budget_of_one():
    model = OILK(random_state=0).fit([[0.0], [1.0]], ["no", "yes"])
    assert model.predict([[0.0], [1.0]]).tolist() == ["no", "yes"]
    one = OILK(budget=1, random_state=0).fit(X_CANCER, Y_CANCER)
    assert one.basis_.shape == (2, 30)
    assert one.score(X_CANCER, Y_CANCER) > 0.8


@pytest.mark.parametrize(
    "options",
    [
        {"policy": "newest"},
        {"budget": 0},
        {"n_neighbors": 0},
        {"compensate": "yes"},
        {"gamma": "scale"},
        {"gamma": 0.0},
        {"step_size": 1.0},
        {"loss_weight": 0.0},
        {"loss": "square"},
    ],
)
def test_bad_parameters(options):
    with pytest.raises(ValueError, match=next(iter(options))):
        OILK(**options).fit(X, Y)


def test_overflow_names_the_remedy():
    model = OILK(loss="squared_hinge", step_size=0.5, loss_weight=1e6)
    with pytest.raises(FloatingPointError, match="set both to 'auto'"):
        model.fit(X, Y)
    assert not hasattr(model, "classes_")


def test_there_is_no_sample_weight():
    with pytest.raises(TypeError, match="sample_weight"):
        OILK().fit(X, Y, sample_weight=np.ones(len(X)))
