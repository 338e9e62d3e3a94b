# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pytest
from drawing import draw_weight
from features.kernel_oracles import kernel_matrix, mean_distance
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from aucmax.features import _prepared
from aucmax.features.kernels import Kernel, mean_square_distance, scale_mean_gamma

NAMES = ["rbf", "laplacian", "polynomial"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("container", [np.asarray, np.asfortranarray, sparse.csr_array])
def test_against_one_pair_at_a_time(name, dtype, container, rng):
    X = rng.normal(size=(37, 6)) * (rng.random((37, 6)) < 0.6)
    X, Y = X.astype(dtype), rng.normal(size=(11, 6)).astype(dtype)
    kernel = Kernel(name, gamma=0.3, degree=2.0, coef0=0.5)
    values = kernel(container(X), Y)
    assert values.dtype == dtype
    expected = kernel_matrix(name, X, Y, gamma=0.3, degree=2.0, coef0=0.5)
    assert_allclose(values, expected, rtol=1e-4 if dtype is np.float32 else 1e-12)


def test_float32_only_when_both_are(rng):
    X, Y = rng.normal(size=(5, 3)), rng.normal(size=(4, 3))
    kernel = Kernel("rbf", 0.5)
    for left in (np.float32, np.float64):
        for right in (np.float32, np.float64):
            values = kernel(X.astype(left), Y.astype(right))
            assert values.dtype == np.result_type(left, right)
            assert_allclose(values, kernel(X, Y), atol=1e-6)


@pytest.mark.parametrize("degree", [1.0, 3.0, 2.5, 12.0])
def test_degrees(degree, rng):
    X, Y = rng.random((5, 3)), rng.random((4, 3))
    expected = kernel_matrix("polynomial", X, Y, gamma=0.7, degree=degree)
    assert_allclose(Kernel("polynomial", 0.7, degree)(X, Y), expected, rtol=1e-12)


@pytest.mark.parametrize("name", ["rbf", "laplacian"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("d", [1, 20, 700])
@pytest.mark.parametrize("gamma", [1e-12, 0.02, 1e12])
def test_equal_rows_have_kernel_one(name, dtype, d, gamma, rng):
    X = rng.normal(size=(50, d)).astype(dtype)
    Y = X[rng.permutation(50)[:30]]
    is_equal = (X[:, None, :] == Y[None, :, :]).all(axis=2)
    for rows in (X, sparse.csr_array(X)):
        values = Kernel(name, gamma)(rows, Y)
        assert_array_equal(values[is_equal], 1)
        assert np.all((values >= 0) & (values <= 1))
        if gamma == 1e12:
            assert np.all(values[~is_equal] == 0)


@pytest.mark.parametrize("name", ["rbf", "laplacian"])
@pytest.mark.parametrize(
    ("dtype", "offset", "tol"), [(np.float32, 1e4, 1e-5), (np.float64, 1e9, 1e-10)]
)
def test_rows_far_from_zero_keep_their_digits(name, dtype, offset, tol, rng):
    X = (offset + rng.normal(size=(30, 4))).astype(dtype)
    Y = (offset + rng.normal(size=(9, 4))).astype(dtype)
    expected = kernel_matrix(name, X, Y, gamma=0.4)
    assert_allclose(Kernel(name, 0.4)(X, Y), expected, atol=tol)
    if dtype is np.float32:
        assert_allclose(Kernel(name, 0.4)(sparse.csr_array(X), Y), expected, atol=tol)
        wide = X.astype(np.float64)
        prepared = Kernel(name, 0.4).prepare(Y, like=wide, dtype="float32")
        assert_allclose(prepared(wide), expected, atol=tol)


@pytest.mark.parametrize("size", [1e3, 1e15, 1e19, 1e60])
def test_equal_csr_rows_with_a_huge_value(size, rng):
    X = rng.normal(size=(2, 30))
    X[:, 10] = -2.19 * size, -5.59 * size
    for rows in (X, sparse.csr_array(X)):
        assert_allclose(Kernel("rbf", 0.1)(rows, X), np.eye(2), rtol=1e-8)


def test_far_clusters_in_float32_are_computed_in_float64(rng):
    """Seen from their mean both are far away, and distances inside them small."""
    X = np.concatenate([rng.normal(size=(20, 3)) - 500, rng.normal(size=(20, 3)) + 500])
    X = X.astype(np.float32)
    expected = kernel_matrix("rbf", X, X, gamma=1.0)
    assert_allclose(Kernel("rbf", 1.0)(X, X), expected, atol=1e-5)


def test_values_beyond_the_range_of_float32(rng):
    X = np.array([[1e25, 0.0], [0.0, 1.0], [0.0, -1e25]], dtype=np.float32)
    assert_array_equal(Kernel("rbf", 1.0)(X, X), np.eye(3))
    assert_array_equal(Kernel("rbf", 1.0)(sparse.csr_array(X), X), np.eye(3))


@pytest.mark.parametrize("name", NAMES)
def test_blocks_do_not_show(name, rng, monkeypatch):
    X, Y = rng.normal(size=(100, 3)), rng.normal(size=(7, 3))
    whole = Kernel(name, 0.5)(X, Y)
    monkeypatch.setattr(_prepared, "BLOCK_ROWS", 32)
    assert_allclose(Kernel(name, 0.5)(X, Y), whole, rtol=1e-13)


def test_prepared_writes_where_it_is_told(rng):
    X, Y = rng.normal(size=(6, 3)), rng.normal(size=(4, 3))
    kernel, out = Kernel("rbf", 0.5), np.empty((6, 4))
    prepared = kernel.prepare(Y, like=X)
    assert prepared(X, out=out) is out
    assert_array_equal(out, kernel(X, Y))
    assert prepared(X[:0]).shape == (0, 4)


def test_callable(rng):
    X, Y = rng.normal(size=(6, 3)), rng.normal(size=(4, 3))
    assert_allclose(Kernel(lambda a, b: a @ b.T, 1.0)(X, Y), X @ Y.T)
    with pytest.raises(ValueError, match=r"shape \(4, 6\) for 6 and 4 rows"):
        Kernel(lambda a, b: b @ a.T, 1.0)(X, Y)


@pytest.mark.parametrize("kind", ["ones", "integers", "any"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_mean_distances(kind, dtype, rng):
    X = (rng.normal(size=(60, 4)) * (rng.random((60, 4)) < 0.5)).astype(dtype)
    weight = draw_weight(rng, 60, kind)
    square, absolute = (mean_distance(X, weight, power) for power in (2, 1))
    for rows in (X, sparse.csr_array(X), sparse.csr_matrix(X), np.asfortranarray(X)):
        assert mean_square_distance(rows, weight) == pytest.approx(square, rel=1e-12)
        for name, gamma in (
            ("rbf", 1 / square),
            ("polynomial", 1 / square),
            ("laplacian", 1 / absolute),
            (np.dot, 1.0),
        ):
            chosen = scale_mean_gamma(name, rows, weight)
            assert chosen == pytest.approx(gamma, rel=1e-8)


def test_mean_square_distance_without_weight_over_many_rows(rng):
    X = rng.normal(size=(5000, 2)).astype(np.float32) + np.float32(1e4)
    expected = mean_distance(X, np.ones(5000), 2)
    assert mean_square_distance(X) == pytest.approx(expected, rel=1e-10)
    by_columns = sparse.csr_array(X)
    assert mean_square_distance(by_columns) == pytest.approx(expected, rel=1e-7)


def test_rows_without_weight_do_not_count():
    X = np.array([[0.0], [6.0], [1e200]])
    for rows in (X, sparse.csr_array(X)):
        assert mean_square_distance(rows[:2]) == 9.0
        assert mean_square_distance(rows, np.array([1.0, 1.0, 0.0])) == 9.0


@pytest.mark.parametrize("value", [0.0, 0.1, 1e9 / 3])
def test_equal_rows_have_width_one(value):
    X = np.full((1001, 3), value)
    weight = np.random.default_rng(0).random(1001)
    for rows in (X, sparse.csr_array(X)):
        assert mean_square_distance(rows, weight) == 1.0
        assert scale_mean_gamma("laplacian", rows, weight) == 1.0


def test_width_is_the_same_bit_for_bit_when_weight_is_repetition(rng):
    X, weight = rng.normal(size=(300, 7)), rng.integers(0, 5, 300)
    repeated = rng.permutation(np.repeat(X, weight, axis=0))
    for name in ("rbf", "laplacian"):
        assert scale_mean_gamma(name, repeated) == scale_mean_gamma(name, X, weight)


@pytest.mark.parametrize("value", [1e300, 1.7e308])
def test_width_of_huge_rows_is_positive(value):
    assert scale_mean_gamma("rbf", np.array([[value], [-value]])) > 0


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("far", [1e4, 1e8])
def test_a_far_column_and_a_far_row_cost_no_digits(kind, far, rng):
    X = rng.normal(size=(40, 3))
    expected = Kernel("rbf", 0.5)(X, X)
    column = np.column_stack([X, np.full(40, far)])
    values = Kernel("rbf", 0.5)(kind(column), column)
    assert_allclose(values, expected, atol=1e-12 if kind is np.asarray else 1e-6)
    row = np.vstack([X, np.full(3, far)])
    values = Kernel("rbf", 0.5)(kind(row), row)
    assert_allclose(values[:40, :40], expected, atol=1e-12)
    assert_allclose(values[40], np.arange(41) == 40, atol=1e-12)


def test_values_too_large_to_square_are_refused(rng):
    X = 1e200 * rng.normal(size=(5, 2))
    with pytest.raises(ValueError, match="Scale the features"):
        Kernel("rbf", 0.5)(X, X)


@pytest.mark.parametrize("bad", [np.nan, 1j, "text"])
def test_functions_must_return_finite_numbers(bad, rng):
    X = rng.normal(size=(5, 2))
    kernel = Kernel(lambda a, b: np.full((len(a), len(b)), bad), 1.0)
    with pytest.raises(ValueError, match="finite real numbers"):
        kernel(X, X)
