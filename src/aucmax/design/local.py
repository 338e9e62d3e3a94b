# SPDX-License-Identifier: BSD-3-Clause
"""Rows in memory: ndarray in C or Fortran order, or CSR; float64 or float32."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aucmax import _kernels
from aucmax._utils.typing import FloatArray, IntArray, Matrix, is_sparse
from aucmax._utils.validation import n_threads

# Below this many bytes, waking a second thread costs more than it saves.
BLOCK_BYTES = 8 * 2**20
MAX_BLOCKS = 32


class LocalDesign:
    """``X`` as it is: no copy, one read of it per product.

    Dense rows are seen less the mean of a few of them, by correcting the sums rather
    than the rows. CSR rows are not centred. (A transposed copy of these would make a
    single adjoint faster, but fits slower: both copies compete for the cache.)

    Parameters
    ----------
    X : ndarray or CSR of shape (n_samples, n_features)
        Validated rows, float64 or float32.
    offset : ndarray of shape (n_features,), default=None
        Row that is subtracted from dense rows; where X is a part of the rows, that of
        all.
    """

    reads_in_order = False

    def __init__(self, X: Matrix, offset: NDArray[Any] | None = None) -> None:
        self.X = X
        self.shape: tuple[int, int] = X.shape
        if offset is None:
            offset = offset_row(X[:: offset_stride(X.shape[0])])
        self.offset = offset
        self._is_centred = bool(np.any(offset))
        self.n_values: int = X.size if isinstance(X, np.ndarray) else X.nnz
        self.blocks = _split_rows(X)
        self._is_sparse = is_sparse(X)
        self._uses_kernels = not self._is_sparse and X.flags.c_contiguous
        # Dense rows in Fortran order are left to BLAS, which has threads of its own.
        is_threaded = self._is_sparse or self._uses_kernels
        threads = min(n_threads(), len(self.blocks)) if is_threaded else 1
        self._pool = ThreadPoolExecutor(threads) if threads > 1 else None

    def scores(self, coef: FloatArray, out: FloatArray | None = None) -> FloatArray:
        """Return ``(X - offset) @ coef``."""
        result = np.empty(self.shape[0]) if out is None else out
        coef = coef.astype(self.X.dtype, copy=False)

        def run(k: int) -> None:
            span, rows, _ = self.blocks[k]
            if self._uses_kernels:
                _kernels.products.row_scores(rows, coef, result[span])
            else:
                result[span] = rows @ coef

        self._for_each_block(run)
        if self._is_centred:
            result -= float(self.offset @ coef)
        return result

    def adjoint(self, vector: FloatArray) -> FloatArray:
        """Return ``(X - offset).T @ vector``."""

        def add(block: _Block, sums: FloatArray) -> None:
            part = vector[block.span]
            if self._uses_kernels:
                _kernels.products.add_weighted_rows(block.rows, part, sums)
            else:
                sums[:] = block.transposed @ part.astype(self.X.dtype, copy=False)

        total = self._sum(add)
        if self._is_centred:
            total -= self.offset * vector.sum()
        return total

    def square_sums(self, weight: FloatArray) -> FloatArray:
        """Return ``((X - offset) ** 2).T @ weight``."""

        def add(block: _Block, sums: FloatArray) -> None:
            rows, part = block.rows, weight[block.span]
            if isinstance(rows, np.ndarray):
                _kernels.products.add_weighted_squares(rows, self.offset, part, sums)
            else:
                csr = rows.data, rows.indices, rows.indptr
                _kernels.products.add_weighted_squares_csr(*csr, part, sums)

        return self._sum(add)

    def rows(self, index: IntArray, columns: IntArray | None = None) -> Matrix:
        """Return the given rows of ``X - offset``."""
        # A quarter of the time of X[index] where rows are short; it would copy all of X
        # in Fortran order.
        rows = self.X.take(index, axis=0) if self._uses_kernels else self.X[index]
        offset = self.offset
        if columns is not None:
            rows, offset = rows[:, columns], offset[columns]
        if not self._is_sparse:
            rows -= offset
        return rows

    def _sum(self, add: Callable[["_Block", FloatArray], None]) -> FloatArray:
        """Return what ``add`` puts into the sums for every block, in total."""
        parts = np.zeros((len(self.blocks), self.shape[1]))
        self._for_each_block(lambda k: add(self.blocks[k], parts[k]))
        total: FloatArray = parts.sum(axis=0) if len(parts) > 1 else parts[0]
        return total

    def _for_each_block(self, run: Callable[[int], None]) -> None:
        indices = range(len(self.blocks))
        list(map(run, indices) if self._pool is None else self._pool.map(run, indices))


class _Block(NamedTuple):
    """Neighbouring rows: where they are, and views of them and of their transpose."""

    span: slice
    rows: Matrix
    transposed: Matrix


def offset_stride(n: int) -> int:
    """Return the distance between the rows of which the offset is the mean."""
    return max(1, n // 256)


def offset_row(rows: Matrix) -> NDArray[Any]:
    """Return the mean of some rows in their precision; zeros for CSR."""
    if is_sparse(rows):
        return np.zeros(rows.shape[1], dtype=rows.dtype)
    with np.errstate(over="ignore"):
        mean: FloatArray = rows.mean(axis=0, dtype=np.float64)
    # In the precision of X, so that rows less the offset stay in it.
    return np.where(np.isfinite(mean), mean, 0.0).astype(rows.dtype)


def _split_rows(X: Matrix) -> list[_Block]:
    """Cut the rows into blocks for threads.

    Blocks depend on the data alone, so sums over them are the same for any number of
    threads. Their partial sums, one row of coefficients each, take no more than n.
    """
    n, d = X.shape
    n_bytes = X.data.nbytes + X.indices.nbytes if is_sparse(X) else X.nbytes
    count = max(1, min(-(-n_bytes // BLOCK_BYTES), MAX_BLOCKS, n // max(d, 64)))
    cuts = np.linspace(0, n, count + 1).astype(int)
    spans = [slice(low, high) for low, high in pairwise(cuts)]
    if is_sparse(X):
        return [_Block(span, *_csr_views(X, span)) for span in spans]
    return [_Block(span, X[span], X[span].T) for span in spans]


def _csr_views(X: Matrix, span: slice) -> tuple[Matrix, Matrix]:
    """Rows of a CSR and their transpose, without copying their entries.

    SciPy's constructors, and so slices and ``.T``, copy what is a small part of an
    array.
    """
    starts = X.indptr[span.start : span.stop + 1]
    entries = slice(starts[0], starts[-1])
    shape = span.stop - span.start, X.shape[1]
    rows = type(X)(shape, dtype=X.dtype)
    transposed = rows.T
    for view in (rows, transposed):
        view.data, view.indices = X.data[entries], X.indices[entries]
        view.indptr = starts - starts[0]
    return rows, transposed
