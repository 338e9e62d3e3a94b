# SPDX-License-Identifier: BSD-3-Clause
"""Functional gradient steps on the pairwise hinge, with few support rows of each class.

The model is ``sum_i coef[i] exp(-gamma |x - s_i|^2)``. Slots 0 to N - 1 hold negatives,
N to 2 N - 1 positives.
"""

from typing import NamedTuple

import numpy as np

from aucmax._kernels.jit import jit
from aucmax._kernels.products import add_scaled, copy_to, dot
from aucmax._kernels.rows import (
    Batch,
    KeptRows,
    Rows,
    clear,
    keep_row,
    row_at,
    scatter,
    write_distances,
)
from aucmax._utils.typing import FloatArray, IntArray
from aucmax.saved import saved_as

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


@saved_as("OILKSettings")
class Settings(NamedTuple):
    """Constants of the method.

    ``step_size`` and ``loss_weight`` are the papers' eta and C, zero where they follow
    the number of rows; ``gamma`` is zero until it is set from the first rows.
    ``n_neighbors`` is how many support rows a row is compared with at most, zero for
    all. With ``compensate``, the weight of a row that is dropped goes to the nearest of
    its class.
    """

    gamma: float = 0.0
    step_size: float = 0.0
    loss_weight: float = 0.0
    n_neighbors: int = 0
    is_squared: bool = False
    is_fifo: bool = False
    compensate: bool = False


@saved_as("OILKSupport")
class Support(NamedTuple):
    """What is known about the support rows, which are kept in slots beside it.

    Attributes
    ----------
    gram : ndarray of shape (2 N, 2 N)
        The kernel between all of them.
    coef : ndarray of shape (2 N,)
        Their weights, zero in slots without a row.
    n_added, n_seen : ndarray of shape (2,)
        Rows of each class that were to become support rows, and all rows so far.
    """

    gram: FloatArray
    coef: FloatArray
    n_added: IntArray
    n_seen: IntArray


@jit(reorder_sums=True)
def oilk_steps(
    batch: Batch, settings: Settings, support: Support, kept: KeptRows
) -> int:
    """Take in rows; return how many: less than all if a step would overflow."""
    kernel, work = np.empty(len(kept.norms)), kept.work
    for t in range(len(batch.is_pos)):
        row = row_at(batch.rows, t)
        square = scatter(row, work)
        write_distances(row, square, kept, kernel)
        for i in range(len(kernel)):
            kernel[i] = np.exp(-settings.gamma * kernel[i])
        clear(row, work)
        slot = oilk_step(batch.is_pos[t], batch.slots[t], kernel, settings, support)
        if slot == OVERFLOW:
            return t
        if slot != NOT_KEPT:
            keep_row(row, square, kept, slot)
    return len(batch.is_pos)


@jit(reorder_sums=True)
def oilk_scores(
    rows: Rows, basis: KeptRows, coef: FloatArray, gamma: float, out: FloatArray
) -> None:
    """Write the scores of rows.

    Row by row, so that equal rows get equal scores, to the last bit.
    """
    distances, work = np.empty(len(coef)), basis.work
    for t in range(len(out)):
        row = row_at(rows, t)
        square = scatter(row, work)
        write_distances(row, square, basis, distances)
        out[t] = 0.0
        for i in range(len(coef)):
            out[t] += coef[i] * np.exp(-gamma * distances[i])
        clear(row, work)


@jit(reorder_sums=True)
def oilk_step(
    is_pos: bool, slot: int, kernel: FloatArray, settings: Settings, support: Support
) -> int:
    """Learn from a row, given its kernel with the support rows.

    ``slot`` is what the reservoir has drawn, for when its class has as many support
    rows as it may. Returns where to put the row, or NOT_KEPT or OVERFLOW.
    """
    coef, n_added, n_seen = support.coef, support.n_added, support.n_seen
    budget = coef.shape[0] // 2
    own = 1 if is_pos else 0
    other, sign = 1 - own, 2.0 * own - 1.0
    slopes = np.empty(min(n_added[other], budget))
    n_pairs, total = pair_slopes(other, kernel, settings, support, slopes)
    shrink, weight = rates(settings, n_seen, own)
    step = shrink * weight * max(1.0, n_seen[other] / budget)
    if settings.is_squared and settings.loss_weight == 0.0:
        step = min(step, STABLE / max(1, n_pairs))
    added = step * total
    if n_added[other] == 0 or (n_added[own] == 0 and n_pairs == 0):
        added = shrink * weight
    if not added < LARGEST_STEP:
        return OVERFLOW
    n_seen[own] += 1
    for i in range(coef.shape[0]):
        coef[i] *= 1.0 - shrink
    add_scaled(coef[other * budget :][: slopes.shape[0]], -sign * step, slopes)
    if added == 0.0:
        return NOT_KEPT
    if n_added[own] < budget or settings.is_fifo:
        slot = n_added[own] % budget
    n_added[own] += 1
    place = own * budget + slot if slot >= 0 else NOT_KEPT
    add_support(own, place, sign * added, kernel, settings, support)
    return place


@jit(reorder_sums=True, inline=True)
def pair_slopes(
    other: int,
    kernel: FloatArray,
    settings: Settings,
    support: Support,
    slopes: FloatArray,
) -> tuple[int, float]:
    """Write the slope of each loss; return how many are positive, and their sum."""
    gram = support.gram
    first = other * (gram.shape[0] // 2)
    sign = 1.0 - 2.0 * other
    score = score_of(kernel, support)
    n_pairs = 0
    for b in range(slopes.shape[0]):
        slopes[b] = max(0.0, 1.0 - sign * (score - score_of(gram[first + b], support)))
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


@jit(reorder_sums=True, inline=True)
def score_of(kernel: FloatArray, support: Support) -> float:
    """Return the score of a row, given its kernel with the support rows.

    Only slots in use are read: OILK(budget=2000) learns 2,000 rows in half the time.
    """
    budget = support.coef.shape[0] // 2
    score = 0.0
    for own in range(2):
        first = own * budget
        last = first + min(budget, support.n_added[own])
        score += dot(kernel[first:last], support.coef[first:last])
    return score


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
def rates(settings: Settings, n_seen: IntArray, own: int) -> tuple[float, float]:
    """Return eta and C for the next row, which is of class ``own``."""
    seen = n_seen[0] + n_seen[1] + 1
    shrink, weight = settings.step_size, settings.loss_weight
    if shrink == 0.0:
        shrink = FIRST_RATE if settings.is_fifo else min(FIRST_RATE, MEMORY / seen)
    if weight == 0.0:
        n_own, n_other = n_seen[own] + 1, max(1, n_seen[1 - own])
        balance = (0.25 * seen / n_own) * (seen / n_other)
        weight = WEIGHT * np.sqrt(max(seen, SHORT)) / seen * min(MOST_BALANCE, balance)
    return shrink, weight


@jit(inline=True)
def add_support(
    own: int,
    place: int,
    added: float,
    kernel: FloatArray,
    settings: Settings,
    support: Support,
) -> None:
    """Put a row with weight ``added`` in its place; pass on the weight dropped."""
    gram, coef = support.gram, support.coef
    near, dropped = kernel, added
    if place != NOT_KEPT:
        near, dropped = gram[place].copy(), coef[place]
        near[place] = kernel[place]
        kernel[place] = 1.0
        copy_to(gram[place], kernel)
        copy_to(gram[:, place], kernel)
        coef[place] = added
    if settings.compensate and dropped != 0.0:
        budget = coef.shape[0] // 2
        heir = own * budget
        for i in range(heir, heir + budget):
            if near[i] > near[heir]:
                heir = i
        coef[heir] += dropped
