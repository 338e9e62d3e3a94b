# SPDX-License-Identifier: BSD-3-Clause
"""Rows, dense or CSR, in one form, and slots that keep some of them.

A row is its values and the columns they are in. Dense rows have no columns: None, which
is a type of its own to the compiler, so that every loop below is compiled as if it were
written for dense rows only, or for CSR rows only.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aucmax._kernels.jit import jit
from aucmax._utils.typing import BoolArray, FloatArray, IntArray, Matrix, is_sparse
from aucmax.saved import saved_as

# Squared distances this small, relative to the squared norms they are the difference
# of, are computed again from the differences of the values.
CANCELLED = 1e-6


class Row(NamedTuple):
    """The values of a row, and their columns."""

    values: FloatArray
    columns: NDArray[np.int32] | None


class Rows(NamedTuple):
    """Rows, one after the other: row i begins at ``starts[i]``."""

    values: FloatArray
    columns: NDArray[np.int32] | None
    starts: IntArray


class Batch(NamedTuple):
    """Rows, their classes, and the slot that each may take (-1 for none)."""

    rows: Rows
    is_pos: BoolArray
    slots: IntArray


@saved_as("RowBuffer")
class KeptRows(NamedTuple):
    """Slots for rows, with room for the longest.

    Slots of negatives come first, then as many of positives. The row in slot i has
    ``lengths[i]`` values, and the squared norm ``norms[i]``.
    ``work`` is a dense row of zeros to compute with.
    """

    values: NDArray[Any]
    columns: NDArray[np.int32] | None
    lengths: IntArray
    norms: FloatArray
    work: FloatArray


def as_rows(X: Matrix) -> Rows:
    """Return the rows of a C-ordered array or of a CSR matrix."""
    if is_sparse(X):
        return Rows(X.data, X.indices, X.indptr)
    n, d = X.shape
    return Rows(X.ravel(), None, np.arange(0, n * d + 1, d))


@jit
def column(columns: NDArray[np.int32] | None, k: int) -> Any:
    """Return the column of value k of a row."""
    return k if columns is None else columns[k]


@jit
def columns_between(columns: NDArray[np.int32] | None, low: int, high: int) -> Any:
    """Return some of the columns, if there are any."""
    return None if columns is None else columns[low:high]


@jit(inline=True)
def row_at(rows: Rows, i: int) -> Row:
    """Return row i."""
    low, high = rows.starts[i], rows.starts[i + 1]
    return Row(rows.values[low:high], columns_between(rows.columns, low, high))


@jit(reorder_sums=True)
def row_dot(row: Row, vector: FloatArray) -> float:
    """Return the product of a row and a vector."""
    values, columns = row
    total = 0.0
    for k in range(len(values)):
        total += values[k] * vector[column(columns, k)]
    return total


@jit(reorder_sums=True)
def add_row(vector: FloatArray, scale: float, row: Row) -> None:
    """Add ``scale * row`` to a vector."""
    values, columns = row
    for k in range(len(values)):
        vector[column(columns, k)] += scale * values[k]


@jit(reorder_sums=True)
def scatter(row: Row, work: FloatArray) -> float:
    """Write a row to a dense one of zeros; return its squared norm."""
    values, columns = row
    square = 0.0
    for k in range(len(values)):
        work[column(columns, k)] = values[k]
        square += values[k] * values[k]
    return square


@jit(reorder_sums=True)
def clear(row: Row, work: FloatArray) -> float:
    """Write zeros where a row has values; return the sum of squares that were there."""
    values, columns = row
    square = 0.0
    for k in range(len(values)):
        square += work[column(columns, k)] ** 2
        work[column(columns, k)] = 0.0
    return square


@jit
def columns_of_slot(columns: NDArray[np.int32] | None, slot: int, n: int) -> Any:
    """Return the columns in a slot, if there are any."""
    return None if columns is None else columns[slot, :n]


@jit
def kept_row(kept: KeptRows, slot: int) -> Row:
    """Return the row in a slot."""
    n = kept.lengths[slot]
    return Row(kept.values[slot, :n], columns_of_slot(kept.columns, slot, n))


@jit
def copy_columns(columns: NDArray[np.int32] | None, kept: Any, slot: int) -> None:
    """Copy the columns of a row to a slot, if there are any."""
    if columns is not None:
        for k in range(len(columns)):
            kept[slot, k] = columns[k]


@jit
def keep_row(row: Row, square: float, kept: KeptRows, slot: int) -> None:
    """Copy a row of a known squared norm to a slot."""
    n = len(row.values)
    kept.lengths[slot] = n
    kept.norms[slot] = square
    for k in range(n):
        kept.values[slot, k] = row.values[k]
    copy_columns(row.columns, kept.columns, slot)


@jit
def squared_distance(
    row: Row, square: float, other: Row, norm: float, product: float, work: FloatArray
) -> float:
    """Return the squared distance of two rows of known squared norms and product.

    ``work`` holds the first of them.
    """
    distance = square + norm - 2.0 * product
    if distance <= CANCELLED * square:
        add_row(work, -1.0, other)
        distance = clear(other, work) + clear(row, work)
        scatter(row, work)
    return distance
