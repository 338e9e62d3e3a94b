# SPDX-License-Identifier: BSD-3-Clause
"""Rows in memory: ndarray in C or Fortran order, or CSR; float64 or float32."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucmax._kernels.products import add_weighted_rows, row_scores
from aucmax._utils.typing import FloatArray, IntArray, Matrix
from aucmax._utils.validation import n_threads

# Below this many bytes, waking a second thread costs more than it saves.
BLOCK_BYTES = 8 * 2**20
MAX_BLOCKS = 32


class LocalDesign:
    """``X`` as it is: no copy, one read of it per product.

    Dense rows are seen less the mean of a few of them (free on the way through memory,
    and digits are kept where columns sit far from zero); CSR rows are not centred,
    which would fill them.

    Parameters
    ----------
    X : ndarray or CSR of shape (n_samples, n_features)
        Validated rows, float64 or float32.
    """

    def __init__(self, X: Matrix) -> None:
        self.X = X
        self.shape: tuple[int, int] = X.shape
        self.offset = _typical_row(X)
        self._offset64 = self.offset.astype(np.float64)
        self.blocks = _split_rows(X)
        threads = min(n_threads(), len(self.blocks))
        self._pool = ThreadPoolExecutor(threads) if threads > 1 else None

    def scores(self, coef: FloatArray) -> FloatArray:
        """Return ``(X - offset) @ coef``."""
        out = np.empty(self.shape[0])

        def run(k: int) -> None:
            block = self.blocks[k]
            X = self.X[block] if len(self.blocks) > 1 else self.X
            if _is_row_major(X):
                row_scores(X, self._offset64, coef, out[block])
            else:
                out[block] = X @ coef.astype(X.dtype, copy=False)

        self._for_each_block(run)
        if not _is_row_major(self.X):
            out -= self._offset64 @ coef
        return out

    def adjoint(self, vector: FloatArray) -> FloatArray:
        """Return ``(X - offset).T @ vector``."""
        parts = np.zeros((len(self.blocks), self.shape[1]))

        def run(k: int) -> None:
            block = self.blocks[k]
            X = self.X[block] if len(self.blocks) > 1 else self.X
            if _is_row_major(X):
                add_weighted_rows(X, self._offset64, vector[block], parts[k])
            else:
                parts[k] = X.T @ vector[block].astype(X.dtype, copy=False)

        self._for_each_block(run)
        total: FloatArray = parts.sum(axis=0)
        if not _is_row_major(self.X):
            total -= self._offset64 * vector.sum()
        return total

    def rows(self, index: IntArray) -> Matrix:
        """Return the given rows of ``X - offset``."""
        rows = self.X[index]
        return rows - self.offset if isinstance(rows, np.ndarray) else rows

    def _for_each_block(self, run: Callable[[int], None]) -> None:
        if self._pool is None:
            for k in range(len(self.blocks)):
                run(k)
        else:
            list(self._pool.map(run, range(len(self.blocks))))


def _is_row_major(X: Matrix) -> bool:
    return isinstance(X, np.ndarray) and bool(X.flags.c_contiguous)


def _typical_row(X: Matrix) -> NDArray[Any]:
    n, d = X.shape
    if not isinstance(X, np.ndarray):
        return np.zeros(d, dtype=X.dtype)
    with np.errstate(over="ignore"):
        mean: FloatArray = X[:: max(1, n // 256)].mean(axis=0, dtype=np.float64)
    # In the precision of X, so that rows less the offset stay in it.
    return np.where(np.isfinite(mean), mean, 0.0).astype(X.dtype)


def _split_rows(X: Matrix) -> list[slice]:
    """Cut the rows into blocks for threads.

    Blocks depend on the data alone, so sums over them are the same for any number of
    threads. Their partial sums, one row of coefficients each, take no more than n.
    """
    n, d = X.shape
    parts = [X] if isinstance(X, np.ndarray) else [X.data, X.indices]
    n_bytes = sum(part.nbytes for part in parts)
    count = max(1, min(-(-n_bytes // BLOCK_BYTES), MAX_BLOCKS, n // d))
    cuts = np.linspace(0, n, count + 1).astype(int)
    return [slice(low, high) for low, high in pairwise(cuts)]
