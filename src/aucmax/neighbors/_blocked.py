# SPDX-License-Identifier: BSD-3-Clause
"""All stored rows are looked at, in float32 and a tile at a time; then a few exactly.

|x - q|^2 = |x|^2 + |q|^2 - 2 x.q, with rows scaled by a power of two. What may be among
the nearest by that is measured by the definition in float64.

How far the float32 value can be off. Let u = 2^-24. Rounding the two rows moves their
distance by at most u (|x| + |q|), its square by 2 u (|x| + |q|)^2 and a little, so by
4.01 u (|x|^2 + |q|^2). A product of d terms, added in any order, is off by at most
g |x| |q| with g = d u / (1 - d u), and 2 |x| |q| <= |x|^2 + |q|^2. Rounding the product
and the stored norm and adding them takes 4 u (|x|^2 + |q|^2). So the distance lies
within c (|x|^2 + |q|^2) of the computed value, c = g + 9 u. The part of x is deducted
from its stored norm, so that one long row does not spoil the others; that of q belongs
to the limit. A row can be dropped when its lower bound exceeds the upper bounds of k
others, or the limit measured by the definition. The latter is off by (d + 2) 2^-53 of
itself, much less than u; limits get 8 u (|x|^2 + |q|^2) more for that and for their own
rounding.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from aucmax import _kernels
from aucmax._utils.state import expect, expect_array, expect_count, expect_number
from aucmax._utils.typing import FloatArray, IntArray, Matrix
from aucmax.neighbors._base import Neighbors
from aucmax.neighbors._nearest import Nearest, check_k, nothing, search
from aucmax.neighbors.rows import DenseRows, SparseRows, grown

# Queries and rows of a tile: its products take 512 kB, which stay in the second cache.
# Half the queries take 10 % longer for dense rows and 50 % for sparse ones.
N_QUERIES, N_ROWS = 128, 1024
UNIT = 2.0**-24
# Scaled values above LARGEST have no place in float32 products: such a row always
# counts as near, such a query finds all rows near. Products below what float32 can hold
# get lost, less than TINY per feature.
LARGEST, TINY = 1e15, 1e-36
# The scale stays within 2^-400 and 2^400, so that its square can be used, and what
# float64 loses below 1e-323 is less than TINY too.
MAX_EXPONENT = 400


class Asked(NamedTuple):
    """A block of queries and how to compare it with the stored rows.

    Attributes
    ----------
    squares : ndarray of shape (n_queries,)
        Scaled squared lengths; minus infinity for queries that float32 cannot hold.
    multiply : callable
        ``multiply(first, last, out)`` writes minus twice the products with these rows.
    measure : callable
        ``measure(starts, stops, ids, limits, out)`` writes distances by definition.
    """

    squares: FloatArray
    multiply: Callable[[int, int, NDArray[np.float32]], None]
    measure: Callable[[IntArray, IntArray, IntArray, FloatArray, FloatArray], None]


def power_of_two(squares: FloatArray) -> float:
    """Return the scale that makes rows of these squared lengths about one long."""
    squares = squares[squares > 0.0]
    exponent = 0.5 * np.log2(np.median(squares)) if len(squares) else 0.0
    return float(2.0 ** -int(np.clip(exponent, -MAX_EXPONENT, MAX_EXPONENT)))


class Blocked:
    """The search; a subclass stores rows and says how to compare them.

    Parameters
    ----------
    n_features : int
        Length of a row.
    n_terms : int
        Longest sum of products in float32.
    """

    rows: DenseRows | SparseRows
    _n_rescale: int

    def __init__(self, n_features: int, *, n_terms: int) -> None:
        self._tiny = TINY * (n_features + 1)
        # With millions of terms the bound says nothing; BLAS adds panels of hundreds.
        share = min(n_terms * UNIT, 0.25)
        self._margin = share / (1.0 - share) + 9.0 * UNIT
        self._scale = 1.0
        self._n = 0
        self._norms = np.empty(0, dtype=np.float32)

    @property
    def n_rows(self) -> int:
        """Rows stored."""
        return self._n

    @property
    def n_features(self) -> int:
        """Length of a row."""
        return self.rows.n_features

    def check_state(self) -> None:
        """Raise ValueError unless the arrays of a loaded object fit together."""
        n = expect_count(self, "_n")
        norms = expect_array(self, "_norms", (None,), np.float32)
        expect(n == self.rows.n and n <= len(norms), self, "it has other rows")
        expect_count(self, "_n_rescale", low=1)
        for name in ("_tiny", "_margin", "_scale"):
            expect_number(self, name)

    def query(self, X: Matrix, k: int) -> Neighbors:
        """Return the nearest rows of each row of X; all stored if there are fewer."""
        check_k(k)
        queries = self._take(X)
        k = min(k, self._n)
        if k == 0 or queries.shape[0] == 0:
            return nothing(queries.shape[0])
        return search(
            lambda block: self._find(self._ask(block), k),
            queries,
            block=N_QUERIES,
        )

    def _store_norms(self, squares: FloatArray) -> None:
        """Store scaled squared lengths of new rows; minus infinity for huge ones."""
        end = self._n + squares.shape[0]
        self._norms = grown(self._norms, self._n, end)
        self._norms[self._n : end] = squares * (1.0 - self._margin)
        self._n = end

    def _take(self, X: Matrix) -> Matrix:
        """Return X in the form of the stored rows."""
        raise NotImplementedError

    def _ask(self, queries: Matrix) -> Asked:
        raise NotImplementedError

    def _find(self, asked: Asked, k: int) -> Neighbors:
        is_huge = np.isinf(asked.squares)
        squares = np.abs(asked.squares)
        n = squares.shape[0]
        slack = 2.0 * self._margin + 8.0 * UNIT
        row_slack = slack / (1.0 - self._margin)
        query_slack = (slack * squares + self._tiny).astype(np.float32)
        # The limit by definition, as one of lower bounds.
        stretch = self._scale * self._scale * (1.0 + 8.0 * UNIT)
        shifts = self._tiny - squares * (1.0 - self._margin - 8.0 * UNIT)
        shifts[is_huge] = np.inf

        # Fewer queries have longer tiles. Lists hold two tiles, so that they seldom
        # have to be emptied before the end.
        m = min(N_ROWS * max(1, N_QUERIES // n), self._n)
        capacity = 2 * m
        heaps = np.full((n, k), np.inf, dtype=np.float32)
        bounds = np.full(n, np.inf, dtype=np.float32)
        products = np.empty(n * m, dtype=np.float32)
        ids = np.empty((n, capacity), dtype=np.int64)
        lows = np.empty((n, capacity), dtype=np.float32)
        distances = np.empty(n * capacity)
        counts = np.zeros(n, dtype=np.int64)
        starts = np.arange(n) * capacity
        nearest = Nearest(n, k)
        for first in range(0, self._n, m):
            last = min(first + m, self._n)
            tile = products[: n * (last - first)].reshape(n, last - first)
            asked.multiply(first, last, tile)
            lists = (ids, lows, counts)
            norms = self._norms[first:last]
            longest = _kernels.neighbors_filter.pick(
                tile, norms, row_slack, query_slack, first, heaps, bounds, *lists
            )
            if longest > m or last == self._n:
                longest = _kernels.neighbors_filter.prune(*lists, bounds)
            if longest > m or last == self._n:
                stops = starts + counts
                flat, limits = ids.reshape(-1), nearest.limits
                asked.measure(starts, stops, flat, limits, distances)
                nearest.offer(starts, stops, flat, distances)
                if last == self._n:
                    break
                counts[:] = 0
                with np.errstate(over="ignore"):
                    exact = (stretch * nearest.limits + shifts).astype(np.float32)
                np.minimum(bounds, exact, out=bounds)
        return nearest.finish()
