# SPDX-License-Identifier: BSD-3-Clause
"""The objective of RankSVM without a vector of scores at the driver."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from aucmax._utils.typing import FloatArray, IntArray
from aucmax.distributed._bins import (
    Place,
    Table,
    active,
    merge_tables,
    pair_error,
    pair_loss,
    place,
    sum_by_class,
    tabulate,
)
from aucmax.distributed._block import Block
from aucmax.distributed._cluster import fetch, keep, later, merged, shared, writable
from aucmax.distributed._inputs import DaskInputs
from aucmax.distributed.design import DaskDesign

MARGIN = 1.0


class Objective:
    """The mean over pairs and the penalty, and their derivatives, at some coefficients.

    Every call is two trips to the workers at most; tables of bins and coefficients
    travel.
    """

    def __init__(
        self,
        design: DaskDesign,
        inputs: DaskInputs,
        *,
        alpha: float,
        bins_per_octave: int,
    ) -> None:
        self.design = design
        self.alpha = alpha
        self.n_passes = 0.0
        self._bins = bins_per_octave
        self._pairs = float(inputs.mass.prod())
        # Bins are narrowest around zero, which is put in the middle of the scores.
        parts = [later(_add_rows, block) for block in design.blocks]
        self._middle = fetch([merged(parts, np.add)])[0] / inputs.mass.sum()
        self._points: list[Point] = []

    def at(self, coef: FloatArray) -> "Point":
        """Return what is known at some coefficients, of the two last asked for."""
        known = [p for p in self._points if np.array_equal(p.coef, coef)]
        point = known[0] if known else self._new_point(coef.copy())
        others = [p for p in self._points if p is not point]
        self._points = [*others[-1:], point]
        return point

    def _new_point(self, coef: FloatArray) -> "Point":
        sent = shared((coef, float(self._middle @ coef), self._bins))
        places = keep([later(_place, block, sent) for block in self.design.blocks])
        tables = [
            later(_tabulate, block, here)
            for block, here in zip(self.design.blocks, places, strict=True)
        ]
        table: Table = fetch([merged(tables, merge_tables)])[0]
        self.n_passes += 1
        value = pair_loss(table) / self._pairs + 0.5 * self.alpha * float(coef @ coef)
        error = pair_error(table) / self._pairs
        return Point(self, coef, places, table, value, error)

    def scores(self, coef: FloatArray) -> tuple[Table, float]:
        """Return the sums over bins of the scores less a number, and that number."""
        middle = float(self._middle @ coef)
        sent = shared((coef, middle, self._bins))
        parts = [later(_tabulate_scores, block, sent) for block in self.design.blocks]
        table: Table = fetch([merged(parts, merge_tables)])[0]
        return table, middle + float(self.design.offset @ coef)


class Point:
    """Some coefficients, and what is known there.

    Attributes
    ----------
    coef : ndarray of shape (n_features,)
        Where it is.
    value : float
        The objective, with pairs of one bin counted as active.
    error : float
        How much less it is with the active ones alone, at most.
    """

    def __init__(
        self,
        parent: Objective,
        coef: FloatArray,
        places: list[Any],
        table: Table,
        value: float,
        error: float,
    ) -> None:
        self.parent, self.coef = parent, coef
        self.value, self.error = value, error
        self.table = table
        self._places = places
        self._states: list[Any] = []
        self._grad: FloatArray | None = None

    def grad(self) -> FloatArray:
        """Return the gradient."""
        if self._grad is None:
            mass = shared((self.table.edges, active(self.table.mass)))
            self._states = keep(self._each(_locate, self._places, mass))
            self._places = []
            sums = shared(active(self.table.first))
            self._grad = self._adjoint(self._each(_gradient, self._states, sums))
            self._grad += self.parent.alpha * self.coef
        return self._grad

    def hess_dot(self, vector: FloatArray) -> FloatArray:
        """Return the Hessian of the pairs active here, times a vector."""
        self.grad()
        sent = shared(vector)
        blocks = self.parent.design.blocks
        along = keep([later(_scores, block, sent) for block in blocks])
        rows = list(zip(blocks, self._states, along, strict=True))
        parts = [later(_sum_bins, *block) for block in rows]
        sums = shared(active(fetch([merged(parts, np.add)])[0]))
        self.parent.n_passes += 1
        tasks = [later(_curve, *block, sums) for block in rows]
        return self._adjoint(tasks) + self.parent.alpha * vector

    def _each(self, function: Callable[..., Any], states: list[Any], sent: Any) -> Any:
        blocks = self.parent.design.blocks
        return [
            later(function, block, state, sent)
            for block, state in zip(blocks, states, strict=True)
        ]

    def _adjoint(self, tasks: list[Any]) -> FloatArray:
        self.parent.n_passes += 1
        total: FloatArray = fetch([merged(tasks, np.add)])[0]
        return total * (2.0 / self.parent._pairs)


class _State(NamedTuple):
    """Bins of the rows of a block among all, and the mass each row is active with."""

    values: FloatArray
    which: IntArray
    mass: FloatArray
    n_bins: int


def _add_rows(block: Block) -> FloatArray:
    return block.design.adjoint(block.part.weight)


def _scores(block: Block, coef: FloatArray) -> FloatArray:
    return block.design.scores(writable(coef))


def _place(block: Block, sent: tuple[FloatArray, float, int]) -> Place:
    coef, middle, bins_per_octave = sent
    values = block.design.scores(writable(coef))
    values -= middle
    values[block.part.is_pos] -= MARGIN
    return place(values, bins_per_octave)


def _tabulate(block: Block, here: Place) -> Table:
    return tabulate(here, block.part.is_pos, block.part.weight)


def _tabulate_scores(block: Block, sent: tuple[FloatArray, float, int]) -> Table:
    coef, middle, bins_per_octave = sent
    return _tabulate(
        block, place(block.design.scores(writable(coef)) - middle, bins_per_octave)
    )


def _locate(block: Block, here: Place, sent: tuple[FloatArray, FloatArray]) -> _State:
    edges, mass = sent
    which = np.searchsorted(edges, here.edges)[here.which]
    own = block.part.is_pos.astype(np.intp)
    return _State(here.values, which, mass[own, which], len(edges))


def _gradient(block: Block, state: _State, sums: FloatArray) -> FloatArray:
    return _curve(block, state, state.values, sums)


def _sum_bins(block: Block, state: _State, scores: FloatArray) -> FloatArray:
    part = block.part
    return sum_by_class(state.which, part.is_pos, part.weight * scores, state.n_bins)


def _curve(
    block: Block, state: _State, scores: FloatArray, sums: FloatArray
) -> FloatArray:
    """Return the block's share of the Hessian times a vector with these scores."""
    own = block.part.is_pos.astype(np.intp)
    curved = scores * state.mass - sums[own, state.which]
    return block.design.adjoint(block.part.weight * curved)
