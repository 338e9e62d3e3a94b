# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from aucmax._kernels.products import add_weighted_rows, dot, row_scores


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("d", [1, 3, 31, 32, 100])
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 63, 64, 65, 131, 514])
def test_against_numpy_in_double_precision(n, d, dtype, rng):
    X = rng.normal(size=(n, d)).astype(dtype)
    coef, vector = rng.normal(size=d).astype(dtype), rng.normal(size=n)
    exact = X.astype(np.float64)
    tol = 1e-12 if dtype is np.float64 else 1e-4
    scores = np.empty(n)
    row_scores(X, coef, scores)
    assert_allclose(scores, exact @ coef.astype(np.float64), atol=tol)
    total = np.ones(d)
    add_weighted_rows(X, vector, total)
    assert_allclose(total, 1 + exact.T @ vector, atol=1e-12)
    in_batches = np.ones(d)
    for rows in np.array_split(np.arange(n), 3):
        add_weighted_rows(X[rows], vector[rows], in_batches)
    assert_array_equal(in_batches, total)


def test_float32_sums_over_many_rows_do_not_drift():
    X = np.full((2_000_003, 2), 0.1, dtype=np.float32)
    total = np.zeros(2)
    add_weighted_rows(X, np.ones(len(X)), total)
    assert_allclose(total, len(X) * np.float64(np.float32(0.1)), rtol=1e-12)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("d", [1, 5, 20, 50, 63, 126, 1000])
def test_equal_rows_get_equal_scores_wherever_they_are(d, dtype, rng):
    """Or ties would break, and with them the AUC."""
    row, coef = rng.normal(size=(2, d)).astype(dtype)
    alone = np.empty(1)
    row_scores(row[None], coef, alone)
    for n in (2, 3, 4, 5, 103):
        scores = np.empty(n)
        row_scores(np.tile(row, (n, 1)), coef, scores)
        assert_array_equal(scores, alone[0])


def test_dot(rng):
    left, right = rng.normal(size=(2, 1001))
    assert dot(left, right) == pytest.approx(left @ right)
