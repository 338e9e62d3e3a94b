# SPDX-License-Identifier: BSD-3-Clause
"""Buffers of CSR rows, as the kernels take them."""

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
from aucmax._utils.typing import IntArray, Matrix


def empty_sparse_rows(n_slots: int) -> "_kernels.sparse_rows.SparseRows":
    """Return slots without rows, and without room for any."""
    return _kernels.sparse_rows.SparseRows(
        values=np.zeros((n_slots, 0)),
        columns=np.zeros((n_slots, 0), dtype=np.int32),
        lengths=np.zeros(n_slots, dtype=np.int64),
        norms=np.zeros(n_slots),
    )


def with_room(
    rows: "_kernels.sparse_rows.SparseRows", longest: int
) -> "_kernels.sparse_rows.SparseRows":
    """Return the rows with room for ones of ``longest`` nonzeros."""
    width = rows.values.shape[1]
    if longest <= width:
        return rows
    # Half as much again, so that few calls have to copy.
    more = ((0, 0), (0, max(longest - width, width // 2)))
    return rows._replace(
        values=np.pad(rows.values, more), columns=np.pad(rows.columns, more)
    )


def check_sparse_rows(owner: Any, name: str, n_slots: int, d: int) -> None:
    """Raise ValueError unless an attribute holds sound rows of ``d`` features."""
    rows = expect_type(owner, name, _kernels.sparse_rows.SparseRows)
    width = expect_array(rows, "values", (n_slots, None)).shape[1]
    columns = expect_array(rows, "columns", (n_slots, width), np.int32)
    lengths = expect_counts(rows, "lengths", (n_slots,), width)
    used = columns[np.arange(width) < lengths[:, None]]
    expect_between(rows, "columns", used, 0, d - 1)
    expect_array(rows, "norms", (n_slots,))


def as_csr(
    rows: "_kernels.sparse_rows.SparseRows", slots: IntArray, d: int
) -> sparse.csr_matrix:
    """Return the rows in some slots as a matrix of ``d`` features."""
    lengths = rows.lengths[slots]
    is_used = np.arange(rows.values.shape[1]) < lengths[:, None]
    indptr = np.append(0, np.cumsum(lengths))
    parts = (rows.values[slots][is_used], rows.columns[slots][is_used], indptr)
    return sparse.csr_matrix(parts, shape=(len(slots), d))


def csr_parts(X: Matrix) -> "_kernels.sparse_rows.CSR":
    """Return the arrays of a CSR matrix in the types the loops are compiled for."""
    X = sparse.csr_matrix(X)
    return _kernels.sparse_rows.CSR(
        X.data.astype(np.float64, copy=False),
        X.indices.astype(np.int32, copy=False),
        X.indptr.astype(np.int32, copy=False),
    )
