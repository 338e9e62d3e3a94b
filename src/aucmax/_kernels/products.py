# SPDX-License-Identifier: BSD-3-Clause
"""Rows times a vector, and its transpose, at the speed of one read of the rows.

BLAS reaches two thirds of the memory bandwidth, and half where rows are short. These
loops read the rows once. Scores are summed in the precision of the rows, sums over rows
in float64, so that they are the same, to rounding, however the rows are cut into parts.

Most take four rows at a time, each from its own quarter of the rows. One alone leaves
the processor waiting for memory, and four that are neighbours are not fetched ahead if
they are longer than a few hundred bytes: they take up to three times as long.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucmax._kernels.jit import jit
from aucmax._utils.typing import FloatArray

# Rows added up in the precision of X before their sum goes to float64.
FEW_ROWS = 64
# In bytes. Sums begin where a line does: registers that cross into another take longer.
CACHE_LINE = 64


@jit(reorder_sums=True)
def row_scores(X: NDArray[Any], coef: NDArray[Any], out: FloatArray) -> None:
    """Write ``X @ coef``; ``coef`` has the precision of ``X``."""
    n, d = X.shape
    zero = X.dtype.type(0)
    quarter = (n + 3) // 4
    for i in range(quarter):
        # The last row may be met more than once. But all rows take the same path, as
        # equal ones must get equal scores, to the last bit.
        row_0 = np.uint64(i)
        row_1 = np.uint64(min(i + quarter, n - 1))
        row_2 = np.uint64(min(i + 2 * quarter, n - 1))
        row_3 = np.uint64(min(i + 3 * quarter, n - 1))
        sum_0, sum_1, sum_2, sum_3 = zero, zero, zero, zero
        for k in range(d):
            # Unsigned indices: where rows are short, looking for negative ones takes a
            # third of the time.
            j = np.uint64(k)
            sum_0 += X[row_0, j] * coef[j]
            sum_1 += X[row_1, j] * coef[j]
            sum_2 += X[row_2, j] * coef[j]
            sum_3 += X[row_3, j] * coef[j]
        out[row_0], out[row_1], out[row_2], out[row_3] = sum_0, sum_1, sum_2, sum_3


@jit(reorder_sums=True)
def add_weighted_rows(X: NDArray[Any], vector: FloatArray, out: FloatArray) -> None:
    """Add ``X.T @ vector`` to ``out``, every product and sum in float64."""
    n, d = X.shape
    sums = np.zeros(d + CACHE_LINE // 8)
    skipped = (-sums.ctypes.data % CACHE_LINE) // 8
    sums = sums[skipped : skipped + d]
    quarter = n // 4
    for i in range(quarter):
        row_0, row_1 = np.uint64(i), np.uint64(i + quarter)
        row_2, row_3 = np.uint64(i + 2 * quarter), np.uint64(i + 3 * quarter)
        value_0, value_1 = vector[row_0], vector[row_1]
        value_2, value_3 = vector[row_2], vector[row_3]
        for k in range(d):
            j = np.uint64(k)
            sums[j] += (value_0 * X[row_0, j] + value_1 * X[row_1, j]) + (
                value_2 * X[row_2, j] + value_3 * X[row_3, j]
            )
    for i in range(4 * quarter, n):
        for k in range(d):
            sums[k] += vector[i] * X[i, k]
    for k in range(d):
        out[k] += sums[k]


@jit(reorder_sums=True)
def add_long_rows(X: NDArray[Any], vector: FloatArray, out: FloatArray) -> None:
    """Add ``X.T @ vector`` to ``out``; a few rows at a time in the precision of X.

    For float32 rows so long that sums in float64 would fill the first-level cache. The
    result depends on where the rows begin, unless at a multiple of ``FEW_ROWS``.
    """
    n, d = X.shape
    partial = np.zeros(d + CACHE_LINE // X.itemsize, dtype=X.dtype)
    skipped = (-partial.ctypes.data % CACHE_LINE) // X.itemsize
    partial = partial[skipped : skipped + d]
    for low in range(0, n, FEW_ROWS):
        for i in range(low, min(low + FEW_ROWS, n)):
            row = np.uint64(i)
            value = X.dtype.type(vector[row])
            for k in range(d):
                j = np.uint64(k)
                partial[j] += value * X[row, j]
        for k in range(d):
            out[k] += partial[k]
            partial[k] = 0


@jit(reorder_sums=True)
def dot(left: FloatArray, right: FloatArray) -> float:
    """Return the dot product of two vectors of scores.

    BLAS wakes a second thread for 10,000 values, which costs far more than it saves
    whenever the machine has anything else to do.
    """
    total = 0.0
    for i in range(left.shape[0]):
        total += left[i] * right[i]
    return total


@jit(reorder_sums=True)
def add_weighted_squares(
    X: NDArray[Any], offset: NDArray[Any], weight: FloatArray, out: FloatArray
) -> None:
    """Add ``((X - offset) ** 2).T @ weight`` to ``out``."""
    for i in range(X.shape[0]):
        for j in range(X.shape[1]):
            difference = X[i, j] - offset[j]
            out[j] += weight[i] * difference * difference


@jit
def add_weighted_squares_csr(
    data: NDArray[Any],
    indices: NDArray[Any],
    indptr: NDArray[Any],
    weight: FloatArray,
    out: FloatArray,
) -> None:
    """Add ``(X**2).T @ weight`` to ``out``, of CSR rows."""
    for i in range(len(indptr) - 1):
        for k in range(indptr[i], indptr[i + 1]):
            out[indices[k]] += weight[i] * data[k] * data[k]
