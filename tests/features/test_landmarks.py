# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pytest
from drawing import draw_labels
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.datasets import make_blobs

from aucmax.features import landmarks as module
from aucmax.features.landmarks import choose_landmarks


def draw(X, size, method="uniform", seed=0, **options):
    return choose_landmarks(X, size, method=method, random_state=seed, **options)


def rows_of(X):
    return {tuple(row) for row in np.asarray(X).tolist()}


@pytest.mark.parametrize("method", ["uniform", "kmeans"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("size", [1, 7, 40])
def test_neither_order_nor_repetition_matters(method, dtype, size, rng):
    X = rng.normal(size=(60, 3)).astype(dtype)
    weight = rng.integers(0, 4, 60)
    shuffled = rng.permutation(np.repeat(X, weight, axis=0))
    expected = draw(X, size, method, weight=weight.astype(float))
    assert expected.shape == (size, 3)
    assert expected.dtype == dtype
    assert_array_equal(draw(shuffled, size, method), expected)
    assert_array_equal(draw(np.asfortranarray(shuffled), size, method), expected)
    if method == "uniform":
        assert_array_equal(draw(sparse.csr_array(shuffled), size), expected)
        assert rows_of(expected) <= rows_of(X[weight > 0])
    else:
        got = draw(sparse.csr_array(shuffled), size, method)
        assert_allclose(got, expected, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("method", ["uniform", "stratified", "kmeans"])
def test_all_distinct_rows_where_there_are_no_more(method, rng):
    X = rng.integers(0, 3, size=(200, 2)).astype(float)
    weight = (X[:, 0] < 2).astype(float)
    is_pos = X[:, 1] == 1
    for size in (6, 7, 1000):
        got = draw(X, size, method, weight=weight, is_pos=is_pos)
        assert len(got) == 6
        assert rows_of(got) == rows_of(X[weight > 0])


def test_seeds_matter_and_are_reproducible(rng):
    X = rng.normal(size=(100, 3))
    assert_array_equal(draw(X, 10, seed=1), draw(X, 10, seed=1))
    assert rows_of(draw(X, 10, seed=1)) != rows_of(draw(X, 10, seed=2))


def test_chances_are_proportional_to_weight_and_at_most_one(rng):
    X = rng.normal(size=(20, 2))
    weight = np.arange(1.0, 21.0) ** 2
    weight[-1] = 1e4
    counts = np.zeros(20)
    for seed in range(2000):
        got = rows_of(draw(X, 5, seed=seed, weight=weight))
        assert len(got) == 5
        counts += [tuple(row) in got for row in X.tolist()]
    chance = np.append(4 * weight[:-1] / weight[:-1].sum(), 1.0)
    assert np.all(chance[:-1] < 1)
    assert_allclose(counts / 2000, chance, atol=0.04)
    assert counts[-1] == 2000


def test_certain_rows_make_others_certain(rng):
    X, weight = rng.normal(size=(10, 2)), np.array([1e6, 1e3] + 8 * [1.0])
    got = rows_of(draw(X, 3, weight=weight))
    assert len(got) == 3
    assert rows_of(X[:2]) <= got


def test_stratified_halves(rng):
    X, is_pos = rng.normal(size=(200, 3)), draw_labels(rng, 200, 20)
    pos = rows_of(X[is_pos])
    got = draw(X, 30, "stratified", is_pos=is_pos)
    assert len(got) == 30
    assert sum(tuple(row) in pos for row in got.tolist()) == 15
    # What the smaller class does not need goes to the other one, either way.
    for mask in (is_pos, ~is_pos):
        got = draw(X, 50, "stratified", is_pos=mask)
        assert len(got) == 50
        assert sum(tuple(row) in pos for row in got.tolist()) == 20
    assert len(draw(X, 1, "stratified", is_pos=is_pos)) == 1
    with pytest.raises(ValueError, match="needs the labels"):
        draw(X, 30, "stratified")


def test_rows_that_differ_below_the_rounding_of_the_projection(rng):
    small = rng.permutation(np.repeat(np.arange(30.0), 3))
    X = np.column_stack([np.full(90, 1e18), small])
    for rows in (X, sparse.csr_array(X)):
        got = draw(rows, 100)
        assert len(got) == 30
        assert rows_of(got) == rows_of(X)
        shuffled = rows[rng.permutation(90)]
        assert_array_equal(draw(shuffled, 100), got)
        assert_array_equal(draw(shuffled, 5), draw(rows, 5))


def test_minus_zero_is_zero():
    X = np.array([[0.0, 1.0], [-0.0, 1.0], [0.0, 2.0]])
    assert len(draw(X, 10)) == 2
    assert len(draw(np.array([[0.0], [-0.0]]), 10)) == 1


def test_duplicate_entries_of_a_csr_are_summed(rng):
    messy = sparse.csr_array(
        (np.array([1.0, 2.0, 3.0]), np.array([0, 0, 0]), np.array([0, 2, 3])), (2, 2)
    )
    assert_array_equal(draw(messy, 5), [[3.0, 0.0]])
    assert messy.nnz == 3


def test_kmeans_finds_clusters():
    centres = np.array([[0.0, 0.0], [50.0, 0.0], [0.0, 50.0]])
    X, _ = make_blobs(300, centers=centres, random_state=0)
    misses = [
        np.abs(draw(X, 3, "kmeans", seed=seed)[:, None] - centres).sum(2).min(0).max()
        for seed in range(10)
    ]
    assert min(misses) < 0.5


def test_kmeans_on_part_of_the_rows_respects_weight(rng, monkeypatch):
    monkeypatch.setattr(module, "KMEANS_ROWS", 40)
    X, weight = rng.normal(size=(300, 1)), np.ones(300)
    weight[X[:, 0] > 0] = 3.0
    centre = draw(X, 1, "kmeans", weight=weight)
    assert_allclose(centre[0], np.average(X, axis=0, weights=weight), atol=0.1)


def test_kmeans_of_rows_that_are_nearly_equal_does_not_warn():
    X = 1e6 + np.arange(100, dtype=np.float64)[:, None] * 1e-9
    got = draw(X, 20, "kmeans")
    assert 1 <= len(got) <= 20
    assert np.all(np.isfinite(got))


def test_given_landmarks(rng):
    X = rng.normal(size=(9, 2)).astype(np.float32)
    given = rng.normal(size=(4, 2))
    got = draw(X, 1, given)
    assert got.dtype == np.float32
    assert_allclose(got, given, rtol=1e-6)
    assert_array_equal(draw(X, 1, [[1, 2]]), [[1.0, 2.0]])
    with pytest.raises(ValueError, match="landmarks has 3 features, but X has 2"):
        draw(X, 1, np.zeros((4, 3)))
    with pytest.raises(ValueError, match="NaN"):
        draw(X, 1, np.array([[np.nan, 1.0]]))
    with pytest.raises(ValueError, match="2D array"):
        draw(X, 1, np.array([1.0, 2.0]))
