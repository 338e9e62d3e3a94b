# SPDX-License-Identifier: BSD-3-Clause
"""Rows on the workers of a cluster."""

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from aucmax._utils.typing import FloatArray, IntArray, Matrix
from aucmax.design import Design
from aucmax.design.streamed import stacked
from aucmax.distributed._block import Block
from aucmax.distributed._cluster import fetch, keep, later, merged, shared, writable


class HasParts(Protocol):
    """Where the rows of each block are, and how many."""

    @property
    def parts(self) -> list[Any]:
        """Tasks of the blocks."""
        ...

    @property
    def sizes(self) -> IntArray:
        """Rows of each."""
        ...


class DaskDesign:
    """A sequence of designs in memory, each on the worker that holds its rows.

    They are made once and stay there. Coefficients and scores travel, and the few rows
    that a solver asks for; where a worker is lost, Dask makes its designs again.

    Parameters
    ----------
    blocks : sequence of tasks
        Each gives a `Block`.
    sizes : ndarray of shape (n_blocks,)
        Rows of each.
    n_columns : int
        Columns that the designs show.
    offset : ndarray of shape (n_columns,), default=None
        What they are seen less of; by default nothing.
    """

    reads_in_order = True

    def __init__(
        self,
        blocks: Sequence[Any],
        sizes: IntArray,
        n_columns: int,
        *,
        offset: NDArray[Any] | None = None,
    ) -> None:
        self.blocks = list(blocks)
        self.offset = np.zeros(n_columns) if offset is None else offset
        self.sizes = sizes
        self.ends = np.cumsum(sizes)
        self.shape: tuple[int, int] = (int(self.ends[-1]), n_columns)
        self.n_values = self.shape[0] * n_columns

    def scores(self, coef: FloatArray, out: FloatArray | None = None) -> FloatArray:
        """Return the scores of all rows: those of each block, in order."""
        sent = shared(coef)
        parts = fetch([later(_scores, block, sent) for block in self.blocks])
        return np.concatenate(parts, out=out)

    def adjoint(self, vector: FloatArray) -> FloatArray:
        """Return the sum over all blocks of what each gives for its rows."""
        return self._sum(_adjoint, vector)

    def square_sums(self, weight: FloatArray) -> FloatArray:
        """Return the sum over all blocks of what each gives for its rows."""
        return self._sum(_square_sums, weight)

    def _sum(
        self, of_block: Callable[[Block, FloatArray], FloatArray], vector: FloatArray
    ) -> FloatArray:
        slices = np.split(vector, self.ends[:-1])
        parts = [
            later(of_block, block, piece)
            for block, piece in zip(self.blocks, slices, strict=True)
        ]
        total: FloatArray = fetch([merged(parts, np.add)])[0]
        return total

    def rows(self, index: IntArray, columns: IntArray | None = None) -> Matrix:
        """Return the given rows, gathered from all workers at once."""

        def take(block: Any, here: IntArray) -> Any:
            return later(_rows, block, here, columns)

        return gather(take, self.blocks, self.sizes, index)


def keep_blocks(inputs: HasParts, make: Callable[[Matrix], Design]) -> list[Any]:
    """Make the design of each block where its rows are."""
    sent = shared(make)
    return keep([later(Block, part, sent) for part in inputs.parts])


def gather(
    take: Callable[[Any, IntArray], Any],
    blocks: Sequence[Any],
    sizes: IntArray,
    index: IntArray,
) -> Matrix:
    """Return some rows of all; ``take`` makes the task of those of one block."""
    order = np.argsort(index, kind="stable")
    wanted = index[order]
    ends = np.cumsum(sizes)
    cuts = np.searchsorted(wanted, np.append(0, ends))
    tasks = [
        take(block, wanted[low:high] - start)
        for block, low, high, start in zip(
            blocks, cuts[:-1], cuts[1:], ends - sizes, strict=True
        )
        if low < high
    ]
    back = np.empty_like(order)
    back[order] = np.arange(len(order))
    return stacked(fetch(tasks))[back]


def _scores(block: Block, coef: FloatArray) -> FloatArray:
    return block.design.scores(writable(coef))


def _adjoint(block: Block, vector: FloatArray) -> FloatArray:
    return block.design.adjoint(writable(vector))


def _square_sums(block: Block, weight: FloatArray) -> FloatArray:
    return block.design.square_sums(writable(weight))


def _rows(block: Block, index: IntArray, columns: IntArray | None) -> Matrix:
    return block.design.rows(index, columns)
