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
from aucmax._kernels.sparse_rows import CSR, SparseRows, clear, scatter, store
from aucmax._kernels.vectors import add_scaled, dot
from aucmax._utils.typing import BoolArray, FloatArray, IntArray

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


class Rule(NamedTuple):
    """How to step.

    ``is_sequential`` makes one step per pair, each from the weights that the previous
    one left; otherwise all pairs of a row make one step together. ``step_size`` is the
    paper's C, zero for one that follows the spread of the pairs.
    """

    is_sequential: bool
    step_size: float


class Seen(NamedTuple):
    """Sums over the rows so far, from which the spread of their pairs follows.

    ``counts`` are negatives, positives and rows that had pairs; ``squares`` the sums of
    the squared norms of each class, and the product of ``sums``, those of the rows.
    """

    counts: IntArray
    squares: FloatArray
    sums: FloatArray


class LazyWeights(NamedTuple):
    """Weights, and what their average follows from.

    The average of the last k is ``coef - delayed / k``: a change that comes after k of
    them adds k times itself to ``delayed``.
    """

    coef: FloatArray
    delayed: FloatArray


@jit(reorder_sums=True)
def oam_steps_dense(
    X: FloatArray,
    is_pos: BoolArray,
    slots: IntArray,
    rule: Rule,
    seen: Seen,
    buffer: FloatArray,
    coef: FloatArray,
    mean: FloatArray,
) -> None:
    """Take in rows; ``mean`` is the average of ``coef`` after each row with pairs."""
    counts, squares, sums = seen
    size = buffer.shape[0] // 2
    total = np.empty(coef.shape[0])
    for t in range(X.shape[0]):
        row = X[t]
        own = 1 if is_pos[t] else 0
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
                gradient_step(row, sign, most, kept, coef, total)
            counts[2] += 1
            share = 1.0 / counts[2]
            for j in range(coef.shape[0]):
                mean[j] += share * (coef[j] - mean[j])
        if slots[t] >= 0:
            for j in range(coef.shape[0]):
                buffer[own * size + slots[t], j] = row[j]


@jit(reorder_sums=True, inline=True)
def sequential_steps(
    row: FloatArray, sign: float, most: float, kept: FloatArray, coef: FloatArray
) -> None:
    """Make one step per pair, each from the weights that the previous one left."""
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
    row: FloatArray,
    sign: float,
    most: float,
    kept: FloatArray,
    coef: FloatArray,
    total: FloatArray,
) -> None:
    """Make one step for all pairs; ``total`` is work space."""
    for j in range(coef.shape[0]):
        total[j] = 0.0
    for b in range(kept.shape[0]):
        score = 0.0
        for j in range(coef.shape[0]):
            score += coef[j] * (row[j] - kept[b, j])
        if sign * score < 1.0:
            for j in range(coef.shape[0]):
                total[j] += row[j] - kept[b, j]
    add_scaled(coef, sign * most, total)


@jit(reorder_sums=True)
def oam_steps_csr(
    X: CSR,
    is_pos: BoolArray,
    slots: IntArray,
    rule: Rule,
    seen: Seen,
    buffer: SparseRows,
    weights: LazyWeights,
    work: FloatArray,
) -> None:
    """Take in CSR rows, touching nonzeros only; ``work`` is zero before and after."""
    counts, squares, sums = seen
    coef, delayed = weights
    values, columns, lengths, norms = buffer
    size = lengths.shape[0] // 2
    margins = np.empty(2 * size)
    for t in range(is_pos.shape[0]):
        own = 1 if is_pos[t] else 0
        other, sign = 1 - own, 2.0 * own - 1.0
        square, score = scatter(X, t, work), 0.0
        counts[own] += 1
        squares[own] += square
        for q in range(X.indptr[t], X.indptr[t + 1]):
            j = X.indices[q]
            squares[2] += X.data[q] * sums[other, j]
            sums[own, j] += X.data[q]
            score += X.data[q] * coef[j]
        if counts[other] > 0:
            most = largest_step(rule.step_size, counts, squares, other, size)
            first = other * size
            # The weights are ``coef`` plus ``along`` times the row; ``score`` is its
            # score with the weights as they are now.
            along = 0.0
            for b in range(first, first + min(size, counts[other])):
                product, stored = 0.0, 0.0
                for q in range(lengths[b]):
                    product += values[b, q] * work[columns[b, q]]
                    stored += values[b, q] * coef[columns[b, q]]
                margins[b] = sign * (score - stored - along * product)
                if margins[b] < 1.0 and rule.is_sequential:
                    norm = square + norms[b] - 2.0 * product
                    if norm <= CANCELLED * square:
                        norm = squared_distance(X, t, buffer, b)
                    step = sign * pair_step(margins[b], norm, most)
                    add_slot(weights, counts[2], -step, buffer, b)
                    along += step
                    score += step * (square - product)
            if not rule.is_sequential:
                for b in range(first, first + min(size, counts[other])):
                    if margins[b] < 1.0:
                        add_slot(weights, counts[2], -sign * most, buffer, b)
                        along += sign * most
            for q in range(X.indptr[t], X.indptr[t + 1]):
                coef[X.indices[q]] += along * X.data[q]
                delayed[X.indices[q]] += counts[2] * along * X.data[q]
            counts[2] += 1
        clear(X, t, work)
        if slots[t] >= 0:
            store(X, t, square, buffer, own * size + slots[t])


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
def add_slot(
    weights: LazyWeights, age: int, step: float, rows: SparseRows, i: int
) -> None:
    """Add ``step`` times the row in slot i to the weights."""
    for q in range(rows.lengths[i]):
        change = step * rows.values[i, q]
        weights.coef[rows.columns[i, q]] += change
        weights.delayed[rows.columns[i, q]] += age * change


@jit
def squared_distance(X: CSR, t: int, rows: SparseRows, i: int) -> float:
    """Return the squared distance of row t and the row in slot i."""
    q, high = X.indptr[t], X.indptr[t + 1]
    r, length = 0, rows.lengths[i]
    total = 0.0
    while q < high or r < length:
        gap = 0.0
        is_first = r == length or (q < high and X.indices[q] <= rows.columns[i, r])
        is_second = q == high or (r < length and rows.columns[i, r] <= X.indices[q])
        if is_first:
            gap += X.data[q]
            q += 1
        if is_second:
            gap -= rows.values[i, r]
            r += 1
        total += gap * gap
    return total
