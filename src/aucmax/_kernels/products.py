# SPDX-License-Identifier: BSD-3-Clause
"""Rows times a vector, and its transpose, at the speed of one read of the rows.

BLAS reaches two thirds of the memory bandwidth when rows are short. These loops read
the rows once, multiply in the precision of the rows, and carry sums over many rows in
float64.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucmax._kernels import jit
from aucmax._utils.typing import FloatArray

# Rows added up in the precision of X before the sum goes to float64.
FEW_ROWS = 64
# Rows shorter than this are added four at a time: one alone does not fill the pipeline.
SHORT_ROW = 32


@jit(reorder_sums=True)
def row_scores(X: NDArray[Any], coef: NDArray[Any], out: FloatArray) -> None:
    """Write ``X @ coef``; ``coef`` has the precision of ``X``."""
    # One row at a time: equal rows must get equal scores, to the last bit.
    for i in range(X.shape[0]):
        total = X.dtype.type(0)
        for j in range(X.shape[1]):
            total += X[i, j] * coef[j]
        out[i] = total


@jit(reorder_sums=True)
def add_weighted_rows(X: NDArray[Any], vector: FloatArray, out: FloatArray) -> None:
    """Add ``X.T @ vector`` to ``out``."""
    n, d = X.shape
    partial = np.zeros(d, dtype=X.dtype)
    for low in range(0, n, FEW_ROWS):
        high = min(low + FEW_ROWS, n)
        done = high - (high - low) % 4 if d < SHORT_ROW else low
        # Unsigned indices: where rows are short, looking for negative ones takes a
        # third of the time.
        for i in range(low, done, 4):
            a, b = np.uint64(i), np.uint64(i + 1)
            c, e = np.uint64(i + 2), np.uint64(i + 3)
            first, second = X.dtype.type(vector[a]), X.dtype.type(vector[b])
            third, fourth = X.dtype.type(vector[c]), X.dtype.type(vector[e])
            for k in range(d):
                j = np.uint64(k)
                partial[j] += (first * X[a, j] + second * X[b, j]) + (
                    third * X[c, j] + fourth * X[e, j]
                )
        for i in range(done, high):
            a = np.uint64(i)
            value = X.dtype.type(vector[a])
            for k in range(d):
                j = np.uint64(k)
                partial[j] += value * X[a, j]
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
def add_weighted_rows_precisely(
    X: NDArray[Any], vector: FloatArray, out: FloatArray
) -> None:
    """Add ``X.T @ vector`` to ``out``, every product and sum in float64.

    For sums that a badly conditioned matrix multiplies later. One row at a time: to
    read several at once, memory takes up to twice as long.
    """
    for i in range(X.shape[0]):
        value = vector[i]
        for j in range(X.shape[1]):
            out[j] += value * X[i, j]
