# SPDX-License-Identifier: BSD-3-Clause
"""All stored rows are looked at, in float32 and a tile at a time; then a few exactly.

|x - q|^2 = |x|^2 + |q|^2 - 2 x.q. What may be among the nearest by that is measured by
the definition in float64.

How far the float32 value can be off. Let u = 2^-24. Rounding two rows moves their
product by at most 2.01 u |x| |q|. A sum of d terms in any order is off by at most g |x|
|q| with g = d u / (1 - d u), and 2 |x| |q| <= |x|^2 + |q|^2. Rounding the product
and the stored norm and adding them takes 4 u (|x|^2 + |q|^2). So the distance lies
within c (|x|^2 + |q|^2) of the computed value, c = g + 9 u. The part of x is deducted
from its stored norm, so that one long row does not spoil the others; that of q is the
same for all rows. A row can be dropped when its lower bound exceeds the upper bounds of
k others. Upper bounds get 8 u (|x|^2 + |q|^2) more, for their own rounding and for that
of the definition, which is off by (d + 2) 2^-53 of itself.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucmax import _kernels
from aucmax._utils.state import expect, expect_array, expect_number, expect_type
from aucmax._utils.typing import FloatArray, IntArray, Matrix
from aucmax.neighbors.index import Index, Neighbors, nearest_of
from aucmax.neighbors.rows import DenseRows, SparseRows, csr_rows, grown
from aucmax.saved import saved_as

# Products of a tile: 512 kB, which stay in the second cache.
TILE_SIZE = 2**17
# Candidates that a block of queries may have together; with more it is split.
MAX_CANDIDATES = 2**20
UNIT = 2.0**-24
# Rows longer than LARGEST have no place in float32 products: such a row always is a
# candidate, such a query has all rows as candidates. Products below what float32 can
# hold get lost, less than TINY per feature.
LARGEST, TINY = 1e15, 1e-36


class BruteIndex(Index):
    """The search; a subclass multiplies rows, ``n_terms`` float32 products a sum."""

    def __init__(self, n_features: int, n_terms: int) -> None:
        super().__init__(n_features)
        # Above a quarter the bound says nothing; BLAS adds panels of hundreds.
        share = min(n_terms * UNIT, 0.25)
        self._margin = share / (1.0 - share) + 9.0 * UNIT
        self._norms = np.empty(0, dtype=np.float32)

    def check_state(self) -> None:
        """Raise ValueError unless the arrays of a loaded object fit together."""
        super().check_state()
        norms = expect_array(self, "_norms", (None,), np.float32)
        expect(self.rows.n <= len(norms), self, "it has other rows")
        expect_number(self, "_margin")

    def insert(self, X: Matrix) -> None:
        """Store copies of rows; they get the next numbers."""
        start = self.rows.n
        self.rows.append(X)
        n = self.rows.n
        self._norms = grown(self._norms, start, n)
        self._norms[start:n] = self._store(start) * (1.0 - self._margin)

    def _find(self, queries: Matrix, k: int) -> Neighbors | None:
        candidates = self._candidates(*self._prepare(queries), k)
        if candidates is None:
            return None
        width = max(k, candidates.counts.max())
        is_used = np.arange(width) < candidates.counts[:, None]
        ids = np.where(is_used, candidates.ids[:, :width], -1)
        return nearest_of(ids, self.rows.exact_distances(queries, ids), k)

    def _candidates(
        self, doubled: Any, squares: FloatArray, k: int
    ) -> "_kernels.neighbors.Candidates | None":
        """Return rows that may be among the k nearest; None if there are too many."""
        n, n_rows = len(squares), self.n_rows
        tile_rows = min(TILE_SIZE // n, n_rows)
        capacity = n_rows if n == 1 else min(n_rows, MAX_CANDIDATES // n)
        candidates = _kernels.neighbors.Candidates(
            ids=np.empty((n, capacity), dtype=np.int64),
            lower=np.empty((n, capacity), dtype=np.float32),
            counts=np.zeros(n, dtype=np.int64),
            upper=np.full((n, k), np.inf, dtype=np.float32),
            limits=np.full(n, np.inf, dtype=np.float32),
        )
        slack = 2.0 * self._margin + 8.0 * UNIT
        row_slack = slack / (1.0 - self._margin)
        tiny = TINY * (self.n_features + 1)
        query_slack = (slack * np.abs(squares) + tiny).astype(np.float32)
        products = np.empty(n * tile_rows, dtype=np.float32)
        longest = 0
        for first in range(0, n_rows, tile_rows):
            last = min(first + tile_rows, n_rows)
            if longest + last - first > capacity:
                longest = _kernels.neighbors.prune(candidates)
                if longest + last - first > capacity:
                    return None
            tile = products[: n * (last - first)].reshape(n, last - first)
            self._multiply(doubled, first, last, tile)
            longest = _kernels.neighbors.collect(
                tile, self._norms[first:last], first, row_slack, query_slack, candidates
            )
        _kernels.neighbors.prune(candidates)
        return candidates

    def _store(self, start: int) -> FloatArray:
        """Prepare the rows from ``start`` on; return their squared lengths.

        Minus infinity for rows that float32 cannot hold.
        """
        raise NotImplementedError

    def _prepare(self, queries: Matrix) -> tuple[Any, FloatArray]:
        """Return minus two times the queries, and their squared lengths.

        Sparse ones transposed, as CSRRows. Lengths as in ``_store``.
        """
        raise NotImplementedError

    def _multiply(
        self, doubled: Any, first: int, last: int, out: NDArray[np.float32]
    ) -> None:
        """Write the products of such queries with these stored rows."""
        raise NotImplementedError


@saved_as("DenseBruteIndex")
class DenseBruteIndex(BruteIndex):
    """Dense rows, all of them looked at with one matrix product per tile.

    A copy of the rows in float32, less the mean of the first ones, costs 0.5 ns per row
    and query at 10 features, 2 ns at 100.
    """

    def __init__(self, n_features: int) -> None:
        super().__init__(n_features, n_terms=n_features)
        self._centre = np.zeros(n_features)
        self._copies = np.empty((0, n_features), dtype=np.float32)

    def check_state(self) -> None:
        """Raise ValueError unless the arrays of a loaded object fit together."""
        d = expect_type(self, "rows", DenseRows).n_features
        super().check_state()
        expect_array(self, "_centre", (d,))
        copies = expect_array(self, "_copies", (None, d), np.float32)
        expect(self.rows.n <= len(copies), self, "_copies is too short")

    def _store(self, start: int) -> FloatArray:
        n = self.rows.n
        rows = self.rows.values[start:n]
        if start == 0 and n > 0:
            self._centre = rows.mean(axis=0)
        self._copies = grown(self._copies, start, n)
        return self._centred(rows, self._copies[start:n])

    def _centred(self, rows: FloatArray, out: NDArray[np.float32]) -> FloatArray:
        """Write the rows less the centre; return their squared lengths."""
        squares = np.empty(len(rows))
        _kernels.neighbors.centre_rows(rows, self._centre, LARGEST, out, squares)
        return squares

    def _prepare(self, queries: FloatArray) -> tuple[Any, FloatArray]:
        doubled = np.empty(queries.shape, dtype=np.float32)
        squares = self._centred(queries, doubled)
        doubled *= -2.0
        return doubled, squares

    def _multiply(
        self, doubled: Any, first: int, last: int, out: NDArray[np.float32]
    ) -> None:
        np.matmul(doubled, self._copies[first:last].T, out=out)


@saved_as("SparseBruteIndex")
class SparseBruteIndex(BruteIndex):
    """Sparse rows, all of them looked at; memory follows the nonzeros.

    One trip over the nonzeros of the stored rows adds up the products with all queries
    of a block in float64. Only the sums are rounded to float32.
    """

    def __init__(self, n_features: int) -> None:
        super().__init__(n_features, n_terms=1)
        self.rows = SparseRows(n_features)

    def check_state(self) -> None:
        """Raise ValueError unless the arrays of a loaded object fit together."""
        expect_type(self, "rows", SparseRows)
        super().check_state()

    def _store(self, start: int) -> FloatArray:
        return _squares(self.rows.indptr[start : self.rows.n + 1], self.rows.data)

    def _prepare(self, queries: Any) -> tuple[Any, FloatArray]:
        squares = _squares(queries.indptr, queries.data)
        # Queries too long for float32 become zeros.
        factors = np.where(np.isinf(squares), 0.0, -2.0)
        doubled = queries.copy()
        doubled.data *= np.repeat(factors, np.diff(queries.indptr))
        return csr_rows(doubled.T.tocsr()), squares

    def _multiply(
        self, doubled: Any, first: int, last: int, out: NDArray[np.float32]
    ) -> None:
        # Written in the order of the rows: the other way takes twice as long.
        products = np.empty(out.shape[::-1])
        _kernels.neighbors.sparse_products(
            csr_rows(self.rows), first, doubled, products
        )
        with np.errstate(over="ignore"):  # of rows that are always candidates
            out[:] = products.T


def _squares(indptr: IntArray, data: FloatArray) -> FloatArray:
    """Return the squared length of each row, minus infinity for long ones."""
    values = data[indptr[0] : indptr[-1]]
    owners = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
    squares = np.bincount(owners, values * values, len(indptr) - 1)
    return np.where(squares <= LARGEST * LARGEST, squares, -np.inf)
