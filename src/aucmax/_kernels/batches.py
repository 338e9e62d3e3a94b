# SPDX-License-Identifier: BSD-3-Clause
"""What every batch of an online learner goes through, in one sweep each.

Functions of numpy do the same in several sweeps, which together take as long as the
fastest learners themselves.
"""

from aucmax._kernels.jit import jit
from aucmax._kernels.products import dot
from aucmax._kernels.rows import Batch, KeptRows, keep_row, row_at
from aucmax._utils.typing import BoolArray, FloatArray, IntArray


@jit
def draw_slots(
    draws: FloatArray, is_pos: BoolArray, n_seen: IntArray, size: int, slots: IntArray
) -> None:
    """Write the slot of each row in the reservoir of its class; -1 if it has none.

    ``draws`` are uniform in [0, 1), one for each row; ``n_seen`` counts the rows of
    both classes so far.
    """
    for i in range(len(draws)):
        own = 1 if is_pos[i] else 0
        slot = n_seen[own]
        n_seen[own] = slot + 1
        if slot >= size:
            slot = int(draws[i] * (slot + 1))
            if slot >= size:
                slot = -1
        slots[i] = slot


@jit
def keep_rows(batch: Batch, kept: KeptRows) -> None:
    """Copy the rows that have a slot: negatives to the first half, positives behind."""
    size = len(kept.lengths) // 2
    for t in range(len(batch.slots)):
        if batch.slots[t] >= 0:
            row = row_at(batch.rows, t)
            square = dot(row.values, row.values)
            keep_row(row, square, kept, int(batch.is_pos[t]) * size + batch.slots[t])
