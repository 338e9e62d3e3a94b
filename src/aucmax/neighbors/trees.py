# SPDX-License-Identifier: BSD-3-Clause
"""Static k-d trees of sizes b, 2 b, 4 b, ..., at most one of each.

The oldest rows are in the largest tree, the latest in none. With n rows the sizes are
those of the binary digits of n // b, so a row is put into a new tree log2(n / b) times
at most (Bentley and Saxe, 1980).
"""

from typing import Any, NamedTuple

import numpy as np
from scipy.spatial import cKDTree

from aucmax._utils.state import expect, expect_type
from aucmax._utils.typing import FloatArray, IntArray, Matrix
from aucmax.neighbors.index import Index, Neighbors, nearest_of
from aucmax.neighbors.rows import DenseRows
from aucmax.saved import saved_as

# Rows of the smallest tree. Fewer than that are all measured.
SMALLEST_TREE = 512
# Candidates that a block of queries may have together; with more it is split.
MAX_CANDIDATES = 2**20
# The trees add up squares in another order, and bounds of boxes along the way down:
# their distances differ from ours by some 100 units of 1e-16, at depth 100. Squares
# below 1e-300 may have no digits at all.
SLACK, TINY = 1e-9, 1e-150
# Bytes of a node of a tree.
NODE_BYTES = 72


class Tree(NamedTuple):
    """A k-d tree of the rows from ``start`` to ``stop``."""

    start: int
    stop: int
    tree: cKDTree


@saved_as("TreeIndex")
class TreeIndex(Index):
    """Dense rows in k-d trees: for few features, or rows that lie near a surface."""

    def __init__(self, n_features: int) -> None:
        super().__init__(n_features)
        self._trees: list[Tree] = []

    def __getstate__(self) -> dict[str, Any]:
        # SciPy's trees are bytes full of addresses: nothing to read from a file.
        return vars(self) | {"_trees": []}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state | {"_trees": []})
        self._plant()

    def check_state(self) -> None:
        """Raise ValueError unless the arrays of a loaded object fit together."""
        expect_type(self, "rows", DenseRows)
        n_planted = 0
        for part in expect_type(self, "_trees", list):
            fits = isinstance(part, Tree) and isinstance(part.tree, cKDTree)
            expect(fits and part.start == n_planted, self, "a tree is none")
            n_planted += part.tree.n
            expect(part.stop == n_planted <= self.rows.n, self, "a tree has other rows")

    def insert(self, X: Matrix) -> None:
        """Store copies of rows; they get the next numbers."""
        self.rows.append(X)
        if self.rows.n - self._n_planted >= SMALLEST_TREE:
            self._plant()

    def memory_usage(self) -> int:
        """Return the bytes held; nodes of trees are an estimate."""
        return super().memory_usage() + sum(
            tree.data.nbytes + tree.indices.nbytes + NODE_BYTES * tree.size
            for _, _, tree in self._trees
        )

    @property
    def _n_planted(self) -> int:
        """Rows that are in trees."""
        return self._trees[-1].stop if self._trees else 0

    def _plant(self) -> None:
        """Make the trees that the number of rows asks for and that are not there."""
        kept = {(part.start, part.stop): part for part in self._trees}
        self._trees = []
        n_units, start = self.rows.n // SMALLEST_TREE, 0
        for digit in range(n_units.bit_length() - 1, -1, -1):
            if n_units >> digit & 1:
                stop = start + (SMALLEST_TREE << digit)
                if (start, stop) not in kept:
                    # Cells cut in the middle rather than at the median: queries of
                    # ijcnn1 take an eighth of the time, and building half. A copy, as
                    # the rows move when they grow.
                    rows = self.rows.values[start:stop]
                    tree = cKDTree(rows, balanced_tree=False, copy_data=True)
                    kept[start, stop] = Tree(start, stop, tree)
                self._trees.append(kept[start, stop])
                start = stop

    def _find(self, queries: FloatArray, k: int) -> Neighbors | None:
        ids = self._candidates(queries, k)
        if ids is None:
            return None
        latest = np.arange(self._n_planted, self.rows.n)
        ids = np.hstack([ids, np.tile(latest, (len(ids), 1))])
        return nearest_of(ids, self.rows.exact_distances(queries, ids), k)

    def _candidates(self, queries: FloatArray, k: int) -> IntArray | None:
        """Return all rows in trees that may be among the k nearest.

        Those of query i are ``ids[i]``, ascending, with -1 in unused places. None if
        that takes too much memory.
        """
        n = len(queries)
        ids, distances, limit = [np.empty((n, 0), np.int64)], [], np.full(n, np.inf)
        for start, stop, tree in self._trees:
            # One more than needed: if that is farther than the k-th of all, no row that
            # was not returned can be as near.
            size = min(k + 1, stop - start)
            far, found = map(np.asarray, tree.query(queries, range(1, size + 1)))
            ids.append(np.sort(found, axis=1) + start)
            distances.append(far)
            if size < stop - start:
                limit = np.minimum(limit, far[:, -1])
        nearest = np.hstack(ids)
        if np.isinf(limit).all():  # all rows were returned
            return nearest
        kth = np.partition(np.hstack(distances), k - 1, axis=1)[:, k - 1]
        radius = kth * (1.0 + SLACK) + TINY
        tied = np.flatnonzero(limit <= radius)
        if not len(tied):
            return nearest
        return self._with_balls(nearest, tied, queries[tied], radius[tied])

    def _with_balls(
        self, ids: IntArray, which: IntArray, queries: FloatArray, radius: FloatArray
    ) -> IntArray | None:
        """Replace the candidates of some queries by all rows within a radius."""
        n, width = ids.shape
        counts = [
            part.tree.query_ball_point(queries, radius, return_length=True)
            for part in self._trees
        ]
        longest = np.sum(counts, axis=0).max(initial=width)
        if longest * n > MAX_CANDIDATES and n > 1:
            return None
        ids = np.pad(ids, ((0, 0), (0, longest - width)), constant_values=-1)
        ids[which] = -1
        end = np.zeros(len(which), dtype=np.int64)
        for (start, _, tree), sizes in zip(self._trees, counts, strict=True):
            balls = tree.query_ball_point(queries, radius, return_sorted=True)
            for i, low, size, ball in zip(which, end, sizes, balls, strict=True):
                ids[i, low : low + size] = np.add(ball, start)
            end += sizes
        return ids
