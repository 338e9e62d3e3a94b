# SPDX-License-Identifier: BSD-3-Clause
"""The kernel between all training rows, seen through its products with vectors."""

import math
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import DTypeLike, NDArray

from aucmax._utils.typing import FloatArray, IntArray

RowSelection = slice | IntArray


class KernelColumns(Protocol):
    """The kernel between any training rows and fixed ones."""

    def __call__(
        self, rows: RowSelection, out: NDArray[Any] | None = None
    ) -> NDArray[Any]:
        """Return all values, in ``out`` where given."""
        ...


KernelFactory = Callable[[RowSelection, np.dtype[Any]], KernelColumns]

# Side of a tile: its values are computed at the speed of one matrix product.
TILE = 1024
# Rows of a tile that are multiplied from both sides while they are in the cache.
STRIP = 256
# Relative error above which a kernel is not symmetric.
ASYMMETRY = {np.dtype(np.float64): 1e-8, np.dtype(np.float32): 1e-4}


class Gram:
    """The n x n kernel matrix.

    It is cut into tiles, and of two that mirror each other only one is kept and read:
    half the memory of the full matrix, and products as fast as with that.
    Tiles are kept in float64 where all fit into the budget, else in float32; those that
    do not fit even then are computed again for every product.

    Parameters
    ----------
    against : callable
        ``against(columns, dtype)(rows, out=None)``: the kernel between ``rows`` and
        ``columns``, slices or indices of the n training rows, as an array of that
        dtype; written to ``out`` where given.
    n : int
        Number of rows.
    memory_budget : int
        Bytes that tiles may take.
    dtype : dtype, default=None
        Overrides the choice of precision.
    tile : int, default=1024
        Rows and columns of a tile.

    Attributes
    ----------
    dtype : dtype
        Precision of the values.
    n_bytes, n_bytes_kept : int
        Size of all tiles, and of those in memory.
    trace : float
        Sum of the diagonal.

    Examples
    --------
    >>> import numpy as np
    >>> from aucmax.design.gram import Gram
    >>> x = np.array([1.0, 2.0, 3.0])
    >>> def against(columns, dtype):
    ...     return lambda rows, out=None: np.outer(x[rows], x[columns], out=out)
    >>> gram = Gram(against, n=3, memory_budget=1000)
    >>> gram.dot(np.array([1.0, 0.0, -1.0]))
    array([-2., -4., -6.])
    """

    def __init__(
        self,
        against: KernelFactory,
        n: int,
        *,
        memory_budget: int,
        dtype: DTypeLike | None = None,
        tile: int = TILE,
    ) -> None:
        self.n = n
        self.spans = [slice(low, min(low + tile, n)) for low in range(0, n, tile)]
        if dtype is None:
            fits = self._n_values() * 8 <= memory_budget
            dtype = np.float64 if fits else np.float32
        self.dtype = np.dtype(dtype)
        self.n_bytes = self._n_values() * self.dtype.itemsize
        self._against = against
        self._tiles: dict[tuple[int, int], NDArray[Any]] = {}
        # Tiles share one array: the system makes large ones about twice as fast. The
        # next one holds a tile that is not kept.
        self._memory = np.empty(min(memory_budget, self.n_bytes), dtype=np.uint8)
        self._scratch = np.empty(min(tile, n) ** 2, dtype=self.dtype)
        self.n_bytes_kept = 0
        self.trace = 0.0
        self._fill()

    def dot(self, vector: FloatArray) -> FloatArray:
        """Return the matrix times ``vector``, added up in float64."""
        narrow = vector.astype(self.dtype, copy=False)
        out = np.zeros(self.n)
        for j, columns in enumerate(self.spans):
            compute = None
            for i in range(j, len(self.spans)):
                tile = self._tiles.get((i, j))
                if tile is None:
                    compute = compute or self._against(columns, self.dtype)
                    shape = self._shape(i, j)
                    tile = self._scratch[: math.prod(shape)].reshape(shape)
                    compute(self.spans[i], out=tile)
                if i == j:
                    out[columns] += tile @ narrow[columns]
                else:
                    _add_both(tile, self.spans[i], columns, narrow, out)
        return out

    def block(self, rows: RowSelection, columns: RowSelection) -> NDArray[Any]:
        """Return the values between some rows and some others, computed afresh."""
        return self._against(columns, self.dtype)(rows)

    def rows(self, index: IntArray) -> NDArray[Any]:
        """Return some rows of the matrix, computed afresh."""
        values = self._against(index, self.dtype)
        rows = np.empty((len(index), self.n), dtype=self.dtype)
        for span in self.spans:
            rows[:, span] = values(span).T
        return rows

    def _n_values(self) -> int:
        sizes = [span.stop - span.start for span in self.spans]
        return (sum(sizes) ** 2 + sum(size**2 for size in sizes)) // 2

    def _shape(self, i: int, j: int) -> tuple[int, int]:
        rows, columns = self.spans[i], self.spans[j]
        return rows.stop - rows.start, columns.stop - columns.start

    def _fill(self) -> None:
        """Compute the tiles that fit, and those of the diagonal; check the kernel."""
        for j, columns in enumerate(self.spans):
            compute = self._against(columns, self.dtype)
            for i in range(j, len(self.spans)):
                shape = self._shape(i, j)
                size = math.prod(shape) * self.dtype.itemsize
                room = self._memory[self.n_bytes_kept :][:size]
                fits = len(room) == size
                if not fits and i > j:
                    break
                flat = room.view(self.dtype) if fits else self._scratch
                tile = flat[: math.prod(shape)].reshape(shape)
                compute(self.spans[i], out=tile)
                _check_values(tile, is_diagonal=i == j)
                if i == j:
                    self.trace += float(np.trace(tile, dtype=np.float64))
                if fits:
                    self._tiles[i, j] = tile
                    self.n_bytes_kept += size


def _add_both(
    tile: NDArray[Any],
    rows: slice,
    columns: slice,
    vector: NDArray[Any],
    out: FloatArray,
) -> None:
    """Add the products of a tile and of its mirror image, reading it once."""
    right, mirrored = vector[columns], out[columns]
    for low in range(rows.start, rows.stop, STRIP):
        high = min(low + STRIP, rows.stop)
        strip = tile[low - rows.start : high - rows.start]
        out[low:high] += strip @ right
        mirrored += vector[low:high] @ strip


def _check_values(values: NDArray[Any], *, is_diagonal: bool) -> None:
    low, high = values.min(), values.max()
    if not (np.isfinite(low) and np.isfinite(high)):
        raise ValueError(
            "The kernel is NaN or infinite for some pairs of rows. Scale the features "
            "first, for example with sklearn.preprocessing.StandardScaler, or choose a "
            "smaller gamma or degree."
        )
    if is_diagonal:
        error = float(np.max(np.abs(values[:STRIP] - values[:, :STRIP].T)))
        if error > ASYMMETRY[values.dtype] * float(max(-low, high)):
            raise ValueError(
                f"The kernel is not symmetric: k(x, y) and k(y, x) differ by {error:g} "
                "for some pair of rows. Pass a symmetric function of two matrices of "
                "rows."
            )
