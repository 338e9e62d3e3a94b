# SPDX-License-Identifier: BSD-3-Clause
"""Rows seen through a feature map, computed block by block, kept while they fit."""

import copy
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
from numpy.typing import DTypeLike, NDArray

from aucmax import _kernels
from aucmax._utils.threads import one_blas_thread
from aucmax._utils.typing import FloatArray, IntArray, Matrix
from aucmax._utils.validation import n_threads

# Rows mapped at a time: their values stay in the second-level cache.
BLOCK_ROWS = 512
# Rows are dealt to threads in so many parts, each with partial sums of its own.
MAX_PARTS = 32


class RowMap(Protocol):
    """A function of rows, one row of values for each."""

    def __call__(self, rows: Matrix, out: NDArray[Any] | None = None) -> NDArray[Any]:
        """Return the values of some rows, dense, in ``out`` where given."""
        ...


class MappedDesign:
    """``row_map(X)``, as if it were a matrix in memory.

    Cached rows cost one read per product; the rest is mapped again at every product.
    The results are the same, to rounding, for every budget.

    Parameters
    ----------
    X : ndarray or CSR of shape (n_samples, n_features)
        Validated rows.
    row_map : RowMap
        The map, whose values are of ``dtype``.
    n_columns : int
        Values per mapped row.
    dtype : {"float32", "float64"}
        Precision of mapped rows. Sums over them are in float64 anyway.
    memory_budget : int
        Bytes that cached rows may take.
    """

    reads_in_order = False

    def __init__(
        self,
        X: Matrix,
        row_map: RowMap,
        n_columns: int,
        *,
        dtype: DTypeLike,
        memory_budget: int,
    ) -> None:
        self.dtype = np.dtype(dtype)
        self._row_map = row_map
        # Threads are started when the first parts come.
        self._pool = ThreadPoolExecutor(n_threads()) if n_threads() > 1 else None
        self._set_rows(X, n_columns)
        self.cache = self._fill_cache(memory_budget)

    def over(
        self, X: Matrix, *, memory_budget: int = 0, cache: NDArray[Any] | None = None
    ) -> "MappedDesign":
        """Return the same map over other rows; they share all but the rows.

        Where ``cache`` has them mapped already, the rows themselves are not kept.
        """
        other = copy.copy(self)
        other._set_rows(X, self.shape[1])
        if cache is None:
            other.cache = other._fill_cache(memory_budget)
        else:
            other.cache, other.X = cache, X[:0]
        return other

    def _set_rows(self, X: Matrix, n_columns: int) -> None:
        self.X = X
        self.shape: tuple[int, int] = (X.shape[0], n_columns)
        self.n_values = X.shape[0] * n_columns
        self._parts = _cut(X.shape[0], MAX_PARTS)

    @property
    def is_cached(self) -> bool:
        """Whether all mapped rows are in memory."""
        return bool(self.cache.shape[0] == self.shape[0])

    def scores(self, coef: FloatArray, out: FloatArray | None = None) -> FloatArray:
        """Return the mapped rows times ``coef``."""
        result = np.empty(self.shape[0]) if out is None else out

        def run(part: int) -> None:
            for rows in self._blocks(part):
                _kernels.products.row_scores(self._mapped(rows), coef, result[rows])

        self._for_each_part(run)
        return result

    def adjoint(self, vector: FloatArray) -> FloatArray:
        """Return the transpose of the mapped rows times ``vector``."""
        add = _kernels.products.add_weighted_rows
        return self._sum(lambda rows, values, sums: add(values, vector[rows], sums))

    def square_sums(self, weight: FloatArray) -> FloatArray:
        """Return the squares of the mapped rows times ``weight``."""
        add = _kernels.products.add_weighted_squares
        zero = np.zeros(self.shape[1], dtype=self.dtype)
        return self._sum(
            lambda rows, values, sums: add(values, zero, weight[rows], sums)
        )

    def rows(self, index: IntArray, columns: IntArray | None = None) -> NDArray[Any]:
        """Return the given mapped rows, and only some of their columns if given."""
        rows = self.cache[index] if self.is_cached else self._map_some(index)
        return rows if columns is None else rows[:, columns]

    def _map_some(self, index: IntArray) -> NDArray[Any]:
        """Return some mapped rows, each computed together with its whole block.

        BLAS rounds a row differently in a smaller matrix, and then the memory budget
        would change the path of a solver.
        """
        mapped = np.empty((len(index), self.shape[1]), dtype=self.dtype)
        order = np.argsort(index, kind="stable")
        wanted = index[order]

        def run(part: int) -> None:
            for rows in self._blocks(part):
                low, high = np.searchsorted(wanted, [rows.start, rows.stop])
                if low < high:
                    block = self._mapped(rows)
                    mapped[order[low:high]] = block[wanted[low:high] - rows.start]

        self._for_each_part(run)
        return mapped

    def _fill_cache(self, memory_budget: int) -> NDArray[Any]:
        n, n_columns = self.shape
        # Whole blocks, so that every row is mapped in the same block either way.
        block_bytes = n_columns * self.dtype.itemsize * BLOCK_ROWS
        n_cached = min(memory_budget // block_bytes * BLOCK_ROWS, n)
        cache = np.empty((n_cached, n_columns), dtype=self.dtype)
        self.cache = cache[:0]

        def run(part: int) -> None:
            for rows in self._blocks(part):
                if rows.stop <= n_cached:
                    self._row_map(self.X[rows], out=cache[rows])

        self._for_each_part(run)
        return cache

    def _mapped(self, rows: slice) -> NDArray[Any]:
        is_cached = rows.stop <= self.cache.shape[0]
        return self.cache[rows] if is_cached else self._row_map(self.X[rows])

    def _blocks(self, part: int) -> list[slice]:
        """Blocks of one part; the cache ends at the end of a block."""
        low, high = self._parts[part]
        cuts = [*range(low, high, BLOCK_ROWS), high]
        return [slice(start, stop) for start, stop in pairwise(cuts)]

    def _sum(
        self, add: Callable[[slice, NDArray[Any], FloatArray], None]
    ) -> FloatArray:
        """Return what ``add`` puts into the sums for every block, in total."""
        sums = np.zeros((len(self._parts), self.shape[1]))

        def run(part: int) -> None:
            for rows in self._blocks(part):
                add(rows, self._mapped(rows), sums[part])

        self._for_each_part(run)
        total: FloatArray = sums.sum(axis=0)
        return total

    def _for_each_part(self, run: Callable[[int], None]) -> None:
        # One thread of BLAS in each of ours, also where there is only one: with more,
        # it rounds differently. Cached rows need no BLAS.
        with nullcontext() if self.is_cached else one_blas_thread():
            if self._pool is None or len(self._parts) == 1:
                for part in range(len(self._parts)):
                    run(part)
            else:
                list(self._pool.map(run, range(len(self._parts))))


def _cut(n: int, max_parts: int) -> list[tuple[int, int]]:
    """Cut the rows into parts of whole blocks; depends on nothing but n."""
    n_blocks = -(-n // BLOCK_ROWS)
    count = min(n_blocks, max_parts)
    cuts = np.linspace(0, n_blocks, count + 1).astype(int) * BLOCK_ROWS
    return [(int(low), min(int(high), n)) for low, high in pairwise(cuts)]
