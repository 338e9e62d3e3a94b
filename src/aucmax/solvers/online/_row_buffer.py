# SPDX-License-Identifier: BSD-3-Clause
"""Buffers of dense or CSR rows, and batches of rows, as the kernels take them."""

from typing import Any

import numpy as np
from scipy import sparse

from aucmax import _kernels
from aucmax._utils.state import (
    expect_array,
    expect_between,
    expect_counts,
    expect_type,
)
from aucmax._utils.typing import BoolArray, IntArray, Matrix, is_sparse


def empty_buffer(n_slots: int, d: int, *, is_sparse: bool) -> Any:
    """Return slots for rows of ``d`` features: an array, or SparseRows without room."""
    if not is_sparse:
        return np.zeros((n_slots, d))
    return _kernels.rows.SparseRows(
        values=np.zeros((n_slots, 0)),
        columns=np.zeros((n_slots, 0), dtype=np.int32),
        lengths=np.zeros(n_slots, dtype=np.int64),
        norms=np.zeros(n_slots),
        work=np.zeros(d),
    )


def with_room(buffer: Any, X: Matrix) -> Any:
    """Return the buffer with room for any row of ``X``."""
    if not is_sparse(X):
        return buffer
    width, longest = buffer.values.shape[1], int(np.diff(X.indptr).max(initial=0))
    if longest <= width:
        return buffer
    # Half as much again, so that few calls have to copy.
    more = ((0, 0), (0, max(longest - width, width // 2)))
    return buffer._replace(
        values=np.pad(buffer.values, more), columns=np.pad(buffer.columns, more)
    )


def as_batch(X: Matrix, is_pos: BoolArray, slots: IntArray) -> Any:
    """Return rows that are to take some slots, as the kernels take them."""
    if is_sparse(X):
        return _kernels.rows.CSRBatch(X.data, X.indices, X.indptr, is_pos, slots)
    return _kernels.rows.DenseBatch(X, is_pos, slots)


def rows_in(buffer: Any, slots: IntArray) -> Matrix:
    """Return the rows in some slots, dense or CSR."""
    if isinstance(buffer, np.ndarray):
        return buffer[slots]
    lengths = buffer.lengths[slots]
    is_used = np.arange(buffer.values.shape[1]) < lengths[:, None]
    indptr = np.append(0, np.cumsum(lengths))
    parts = (buffer.values[slots][is_used], buffer.columns[slots][is_used], indptr)
    return sparse.csr_matrix(parts, shape=(len(slots), len(buffer.work)))


def check_buffer(
    owner: Any, name: str, n_slots: int, d: int, *, is_sparse: bool
) -> None:
    """Raise ValueError unless an attribute is a sound buffer."""
    if not is_sparse:
        expect_array(owner, name, (n_slots, d))
        return
    rows = expect_type(owner, name, _kernels.rows.SparseRows)
    width = expect_array(rows, "values", (n_slots, None)).shape[1]
    columns = expect_array(rows, "columns", (n_slots, width), np.int32)
    lengths = expect_counts(rows, "lengths", (n_slots,), width)
    used = columns[np.arange(width) < lengths[:, None]]
    expect_between(rows, "columns", used, 0, d - 1)
    expect_array(rows, "norms", (n_slots,))
    expect_array(rows, "work", (d,))
