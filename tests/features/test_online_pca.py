# SPDX-License-Identifier: BSD-3-Clause
import copy
import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler

from aucmax import OnlinePCA
from aucmax.datasets import load_bundled

METHODS = ("ccipca", "sga")


def draw(rng, n=400, d=12, q=3):
    """Rows with q large variances and a gap."""
    basis = np.linalg.qr(rng.normal(size=(d, d)))[0]
    scales = np.where(np.arange(d) < q, 10.0 / 1.7 ** np.arange(d), 0.3)
    return rng.normal(size=(n, d)) * scales @ basis + 30.0 * rng.normal(size=d)


def share_kept(pca, X):
    """Variance along the components, relative to that of batch PCA."""
    coordinates = (X - X.mean(axis=0)) @ pca.components_.T
    best = PCA(len(pca.components_)).fit(X).explained_variance_.sum()
    return np.var(coordinates, axis=0, ddof=1).sum() / best


def feed(pca, X, size):
    for low in range(0, X.shape[0], size):
        pca.partial_fit(X[low : low + size])
    return pca


def same(one, two):
    return (
        np.array_equal(one.components_, two.components_)
        and np.array_equal(one.explained_variance_, two.explained_variance_)
        and np.array_equal(one.mean_, two.mean_)
        and one.n_samples_seen_ == two.n_samples_seen_
    )


@pytest.mark.parametrize(("method", "bar"), [("ccipca", 0.999), ("sga", 0.99)])
def test_keeps_the_variance_of_batch_pca_where_there_is_a_gap(rng, method, bar):
    X = draw(rng, n=2000)
    pca = OnlinePCA(3, method=method, random_state=0).fit(X)
    assert share_kept(pca, X) > bar
    batch = PCA(3).fit(X)
    assert_allclose(pca.explained_variance_, batch.explained_variance_, rtol=0.15)
    assert np.abs(np.sum(pca.components_ * batch.components_, axis=1)).min() > 0.95
    assert_allclose(pca.mean_, X.mean(axis=0), rtol=1e-12)


# One pass over 4,435 rows of 36 features and 700 rows of 24.
@pytest.mark.parametrize(
    ("name", "method", "bar"),
    [
        ("satimage", "ccipca", 0.998),
        ("satimage", "sga", 0.98),
        ("german", "ccipca", 0.93),
        ("german", "sga", 0.85),
    ],
)
@pytest.mark.parametrize("q", [2, 5, 10])
def test_keeps_the_variance_of_batch_pca_on_real_rows(name, method, bar, q):
    X = StandardScaler().fit_transform(load_bundled(name).X)
    pca = OnlinePCA(q, method=method, random_state=0).fit(X)
    assert bar < share_kept(pca, X) < 1.0 + 1e-12


@pytest.mark.parametrize("method", METHODS)
def test_components_are_orthonormal_with_settled_signs(rng, method):
    pca = OnlinePCA(5, method=method).partial_fit(draw(rng, n=60))
    components = pca.components_
    assert_allclose(components @ components.T, np.eye(5), atol=1e-14)
    largest = np.argmax(np.abs(components), axis=1)
    assert np.all(components[np.arange(5), largest] > 0)
    assert np.all(np.diff(pca.explained_variance_) <= 0)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_any_batches_give_the_same_bits(rng, method, form):
    X = form(np.round(draw(rng, n=45), 1))
    whole = OnlinePCA(4, method=method).partial_fit(X)
    for size in (1, 7):
        assert same(feed(OnlinePCA(4, method=method), X, size), whole)
    assert same(OnlinePCA(4, method=method, shuffle=False).fit(X), whole)


@pytest.mark.parametrize("method", METHODS)
def test_blocks_inside_a_call_do_not_matter(rng, method, monkeypatch):
    X = draw(rng, n=45)
    whole = OnlinePCA(4, method=method, random_state=3).fit(X)
    features = whole.transform(X)
    monkeypatch.setattr("aucmax.features.online_pca.BLOCK_VALUES", 50)
    again = OnlinePCA(4, method=method, random_state=3).fit(X)
    assert same(again, whole)
    assert np.array_equal(again.transform(X), features)


@pytest.mark.parametrize("method", METHODS)
def test_resumes_from_a_pickle_and_a_copy(rng, method):
    X = draw(rng, n=50)
    whole = OnlinePCA(4, method=method).partial_fit(X)
    half = OnlinePCA(4, method=method).partial_fit(X[:23])
    before = half.components_.copy()
    copied, loaded = copy.deepcopy(half), pickle.loads(pickle.dumps(half))
    for pca in (loaded, copied):
        assert same(pca.partial_fit(X[23:]), whole)
    assert np.array_equal(half.components_, before)


@pytest.mark.parametrize("method", METHODS)
def test_sparse_is_dense(rng, method):
    X = draw(rng, n=40)
    X[np.abs(X) < 10] = 0.0
    dense = OnlinePCA(3, method=method, random_state=0).fit(X)
    for form in (sparse.csr_array, sparse.csr_matrix, sparse.csc_array):
        pca = OnlinePCA(3, method=method, random_state=0).fit(form(X))
        assert same(pca, dense)
        assert_allclose(pca.transform(form(X)), dense.transform(X), atol=1e-10)


def test_float32_in_float32_out(rng):
    X = draw(rng, n=80).astype(np.float32)
    pca = OnlinePCA(3).partial_fit(X)
    assert same(pca, OnlinePCA(3).partial_fit(X.astype(np.float64)))
    features = pca.transform(X)
    assert features.dtype == np.float32
    assert pca.transform(sparse.csr_array(X)).dtype == np.float32
    assert_allclose(features, pca.transform(X.astype(np.float64)), atol=1e-5)
    assert pca.inverse_transform(features).dtype == np.float32
    assert_allclose(
        pca.inverse_transform(features),
        pca.inverse_transform(pca.transform(X.astype(np.float64))),
        rtol=1e-4,
    )


@pytest.mark.parametrize("method", METHODS)
def test_units_do_not_matter(rng, method):
    X = draw(rng, n=60)
    pca = OnlinePCA(3, method=method).partial_fit(X)
    # Powers of two, so that nothing is rounded.
    for factor in (2.0**-400, 2.0**-30, 2.0**200):
        scaled = OnlinePCA(3, method=method).partial_fit(factor * X)
        assert_allclose(scaled.components_, pca.components_, rtol=1e-9, atol=1e-12)
        assert_allclose(
            scaled.explained_variance_ / factor / factor, pca.explained_variance_
        )


@pytest.mark.parametrize("method", METHODS)
def test_all_components_are_a_rotation(rng, method):
    X = draw(rng, n=60, d=5)
    pca = OnlinePCA(5, method=method).partial_fit(X)
    features = pca.transform(X)
    assert features.shape == (60, 5)
    assert_allclose(pca.inverse_transform(features), X, rtol=1e-10)
    centred = X - pca.mean_
    assert_allclose(features @ features.T, centred @ centred.T, atol=1e-9)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_a_row_gets_the_same_values_alone_and_among_others(rng, form):
    X = draw(rng, n=50, d=37)
    X[30] = X[3]
    pca = OnlinePCA(5).partial_fit(X)
    features = pca.transform(form(X))
    assert_allclose(features, (X - pca.mean_) @ pca.components_.T, atol=1e-10)
    assert np.array_equal(features[30], features[3])
    alone = [pca.transform(form(X[i : i + 1]))[0] for i in range(50)]
    assert np.array_equal(alone, features)


@pytest.mark.parametrize("method", METHODS)
def test_fewer_rows_than_components(rng, method):
    X = rng.normal(size=(3, 6))
    pca = OnlinePCA(5, method=method)
    for n_known, row in enumerate(X):
        pca.partial_fit([row])
        components = pca.components_
        assert components.shape == (5, 6)
        assert_allclose(components[:n_known] @ components[:n_known].T, np.eye(n_known),
                        atol=1e-12)  # fmt: skip
        assert not components[n_known:].any()
        assert np.all(pca.explained_variance_[:n_known] > 0)
        assert not pca.explained_variance_[n_known:].any()
    # Two directions hold three rows.
    assert_allclose(pca.inverse_transform(pca.transform(X)), X, atol=1e-12)


@pytest.mark.parametrize("method", METHODS)
def test_rows_of_a_smaller_space(rng, method):
    X = rng.normal(size=(200, 2)) @ rng.normal(size=(2, 7)) + 5.0
    pca = OnlinePCA(4, method=method).partial_fit(X)
    assert not pca.components_[2:].any()
    assert not pca.explained_variance_[2:].any()
    assert_allclose(pca.inverse_transform(pca.transform(X)), X, atol=1e-10)


@pytest.mark.parametrize("method", METHODS)
def test_rows_that_say_nothing(rng, method):
    equal = OnlinePCA(2, method=method).partial_fit(np.full((20, 3), 0.1))
    assert not equal.components_.any()
    assert np.array_equal(equal.mean_, np.full(3, 0.1))
    assert not equal.transform(np.eye(3)).any()
    zeros = OnlinePCA(2, method=method).partial_fit(np.zeros((20, 3)))
    assert not zeros.components_.any()
    # They do not stand in the way of later ones.
    late = equal.partial_fit(draw(rng, n=500, d=3, q=2) / 100.0)
    components = late.components_
    assert_allclose(components @ components.T, np.eye(2), atol=1e-12)


@pytest.mark.parametrize("method", METHODS)
def test_constant_columns_and_repeated_rows(rng, method):
    X = np.repeat(draw(rng, n=100, d=4, q=2), 3, axis=0)
    X = np.column_stack([np.full(300, 7.0), X, np.zeros(300)])
    pca = OnlinePCA(3, method=method, random_state=0).fit(X)
    assert not pca.components_[:, [0, -1]].any()
    assert share_kept(pca, X) > 0.98


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("size", [1e6, 1e69])
def test_far_outliers_overflow_nothing(rng, method, size):
    X = draw(rng, n=300)
    X[[0, 20, 150]] = size * rng.normal(size=(3, 12))
    pca = OnlinePCA(3, method=method).partial_fit(X)
    # Seen from there all other rows are one, so that a direction may be unknown.
    product = pca.components_ @ pca.components_.T
    assert_allclose(product, np.diag(np.diagonal(product).round()), atol=1e-12)
    assert pca.components_[0].any()
    assert np.all(np.isfinite(pca.explained_variance_))


def test_large_steps_stay_finite(rng):
    X = draw(rng, n=300)
    pca = OnlinePCA(3, method="sga", step_size=1e6).partial_fit(X)
    assert_allclose(pca.components_ @ pca.components_.T, np.eye(3), atol=1e-12)


def test_order_and_seed(rng):
    X = draw(rng, n=50)
    one, two = OnlinePCA(random_state=1).fit(X), OnlinePCA(random_state=1).fit(X)
    assert same(one, two)
    assert not same(one, OnlinePCA(random_state=2).fit(X))
    # Forgets what it had learned.
    assert same(one.partial_fit(X).fit(X), two)
    order = np.random.RandomState(1).permutation(50)
    assert same(OnlinePCA().partial_fit(X[order]), two)


def test_amnesic_lets_go_of_the_first_rows(rng):
    X = rng.normal(size=(400, 2)) * np.where(
        np.arange(400)[:, None] < 100, [9, 1], [1, 3]
    )
    alike = OnlinePCA(1, amnesic=0.0).partial_fit(X)
    late = OnlinePCA(1, amnesic=8.0).partial_fit(X)
    assert np.argmax(np.abs(alike.components_[0])) == 0
    assert np.argmax(np.abs(late.components_[0])) == 1


def test_names_and_shapes(rng):
    pca = OnlinePCA(3).partial_fit(draw(rng, n=5))
    names = ["onlinepca0", "onlinepca1", "onlinepca2"]
    assert pca.get_feature_names_out().tolist() == names
    mean = pca.mean_
    pca.partial_fit(draw(rng, n=5))
    assert not np.array_equal(mean, pca.mean_)
    assert pca.n_samples_seen_ == 10


def test_errors_change_nothing(rng):
    X = draw(rng, n=10, d=4)
    with pytest.raises(ValueError, match="n_components=5 is more than n_features=4"):
        OnlinePCA(5).fit(X)
    pca = OnlinePCA(2).partial_fit(X)
    before = copy.deepcopy(pca)
    for bad, match in [
        (X[:, :3], "3 features"),
        (np.where(X[4, 1] == X, np.nan, X), "NaN"),
        (np.where(X[4, 1] == X, 1e80, X), "Scale the features"),
    ]:
        with pytest.raises(ValueError, match=match):
            pca.partial_fit(bad)
        assert same(pca, before)
    with pytest.raises(ValueError, match="2 components"):
        pca.inverse_transform(X)


@pytest.mark.parametrize(
    "bad",
    [
        {"n_components": 0},
        {"method": "svd"},
        {"amnesic": -1.0},
        {"amnesic": np.inf},
        {"step_size": 0.0},
        {"step_size": np.inf},
        {"shuffle": "yes"},
    ],
)
def test_bad_parameters(rng, bad):
    with pytest.raises(ValueError, match=next(iter(bad))):
        OnlinePCA(**bad).fit(draw(rng, n=5))
