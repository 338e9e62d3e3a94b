# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pytest
from features.kernel_oracles import kernel_matrix
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from aucmax.features import fourier as module
from aucmax.features.fourier import FourierFeatures


def mean_products(X, n_seeds=200, **options):
    """Mean of the inner products over seeds, and their standard error."""
    products = []
    for seed in range(n_seeds):
        features = FourierFeatures(40, random_state=seed, **options).fit_transform(X)
        products.append(features @ features.T)
    return np.mean(products, axis=0), np.std(products, axis=0) / np.sqrt(n_seeds)


@pytest.mark.parametrize(
    ("kernel", "orthogonal"), [("rbf", False), ("rbf", True), ("laplacian", False)]
)
def test_mean_over_seeds_is_the_kernel(kernel, orthogonal, rng):
    X = rng.normal(size=(8, 3))
    for gamma in (0.1, 0.7):
        mean, error = mean_products(
            X, kernel=kernel, gamma=gamma, orthogonal=orthogonal
        )
        exact = kernel_matrix(kernel, X, X, gamma=gamma)
        assert np.all(np.abs(mean - exact) < 4.5 * error + 1e-12)
        assert error.max() < 0.02


def test_orthogonal_frequencies_have_smaller_error(rng):
    X = rng.normal(size=(10, 8))
    _, plain = mean_products(X)
    _, orthogonal = mean_products(X, orthogonal=True)
    assert np.mean(orthogonal) < 0.9 * np.mean(plain)


@pytest.mark.parametrize("d", [3, 50])
def test_orthogonal_within_blocks(d, rng):
    fitted = FourierFeatures(20, orthogonal=True, random_state=0)
    frequencies = fitted.fit(rng.normal(size=(30, d))).frequencies_
    assert frequencies.shape == (d, 10)
    first = frequencies[:, : min(d, 10)]
    gram = first.T @ first
    assert_allclose(gram, np.diag(np.diagonal(gram)), atol=1e-12)
    assert len(np.unique(np.diagonal(gram).round(6))) == first.shape[1]


@pytest.mark.parametrize("kernel", ["rbf", "laplacian"])
def test_rows_have_norm_one_and_sparse_is_dense(kernel, rng):
    X = rng.normal(size=(40, 5)) * (rng.random((40, 5)) < 0.5)
    fitted = FourierFeatures(30, kernel=kernel, random_state=0).fit(X)
    features = fitted.transform(X)
    assert features.shape == (40, 30)
    assert_allclose((features**2).sum(axis=1), 1)
    for container in (sparse.csr_array, sparse.csr_matrix, np.asfortranarray):
        other = FourierFeatures(30, kernel=kernel, random_state=0).fit(container(X))
        assert other.gamma_ == fitted.gamma_
        assert_allclose(other.transform(container(X)), features, atol=1e-10)


def test_formula(rng):
    X = rng.normal(size=(9, 2)) + 3
    fitted = FourierFeatures(6, gamma=0.4, random_state=1).fit(X)
    assert_allclose(fitted.offset_, X.mean(axis=0))
    phases = (X - X.mean(axis=0)) @ fitted.frequencies_
    expected = np.hstack([np.cos(phases), np.sin(phases)]) / np.sqrt(3)
    assert_allclose(fitted.transform(X), expected, atol=1e-12)
    assert fitted.get_feature_names_out()[5] == "fourierfeatures5"


def test_float32_is_near_float64_even_far_from_zero(rng):
    X = (1e4 + rng.normal(size=(50, 4))).astype(np.float32)
    exact = FourierFeatures(100, random_state=0).fit(X.astype(float))
    for fitted in (
        FourierFeatures(100, random_state=0).fit(X),
        FourierFeatures(100, dtype="float32", random_state=0).fit(X.astype(float)),
    ):
        for rows in (X, X.astype(float)):
            features = fitted.transform(rows)
            assert features.dtype == np.float32
            products = features.astype(float) @ features.T
            wide = exact.transform(X.astype(float))
            assert_allclose(products, wide @ wide.T, atol=1e-3)


def test_weight_is_repetition(rng):
    X, weight = rng.normal(size=(30, 3)), rng.integers(0, 4, 30)
    one = FourierFeatures(20, random_state=0).fit(X, sample_weight=weight)
    two = FourierFeatures(20, random_state=0).fit(np.repeat(X, weight, axis=0))
    assert_allclose(one.transform(X), two.transform(X), atol=1e-12)


@pytest.mark.parametrize("kernel", ["rbf", "laplacian"])
@pytest.mark.parametrize("gamma", [1e-12, 1e12, "scale-mean"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_extreme_widths_and_constant_rows_stay_finite(kernel, gamma, dtype, rng):
    for X in (rng.normal(size=(20, 3)), np.full((5, 2), 0.1), np.ones((1, 1))):
        fitted = FourierFeatures(20, kernel=kernel, gamma=gamma, random_state=0)
        assert np.all(np.isfinite(fitted.fit_transform(X.astype(dtype))))


def test_blocks_and_out(rng, monkeypatch):
    X = rng.normal(size=(70, 3))
    fitted = FourierFeatures(10, random_state=0).fit(X)
    whole = fitted.transform(X)
    monkeypatch.setattr(module, "BLOCK_ROWS", 32)
    out = np.empty_like(whole)
    assert fitted.transform_rows(X, out=out) is out
    assert_allclose(out, whole, atol=1e-12)


def test_seeds(rng):
    X = rng.normal(size=(5, 2))
    draw = [FourierFeatures(8, random_state=s).fit(X).frequencies_ for s in (0, 0, 1)]
    assert_array_equal(draw[0], draw[1])
    assert not np.any(draw[0] == draw[2])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_features": 7}, "Pass 8"),
        ({"kernel": "laplacian", "orthogonal": True}, 'needs kernel="rbf"'),
        ({"kernel": "polynomial"}, "kernel"),
        ({"gamma": 0.0}, "gamma"),
        ({"dtype": "float16"}, "dtype"),
    ],
)
def test_bad_parameters(options, message):
    with pytest.raises(ValueError, match=message):
        FourierFeatures(**options).fit(np.eye(3))


def test_frequencies_too_large_for_float32_are_explained(rng):
    X = (1e-44 * rng.normal(size=(30, 3))).astype(np.float32)
    with pytest.raises(ValueError, match=r"too large for float32\. Scale the features"):
        FourierFeatures(8, random_state=0).fit(X)
