# SPDX-License-Identifier: BSD-3-Clause
"""Which index to use. All exact ones find the same, so that only time is at stake."""

import math
import time

from aucmax._utils.state import expect, expect_count, expect_number, expect_type
from aucmax._utils.typing import Matrix, is_sparse
from aucmax.neighbors._base import Index, Neighbors
from aucmax.neighbors._nearest import joined, nothing
from aucmax.neighbors.approximate import ApproximateIndex
from aucmax.neighbors.blocks import BlockIndex
from aucmax.neighbors.ladder import N_SMALLEST, TreeLadder
from aucmax.neighbors.rows import DenseRows
from aucmax.neighbors.sparse_blocks import SparseBlockIndex

# Trees have won with 54 features (covtype, 581,012 rows: 0.7 against 1.2 ms a query),
# never with more, and never among fewer rows than this.
MAX_TREE_FEATURES, MIN_TREE_ROWS = 64, 16_384
# Seconds per row to build the trees, per feature; they are tried when ten times as long
# was spent on queries.
BUILD_SECONDS, PATIENCE = 3e-7, 10.0
# Queries to try with, and between two looks at whether that is due.
N_TRIED, N_BETWEEN = 128, 4096
# Sparse rows with more nonzeros than this share, or so few features, are stored dense:
# a nonzero costs 0.4 ns per row and query, a feature of a dense row 0.025 ns, but a row
# should not take more than five times the memory.
DENSE_SHARE, FEW_FEATURES, MANY_FEATURES = 0.2, 32, 4096


class AutoIndex:
    """Dense rows in whatever answers faster, all rows or trees.

    It starts with all rows. When queries have taken ten times as long as building trees
    would, both answer some, and the faster one goes on; again when there are twice as
    many rows. So the trials cost a tenth of the time, at most, and what they measure is
    the machine, the data and the number of queries per call as they are.

    Parameters
    ----------
    n_features : int
        Length of a row.
    """

    def __init__(self, n_features: int) -> None:
        self.rows = DenseRows(n_features)
        self._index: BlockIndex | TreeLadder = BlockIndex(n_features, self.rows)
        self._min_rows = MIN_TREE_ROWS
        self._seconds = 0.0
        self._n_queries = 0
        self._n_inserted = 0

    @property
    def n_rows(self) -> int:
        """Rows stored."""
        return self.rows.n

    @property
    def n_features(self) -> int:
        """Length of a row."""
        return self.rows.n_features

    def check_state(self) -> None:
        """Raise ValueError unless the arrays of a loaded object fit together."""
        expect_type(self, "rows", DenseRows)
        index = expect_type(self, "_index", BlockIndex, TreeLadder)
        expect(index.rows is self.rows, self, "its index has other rows")
        expect_number(self, "_seconds")
        for name in ("_min_rows", "_n_queries", "_n_inserted"):
            expect_count(self, name)

    def insert(self, X: Matrix) -> None:
        """Store copies of rows; they get the next numbers."""
        self._index.insert(X)
        self._n_inserted += X.shape[0]

    def query(self, X: Matrix, k: int) -> Neighbors:
        """Return the nearest rows of each row of X; all stored if there are fewer."""
        if X.shape[0] <= N_BETWEEN:
            return self._query(X, k)
        return joined(
            self._query(X[low : low + N_BETWEEN], k)
            for low in range(0, X.shape[0], N_BETWEEN)
        )

    def memory_usage(self) -> int:
        """Return the bytes held."""
        return self._index.memory_usage()

    def _query(self, X: Matrix, k: int) -> Neighbors:
        start = time.perf_counter()
        found = self._index.query(X, k)
        self._seconds += time.perf_counter() - start
        self._n_queries += X.shape[0]
        n, d = self.rows.n, self.rows.n_features
        if (
            X.shape[0] > 0
            and n >= self._min_rows
            and d <= MAX_TREE_FEATURES
            and self._seconds >= PATIENCE * BUILD_SECONDS * n * (d + 1)
        ):
            self._try_other(X[:N_TRIED], k)
        return found

    def _try_other(self, X: Matrix, k: int) -> None:
        """Change to the other index if that is faster."""
        n, current = self.rows.n, self._index
        # Another thread may set these to zero meanwhile.
        n_queries, n_inserted = max(self._n_queries, X.shape[0]), self._n_inserted
        is_tree = isinstance(current, TreeLadder)
        start = time.perf_counter()
        other = (BlockIndex if is_tree else TreeLadder)(self.rows.n_features, self.rows)
        build_seconds = time.perf_counter() - start
        seconds = {
            type(index): _seconds_to_query(index, X, k) for index in (current, other)
        }
        if not is_tree:
            # A row comes into new trees so many times.
            times = math.log2(n / N_SMALLEST) * n_inserted / n
            share = X.shape[0] / n_queries
            seconds[TreeLadder] += build_seconds * times * share
        if seconds[type(other)] < seconds[type(current)]:
            self._index = other
        self._min_rows = 2 * n
        self._seconds, self._n_queries, self._n_inserted = 0.0, 0, 0


class AutoSparseIndex:
    """Sparse rows, stored as the first of them suggest.

    Parameters
    ----------
    n_features : int
        Length of a row.
    """

    def __init__(self, n_features: int) -> None:
        self._n_features = n_features
        self._index: Index | None = None

    @property
    def n_rows(self) -> int:
        """Rows stored."""
        return 0 if self._index is None else self._index.n_rows

    @property
    def n_features(self) -> int:
        """Length of a row."""
        return self._n_features

    def check_state(self) -> None:
        """Raise ValueError unless the arrays of a loaded object fit together."""
        d = expect_count(self, "_n_features", low=1)
        if self._index is not None:
            index = expect_type(self, "_index", AutoIndex, SparseBlockIndex)
            expect(index.n_features == d, self, "its index has other features")

    def insert(self, X: Matrix) -> None:
        """Store copies of rows; they get the next numbers."""
        if self._index is None:
            if X.shape[0] == 0:
                return
            share = X.nnz / (X.shape[0] * X.shape[1]) if is_sparse(X) else 1.0
            is_dense = self._n_features <= (
                MANY_FEATURES if share > DENSE_SHARE else FEW_FEATURES
            )
            kind = AutoIndex if is_dense else SparseBlockIndex
            self._index = kind(self._n_features)
        self._index.insert(X)

    def query(self, X: Matrix, k: int) -> Neighbors:
        """Return the nearest rows of each row of X; all stored if there are fewer."""
        return nothing(X.shape[0]) if self._index is None else self._index.query(X, k)

    def memory_usage(self) -> int:
        """Return the bytes held."""
        return 0 if self._index is None else self._index.memory_usage()


def make_index(
    n_features: int, *, backend: str = "auto", sparse_rows: bool = False
) -> Index:
    """Return an empty index.

    Parameters
    ----------
    n_features : int
        Length of a row.
    backend : {"auto", "brute", "tree", "approximate"}, default="auto"
        Look at all rows, at those that k-d trees suggest, or at whichever of the two is
        faster; these find the same. "approximate" walks along a graph of neighbours and
        may miss some; it needs usearch.
    sparse_rows : bool, default=False
        Whether rows come as CSR matrices. Trees and graphs store them dense.

    Returns
    -------
    index : Index
        Ready for rows.

    Examples
    --------
    >>> import numpy as np
    >>> from aucmax.neighbors.auto import make_index
    >>> index = make_index(1)
    >>> index.insert(np.array([[0.0], [2.0], [4.0]]))
    >>> found = index.query(np.array([[1.0]]), k=1)
    >>> found.ids, found.distances
    (array([0, 1]), array([1., 1.]))
    """
    if backend == "auto":
        return AutoSparseIndex(n_features) if sparse_rows else AutoIndex(n_features)
    if backend == "brute":
        return SparseBlockIndex(n_features) if sparse_rows else BlockIndex(n_features)
    if backend == "tree":
        return TreeLadder(n_features)
    if backend == "approximate":
        return ApproximateIndex(n_features)
    raise ValueError(
        f"backend={backend!r} is unknown. "
        "Pass 'auto', 'brute', 'tree' or 'approximate'."
    )


def _seconds_to_query(index: Index, X: Matrix, k: int) -> float:
    start = time.perf_counter()
    index.query(X, k)
    return time.perf_counter() - start
