# SPDX-License-Identifier: BSD-3-Clause
"""Values of blocks of rows, and scores that stay with their rows."""

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from aucmax._utils.typing import FloatArray
from aucmax.distributed._block import Block
from aucmax.distributed._cluster import fetch, keep, later, merged, shared, writable
from aucmax.distributed.design import DaskDesign


class DaskBlocks:
    """One value for each block, on the worker that holds it.

    Parameters
    ----------
    tasks : sequence of tasks
        Each gives the value of a block.
    """

    # So that numpy leaves a number times blocks to the blocks.
    __array_ufunc__ = None

    def __init__(self, tasks: Sequence[Any]) -> None:
        self.tasks = list(tasks)

    def map(self, function: Callable[..., Any], *args: Any) -> "DaskBlocks":
        """Return ``function(value, *args)`` of each block, not computed yet."""
        columns = [
            arg.tasks
            if isinstance(arg, DaskBlocks)
            else [shared(arg)] * len(self.tasks)
            for arg in args
        ]
        values = zip(self.tasks, *columns, strict=True)
        return DaskBlocks([later(function, *of_block) for of_block in values])

    def keep(self) -> "DaskBlocks":
        """Return the same, computed once and for all."""
        return DaskBlocks(keep(self.tasks))

    def merge(self, function: Callable[[Any, Any], Any]) -> Any:
        """Return what merging the values of all blocks, two by two, gives."""
        return fetch([merged(self.tasks, function)])[0]

    def __add__(self, other: "DaskBlocks") -> "DaskBlocks":
        return self.map(operator.add, other).keep()

    def __rmul__(self, factor: float) -> "DaskBlocks":
        return self.map(operator.mul, factor)


class BlockwiseDesign(DaskDesign):
    """A `DaskDesign` whose scores are `DaskBlocks`: they stay with their rows.

    Parameters
    ----------
    design : DaskDesign
        The rows.
    mass : float
        Their weight.

    Attributes
    ----------
    is_pos, weight : DaskBlocks
        Which rows are positive, and how often each counts.
    offset : ndarray of shape (n_features,)
        Mean of all rows, which they are seen less of.
    """

    def __init__(self, design: DaskDesign, mass: float) -> None:
        super().__init__(design.blocks, design.sizes, design.shape[1])
        self.all = DaskBlocks(self.blocks)
        self.is_pos = self.all.map(_is_pos).keep()
        self.weight = self.all.map(_weight).keep()
        self._middle: FloatArray = self.adjoint(self.weight) / mass
        self.offset = design.offset + self._middle

    def scores(self, coef: FloatArray, out: Any = None) -> Any:
        """Return the scores of all rows, whose mean is zero."""
        return self.all.map(_scores, (coef, float(self._middle @ coef))).keep()

    def adjoint(self, vector: Any) -> FloatArray:
        """Return the sum over all blocks of what each gives for its rows.

        Not corrected for the mean of the rows: gradients of losses sum to zero.
        """
        total: FloatArray = self.all.map(_adjoint, vector).merge(np.add)
        return total


def _is_pos(block: Block) -> Any:
    return block.part.is_pos


def _weight(block: Block) -> Any:
    return block.part.weight


def _scores(block: Block, sent: tuple[FloatArray, float]) -> FloatArray:
    coef, middle = sent
    return block.design.scores(writable(coef)) - middle


def _adjoint(block: Block, vector: FloatArray) -> FloatArray:
    return block.design.adjoint(writable(vector))
