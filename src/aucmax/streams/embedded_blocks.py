# SPDX-License-Identifier: BSD-3-Clause
"""Rows through a feature map, in blocks that fit in memory, for steps on pairs."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucmax._utils.typing import IntArray, Matrix
from aucmax.features.nystroem import Nystroem
from aucmax.solvers.pair_sgd import RowBlock

# Rows embedded at a time, so that the copy of their features stays small.
SLICE_ROWS = 2**14
# No block has fewer rows, whatever the budget.
MIN_BLOCK_ROWS = 512
# Where a class has fewer rows per block than this, every block holds them all.
MIN_CLASS_ROWS = 64


class EmbeddedBlocks:
    """Rows as features, all at once or, where they do not fit, a block at a time.

    Rows are dealt to the blocks at random once, class by class. A single block is
    embedded once; one of several, each time it is loaded.

    Of X, the positives ``pos`` and the negatives ``neg`` are used. Features take at
    most ``budget`` bytes at a time.
    """

    def __init__(
        self,
        X: Matrix,
        pos: IntArray,
        neg: IntArray,
        feature_map: Nystroem,
        budget: int,
        rng: np.random.Generator,
    ) -> None:
        self.X = X
        self.feature_map = feature_map
        n = pos.shape[0] + neg.shape[0]
        n_blocks = -(-n * row_bytes(feature_map) // budget)
        n_blocks = min(n_blocks, max(1, n // MIN_BLOCK_ROWS))
        self.pos, self.neg = [pos], [neg]
        if n_blocks > 1:
            self.pos, self.neg = _deal(pos, n_blocks, rng), _deal(neg, n_blocks, rng)
        self.sizes: Sequence[int] = [
            len(some) + len(others)
            for some, others in zip(self.pos, self.neg, strict=True)
        ]
        self._loaded = -1
        self._memory: NDArray[Any] | None = None

    def load(self, k: int) -> RowBlock:
        """Return block ``k``, positives first, in memory that the next one may use."""
        n_pos, n = len(self.pos[k]), self.sizes[k]
        if self._memory is None:
            shape = max(self.sizes), self.feature_map.normalization_.shape[1]
            self._memory = np.empty(shape, self.feature_map.dtype_)
        rows = self._memory[:n]
        if self._loaded != k:
            embed(self.feature_map, self.X, np.append(self.pos[k], self.neg[k]), rows)
            self._loaded = k
        return RowBlock(rows, np.arange(n_pos), np.arange(n_pos, n))


def row_bytes(feature_map: Nystroem) -> int:
    """Return the memory that the features of one row take."""
    rank = int(feature_map.normalization_.shape[1])
    return rank * int(feature_map.dtype_.itemsize)


def embed(
    feature_map: Nystroem, X: Matrix, index: IntArray, out: NDArray[Any] | None = None
) -> NDArray[Any]:
    """Return the features of some rows."""
    if out is None:
        rank = feature_map.normalization_.shape[1]
        out = np.empty((index.shape[0], rank), feature_map.dtype_)
    for low in range(0, index.shape[0], SLICE_ROWS):
        part = slice(low, low + SLICE_ROWS)
        feature_map.transform_rows(X[index[part]], out=out[part])
    return out


def _deal(
    rows: IntArray, n_blocks: int, rng: np.random.Generator
) -> list[NDArray[np.int64]]:
    if len(rows) < MIN_CLASS_ROWS * n_blocks:
        return [rows] * n_blocks
    return list(np.array_split(rng.permutation(rows), n_blocks))
