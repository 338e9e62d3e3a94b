# SPDX-License-Identifier: BSD-3-Clause
"""Rows times a vector, and its transpose, at the speed of one read of the rows.

BLAS reaches two thirds of the memory bandwidth when rows are short. These loops read
the rows once, multiply in the precision of the rows, and carry sums over many rows in
float64.

They take four rows at a time, each from its own quarter of the rows. One alone leaves
the processor waiting for memory, and four that are neighbours are not fetched ahead if
they are longer than a few hundred bytes: they take up to three times as long.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucmax._kernels import jit
from aucmax._utils.typing import FloatArray

# Rows added up in the precision of X before the sum goes to float64.
FEW_ROWS = 64
# Bytes.
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
    """Add ``X.T @ vector`` to ``out``."""
    n, d = X.shape
    # From the start of a cache line on: vectors of registers that cross into a second
    # line take a twentieth longer.
    partial = np.zeros(d + CACHE_LINE // X.itemsize, dtype=X.dtype)
    skipped = (-partial.ctypes.data % CACHE_LINE) // X.itemsize
    partial = partial[skipped : skipped + d]
    quarter = n // 4
    for low in range(0, quarter, FEW_ROWS // 4):
        for i in range(low, min(low + FEW_ROWS // 4, quarter)):
            row_0, row_1 = np.uint64(i), np.uint64(i + quarter)
            row_2, row_3 = np.uint64(i + 2 * quarter), np.uint64(i + 3 * quarter)
            value_0, value_1 = X.dtype.type(vector[row_0]), X.dtype.type(vector[row_1])
            value_2, value_3 = X.dtype.type(vector[row_2]), X.dtype.type(vector[row_3])
            for k in range(d):
                j = np.uint64(k)
                partial[j] += (value_0 * X[row_0, j] + value_1 * X[row_1, j]) + (
                    value_2 * X[row_2, j] + value_3 * X[row_3, j]
                )
        for k in range(d):
            out[k] += partial[k]
            partial[k] = 0
    for i in range(4 * quarter, n):
        value = X.dtype.type(vector[i])
        for k in range(d):
            out[k] += value * X[i, k]


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
def add_weighted_rows_precisely(
    X: NDArray[Any], vector: FloatArray, out: FloatArray
) -> None:
    """Add ``X.T @ vector`` to ``out``, every product and sum in float64.

    For sums that a badly conditioned matrix multiplies later.
    """
    n, d = X.shape
    quarter = n // 4
    for i in range(quarter):
        row_0, row_1 = np.uint64(i), np.uint64(i + quarter)
        row_2, row_3 = np.uint64(i + 2 * quarter), np.uint64(i + 3 * quarter)
        value_0, value_1 = vector[row_0], vector[row_1]
        value_2, value_3 = vector[row_2], vector[row_3]
        for k in range(d):
            j = np.uint64(k)
            out[j] += (value_0 * X[row_0, j] + value_1 * X[row_1, j]) + (
                value_2 * X[row_2, j] + value_3 * X[row_3, j]
            )
    for i in range(4 * quarter, n):
        value = vector[i]
        for k in range(d):
            out[k] += value * X[i, k]
