# SPDX-License-Identifier: BSD-3-Clause
import pickle

import numpy as np
import pytest
from drawing import draw_problem
from features.kernel_oracles import kernel_matrix
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from aucmax.features import nystroem as module
from aucmax.features.nystroem import Nystroem


@pytest.fixture
def X(rng):
    return draw_problem(rng, n=120, d=4)[0]


@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "polynomial"])
def test_all_rows_as_landmarks_give_the_kernel(kernel, X):
    for landmarks in ("uniform", X):
        fitted = Nystroem(kernel=kernel, landmarks=landmarks).fit(X)
        features = fitted.transform(X)
        exact = kernel_matrix(kernel, X, X, gamma=fitted.gamma_)
        assert_allclose(features @ features.T, exact, atol=1e-8 * exact.max())


def test_kernel_is_exact_between_landmarks(X):
    fitted = Nystroem(20, random_state=0).fit(X)
    assert fitted.landmarks_.shape == (20, 4)
    features = fitted.transform(fitted.landmarks_)
    exact = kernel_matrix(
        "rbf", fitted.landmarks_, fitted.landmarks_, gamma=fitted.gamma_
    )
    assert_allclose(features @ features.T, exact, atol=1e-10)


def test_formula_and_attributes(X):
    fitted = Nystroem(20, gamma=0.3, random_state=0).fit(X)
    assert fitted.gamma_ == fitted.kernel_.gamma == 0.3
    values = kernel_matrix("rbf", X, fitted.landmarks_, gamma=0.3)
    assert_allclose(fitted.transform(X), values @ fitted.normalization_, atol=1e-9)
    inner = kernel_matrix("rbf", fitted.landmarks_, fitted.landmarks_, gamma=0.3)
    whitened = fitted.normalization_.T @ inner @ fitted.normalization_
    assert_allclose(whitened, np.eye(20), atol=1e-8)
    assert np.all(np.diff(fitted.eigenvalues_) <= 0)
    assert_allclose(fitted.eigenvalues_.sum(), 20)
    energy = (fitted.transform(fitted.landmarks_) ** 2).sum(axis=0)
    assert_allclose(energy, fitted.eigenvalues_, rtol=1e-6)
    assert fitted.get_feature_names_out()[1] == "nystroem1"


def test_rank_keeps_the_leading_features(X):
    full = Nystroem(30, random_state=0).fit(X)
    short = Nystroem(30, rank=5, random_state=0).fit(X)
    assert_array_equal(short.eigenvalues_, full.eigenvalues_[:5])
    assert_allclose(short.transform(X), full.transform(X)[:, :5], atol=1e-12)


@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "polynomial"])
def test_sparse_rows_are_dense_rows(kernel, rng):
    X = rng.normal(size=(80, 6)) * (rng.random((80, 6)) < 0.4)
    for container in (sparse.csr_array, sparse.csr_matrix, sparse.csc_array):
        dense = Nystroem(15, kernel=kernel, random_state=0).fit(X)
        other = Nystroem(15, kernel=kernel, random_state=0).fit(container(X))
        assert_array_equal(other.landmarks_, dense.landmarks_)
        assert_allclose(other.transform(container(X)), dense.transform(X), atol=1e-8)
        assert_allclose(dense.transform(container(X)), dense.transform(X), atol=1e-8)


def test_float32_is_near_float64(X):
    exact = Nystroem(40, random_state=0).fit(X).transform(X)
    for rows, dtype in ((X.astype(np.float32), None), (X, "float32")):
        fitted = Nystroem(40, dtype=dtype, random_state=0).fit(rows)
        features = fitted.transform(rows)
        assert features.dtype == fitted.landmarks_.dtype == np.float32
        products = features.astype(np.float64) @ features.T
        assert_allclose(products, exact @ exact.T, atol=1e-3)
    wide = Nystroem(40, dtype="float64", random_state=0).fit(X.astype(np.float32))
    assert wide.transform(X.astype(np.float32)).dtype == np.float64


def test_float32_features_come_from_the_fit_whatever_is_transformed(X):
    fitted = Nystroem(40, random_state=0).fit(X.astype(np.float32))
    assert fitted.transform(X).dtype == np.float32
    assert_allclose(fitted.transform(X), fitted.transform(X.astype("f4")), atol=1e-3)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("kernel", ["rbf", "laplacian"])
@pytest.mark.parametrize("gamma", ["scale-mean", 1e-12, 1e12])
def test_degenerate_rows_and_widths_stay_finite(dtype, kernel, gamma, rng):
    repeated = np.repeat(rng.normal(size=(5, 3)), 8, axis=0)
    constant = np.column_stack([np.full(40, 7.0), rng.normal(size=40)])
    for rows in (repeated, constant, np.ones((6, 2)), repeated[:1], 1e8 + repeated):
        X = rows.astype(dtype)
        features = Nystroem(kernel=kernel, gamma=gamma).fit_transform(X)
        assert np.all(np.isfinite(features))
        assert_allclose((features**2).sum(axis=1), 1, atol=1e-3)
    narrow = Nystroem(kernel=kernel, gamma=1e12).fit_transform(repeated.astype(dtype))
    same = np.repeat(np.repeat(np.eye(5), 8, axis=0), 8, axis=1)
    assert_allclose(narrow @ narrow.T, same, atol=1e-6)


def test_weight_is_repetition_and_order_does_not_matter(X, rng):
    weight = rng.integers(0, 4, len(X))
    repeated = rng.permutation(np.repeat(X, weight, axis=0))
    for options in ({}, {"kernel": "laplacian"}, {"landmarks": "kmeans"}):
        fitted = Nystroem(30, random_state=0, **options).fit(X, sample_weight=weight)
        other = Nystroem(30, random_state=0, **options).fit(repeated)
        assert other.gamma_ == fitted.gamma_
        assert_array_equal(other.landmarks_, fitted.landmarks_)
        assert_array_equal(other.transform(X), fitted.transform(X))


def test_stratified_needs_labels_of_two_classes(rng):
    X, is_pos, _ = draw_problem(rng, n=100, fraction=0.1)
    y = np.where(is_pos, "b", "a")
    fitted = Nystroem(16, landmarks="stratified", random_state=0).fit(X, y)
    pos = {tuple(row) for row in X[is_pos].tolist()}
    assert sum(tuple(row) in pos for row in fitted.landmarks_.tolist()) == 8
    for bad, message in (
        (None, "requires y"),
        (y[:50], "inconsistent"),
        (np.zeros(100), "only one class"),
    ):
        with pytest.raises(ValueError, match=message):
            Nystroem(16, landmarks="stratified").fit(X, bad)
    with pytest.raises(ValueError, match="positive class has no weight"):
        Nystroem(landmarks="stratified").fit(X, y, sample_weight=1.0 - is_pos)


def test_blocks_and_out(X, monkeypatch):
    fitted = Nystroem(20, random_state=0).fit(X)
    whole = fitted.transform(X)
    monkeypatch.setattr(module, "BLOCK_ROWS", 50)
    assert_allclose(fitted.transform(X), whole, atol=1e-12)
    out = np.empty_like(whole)
    assert fitted.transform_rows(X, out=out) is out
    assert_allclose(out, whole, atol=1e-12)
    assert_array_equal(fitted.transform_rows(X[:0]).shape, (0, 20))


def test_callable_kernels(X):
    fitted = Nystroem(30, kernel=lambda a, b: a @ b.T, random_state=0).fit(X)
    assert fitted.gamma_ == 1.0
    features = fitted.transform(X)
    assert features.shape == (120, 4)
    assert_allclose(features @ features.T, X @ X.T, atol=1e-8)


def test_negative_eigenvalues_are_dropped(rng):
    signs = np.array([3.0, 1.0, -1.0])

    def indefinite(a, b):
        return (a * signs) @ b.T

    X = rng.normal(size=(40, 3))
    features = Nystroem(kernel=indefinite).fit_transform(X)
    assert features.shape == (40, 2)
    assert np.all(np.isfinite(features))
    with pytest.raises(ValueError, match="no positive eigenvalue"):
        Nystroem(kernel=lambda a, b: -a @ b.T).fit(X)


def test_bad_kernels(X):
    with pytest.raises(ValueError, match="finite"):
        Nystroem(kernel=lambda a, b: np.full((len(a), len(b)), np.nan)).fit(X)
    with pytest.raises(ValueError, match=r"shape \(120,\)"):
        Nystroem(kernel=lambda a, b: np.ones(len(a))).fit(X)
    with pytest.raises(ValueError, match="finite"):
        Nystroem(kernel="polynomial", degree=200, gamma=1e3).fit(X)


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        (-np.ones(120), "Negative values"),
        (np.full(120, np.nan), "NaN"),
        (np.zeros(120), "All sample_weight are zero"),
        (np.ones(3), r"sample_weight.shape == \(3,\)"),
        (np.ones((120, 2)), "1D array"),
        (["x"] * 120, "must hold numbers"),
    ],
)
def test_bad_weights(weight, message, X):
    with pytest.raises(ValueError, match=message):
        Nystroem().fit(X, sample_weight=weight)


def test_failed_fit_leaves_the_old_map(X):
    fitted = Nystroem(10, random_state=0).fit(X)
    before = fitted.transform(X)
    fitted.kernel = lambda a, b: np.full((len(a), len(b)), np.inf)
    with pytest.raises(ValueError, match="finite"):
        fitted.fit(X)
    assert_array_equal(fitted.transform(X), before)


def test_text_is_refused(X):
    with pytest.raises(ValueError, match="holds text"):
        Nystroem().fit(X.astype(str))


def test_pickle_and_given_landmarks(X):
    fitted = Nystroem(landmarks=X[:7], gamma=0.5).fit(X)
    assert_array_equal(fitted.landmarks_, X[:7])
    copy = pickle.loads(pickle.dumps(fitted))
    assert_array_equal(copy.transform(X), fitted.transform(X))
    with pytest.raises(ValueError, match="landmarks has 2 features"):
        Nystroem(landmarks=X[:, :2]).fit(X)
