# SPDX-License-Identifier: BSD-3-Clause
"""Sums and squared lengths of the rows of both classes, in one read of the rows."""

from typing import Any

from numpy.typing import NDArray

from aucmax._kernels.jit import jit
from aucmax._utils.typing import BoolArray, FloatArray


@jit(reorder_sums=True)
def add_rows(
    X: NDArray[Any],
    offset: NDArray[Any],
    is_pos: BoolArray,
    weight: FloatArray,
    sums: FloatArray,
    squares: FloatArray,
) -> None:
    """Add the rows of ``X - offset`` to the sums of their class, dense."""
    for i in range(X.shape[0]):
        own, total = int(is_pos[i]), 0.0
        for j in range(X.shape[1]):
            value = float(X[i, j]) - offset[j]
            sums[own, j] += weight[i] * value
            total += value * value
        squares[own] += weight[i] * total


@jit
def add_rows_csr(
    data: NDArray[Any],
    indices: NDArray[Any],
    indptr: NDArray[Any],
    is_pos: BoolArray,
    weight: FloatArray,
    sums: FloatArray,
    squares: FloatArray,
) -> None:
    """Add the rows to the sums of their class, CSR."""
    for i in range(len(indptr) - 1):
        own, total = int(is_pos[i]), 0.0
        for k in range(indptr[i], indptr[i + 1]):
            value = float(data[k])
            sums[own, indices[k]] += weight[i] * value
            total += value * value
        squares[own] += weight[i] * total
