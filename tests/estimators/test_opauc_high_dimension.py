# SPDX-License-Identifier: BSD-3-Clause
import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.decomposition import PCA

from aucmax import LeastSquaresAUC
from aucmax.estimators import _reduction as reduction
from aucmax.estimators._reduction import choose_projection
from aucmax.estimators.opauc import OPAUC


def draw_text(n=400, d=2000, seed=0):
    """Unit rows of a few words each; 30 words go with the positives."""
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.4
    chance = 1.0 / np.arange(1, d + 1)
    chance = np.where(y[:, None] & (np.arange(d) % 60 == 5), 4 * chance, chance)
    chance = np.minimum(12 * chance / chance.sum(axis=1, keepdims=True), 0.9)
    words = rng.random((n, d)) < chance
    words[~words.any(axis=1), 0] = True
    X = words / np.linalg.norm(words, axis=1, keepdims=True)
    return sparse.csr_matrix(X), y


VARIANTS = {
    "exact": {"rank": 20},
    "gradient": {"rank": 20, "solver": "gradient"},
    "constant": {"rank": 20, "solver": "gradient", "step_size": 0.3},
    "features": {"reduce": "features", "n_components": 300},
    "projection": {"reduce": "projection", "n_components": 300},
    "low rank after projection": {
        "reduce": "projection",
        "n_components": 300,
        "rank": 20,
    },
}
variants = pytest.mark.parametrize("options", VARIANTS.values(), ids=VARIANTS)


@pytest.mark.parametrize(
    ("options", "least"),
    [
        (VARIANTS["exact"], 0.8),
        (VARIANTS["gradient"], 0.8),
        (VARIANTS["constant"], 0.8),
        (VARIANTS["projection"], 0.7),
        ({"reduce": "pca", "n_components": 300}, 0.7),
    ],
)
def test_new_text_is_ranked(options, least):
    X, y = draw_text(1500)
    model = OPAUC(random_state=0, **options).fit(X[:1000], y[:1000])
    assert model.score(X[1000:], y[1000:]) > least
    assert model.coef_.shape == (1, 2000)
    assert_allclose(
        model.decision_function(X), X @ model.coef_[0] + model.intercept_[0]
    )


@variants
@pytest.mark.parametrize("form", ["csr", "dense"])
def test_batches_of_any_size_agree(options, form):
    """Bit for bit, with one class only at first, and through pickle."""
    X, y = draw_text(90, 400)
    order = np.argsort(~y, kind="stable")[: y.sum()]
    order = np.concatenate([order[:15], np.setdiff1d(np.arange(90), order[:15])])
    X, y = X[order], y[order]
    assert y[:15].all()
    X = X if form == "csr" else X.toarray()
    model = OPAUC(random_state=3, **options)
    whole = clone(model).partial_fit(X, y).coef_
    assert np.any(whole)
    for size in (1, 7):
        part = clone(model)
        for low in range(0, 90, size):
            batch = slice(low, low + size)
            part = part.partial_fit(X[batch], y[batch], classes=[False, True])
            part = pickle.loads(pickle.dumps(part)) if low == 28 else part
        assert_array_equal(part.coef_, whole)


@variants
def test_sparse_dense_and_single_precision(options):
    X, y = draw_text(200, 400)
    model = OPAUC(random_state=0, shuffle=False, **options)
    usual = clone(model).fit(X, y).coef_
    size = np.abs(usual).max()
    dense = clone(model).fit(X.toarray(), y).coef_
    assert_allclose(dense, usual, rtol=1e-8, atol=1e-8 * size)
    single = clone(model).fit(X.astype(np.float32), y).coef_
    assert_allclose(single, usual, atol=1e-4 * size)
    assert_array_equal(clone(model).fit(X, y).coef_, usual)
    if "n_components" not in options or options["reduce"] != "features":
        other = clone(model).set_params(random_state=1).fit(X, y).coef_
        assert not np.array_equal(other, usual)


def test_all_directions_are_all_of_the_covariance():
    X, y = make_classification(300, 10, weights=[0.8], random_state=0)
    all_rows = LeastSquaresAUC(1e-3).fit(X, y)
    low_rank = OPAUC(1e-3, rank=10, random_state=0).fit(X, y)
    assert_allclose(low_rank.coef_, all_rows.coef_, rtol=1e-6)


def test_features_are_drawn_without_repetition(rng):
    X = np.zeros((3, 50))
    found = choose_projection("features", X, 20, rng).toarray()
    assert found.shape == (50, 20)
    assert_array_equal(found.sum(axis=0), np.ones(20))
    assert set(found.sum(axis=1)) == {0.0, 1.0}
    kept = np.zeros(50)
    for _ in range(300):
        kept += choose_projection("features", X, 20, rng).sum(axis=1).A1
    # 120 of 300 expected, with a standard deviation of 8.5.
    assert 80 < kept.min() < kept.max() < 160


@pytest.mark.parametrize("limit", [0, 10**6])
def test_projections_keep_norms(limit, rng, monkeypatch):
    monkeypatch.setattr(reduction, "DENSE_VALUES", limit)
    X = rng.normal(size=(200, 600))
    found = choose_projection("projection", sparse.csr_matrix(X), 200, rng)
    assert found.shape == (600, 200)
    assert sparse.issparse(found) == (limit == 0)
    ratio = np.linalg.norm(X @ found, axis=1) / np.linalg.norm(X, axis=1)
    assert abs(np.mean(ratio**2) - 1.0) < 0.1
    assert np.std(ratio) < 0.1


def test_projection_of_a_million_features_is_small(rng):
    X = sparse.csr_matrix((2, 1_000_000))
    found = choose_projection("projection", X, 100, rng)
    assert found.nnz < 200_000
    assert_allclose(found.multiply(found).sum() / 1e6, 1.0, rtol=0.05)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("limit", [0, 2000], ids=["search", "exact"])
def test_principal_components_are_those_of_all_rows(form, limit, rng, monkeypatch):
    """The mean is taken off, though X never is centred."""
    monkeypatch.setattr(reduction, "EXACT_FEATURES", limit)
    X = rng.normal(size=(120, 40)) * 2.0 ** -np.arange(40) + 3.0
    found = choose_projection("pca", form(X), 4, rng)
    expected = PCA(4).fit(X).components_.T
    assert_allclose(np.abs(expected.T @ found), np.eye(4), atol=1e-4)


@pytest.mark.parametrize("limit", [0, 2000], ids=["search", "exact"])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_no_more_components_than_the_rows_have(form, limit, rng, monkeypatch):
    monkeypatch.setattr(reduction, "EXACT_FEATURES", limit)
    X = np.repeat(rng.normal(size=(4, 30)), 3, axis=0)
    found = choose_projection("pca", form(X), 10, rng)
    assert found.shape == (30, 10)
    assert_allclose(found.T @ found, np.diag(np.arange(10) < 3), atol=1e-7)
    none = choose_projection("pca", form(np.zeros((5, 30))), 10, rng)
    assert_array_equal(none, np.zeros((30, 10)))
    model = OPAUC(reduce="pca", n_components=10).fit(form(X), np.arange(12) < 6)
    assert model.score(X, np.arange(12) < 6) == 1.0


def test_principal_components_need_all_rows():
    X, y = draw_text(150, 300)
    model = OPAUC(reduce="pca", n_components=20, random_state=0)
    assert not hasattr(model, "partial_fit")
    with pytest.raises(AttributeError) as caught:
        model.partial_fit(X, y)
    assert "Use reduce='projection'" in str(caught.value.__cause__)


def test_a_step_too_long_for_the_data():
    X, y = draw_text(400, 300)
    model = OPAUC(rank=5, solver="gradient", step_size=100.0, random_state=0)
    with pytest.raises(FloatingPointError, match="step_size=100"):
        model.fit(100 * X, y)
    with pytest.raises(ValueError, match="must be below 2"):
        model.set_params(alpha=1.0).fit(X, y)
