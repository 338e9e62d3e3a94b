# SPDX-License-Identifier: BSD-3-Clause
"""Buffers of dense or CSR rows, as the kernels take them."""

from typing import Any

import numpy as np
from numpy.typing import DTypeLike
from scipy import sparse

from aucmax import _kernels
from aucmax._utils.state import (
    FLOATS,
    expect,
    expect_array,
    expect_between,
    expect_counts,
    expect_type,
)
from aucmax._utils.typing import BoolArray, IntArray, Matrix, is_sparse


def empty_buffer(
    n_slots: int, d: int, *, sparse_rows: bool, dtype: DTypeLike = np.float64
) -> "_kernels.rows.KeptRows":
    """Return slots for rows of ``d`` features; for CSR rows, without room yet."""
    width = 0 if sparse_rows else d
    return _kernels.rows.KeptRows(
        values=np.zeros((n_slots, width), dtype),
        columns=np.zeros((n_slots, width), dtype=np.int32) if sparse_rows else None,
        lengths=np.zeros(n_slots, dtype=np.int64),
        norms=np.zeros(n_slots),
        work=np.zeros(d),
    )


def as_batch(X: Matrix, is_pos: BoolArray, slots: IntArray) -> "_kernels.rows.Batch":
    """Return rows that are to take some slots."""
    return _kernels.rows.Batch(_kernels.rows.as_rows(X), is_pos, slots)


def with_room(buffer: "_kernels.rows.KeptRows", X: Matrix) -> "_kernels.rows.KeptRows":
    """Return the buffer with room for any row of ``X``."""
    if buffer.columns is None:
        return buffer
    width, longest = buffer.values.shape[1], int(np.diff(X.indptr).max(initial=0))
    if longest <= width:
        return buffer
    # Half as much again, so that few calls have to copy.
    more = ((0, 0), (0, max(longest - width, width // 2)))
    return buffer._replace(
        values=np.pad(buffer.values, more), columns=np.pad(buffer.columns, more)
    )


def buffer_of(X: Matrix) -> "_kernels.rows.KeptRows":
    """Return a buffer with the rows of ``X``, in their order."""
    n, d = X.shape
    buffer = with_room(empty_buffer(n, d, sparse_rows=is_sparse(X)), X)
    all_negative = np.zeros(n, dtype=bool)
    _kernels.batches.keep_rows(as_batch(X, all_negative, np.arange(n)), buffer)
    return buffer


def rows_in(buffer: "_kernels.rows.KeptRows", slots: IntArray) -> Matrix:
    """Return the rows in some slots, dense or CSR."""
    if buffer.columns is None:
        return buffer.values[slots]
    lengths = buffer.lengths[slots]
    is_used = np.arange(buffer.values.shape[1]) < lengths[:, None]
    indptr = np.append(0, np.cumsum(lengths))
    parts = (buffer.values[slots][is_used], buffer.columns[slots][is_used], indptr)
    return sparse.csr_matrix(parts, shape=(len(slots), len(buffer.work)))


def check_buffer(owner: Any, name: str, n_slots: int, d: int | None = None) -> None:
    """Raise ValueError unless an attribute is a sound buffer of rows of length d."""
    rows = expect_type(owner, name, _kernels.rows.KeptRows)
    d = len(expect_array(rows, "work", (d,)))
    width = expect_array(rows, "values", (n_slots, None), FLOATS).shape[1]
    lengths = expect_counts(rows, "lengths", (n_slots,), width)
    if rows.columns is None:
        expect(width == d, rows, "its rows have another length")
    else:
        columns = expect_array(rows, "columns", (n_slots, width), np.int32)
        used = columns[np.arange(width) < lengths[:, None]]
        expect_between(rows, "columns", used, 0, d - 1)
    expect_array(rows, "norms", (n_slots,))
