# SPDX-License-Identifier: BSD-3-Clause
"""Rows in memory that keeps growing: room doubles, so a row is copied once or twice."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from aucmax import _kernels
from aucmax._utils.state import expect, expect_array, expect_between, expect_count
from aucmax._utils.typing import (
    FloatArray,
    IntArray,
    Matrix,
    as_plain,
    is_sparse,
    to_dense,
)
from aucmax.saved import saved_as


def grown(array: NDArray[Any], used: int, needed: int) -> NDArray[Any]:
    """Return the array, or a longer copy of its used part where that is needed."""
    if needed <= array.shape[0]:
        return array
    capacity = max(needed, 2 * array.shape[0])
    longer = np.empty((capacity, *array.shape[1:]), dtype=array.dtype)
    longer[:used] = array[:used]
    return longer


@saved_as("DenseRows")
class DenseRows:
    """Dense float64 rows.

    Parameters
    ----------
    n_features : int
        Length of a row.

    Attributes
    ----------
    n : int
        Rows stored.
    values : ndarray of shape (capacity, n_features)
        The rows, then room for more.
    """

    def __init__(self, n_features: int) -> None:
        self.n = 0
        self.n_features = n_features
        self.values = np.empty((0, n_features))

    def check_state(self) -> None:
        """Raise ValueError unless the arrays of a loaded object fit together."""
        d = expect_count(self, "n_features", low=1)
        values = expect_array(self, "values", (None, d))
        expect_count(self, "n", high=len(values))

    def convert(self, X: Matrix) -> FloatArray:
        """Return X in the form of the rows."""
        _check_width(X, self.n_features)
        return as_plain(to_dense(X))

    def append(self, X: Matrix) -> None:
        """Add copies of rows."""
        rows = self.convert(X)
        end = self.n + rows.shape[0]
        self.values = grown(self.values, self.n, end)
        self.values[self.n : end] = rows
        self.n = end

    def exact_distances(self, queries: FloatArray, ids: IntArray) -> FloatArray:
        """Return squared distances of query i to rows ``ids[i]``, NaN for id -1."""
        distances = np.full(ids.shape, np.nan)
        _kernels.neighbors.exact_distances(self.values, queries, ids, distances)
        return distances


@saved_as("SparseRows")
class SparseRows:
    """Rows of which only nonzeros are stored, float64.

    Parameters
    ----------
    n_features : int
        Length of a row.

    Attributes
    ----------
    n : int
        Rows stored.
    indptr : ndarray of shape (capacity + 1,)
        Where each row begins.
    indices, data : ndarray of shape (capacity,)
        Features, ascending in each row, and their values.
    """

    def __init__(self, n_features: int) -> None:
        self.n = 0
        self.n_features = n_features
        self.indptr = np.zeros(1, dtype=np.int64)
        self.indices = np.empty(0, dtype=np.int32)
        self.data = np.empty(0)

    def check_state(self) -> None:
        """Raise ValueError unless the arrays of a loaded object fit together."""
        d = expect_count(self, "n_features", low=1)
        indptr = expect_array(self, "indptr", (None,), np.int64)
        indices = expect_array(self, "indices", (None,), np.int32)
        data = expect_array(self, "data", (None,))
        n = expect_count(self, "n", high=len(indptr) - 1)
        starts = indptr[: n + 1]
        expect(starts[0] == 0 and (np.diff(starts) >= 0).all(), self, "rows overlap")
        expect(starts[-1] <= min(len(indices), len(data)), self, "rows are cut off")
        expect_between(self, "indices", indices[: starts[-1]], 0, d - 1)

    def convert(self, X: Matrix) -> Any:
        """Return X in the form of the rows."""
        _check_width(X, self.n_features)
        return to_csr(X)

    def append(self, X: Matrix) -> None:
        """Add copies of rows."""
        rows = self.convert(X)
        end, old_nnz = self.n + rows.shape[0], int(self.indptr[self.n])
        nnz = old_nnz + int(rows.indptr[-1])
        self.indptr = grown(self.indptr, self.n + 1, end + 1)
        self.indices = grown(self.indices, old_nnz, nnz)
        self.data = grown(self.data, old_nnz, nnz)
        self.indptr[self.n + 1 : end + 1] = rows.indptr[1:]
        self.indptr[self.n + 1 : end + 1] += old_nnz
        self.indices[old_nnz:nnz] = rows.indices
        self.data[old_nnz:nnz] = rows.data
        self.n = end

    def exact_distances(self, queries: Any, ids: IntArray) -> FloatArray:
        """Return squared distances of query i to rows ``ids[i]``, NaN for id -1."""
        distances = np.full(ids.shape, np.nan)
        _kernels.neighbors.exact_distances_csr(
            csr_rows(self), csr_rows(queries), ids, distances
        )
        return distances


def n_bytes(owner: Any) -> int:
    """Return the size of the arrays that are attributes of an object."""
    arrays = [value for value in vars(owner).values() if isinstance(value, np.ndarray)]
    return sum(array.nbytes for array in arrays)


def to_csr(X: Matrix) -> Any:
    """Return X as CSR with sorted float64 entries and indices of 32 bits."""
    rows = sparse.csr_matrix(X, dtype=np.float64)
    if not rows.has_canonical_format:
        # It may be a view of the user's rows.
        rows = rows.copy()
        rows.sum_duplicates()
    rows.indices = rows.indices.astype(np.int32, copy=False)
    rows.indptr = rows.indptr.astype(np.int32, copy=False)
    return rows


def density(X: Matrix) -> float | None:
    """Return the share of nonzeros of CSR rows; None for dense rows."""
    return X.nnz / max(1, X.shape[0] * X.shape[1]) if is_sparse(X) else None


def csr_rows(rows: Any) -> "_kernels.neighbors.CSRRows":
    """Return CSR rows as kernels take them."""
    indptr = rows.indptr.astype(np.int64, copy=False)
    return _kernels.neighbors.CSRRows(indptr, rows.indices, rows.data)


def _check_width(rows: Matrix, n_features: int) -> None:
    if rows.ndim != 2 or rows.shape[1] != n_features:
        raise ValueError(
            f"The index holds rows of {n_features} features, but got an array of shape "
            f"{rows.shape}. Pass rows with the same features."
        )
