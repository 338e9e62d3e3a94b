# SPDX-License-Identifier: BSD-3-Clause
"""All rows so far and their labels: a learner that does not learn, but remembers."""

from typing import Any, Self, get_args

import numpy as np
from numpy.typing import NDArray

from aucmax._utils.state import (
    expect,
    expect_array,
    expect_choice,
    expect_count,
    expect_flag,
    expect_part,
    expect_type,
)
from aucmax._utils.typing import BoolArray, FloatArray, Matrix, as_plain, to_dense
from aucmax.neighbors.embedded import EmbeddedIndex
from aucmax.neighbors.index import Index, Neighbors
from aucmax.neighbors.rows import grown, n_bytes, to_csr
from aucmax.neighbors.votes import Count, Ties, n_voters, vote
from aucmax.saved import saved_as

# Queries that are converted at a time.
BLOCK_ROWS = 4096


@saved_as("NeighborLearner")
class NeighborLearner:
    """The share of positives among the nearest of all rows so far.

    Is its own model, so that no rows are copied when scores are asked for; rows that
    come later do change them.

    ``index`` is empty to begin with; ``rng`` draws a number for each row where ``ties``
    is "random". The other parameters are as in KNNOAM.
    """

    def __init__(
        self,
        index: Index,
        *,
        sparse_rows: bool,
        k: Count,
        by_distance: bool,
        ties: Ties,
        rng: np.random.Generator,
    ) -> None:
        self.index = index
        self.sparse_rows = sparse_rows
        self.k = k
        self.by_distance = by_distance
        self.ties: Ties = ties
        self.rng = rng
        # A map depends on which rows come first.
        has_map = isinstance(index, EmbeddedIndex)
        self.is_order_free = ties == "average" and not has_map
        # Where the numbers of the queries come from, one for each number of rows.
        self.key = int(rng.integers(2**63))
        # Longer than there are rows.
        self.is_pos: BoolArray = np.zeros(0, dtype=np.bool_)
        self.marks: FloatArray = np.zeros(0)

    @property
    def n_features(self) -> int:
        """Length of a row."""
        return self.index.n_features

    def check_state(self) -> None:
        """Raise ValueError unless the arrays of a loaded object fit together."""
        n = expect_part(self, "index", Index).n_rows
        expect_flag(self, "sparse_rows")
        expect_flag(self, "by_distance")
        expect_flag(self, "is_order_free")
        expect_type(self, "rng", np.random.Generator)
        expect_count(self, "key", high=2**63)
        ties = expect_choice(self, "ties", get_args(Ties))
        if not callable(self.k) and self.k != "2log2n":
            expect_count(self, "k", low=1)
        is_pos = expect_array(self, "is_pos", (None,), np.bool_)
        marks = expect_array(self, "marks", (None,))
        n_labels = min(len(is_pos), len(marks)) if ties == "random" else len(is_pos)
        expect(0 < n <= n_labels, self, "it has labels of other rows")

    def learn(self, X: Matrix, is_pos: BoolArray) -> None:
        """Take in rows."""
        low, high = self.index.n_rows, self.index.n_rows + len(is_pos)
        # First: should it fail, nothing has changed.
        self.index.insert(X)
        self.is_pos = grown(self.is_pos, low, high)
        self.is_pos[low:high] = is_pos
        if self.ties == "random":
            self.marks = grown(self.marks, low, high)
            self.marks[low:high] = self.rng.random(len(is_pos))

    def model(self) -> Self:
        """Return this object itself."""
        return self

    @property
    def share_pos(self) -> float:
        """Share of positives among all rows."""
        n = self.index.n_rows
        return int(np.count_nonzero(self.is_pos[:n])) / n

    @property
    def n_voters(self) -> int:
        """Neighbours that count."""
        return n_voters(self.k, self.index.n_rows)

    def scores(self, X: Matrix) -> NDArray[Any]:
        """Return the share of positives near each row, the same whenever asked."""
        k, mark = self.n_voters, 0.0
        if self.ties == "random":
            mark = np.random.default_rng([self.key, self.index.n_rows]).random()

        def shares(found: Neighbors) -> FloatArray:
            # An index from a damaged file may find none, or be used by another too.
            expect(np.diff(found.indptr).min() > 0, self, "its index finds no row")
            fits = self.index.n_rows <= len(self.is_pos)
            expect(fits, self, "its index has other rows")
            return vote(
                found,
                self.is_pos,
                k,
                ties=self.ties,
                by_distance=self.by_distance,
                marks=self.marks,
                mark=mark,
            )

        parts = [np.empty(0)]
        for low in range(0, X.shape[0], BLOCK_ROWS):
            rows = X[low : low + BLOCK_ROWS]
            rows = to_csr(rows) if self.sparse_rows else as_plain(to_dense(rows))
            parts += self.index.map_neighbors(rows, k, shares)
        return np.concatenate(parts)

    def memory_usage(self) -> int:
        """Return the bytes held: rows, labels, random numbers."""
        return self.index.memory_usage() + n_bytes(self)
