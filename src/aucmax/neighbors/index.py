# SPDX-License-Identifier: BSD-3-Clause
"""What an index of stored rows can do, whatever it is built of."""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple, TypeVar

import numpy as np

from aucmax._utils.state import expect_type
from aucmax._utils.threads import one_blas_thread
from aucmax._utils.typing import FloatArray, IntArray, Matrix
from aucmax._utils.validation import n_threads
from aucmax.neighbors.rows import DenseRows, SparseRows, n_bytes

T = TypeVar("T")
# Queries that are answered together: half as many take 10 % longer for dense rows.
BLOCK_QUERIES = 128


class Neighbors(NamedTuple):
    """The rows nearest to each query: the k nearest and all that tie with the k-th.

    Those of query i are ``ids[indptr[i]:indptr[i + 1]]``, by distance and, where that
    is equal, by age.

    Attributes
    ----------
    indptr : ndarray of shape (n_queries + 1,)
        Where the neighbours of each query begin.
    ids : ndarray of shape (n_found,)
        Rows by number, the first inserted being 0.
    distances : ndarray of shape (n_found,)
        Squared Euclidean distances: the float64 sum of squared differences in the order
        of the features, so that all indexes agree to the last bit.
    """

    indptr: IntArray
    ids: IntArray
    distances: FloatArray


class Index:
    """Stored rows of ``n_features``, to which more can be added at any time.

    A subclass says how rows are inserted and found.
    """

    rows: Any

    def __init__(self, n_features: int) -> None:
        self.rows = DenseRows(n_features)

    @property
    def n_features(self) -> int:
        """Length of a row."""
        return int(self.rows.n_features)

    @property
    def n_rows(self) -> int:
        """Rows stored."""
        return int(self.rows.n)

    def check_state(self) -> None:
        """Raise ValueError unless the arrays of a loaded object fit together."""
        expect_type(self, "rows", DenseRows, SparseRows)

    def insert(self, X: Matrix) -> None:
        """Store copies of rows; they get the next numbers."""
        raise NotImplementedError

    def query(self, X: Matrix, k: int) -> Neighbors:
        """Return the nearest rows of each row of X; all stored if there are fewer."""
        return _joined(self.map_neighbors(X, k, lambda found: found))

    def map_neighbors(
        self, X: Matrix, k: int, function: Callable[[Neighbors], T]
    ) -> list[T]:
        """Return what a function says of the neighbours, block by block of queries.

        So the neighbours of all queries, which may be all rows, need not be in memory.
        Blocks are shared among threads and come in the order of X.
        """
        if k < 1:
            raise ValueError(f"k must be at least 1, got {k}. Pass how many to find.")
        queries = self.rows.convert(X)
        n, k = queries.shape[0], min(k, self.n_rows)
        if n == 0 or k == 0:
            nothing = Neighbors(
                np.zeros(n + 1, np.int64), np.empty(0, np.int64), np.empty(0)
            )
            return [function(nothing)]

        def answer(block: Matrix) -> list[T]:
            found = self._find(block, k)
            if found is not None:
                return [function(found)]
            half = block.shape[0] // 2
            return answer(block[:half]) + answer(block[half:])

        threads = n_threads()
        size = min(BLOCK_QUERIES, -(-n // threads))
        blocks = [queries[low : low + size] for low in range(0, n, size)]
        with one_blas_thread():
            if min(threads, len(blocks)) == 1:
                answers = [answer(block) for block in blocks]
            else:
                with ThreadPoolExecutor(threads) as pool:
                    answers = list(pool.map(answer, blocks))
        return [part for parts in answers for part in parts]

    def recall(self, X: Matrix, k: int) -> float:
        """Return the share of the k nearest of each row of X that the index finds."""
        return 1.0

    def memory_usage(self) -> int:
        """Return the bytes held."""
        return n_bytes(self) + n_bytes(self.rows)

    def _find(self, queries: Matrix, k: int) -> Neighbors | None:
        """Return the neighbours of some queries; None if that needs too much memory.

        Of a single query they are always found. There are at least k rows.
        """
        raise NotImplementedError


def nearest_of(ids: IntArray, distances: FloatArray, k: int) -> Neighbors:
    """Return the k nearest of candidates, and all that tie with the k-th.

    Candidates of query i are ``ids[i]``, ascending, at least k, at ``distances[i]``;
    NaN where a query has fewer than others.
    """
    order = np.argsort(distances, axis=1, kind="stable")
    distances = np.take_along_axis(distances, order, axis=1)
    is_near = distances <= distances[:, k - 1 : k]
    indptr = np.concatenate([[0], np.cumsum(np.count_nonzero(is_near, axis=1))])
    ids = np.take_along_axis(ids, order, axis=1)[is_near]
    return Neighbors(indptr, ids, distances[is_near])


def _joined(parts: Iterable[Neighbors]) -> Neighbors:
    """Return what was found for several blocks of queries as one."""
    indptrs, ids, distances = zip(*parts, strict=True)
    lengths = np.concatenate([np.diff(indptr) for indptr in indptrs])
    return Neighbors(
        np.concatenate([[0], np.cumsum(lengths)]),
        np.concatenate(ids),
        np.concatenate(distances),
    )
