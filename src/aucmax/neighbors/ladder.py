# SPDX-License-Identifier: BSD-3-Clause
"""Static k-d trees of sizes b, 2 b, 4 b, ..., at most one of each.

The oldest rows are in the largest tree, the latest in none. With n rows the sizes are
those of the binary digits of n // b, so a row is put into a new tree log2(n / b) times
at most (Bentley and Saxe, 1980).
"""

from typing import Any, NamedTuple

import numpy as np
from scipy.spatial import cKDTree

from aucmax import _kernels
from aucmax._utils.state import expect, expect_count, expect_type
from aucmax._utils.typing import FloatArray, IntArray, Matrix
from aucmax.neighbors._base import Neighbors
from aucmax.neighbors._nearest import Nearest, check_k, nothing, search
from aucmax.neighbors.rows import DenseRows

# Rows of the smallest tree. Fewer than that are all measured: 5 us at 22 features.
N_SMALLEST = 1024
N_QUERIES = 128
# Queries whose ties are collected at once, as lists of Python's integers.
N_TIED = 16
# The trees add up squares in another order, and bounds of boxes along the way down:
# their distances differ from ours by some 100 units of 1e-16, at depth 100. Squares
# below 1e-300 may have no digits at all.
SLACK, TINY = 1e-9, 1e-150
# Bytes of a node of a tree.
NODE_BYTES = 72


class _Part(NamedTuple):
    start: int
    stop: int
    tree: cKDTree


class TreeLadder:
    """Dense rows in k-d trees: for few features, or rows that lie near a surface.

    Parameters
    ----------
    n_features : int
        Length of a row.
    rows : DenseRows, optional
        Where the rows are; another index may use them too. Whoever appends to them
        calls ``extend``.
    """

    def __init__(self, n_features: int, rows: DenseRows | None = None) -> None:
        self.rows = DenseRows(n_features) if rows is None else rows
        self._n = 0
        self._parts: list[_Part] = []
        self.extend()

    def __getstate__(self) -> dict[str, Any]:
        # SciPy's trees are bytes full of addresses: nothing to read from a file.
        return vars(self) | {"_parts": []}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state | {"_parts": []})
        self.extend()

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
        expect(expect_type(self, "rows", DenseRows).n == n, self, "it has other rows")
        n_in_trees = 0
        for part in expect_type(self, "_parts", list):
            fits = isinstance(part, _Part) and isinstance(part.tree, cKDTree)
            expect(fits and part.start == n_in_trees, self, "a tree is none")
            n_in_trees += part.tree.n
            expect(part.stop == n_in_trees <= n, self, "a tree has other rows")

    def insert(self, X: Matrix) -> None:
        """Store copies of rows; they get the next numbers."""
        self.rows.append(X)
        self.extend()

    def extend(self) -> None:
        """Take in what was appended to the rows."""
        self._n = self.rows.n
        if self._n - self._n_in_trees < N_SMALLEST:
            return
        kept = {(part.start, part.stop): part for part in self._parts}
        self._parts = []
        n_units, start = self._n // N_SMALLEST, 0
        for digit in range(n_units.bit_length() - 1, -1, -1):
            if n_units >> digit & 1:
                stop = start + (N_SMALLEST << digit)
                part = kept.get((start, stop)) or self._planted(start, stop)
                self._parts.append(part)
                start = stop

    def query(self, X: Matrix, k: int) -> Neighbors:
        """Return the nearest rows of each row of X; all stored if there are fewer."""
        check_k(k)
        queries = self.rows.take(X)
        k = min(k, self._n)
        if k == 0 or queries.shape[0] == 0:
            return nothing(queries.shape[0])
        return search(lambda block: self._find(block, k), queries, block=N_QUERIES)

    def memory_usage(self) -> int:
        """Return the bytes held; nodes of trees are an estimate."""
        trees = (part.tree for part in self._parts)
        return self.rows.memory_usage() + sum(
            tree.data.nbytes + tree.indices.nbytes + NODE_BYTES * tree.size
            for tree in trees
        )

    @property
    def _n_in_trees(self) -> int:
        return self._parts[-1].stop if self._parts else 0

    def _planted(self, start: int, stop: int) -> _Part:
        # Cells cut in the middle rather than at the median: queries of ijcnn1 take an
        # eighth of the time, and building half. A copy: the rows move when they grow.
        rows = self.rows.values[start:stop]
        return _Part(start, stop, cKDTree(rows, balanced_tree=False, copy_data=True))

    def _find(self, queries: FloatArray, k: int) -> Neighbors:
        n = queries.shape[0]
        nearest = Nearest(n, k)
        # Nearer than this, a tree has told us of all its rows.
        seen = np.full(n, np.inf)
        for start, stop, tree in self._parts:
            # One more than needed: if that is farther than the k-th of all, no row that
            # was not returned can be as near.
            size = min(k + 1, stop - start)
            far, ids = map(np.asarray, tree.query(queries, size))
            found = np.sort(ids.reshape(n, size), axis=1).astype(np.int64) + start
            self._offer(nearest, queries, found.ravel(), np.full(n, size))
            if size < stop - start:
                np.minimum(seen, far.reshape(n, size)[:, -1], out=seen)
        self._offer_latest(nearest, queries, np.full(n, True))
        radius = np.sqrt(nearest.limits) * (1.0 + SLACK) + TINY
        tied = np.flatnonzero(seen <= radius)
        for low in range(0, len(tied), N_TIED):
            self._find_tied(nearest, queries, tied[low : low + N_TIED], radius)
        return nearest.finish()

    def _find_tied(
        self, nearest: Nearest, queries: FloatArray, which: IntArray, radius: FloatArray
    ) -> None:
        """Find the nearest of these queries anew, among all rows within the radius."""
        nearest.restart(which)
        for start, _, tree in self._parts:
            balls = tree.query_ball_point(
                queries[which], radius[which], return_sorted=True
            )
            counts = np.zeros(queries.shape[0], dtype=np.int64)
            counts[which] = [len(ball) for ball in balls]
            ids = np.concatenate([np.asarray(ball, dtype=np.int64) for ball in balls])
            self._offer(nearest, queries, ids + start, counts)
        is_tied = np.zeros(queries.shape[0], dtype=bool)
        is_tied[which] = True
        self._offer_latest(nearest, queries, is_tied)

    def _offer_latest(
        self, nearest: Nearest, queries: FloatArray, is_meant: np.ndarray
    ) -> None:
        """Offer the rows that are in no tree to some queries."""
        latest = np.arange(self._n_in_trees, self._n)
        ids = np.tile(latest, np.count_nonzero(is_meant))
        self._offer(nearest, queries, ids, is_meant * len(latest))

    def _offer(
        self, nearest: Nearest, queries: FloatArray, ids: IntArray, counts: IntArray
    ) -> None:
        stops = np.cumsum(counts)
        starts = stops - counts
        distances = np.empty(len(ids))
        _kernels.neighbors.exact_distances(
            self.rows.values, queries, starts, stops, ids, nearest.limits, distances
        )
        nearest.offer(starts, stops, ids, distances)
