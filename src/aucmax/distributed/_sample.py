# SPDX-License-Identifier: BSD-3-Clause
"""A sample of rows on the workers: the very rows that a pass over all would keep.

A reservoir needs one random number per row and how many rows of its class came before.
Both are known for every block at once: generators can be moved ahead.
"""

from copy import deepcopy
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from aucmax._utils.typing import BoolArray, IntArray, Matrix, to_dense
from aucmax.distributed._block import Part
from aucmax.distributed._cluster import later, shared
from aucmax.distributed._inputs import DaskInputs
from aucmax.summaries import RowSample
from aucmax.summaries.row_sample import Slots


class Drawn(NamedTuple):
    """Rows of a block that are kept, and where, in the order of their slots."""

    rows: Matrix
    is_pos: BoolArray
    slots: IntArray


def draw_tasks(slots: Slots, inputs: DaskInputs, as_sparse: bool) -> list[Any]:
    """Return the tasks of drawing the rows of each block."""
    sent = shared(slots)
    counts = inputs.counts
    before = np.cumsum(counts, axis=0) - counts
    return [
        later(_draw, sent, n_before, part, as_sparse)
        for n_before, part in zip(before, inputs.parts, strict=True)
    ]


def add_drawn(sample: RowSample, counts: IntArray, drawn: list[Drawn]) -> None:
    """Take in what was drawn, in the order of the blocks."""
    slots = sample.slots
    for n_here, (rows, is_pos, assigned) in zip(counts, drawn, strict=True):
        slots.n_seen = slots.n_seen + n_here
        sample.slots = _Assigned(slots, assigned)
        sample.add(rows, is_pos)
    sample.slots = slots
    _advance(slots, int(counts.sum()))


class _Assigned(Slots):
    """Slots that have been assigned elsewhere."""

    def __init__(self, like: Slots, assigned: IntArray) -> None:
        super().__init__(like.size, like.rng)
        self.n_seen = like.n_seen
        self._assigned = assigned

    def assign(self, is_pos: BoolArray) -> IntArray:
        """Return the slots."""
        return self._assigned


def _draw(slots: Slots, n_before: IntArray, part: Part, as_sparse: bool) -> Drawn:
    # In threads of one process all blocks share it.
    slots = deepcopy(slots)
    slots.n_seen = slots.n_seen + n_before
    _advance(slots, int(n_before.sum()))
    assigned = slots.assign(part.is_pos)
    kept = np.flatnonzero(assigned >= 0)[::-1]
    # The last row of each slot stays; rows come in the order of their slots.
    _, last = np.unique(2 * assigned[kept] + part.is_pos[kept], return_index=True)
    kept = kept[last]
    rows = part.rows[kept]
    if as_sparse:
        rows = sparse.csr_matrix(rows, dtype=np.float64)
    else:
        rows = to_dense(rows).astype(np.float64, copy=False)
    return Drawn(rows, part.is_pos[kept], assigned[kept])


def _advance(slots: Slots, n: int) -> None:
    """Skip the random numbers of ``n`` rows."""
    generator: Any = slots.rng.bit_generator
    generator.advance(n)
