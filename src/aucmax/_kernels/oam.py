# SPDX-License-Identifier: BSD-3-Clause
"""Steps on the hinge loss over pairs of a row and the buffered rows of the other class.

Each row updates the weights with the rows of the other class that are in the buffer, in
slot order, and then goes to its own slot: slots 0 to N - 1 hold negatives, N to 2 N - 1
positives. No step can overflow: steps are at most 1e100 and values 1e70, so that
weights stay below 1e210 for 1e15 rows.
"""

from typing import Any, NamedTuple

import numpy as np

from aucmax._kernels.jit import jit
from aucmax._kernels.rows import (
    CSRBatch,
    DenseBatch,
    SparseRows,
    add_scaled,
    clear,
    copy_to,
    dot,
    scatter,
    store,
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
# Squared distances this small, relative to the squared norms they are the difference
# of, are computed again from the differences of the values.
CANCELLED = 1e-6


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
        Their mean after each row that had pairs. For CSR rows the mean is ``coef -
        average / k`` after k of them: a change adds k times itself, and features
        without a change cost nothing.
    buffer : ndarray of shape (2 N, n_features) or SparseRows
        The rows kept.
    """

    counts: IntArray
    squares: FloatArray
    sums: FloatArray
    coef: FloatArray
    average: FloatArray
    buffer: Any


@jit(reorder_sums=True)
def oam_steps_dense(batch: DenseBatch, rule: Rule, state: State) -> None:
    """Take in rows."""
    counts, squares, sums, coef, average, buffer = state
    size = buffer.shape[0] // 2
    for t in range(batch.X.shape[0]):
        row = batch.X[t]
        own = 1 if batch.is_pos[t] else 0
        other, sign = 1 - own, 2.0 * own - 1.0
        counts[own] += 1
        squares[own] += dot(row, row)
        squares[2] += dot(row, sums[other])
        add_scaled(sums[own], 1.0, row)
        if counts[other] > 0:
            most = largest_step(rule.step_size, counts, squares, other, size)
            first = other * size
            kept = buffer[first : first + min(size, counts[other])]
            if rule.is_sequential:
                sequential_steps(row, sign, most, kept, coef)
            else:
                gradient_step(row, sign, most, kept, coef)
            counts[2] += 1
            share = 1.0 / counts[2]
            for j in range(coef.shape[0]):
                average[j] += share * (coef[j] - average[j])
        if batch.slots[t] >= 0:
            copy_to(buffer[own * size + batch.slots[t]], row)


@jit(reorder_sums=True, inline=True)
def sequential_steps(
    row: FloatArray, sign: float, most: float, kept: FloatArray, coef: FloatArray
) -> None:
    """Make one step per pair."""
    for b in range(kept.shape[0]):
        score, norm = 0.0, 0.0
        for j in range(coef.shape[0]):
            gap = row[j] - kept[b, j]
            score += coef[j] * gap
            norm += gap * gap
        step = sign * pair_step(sign * score, norm, most)
        if step != 0.0:
            for j in range(coef.shape[0]):
                coef[j] += step * (row[j] - kept[b, j])


@jit(reorder_sums=True, inline=True)
def gradient_step(
    row: FloatArray, sign: float, most: float, kept: FloatArray, coef: FloatArray
) -> None:
    """Make one step for all pairs."""
    total = np.zeros(coef.shape[0])
    for b in range(kept.shape[0]):
        score = 0.0
        for j in range(coef.shape[0]):
            score += coef[j] * (row[j] - kept[b, j])
        if sign * score < 1.0:
            for j in range(coef.shape[0]):
                total[j] += row[j] - kept[b, j]
    add_scaled(coef, sign * most, total)


@jit(reorder_sums=True)
def oam_steps_csr(batch: CSRBatch, rule: Rule, state: State) -> None:
    """Take in CSR rows, touching nonzeros only."""
    counts, squares, sums, coef, average, buffer = state
    values, columns, lengths, norms, work = buffer
    size = lengths.shape[0] // 2
    margins = np.empty(2 * size)
    for t in range(batch.is_pos.shape[0]):
        own = 1 if batch.is_pos[t] else 0
        other, sign = 1 - own, 2.0 * own - 1.0
        square, score = scatter(batch, t, work), 0.0
        counts[own] += 1
        squares[own] += square
        for q in range(batch.indptr[t], batch.indptr[t + 1]):
            j = batch.indices[q]
            squares[2] += batch.data[q] * sums[other, j]
            sums[own, j] += batch.data[q]
            score += batch.data[q] * coef[j]
        if counts[other] > 0:
            most = largest_step(rule.step_size, counts, squares, other, size)
            kept = range(other * size, other * size + min(size, counts[other]))
            # The weights are ``coef`` plus ``along`` times the row; ``score`` is its
            # score with the weights as they are now.
            along = 0.0
            for b in kept:
                product, stored = 0.0, 0.0
                for q in range(lengths[b]):
                    product += values[b, q] * work[columns[b, q]]
                    stored += values[b, q] * coef[columns[b, q]]
                margins[b] = sign * (score - stored - along * product)
                if margins[b] < 1.0 and rule.is_sequential:
                    norm = square + norms[b] - 2.0 * product
                    if norm <= CANCELLED * square:
                        norm = sparse_squared_distance(batch, t, buffer, b)
                    step = sign * pair_step(margins[b], norm, most)
                    add_slot(state, -step, b)
                    along += step
                    score += step * (square - product)
            if not rule.is_sequential:
                for b in kept:
                    if margins[b] < 1.0:
                        add_slot(state, -sign * most, b)
                        along += sign * most
            for q in range(batch.indptr[t], batch.indptr[t + 1]):
                coef[batch.indices[q]] += along * batch.data[q]
                average[batch.indices[q]] += counts[2] * along * batch.data[q]
            counts[2] += 1
        clear(batch, t, work)
        if batch.slots[t] >= 0:
            store(batch, t, square, buffer, own * size + batch.slots[t])


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


@jit(inline=True)
def add_slot(state: State, step: float, b: int) -> None:
    """Add ``step`` times a buffered CSR row to the weights."""
    rows = state.buffer
    for q in range(rows.lengths[b]):
        change = step * rows.values[b, q]
        state.coef[rows.columns[b, q]] += change
        state.average[rows.columns[b, q]] += state.counts[2] * change


@jit
def sparse_squared_distance(
    batch: CSRBatch, t: int, rows: SparseRows, slot: int
) -> float:
    """Return the squared distance of row t and a buffered one, by differences."""
    q, high = batch.indptr[t], batch.indptr[t + 1]
    r, length, total = 0, rows.lengths[slot], 0.0
    while q < high or r < length:
        here = batch.indices[q] if q < high else rows.work.shape[0]
        there = rows.columns[slot, r] if r < length else rows.work.shape[0]
        gap = 0.0
        if here <= there:
            gap += batch.data[q]
            q += 1
        if there <= here:
            gap -= rows.values[slot, r]
            r += 1
        total += gap * gap
    return total
