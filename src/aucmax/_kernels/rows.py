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


@jit(reorder_sums=True, inline=True)
def row_dot(row: Row, vector: FloatArray) -> float:
    """Return the product of a row and a vector."""
    values, columns = row
    total = 0.0
    for k in range(len(values)):
        total += values[k] * vector[column(columns, k)]
    return total


@jit(reorder_sums=True, inline=True)
def add_row(vector: FloatArray, scale: float, row: Row) -> None:
    """Add ``scale * row`` to a vector."""
    values, columns = row
    for k in range(len(values)):
        vector[column(columns, k)] += scale * values[k]


@jit(reorder_sums=True, inline=True)
def scatter(row: Row, work: FloatArray) -> float:
    """Write a row to a dense one of zeros; return its squared norm."""
    values, columns = row
    square = 0.0
    for k in range(len(values)):
        work[column(columns, k)] = values[k]
        square += values[k] * values[k]
    return square


@jit(reorder_sums=True, inline=True)
def clear(row: Row, work: FloatArray) -> float:
    """Write zeros where a row has values; return the sum of squares that were there."""
    values, columns = row
    square = 0.0
    for k in range(len(values)):
        square += work[column(columns, k)] ** 2
        work[column(columns, k)] = 0.0
    return square


@jit
def column_in_slot(columns: NDArray[np.int32] | None, slot: int, k: int) -> Any:
    """Return the column of value k of the row in a slot."""
    return k if columns is None else columns[slot, k]


# These take slots, not rows: references to rows are counted wherever another function
# may be called, which takes longer than a product of 20 values.
@jit(reorder_sums=True, inline=True)
def slot_dots(
    kept: KeptRows, slot: int, left: FloatArray, right: FloatArray
) -> tuple[float, float]:
    """Return the products of the row in a slot and two vectors."""
    first, second = 0.0, 0.0
    for k in range(kept.lengths[slot]):
        j = column_in_slot(kept.columns, slot, k)
        first += kept.values[slot, k] * left[j]
        second += kept.values[slot, k] * right[j]
    return first, second


@jit(inline=True)
def add_slot(vector: FloatArray, scale: float, kept: KeptRows, slot: int) -> None:
    """Add ``scale`` times the row in a slot to a vector."""
    for k in range(kept.lengths[slot]):
        j = column_in_slot(kept.columns, slot, k)
        vector[j] += scale * kept.values[slot, k]


@jit
def columns_of_slot(columns: NDArray[np.int32] | None, slot: int, n: int) -> Any:
    """Return the columns in a slot, if there are any."""
    return None if columns is None else columns[slot, :n]


@jit(inline=True)
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


@jit(inline=True)
def keep_row(row: Row, square: float, kept: KeptRows, slot: int) -> None:
    """Copy a row of a known squared norm to a slot."""
    n = len(row.values)
    kept.lengths[slot] = n
    kept.norms[slot] = square
    for k in range(n):
        kept.values[slot, k] = row.values[k]
    copy_columns(row.columns, kept.columns, slot)


@jit(reorder_sums=True)
def write_distances(row: Row, square: float, kept: KeptRows, out: FloatArray) -> None:
    """Write the squared distances of a row and those in the slots.

    ``square`` is the squared norm of the row, which is in ``work``.
    """
    for slot in range(len(out)):
        product, _ = slot_dots(kept, slot, kept.work, kept.work)
        out[slot] = square + kept.norms[slot] - 2.0 * product
    # In a loop of their own, so that the compiler makes vectors of the other.
    for slot in range(len(out)):
        if out[slot] <= CANCELLED * square:
            out[slot] = sum_squared_differences(row, kept, slot)


@jit
def sum_squared_differences(row: Row, kept: KeptRows, slot: int) -> float:
    """Return the squared distance of a row and one in a slot, by their differences."""
    other, work = kept_row(kept, slot), kept.work
    add_row(work, -1.0, other)
    total = clear(other, work) + clear(row, work)
    scatter(row, work)
    return total
