# SPDX-License-Identifier: BSD-3-Clause
"""Steps on the hinge loss over pairs of a row and the buffered rows of the other class.

Each row updates the weights with the rows of the other class that are in the buffer, in
slot order, and then goes to its own slot: slots 0 to N - 1 hold negatives, N to 2 N - 1
positives. No step can overflow: steps are at most 1e100 and values 1e70, so that
weights stay below 1e210 for 1e15 rows.
"""

from typing import NamedTuple

import numpy as np

from aucmax._kernels.jit import jit
from aucmax._kernels.rows import (
    CANCELLED,
    Batch,
    KeptRows,
    Row,
    add_row,
    add_slot,
    clear,
    keep_row,
    row_at,
    row_dot,
    scatter,
    slot_dots,
    sum_squared_differences,
)
from aucmax._utils.typing import FloatArray, IntArray
from aucmax.saved import saved_as

# Without a step size, row t takes C = AUTO / (t spread), where spread is the mean
# squared distance of the pairs so far. On eight sets 1, 2, 3 and 4 differ by .004 in
# AUC at most, except w8a, where 1 is .008 below 4.
AUTO = 3.0
# Spreads that are smaller, relative to the squares they are the difference of, come
# from rounding; and no step is larger than 1e100.
ROUNDING = 1e-12
SMALLEST_SPREAD = 1e-99


@saved_as("OAMRule")
class Rule(NamedTuple):
    """How to step.

    ``is_sequential`` makes one step per pair, each from the weights that the previous
    one left; otherwise all pairs of a row make one step together. ``step_size`` is the
    paper's C, zero for one that follows the spread of the pairs.
    """

    is_sequential: bool
    step_size: float


@saved_as("OAMState")
class State(NamedTuple):
    """What is learned, and what is kept of the rows so far.

    Attributes
    ----------
    counts : ndarray of shape (3,)
        Negatives, positives, and rows that had pairs.
    squares : ndarray of shape (3,)
        Sums of the squared norms of negatives and positives, and the product of
        ``sums``: the mean squared distance of all pairs follows from them.
    sums : ndarray of shape (2, n_features)
        Sums of the rows of each class.
    coef : ndarray of shape (n_features,)
        The weights.
    average : ndarray of shape (n_features,)
        Their mean after each row that had pairs is ``coef - average / k`` after k of
        them: a change adds k times itself, and features without a change cost nothing.
    kept : KeptRows
        The rows kept.
    """

    counts: IntArray
    squares: FloatArray
    sums: FloatArray
    coef: FloatArray
    average: FloatArray
    kept: KeptRows


@jit(reorder_sums=True)
def oam_steps(batch: Batch, rule: Rule, state: State) -> None:
    """Take in rows."""
    counts, squares, sums, kept = state.counts, state.squares, state.sums, state.kept
    size = len(kept.lengths) // 2
    for t in range(len(batch.is_pos)):
        row = row_at(batch.rows, t)
        own = 1 if batch.is_pos[t] else 0
        other, sign = 1 - own, 2.0 * own - 1.0
        square = scatter(row, kept.work)
        counts[own] += 1
        squares[own] += square
        squares[2] += row_dot(row, sums[other])
        add_row(sums[own], 1.0, row)
        if counts[other] > 0:
            most = largest_step(rule.step_size, counts, squares, other, size)
            first = other * size
            last = first + min(size, counts[other])
            if rule.is_sequential:
                along = sequential_steps(row, square, sign, most, first, last, state)
            else:
                along = gradient_step(row, sign, most, first, last, state)
            add_row(state.coef, along, row)
            add_row(state.average, along * counts[2], row)
            counts[2] += 1
        clear(row, kept.work)
        if batch.slots[t] >= 0:
            keep_row(row, square, kept, own * size + batch.slots[t])


@jit(inline=True)
def sequential_steps(
    row: Row,
    square: float,
    sign: float,
    most: float,
    first: int,
    last: int,
    state: State,
) -> float:
    """Make one step per pair with the rows in some slots.

    Returns how often the row is to be added to the weights in the end.
    """
    kept, coef = state.kept, state.coef
    along, score = 0.0, row_dot(row, coef)
    for slot in range(first, last):
        product, other_score = slot_dots(kept, slot, kept.work, coef)
        # With the weights as they are now.
        margin = sign * (score - other_score - along * product)
        if margin < 1.0:
            gap = square + kept.norms[slot] - 2.0 * product
            if gap <= CANCELLED * square:
                gap = sum_squared_differences(row, kept, slot)
            step = sign * pair_step(margin, gap, most)
            add_slot(coef, -step, kept, slot)
            add_slot(state.average, -step * state.counts[2], kept, slot)
            along += step
            score += step * (square - product)
    return along


@jit(inline=True)
def gradient_step(
    row: Row, sign: float, most: float, first: int, last: int, state: State
) -> float:
    """Make one step for all pairs with the rows in some slots, likewise."""
    kept, coef = state.kept, state.coef
    has_loss = np.empty(last - first, dtype=np.bool_)
    score = row_dot(row, coef)
    for k in range(last - first):
        other_score, _ = slot_dots(kept, first + k, coef, coef)
        has_loss[k] = sign * (score - other_score) < 1.0
    for k in range(last - first):
        if has_loss[k]:
            add_slot(coef, -sign * most, kept, first + k)
            add_slot(state.average, -sign * most * state.counts[2], kept, first + k)
    return sign * most * np.count_nonzero(has_loss)


@jit(inline=True)
def largest_step(
    step_size: float, counts: IntArray, squares: FloatArray, other: int, size: int
) -> float:
    """Return C / 2, weighted for the rows of the other class that are not kept."""
    constant = step_size
    if step_size == 0.0:
        norms = squares[0] / counts[0] + squares[1] / counts[1]
        spread = norms - 2.0 * (squares[2] / counts[0]) / counts[1]
        spread = max(spread, ROUNDING * norms, SMALLEST_SPREAD)
        constant = AUTO / ((counts[0] + counts[1]) * spread)
    factor: float = max(1.0, counts[other] / size)
    return 0.5 * constant * factor


@jit(inline=True)
def pair_step(margin: float, norm: float, most: float) -> float:
    """Return the step of one pair: zero without a loss, or of equal rows."""
    if margin >= 1.0 or norm <= 0.0:
        return 0.0
    return min(most, (1.0 - margin) / norm)
