# SPDX-License-Identifier: BSD-3-Clause
"""The nearest rows so far of a block of queries, and the work shared among threads."""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np

from aucmax import _kernels
from aucmax._utils.threads import one_blas_thread
from aucmax._utils.typing import FloatArray, IntArray, Matrix
from aucmax._utils.validation import n_threads
from aucmax.neighbors._base import Neighbors


class Nearest:
    """The k nearest of the rows offered so far and all that tie with the k-th.

    Parameters
    ----------
    n_queries, k : int
        Size of the problem.

    Attributes
    ----------
    limits : ndarray of shape (n_queries,)
        Distance of the k-th; infinity while there are fewer.
    """

    def __init__(self, n_queries: int, k: int) -> None:
        self.limits = np.full(n_queries, np.inf)
        self._distances = np.empty((n_queries, k))
        self._ids = np.empty((n_queries, k), dtype=np.int64)
        self._sizes = np.zeros(n_queries, dtype=np.int64)
        self._n_ties = np.zeros(n_queries, dtype=np.int64)
        self._heads = np.full(n_queries, -1, dtype=np.int64)
        self._tails = np.full(n_queries, -1, dtype=np.int64)
        self._pool_ids = np.empty(0, dtype=np.int64)
        self._pool_next = np.empty(0, dtype=np.int64)
        self._free = np.array([-1, 0], dtype=np.int64)

    def offer(
        self, starts: IntArray, stops: IntArray, ids: IntArray, distances: FloatArray
    ) -> None:
        """Take in rows: those of query i at ``starts[i]:stops[i]``, ids ascending."""
        self._make_room(int(np.sum(stops - starts)))
        _kernels.neighbors.offer(
            starts,
            stops,
            ids,
            distances,
            self._distances,
            self._ids,
            self._sizes,
            self.limits,
            self._n_ties,
            self._heads,
            self._tails,
            self._pool_ids,
            self._pool_next,
            self._free,
        )

    def restart(self, which: IntArray) -> None:
        """Forget what was found for these queries."""
        self.limits[which] = np.inf
        self._sizes[which] = 0
        # Their links are lost until the end, which is near.
        self._n_ties[which] = 0

    def finish(self) -> Neighbors:
        """Return what was found; nothing can be offered after that."""
        indptr = np.zeros(len(self.limits) + 1, dtype=np.int64)
        np.cumsum(self._sizes + self._n_ties, out=indptr[1:])
        ids = np.empty(indptr[-1], dtype=np.int64)
        distances = np.empty(indptr[-1])
        _kernels.neighbors.emit(
            self._distances,
            self._ids,
            self._sizes,
            self._n_ties,
            self._heads,
            self._pool_ids,
            self._pool_next,
            indptr,
            ids,
            distances,
        )
        return Neighbors(indptr, ids, distances)

    def _make_room(self, n: int) -> None:
        """Have n free links."""
        if n <= self._free[1]:
            return
        old = self._pool_ids.shape[0]
        new = max(2 * old, old + n)
        self._pool_ids = np.concatenate([self._pool_ids, np.empty(new - old, np.int64)])
        chain = np.arange(old + 1, new + 1)
        chain[-1] = self._free[0]
        self._pool_next = np.concatenate([self._pool_next, chain])
        self._free[0] = old
        self._free[1] += new - old


def search(
    find: Callable[[Matrix], Neighbors], queries: Matrix, *, block: int
) -> Neighbors:
    """Return what ``find`` says of the queries, a block of them at a time.

    The blocks are shared among threads; what is found must not depend on them.
    """
    n = queries.shape[0]
    threads = n_threads()
    n_blocks = -(-n // block)
    if threads > 1 and n >= 2 * threads:
        n_blocks = -(-n_blocks // threads) * threads
    else:
        threads = 1
    edges = [n * i // n_blocks for i in range(n_blocks + 1)]
    blocks = [queries[low:high] for low, high in pairwise(edges)]
    with one_blas_thread():
        if threads == 1:
            return joined(map(find, blocks))
        with ThreadPoolExecutor(threads) as pool:
            return joined(pool.map(find, blocks))


def nothing(n_queries: int) -> Neighbors:
    """Return what an empty index finds."""
    return Neighbors(
        np.zeros(n_queries + 1, dtype=np.int64), np.empty(0, np.int64), np.empty(0)
    )


def check_k(k: int) -> None:
    """Refuse to look for fewer than one row."""
    if k < 1:
        raise ValueError(f"k must be at least 1, got {k}. Pass how many rows to find.")


def joined(parts: Iterable[Neighbors]) -> Neighbors:
    """Return what was found for several blocks of queries as one."""
    parts = list(parts)
    if len(parts) == 1:
        return parts[0]
    lengths = np.concatenate([np.diff(part.indptr) for part in parts])
    return Neighbors(
        np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(lengths)]),
        np.concatenate([part.ids for part in parts]),
        np.concatenate([part.distances for part in parts]),
    )
