# SPDX-License-Identifier: BSD-3-Clause
"""Rows times a vector, and its transpose, in one read of the rows.

BLAS takes up to a third longer on long rows and twice as long on short ones, rounds a
row by its neighbours, and wakes threads for small products. Here equal rows get equal
scores, and sums over rows are the same however these are cut into batches.
"""

from typing import Any

from numpy.typing import NDArray

from aucmax._kernels.jit import jit
from aucmax._utils.typing import FloatArray


@jit(reorder_sums=True)
def row_scores(X: NDArray[Any], coef: NDArray[Any], out: FloatArray) -> None:
    """Write ``X @ coef``, summed in the precision of ``X``, which ``coef`` has too."""
    for i in range(X.shape[0]):
        total = X.dtype.type(0)
        for j in range(X.shape[1]):
            total += X[i, j] * coef[j]
        out[i] = total


@jit(reorder_sums=True)
def add_weighted_rows(X: NDArray[Any], vector: FloatArray, out: FloatArray) -> None:
    """Add ``X.T @ vector`` to ``out``, every product and sum in float64."""
    for i in range(X.shape[0]):
        value = vector[i]
        for j in range(X.shape[1]):
            out[j] += value * X[i, j]


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


@jit(reorder_sums=True, inline=True)
def add_scaled(target: FloatArray, scale: float, vector: FloatArray) -> None:
    """Add ``scale * vector`` to ``target``."""
    for j in range(target.shape[0]):
        target[j] += scale * vector[j]


@jit(inline=True)
def copy_to(target: FloatArray, vector: FloatArray) -> None:
    """Copy a vector. Assigning it to a slice takes a second more to compile."""
    for j in range(target.shape[0]):
        target[j] = vector[j]


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
