# SPDX-License-Identifier: BSD-3-Clause
"""Products and sums of vectors, for kernels that take one row at a time."""

from aucmax._kernels.jit import jit
from aucmax._utils.typing import FloatArray


@jit(reorder_sums=True, inline=True)
def dot(left: FloatArray, right: FloatArray) -> float:
    """Return the dot product."""
    total = 0.0
    for j in range(left.shape[0]):
        total += left[j] * right[j]
    return total


@jit(reorder_sums=True, inline=True)
def squared_distance(left: FloatArray, right: FloatArray) -> float:
    """Return the squared Euclidean distance."""
    total = 0.0
    for j in range(left.shape[0]):
        gap = left[j] - right[j]
        total += gap * gap
    return total


@jit(reorder_sums=True, inline=True)
def add_scaled(target: FloatArray, scale: float, vector: FloatArray) -> None:
    """Add ``scale * vector`` to ``target``."""
    for j in range(target.shape[0]):
        target[j] += scale * vector[j]
