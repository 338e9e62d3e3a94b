# SPDX-License-Identifier: BSD-3-Clause
"""What every batch of an online learner goes through, in one sweep each.

Functions of numpy do the same in several sweeps, which together take as long as the
fastest learners themselves.
"""

from aucmax._kernels.jit import jit
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
def keep_rows(
    X: FloatArray,
    is_pos: BoolArray,
    slots: IntArray,
    neg: FloatArray,
    pos: FloatArray,
) -> None:
    """Copy the rows that have a slot to the buffer of their class."""
    for i in range(len(slots)):
        if slots[i] >= 0:
            kept = pos if is_pos[i] else neg
            for j in range(X.shape[1]):
                kept[slots[i], j] = X[i, j]
