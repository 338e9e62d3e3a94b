# SPDX-License-Identifier: BSD-3-Clause
"""Rows times a vector, and its transpose, at the speed of one read of the rows.

BLAS reaches two thirds of the memory bandwidth when rows are short, and accumulates
float32 rows in float32. These loops read the rows once, in either precision,
accumulate in float64, and subtract an offset from every row on the way, which costs
nothing and keeps the digits of columns that sit far from zero.
"""

from typing import Any

from numpy.typing import NDArray

from aucmax._kernels import jit
from aucmax._utils.typing import FloatArray


@jit(reorder_sums=True)
def row_scores(
    X: NDArray[Any], offset: FloatArray, coef: FloatArray, out: FloatArray
) -> None:
    """Write ``(X - offset) @ coef``."""
    for i in range(X.shape[0]):
        total = 0.0
        for j in range(X.shape[1]):
            total += (X[i, j] - offset[j]) * coef[j]
        out[i] = total


@jit(reorder_sums=True)
def add_weighted_rows(
    X: NDArray[Any], offset: FloatArray, vector: FloatArray, out: FloatArray
) -> None:
    """Add ``(X - offset).T @ vector`` to ``out``."""
    for i in range(X.shape[0]):
        value = vector[i]
        for j in range(X.shape[1]):
            out[j] += value * (X[i, j] - offset[j])


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
