# SPDX-License-Identifier: BSD-3-Clause
"""Batches of labelled rows, dense or CSR, and slots that keep some of them."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from aucmax._kernels.jit import jit
from aucmax._utils.typing import BoolArray, FloatArray, IntArray
from aucmax.saved import saved_as


class DenseBatch(NamedTuple):
    """Rows, their classes, and the slot that each may take (-1 for none)."""

    X: FloatArray
    is_pos: BoolArray
    slots: IntArray


class CSRBatch(NamedTuple):
    """The same for the rows of a CSR matrix."""

    data: FloatArray
    indices: NDArray[np.int32]
    indptr: NDArray[np.int32]
    is_pos: BoolArray
    slots: IntArray


@saved_as("SparseRowBuffer")
class SparseRows(NamedTuple):
    """Slots for CSR rows, with room for the longest.

    The row in slot i has ``lengths[i]`` nonzeros ``values[i]`` in ``columns[i]``, and
    the squared norm ``norms[i]``. ``work`` is a dense row of zeros to compute with.
    """

    values: FloatArray
    columns: NDArray[np.int32]
    lengths: IntArray
    norms: FloatArray
    work: FloatArray


@jit(reorder_sums=True, inline=True)
def dot(left: FloatArray, right: FloatArray) -> float:
    """Return the dot product of two dense rows."""
    total = 0.0
    for j in range(left.shape[0]):
        total += left[j] * right[j]
    return total


@jit(reorder_sums=True, inline=True)
def squared_distance(left: FloatArray, right: FloatArray) -> float:
    """Return the squared Euclidean distance of two dense rows."""
    total = 0.0
    for j in range(left.shape[0]):
        gap = left[j] - right[j]
        total += gap * gap
    return total


@jit(reorder_sums=True, inline=True)
def add_scaled(target: FloatArray, scale: float, row: FloatArray) -> None:
    """Add ``scale * row`` to ``target``."""
    for j in range(target.shape[0]):
        target[j] += scale * row[j]


@jit(inline=True)
def copy_to(target: FloatArray, row: FloatArray) -> None:
    """Copy a dense row. Assigning it to a slice takes a second more to compile."""
    for j in range(target.shape[0]):
        target[j] = row[j]


@jit(reorder_sums=True, inline=True)
def scatter(batch: CSRBatch, t: int, target: FloatArray) -> float:
    """Write row t to a dense row of zeros; return its squared norm."""
    square = 0.0
    for q in range(batch.indptr[t], batch.indptr[t + 1]):
        target[batch.indices[q]] = batch.data[q]
        square += batch.data[q] * batch.data[q]
    return square


@jit(inline=True)
def clear(batch: CSRBatch, t: int, target: FloatArray) -> None:
    """Undo :func:`scatter`."""
    for q in range(batch.indptr[t], batch.indptr[t + 1]):
        target[batch.indices[q]] = 0.0


@jit(reorder_sums=True, inline=True)
def slot_dot(rows: SparseRows, slot: int, vector: FloatArray) -> float:
    """Return the dot product of the row in a slot and a dense vector."""
    total = 0.0
    for q in range(rows.lengths[slot]):
        total += rows.values[slot, q] * vector[rows.columns[slot, q]]
    return total


@jit(inline=True)
def store(batch: CSRBatch, t: int, square: float, rows: SparseRows, slot: int) -> None:
    """Copy row t, of a known squared norm, to a slot."""
    low = batch.indptr[t]
    rows.lengths[slot] = batch.indptr[t + 1] - low
    rows.norms[slot] = square
    for q in range(rows.lengths[slot]):
        rows.values[slot, q] = batch.data[low + q]
        rows.columns[slot, q] = batch.indices[low + q]
