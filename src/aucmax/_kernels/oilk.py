# SPDX-License-Identifier: BSD-3-Clause
"""Functional gradient steps on the pairwise hinge, with few support rows of each class.

The model is ``sum_i coef[i] exp(-gamma |x - s_i|^2)``. Slots 0 to N - 1 hold negatives,
N to 2 N - 1 positives.
"""

from typing import NamedTuple

import numpy as np

from aucmax._kernels.jit import jit
from aucmax._kernels.rows import (
    CSRBatch,
    DenseBatch,
    SparseRows,
    clear,
    copy_to,
    dot,
    scatter,
    squared_distance,
    store,
)
from aucmax._utils.typing import FloatArray, IntArray

# A row whose steps are larger is not learned.
LARGEST_STEP = 1e100
# In place of a slot.
NOT_KEPT = -1
OVERFLOW = -2
# Without a step size, row t takes eta = min(FIRST_RATE, MEMORY / t), so that all rows
# count, and late ones more. Where only the latest rows are kept, the rate stays what it
# is at first: new support rows have to gain weight while they are there.
FIRST_RATE = 1.0 / 200.0
MEMORY = 2.0
# Without a loss weight, row t takes C = WEIGHT sqrt(max(t, SHORT)) / t, so that the
# mean over pairs weighs sqrt(t) against the penalty. Times t^2 / (4 n_neg n_pos), which
# makes that the same for rare classes, but at most MOST_BALANCE. On eight sets twice
# the weight, or 1 or 3 for MEMORY, change the AUC by .02 at most, either way.
WEIGHT = 10.0
SHORT = 400.0
MOST_BALANCE = 25.0
# Squared losses overshoot where the steps of all pairs of a row add up to more.
STABLE = 0.25


class Settings(NamedTuple):
    """Constants of the method.

    ``step_size`` and ``loss_weight`` are the papers' eta and C, zero where they follow
    the number of rows. ``n_neighbors`` is how many support rows a row is compared with
    at most, zero for all.
    """

    gamma: float
    step_size: float
    loss_weight: float
    n_neighbors: int
    is_squared: bool
    is_fifo: bool
    compensate: bool


class Support(NamedTuple):
    """What is known about the support rows, which are kept in slots beside it.

    Attributes
    ----------
    gram : ndarray of shape (2 N, 2 N)
        The kernel between all of them.
    coef : ndarray of shape (2 N,)
        Their weights.
    sizes, oldest, counts : ndarray of shape (2,)
        How many there are of each class, which to replace next when the latest are
        kept, and the rows seen.
    """

    gram: FloatArray
    coef: FloatArray
    sizes: IntArray
    oldest: IntArray
    counts: IntArray


@jit(reorder_sums=True)
def oilk_steps_dense(
    batch: DenseBatch, settings: Settings, support: Support, rows: FloatArray
) -> int:
    """Take in rows; return how many: less than all if a step would overflow."""
    n_slots = rows.shape[0]
    kernel = np.zeros(n_slots)
    for t in range(batch.X.shape[0]):
        row = batch.X[t]
        for i in range(n_slots):
            if is_used(i, support.sizes, n_slots):
                kernel[i] = np.exp(-settings.gamma * squared_distance(row, rows[i]))
        slot = oilk_step(batch.is_pos[t], batch.slots[t], kernel, settings, support)
        if slot == OVERFLOW:
            return t
        if slot != NOT_KEPT:
            copy_to(rows[slot], row)
    return len(batch.X)


@jit(reorder_sums=True)
def oilk_steps_csr(
    batch: CSRBatch, settings: Settings, support: Support, rows: SparseRows
) -> int:
    """Take in CSR rows likewise."""
    values, columns, lengths, norms, work = rows
    n_slots = norms.shape[0]
    kernel = np.zeros(n_slots)
    for t in range(batch.is_pos.shape[0]):
        square = scatter(batch, t, work)
        for i in range(n_slots):
            if is_used(i, support.sizes, n_slots):
                product = 0.0
                for q in range(lengths[i]):
                    product += values[i, q] * work[columns[i, q]]
                distance = max(0.0, square + norms[i] - 2.0 * product)
                kernel[i] = np.exp(-settings.gamma * distance)
        clear(batch, t, work)
        slot = oilk_step(batch.is_pos[t], batch.slots[t], kernel, settings, support)
        if slot == OVERFLOW:
            return t
        if slot != NOT_KEPT:
            store(batch, t, square, rows, slot)
    return len(batch.is_pos)


@jit(reorder_sums=True)
def oilk_scores(
    X: FloatArray, rows: FloatArray, coef: FloatArray, gamma: float, out: FloatArray
) -> None:
    """Write the scores of dense rows.

    Row by row, so that equal rows get equal scores, to the last bit.
    """
    for t in range(X.shape[0]):
        out[t] = 0.0
        for i in range(rows.shape[0]):
            out[t] += coef[i] * np.exp(-gamma * squared_distance(X[t], rows[i]))


@jit(inline=True)
def is_used(i: int, sizes: IntArray, n_slots: int) -> bool:
    """Say whether slot i holds a support row."""
    return bool(i < sizes[0] or 0 <= i - n_slots // 2 < sizes[1])


@jit(reorder_sums=True)
def oilk_step(
    is_pos: bool, slot: int, kernel: FloatArray, settings: Settings, support: Support
) -> int:
    """Learn from a row, given its kernel with the support rows.

    ``slot`` is what the reservoir has drawn, for when its class has as many support
    rows as it may. Returns where to put the row, or NOT_KEPT or OVERFLOW.
    """
    coef, counts = support.coef, support.counts
    budget = coef.shape[0] // 2
    own = 1 if is_pos else 0
    other, sign = 1 - own, 2.0 * own - 1.0
    n_own, n_other = support.sizes[own], support.sizes[other]
    slopes = np.empty(n_other)
    n_pairs, total = pair_slopes(other, kernel, settings, support, slopes)
    shrink, weight = rates(settings, counts, own)
    step = shrink * weight * max(1.0, counts[other] / budget)
    if settings.is_squared and settings.loss_weight == 0.0:
        step = min(step, STABLE / max(1, n_pairs))
    added = step * total
    if n_other == 0 or (n_own == 0 and n_pairs == 0):
        added = shrink * weight
    if not added < LARGEST_STEP:
        return OVERFLOW
    counts[own] += 1
    for i in range(coef.shape[0]):
        coef[i] *= 1.0 - shrink
    for b in range(n_other):
        coef[other * budget + b] -= sign * step * slopes[b]
    if added == 0.0:
        return NOT_KEPT
    return add_support(own, slot, sign * added, kernel, settings, support)


@jit(reorder_sums=True, inline=True)
def pair_slopes(
    other: int,
    kernel: FloatArray,
    settings: Settings,
    support: Support,
    slopes: FloatArray,
) -> tuple[int, float]:
    """Write the slope of each loss; return how many are positive, and their sum."""
    gram, coef = support.gram, support.coef
    first = other * (coef.shape[0] // 2)
    sign = 1.0 - 2.0 * other
    score = dot(kernel, coef)
    n_pairs = 0
    for b in range(slopes.shape[0]):
        slopes[b] = max(0.0, 1.0 - sign * (score - dot(gram[first + b], coef)))
        n_pairs += slopes[b] > 0.0
    if 0 < settings.n_neighbors < n_pairs:
        n_pairs = settings.n_neighbors
        keep_nearest(slopes, kernel[first:], n_pairs)
    total = 0.0
    for b in range(slopes.shape[0]):
        if slopes[b] > 0.0:
            slopes[b] = 2.0 * slopes[b] if settings.is_squared else 1.0
            total += slopes[b]
    return n_pairs, total


@jit(inline=True)
def keep_nearest(losses: FloatArray, kernel: FloatArray, n_neighbors: int) -> None:
    """Set all losses to zero but those of the nearest; the first of equally near."""
    for _ in range(n_neighbors):
        nearest = -1
        for b in range(losses.shape[0]):
            if losses[b] > 0.0 and (nearest < 0 or kernel[b] > kernel[nearest]):
                nearest = b
        losses[nearest] *= -1.0  # taken
    for b in range(losses.shape[0]):
        losses[b] = max(0.0, -losses[b])


@jit(inline=True)
def rates(settings: Settings, counts: IntArray, own: int) -> tuple[float, float]:
    """Return eta and C for the next row, which is of class ``own``."""
    seen = counts[0] + counts[1] + 1
    shrink, weight = settings.step_size, settings.loss_weight
    if shrink == 0.0:
        shrink = FIRST_RATE if settings.is_fifo else min(FIRST_RATE, MEMORY / seen)
    if weight == 0.0:
        n_own, n_other = counts[own] + 1, max(1, counts[1 - own])
        balance = (0.25 * seen / n_own) * (seen / n_other)
        weight = WEIGHT * np.sqrt(max(seen, SHORT)) / seen * min(MOST_BALANCE, balance)
    return shrink, weight


@jit(inline=True)
def add_support(
    own: int,
    slot: int,
    added: float,
    kernel: FloatArray,
    settings: Settings,
    support: Support,
) -> int:
    """Make a row with weight ``added`` a support row; return its slot or NOT_KEPT."""
    gram, coef, sizes, oldest, _ = support
    budget = coef.shape[0] // 2
    first = own * budget
    if sizes[own] < budget:
        slot = sizes[own]
        sizes[own] += 1
    elif settings.is_fifo:
        slot = oldest[own]
        oldest[own] = (slot + 1) % budget
    place = first + slot if slot >= 0 else NOT_KEPT
    near, dropped = kernel, added
    if place != NOT_KEPT:
        near, dropped = gram[place].copy(), coef[place]
        near[place] = kernel[place]
        kernel[place] = 1.0
        for i in range(coef.shape[0]):
            gram[place, i] = kernel[i]
            gram[i, place] = kernel[i]
        coef[place] = added
    if settings.compensate and dropped != 0.0:
        heir = first
        for i in range(first, first + budget):
            if near[i] > near[heir]:
                heir = i
        coef[heir] += dropped
    return place
