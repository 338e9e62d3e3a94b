# SPDX-License-Identifier: BSD-3-Clause
"""Sparse rows, all of them looked at for a block of queries at a time.

The queries of a block are put together by feature: dense where many of them have it, as
lists where few do. One trip over the nonzeros of the stored rows then adds up the
products with all queries, in float64. Only the sums are rounded to float32.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucmax import _kernels
from aucmax._utils.state import expect_type
from aucmax._utils.typing import FloatArray, IntArray, Matrix
from aucmax.neighbors._blocked import (
    LARGEST,
    Asked,
    Blocked,
    power_of_two,
)
from aucmax.neighbors.rows import SparseRows

# Features of fewer queries than one in so many are kept as lists of those queries.
RARE = 8


class SparseBlockIndex(Blocked):
    """Sparse rows, all of them looked at; memory follows the nonzeros.

    Parameters
    ----------
    n_features : int
        Length of a row.
    """

    def __init__(self, n_features: int) -> None:
        super().__init__(n_features, n_terms=1)
        self.rows: SparseRows = SparseRows(n_features)
        self._n_rescale = 1

    def check_state(self) -> None:
        """Raise ValueError unless the arrays of a loaded object fit together."""
        expect_type(self, "rows", SparseRows)
        super().check_state()

    def insert(self, X: Matrix) -> None:
        """Store copies of rows; they get the next numbers."""
        self.rows.append(X)
        n = self.rows.n
        is_due = n >= self._n_rescale
        if is_due:
            self._n_rescale = 2 * n
            self._n = 0
        squares = _squares(self.rows.indptr[self._n : n + 1], self.rows.data)
        if is_due:
            self._scale = power_of_two(squares)
        self._store_norms(self._scaled(squares))

    def memory_usage(self) -> int:
        """Return the bytes held."""
        return self.rows.memory_usage() + int(self._norms.nbytes)

    def _scaled(self, squares: FloatArray) -> FloatArray:
        """Return scaled squared lengths, minus infinity if too long for float32."""
        with np.errstate(over="ignore"):
            scaled = squares * self._scale * self._scale
        return np.where(scaled <= LARGEST * LARGEST, scaled, -np.inf)

    def _take(self, X: Matrix) -> Matrix:
        return self.rows.take(X)

    def _ask(self, queries: Any) -> Asked:
        n, rows = queries.shape[0], self.rows
        ptr = queries.indptr.astype(np.int64)
        indices = queries.indices.astype(np.int32, copy=False)
        data = queries.data.astype(np.float64, copy=False)
        squares = self._scaled(_squares(ptr, data))
        owners = np.repeat(np.arange(n), np.diff(ptr))
        # Queries too long for float32 become zeros.
        factors = np.where(np.isinf(squares), 0.0, -2.0 * self._scale)
        table = _by_feature(ptr, indices, data * factors[owners] * self._scale, rows)

        def multiply(first: int, last: int, out: NDArray[np.float32]) -> None:
            _kernels.neighbors_filter.multiply_csr(
                rows.indptr, rows.indices, rows.data, self._norms, first, *table, out
            )

        def measure(
            starts: IntArray,
            stops: IntArray,
            ids: IntArray,
            limits: FloatArray,
            out: FloatArray,
        ) -> None:
            stored = (rows.indptr, rows.indices, rows.data)
            asked = (ptr, indices, data)
            _kernels.neighbors.exact_distances_csr(
                *stored, *asked, starts, stops, ids, limits, out
            )

        return Asked(squares, multiply, measure)


def _by_feature(
    ptr: IntArray, indices: NDArray[np.int32], data: FloatArray, rows: SparseRows
) -> tuple[NDArray[np.int32], FloatArray, IntArray, IntArray, FloatArray]:
    """Return the queries by feature, as ``multiply_csr`` needs them."""
    n = len(ptr) - 1
    order = np.argsort(indices, kind="stable")
    owners = np.repeat(np.arange(n), np.diff(ptr))[order]
    values = data[order]
    used, counts = np.unique(indices, return_counts=True)
    is_common = counts * RARE > n
    slots = np.full(rows.n_features, -1, dtype=np.int32)
    n_common = np.count_nonzero(is_common)
    slots[used[is_common]] = np.arange(n_common)
    slots[used[~is_common]] = -2 - np.arange(len(used) - n_common)

    in_columns = np.repeat(is_common, counts)
    columns = np.zeros((n_common, n))
    places = np.repeat(np.arange(n_common), counts[is_common])
    columns[places, owners[in_columns]] = values[in_columns]
    list_ptr = np.concatenate([[0], np.cumsum(counts[~is_common])])
    return slots, columns, list_ptr, owners[~in_columns], values[~in_columns]


def _squares(indptr: IntArray, data: FloatArray) -> FloatArray:
    """Return the squared length of each row."""
    lengths = np.diff(indptr)
    values = data[indptr[0] : indptr[-1]]
    owners = np.repeat(np.arange(len(lengths)), lengths)
    squares: FloatArray = np.bincount(
        owners, weights=values * values, minlength=len(lengths)
    ).astype(np.float64)
    return squares
