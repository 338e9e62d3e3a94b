# SPDX-License-Identifier: BSD-3-Clause
"""Slots that hold one CSR row each."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from aucmax._kernels.jit import jit
from aucmax._utils.typing import FloatArray, IntArray


class SparseRows(NamedTuple):
    """Rows of different lengths in arrays that have room for the longest.

    The row in slot i has ``lengths[i]`` nonzeros ``values[i]`` in ``columns[i]``, and
    the squared norm ``norms[i]``.
    """

    values: FloatArray
    columns: NDArray[np.int32]
    lengths: IntArray
    norms: FloatArray


class CSR(NamedTuple):
    """The arrays of a CSR matrix."""

    data: FloatArray
    indices: NDArray[np.int32]
    indptr: NDArray[np.int32]


@jit(reorder_sums=True, inline=True)
def slot_dot(rows: SparseRows, i: int, vector: FloatArray) -> float:
    """Return the product of the row in slot i and a dense vector."""
    total = 0.0
    for q in range(rows.lengths[i]):
        total += rows.values[i, q] * vector[rows.columns[i, q]]
    return total


@jit(reorder_sums=True, inline=True)
def scatter(X: CSR, t: int, vector: FloatArray) -> float:
    """Write row t to a dense vector of zeros; return its squared norm."""
    square = 0.0
    for q in range(X.indptr[t], X.indptr[t + 1]):
        vector[X.indices[q]] = X.data[q]
        square += X.data[q] * X.data[q]
    return square


@jit(inline=True)
def clear(X: CSR, t: int, vector: FloatArray) -> None:
    """Undo :func:`scatter`."""
    for q in range(X.indptr[t], X.indptr[t + 1]):
        vector[X.indices[q]] = 0.0


@jit(inline=True)
def store(X: CSR, t: int, square: float, rows: SparseRows, i: int) -> None:
    """Copy row t to slot i."""
    low = X.indptr[t]
    rows.lengths[i] = X.indptr[t + 1] - low
    rows.norms[i] = square
    for q in range(rows.lengths[i]):
        rows.values[i, q] = X.data[low + q]
        rows.columns[i, q] = X.indices[low + q]
