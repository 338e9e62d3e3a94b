# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from aucmax._kernels.exponential import (
    exponentiate32,
    exponentiate64,
    subtract_distances,
)

KERNELS = {np.float32: exponentiate32, np.float64: exponentiate64}
# Relative error, and the smallest exponent whose result is a normal number.
LIMITS = {np.float32: (1e-6, -87.0), np.float64: (1e-13, -708.0)}

both = pytest.mark.parametrize("dtype", [np.float32, np.float64])


def exponentials(x, dtype):
    values = np.atleast_2d(np.asarray(x, dtype=dtype)).copy()
    n, v = values.shape
    KERNELS[dtype](values, np.zeros(n, dtype), np.zeros(v, dtype), dtype(0))
    return values


@both
def test_whole_range_against_numpy(dtype):
    tol, least = LIMITS[dtype]
    x = np.linspace(least, 0, 200_001).astype(dtype)
    assert_allclose(exponentials(x, dtype)[0], np.exp(x.astype(float)), rtol=tol)
    tiny = -np.geomspace(1e-45 if dtype is np.float32 else 5e-324, 1, 1000)
    exact = np.exp(tiny.astype(dtype).astype(float))
    assert_allclose(exponentials(tiny, dtype)[0], exact, rtol=tol)


@both
def test_results_too_small_for_a_normal_number_are_zero_or_nearly(dtype):
    _, least = LIMITS[dtype]
    smallest = np.finfo(dtype).tiny
    values = exponentials(np.linspace(least - 40, least - 1, 5000), dtype)
    assert np.all((values >= 0) & (values <= 2 * smallest))
    assert_array_equal(exponentials([-1e4, -1e30, -np.inf], dtype), [[0, 0, 0]])


@both
def test_zero_positive_and_nan(dtype):
    x = [0.0, -0.0, 1e-3, 50.0, np.nan]
    assert_array_equal(exponentials(x, dtype), [[1, 1, 1, 1, 0]])


@both
@pytest.mark.parametrize("v", [1, 3, 7, 8, 9, 31, 100])
def test_any_width(v, dtype, rng):
    x = -rng.exponential(5, size=(5, v)).astype(dtype)
    assert_allclose(exponentials(x, dtype), np.exp(x), rtol=LIMITS[dtype][0])


@both
def test_offsets_of_rows_and_columns(dtype, rng):
    products = rng.normal(size=(4, 9)).astype(dtype)
    left, right = (rng.uniform(0, 3, size=k).astype(dtype) for k in (4, 9))
    expected = np.exp(np.minimum(products - left[:, None] - right, 0))
    KERNELS[dtype](products, left, right, dtype(0))
    assert_allclose(products, expected, rtol=2e-6)


@both
def test_exponents_within_the_noise_are_zero(dtype):
    left, right = np.array([2.0], dtype), np.array([2.0, 2.0, 2.0], dtype)
    products = np.array([[4.0 - 0.03, 4.0 + 0.03, 4.0 - 0.05]], dtype)
    KERNELS[dtype](products, left, right, dtype(0.01))
    assert_allclose(products, [[1, 1, np.exp(-0.05)]], rtol=1e-6)
    assert_array_equal(products[0, :2], 1)


@both
@pytest.mark.parametrize("shape", [(1, 1, 1), (3, 5, 2), (2, 33, 7)])
def test_distances(shape, dtype, rng):
    n, v, d = shape
    X, Y = (rng.normal(size=(k, d)).astype(dtype) for k in (n, v))
    out = np.full((n, v), np.nan, dtype)
    subtract_distances(X, np.ascontiguousarray(Y.T), out)
    expected = -np.abs(X[:, None, :] - Y[None, :, :]).sum(axis=2)
    assert_allclose(out, expected, rtol=1e-5 if dtype is np.float32 else 1e-12)
