# SPDX-License-Identifier: BSD-3-Clause
"""Functional gradient steps on the pairwise hinge, with few support rows of each class.

The model is ``sum_i coef[i] exp(-gamma |x - s_i|^2)``. Slots 0 to N - 1 hold negatives,
N to 2 N - 1 positives.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from aucmax._kernels.jit import jit
from aucmax._utils.typing import BoolArray, FloatArray, IntArray

# A row whose steps are larger is not learned.
LARGEST_STEP = 1e100
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
    """The support rows and what is known about them.

    Row ``i`` is ``values[i]`` or, from CSR rows, its first ``lengths[i]`` entries in
    ``columns[i]``. ``norms`` are squared norms, ``gram`` the kernel between all
    support rows, ``sizes`` how many of each class there are, ``oldest`` the next slots
    to be taken when the latest are kept, and ``counts`` the rows seen of each class.
    """

    values: FloatArray
    columns: NDArray[np.int32]
    lengths: IntArray
    norms: FloatArray
    gram: FloatArray
    coef: FloatArray
    sizes: IntArray
    oldest: IntArray
    counts: IntArray


@jit(reorder_sums=True)
def learn_rows(
    X: FloatArray,
    data: FloatArray,
    indices: NDArray[np.int32],
    indptr: NDArray[np.int32],
    is_pos: BoolArray,
    slots: IntArray,
    settings: Settings,
    support: Support,
    work: FloatArray,
) -> int:
    """Take in rows, dense ``X`` or, where that has no columns, CSR; update all state.

    ``slots`` are used by the reservoir, for classes that have as many support rows as
    they may. ``work`` has as many zeros as there are features, for CSR rows only.
    Returns how many rows were learned: less than all if a step would overflow.
    """
    values, columns, lengths = support.values, support.columns, support.lengths
    norms, gram, coef = support.norms, support.gram, support.coef
    sizes, counts = support.sizes, support.counts
    is_dense = X.shape[1] > 0
    budget = coef.shape[0] // 2
    kernel = np.zeros(2 * budget)
    losses = np.zeros(budget)
    chosen = np.zeros(budget, np.bool_)
    n: int = is_pos.shape[0]
    for t in range(n):
        own = 1 if is_pos[t] else 0
        first, start = own * budget, (1 - own) * budget
        n_other = sizes[1 - own]
        sign = 1.0 if is_pos[t] else -1.0
        seen = counts[0] + counts[1] + 1
        # The kernel between the row and all support rows, and its score.
        square = 0.0
        low, high = 0, X.shape[1]
        if not is_dense:
            low, high = indptr[t], indptr[t + 1]
            for q in range(low, high):
                work[indices[q]] = data[q]
                square += data[q] * data[q]
        score = 0.0
        for side in range(2):
            for i in range(side * budget, side * budget + sizes[side]):
                distance = 0.0
                if is_dense:
                    for j in range(high):
                        gap = X[t, j] - values[i, j]
                        distance += gap * gap
                else:
                    product = 0.0
                    for q in range(lengths[i]):
                        product += values[i, q] * work[columns[i, q]]
                    distance = max(0.0, square + norms[i] - 2.0 * product)
                kernel[i] = np.exp(-settings.gamma * distance)
                score += coef[i] * kernel[i]
        if not is_dense:
            for q in range(low, high):
                work[indices[q]] = 0.0
        # Support rows of the other class that are not below or above it by one.
        n_chosen = 0
        for b in range(n_other):
            # One loop over both classes, with zeros between them, takes a quarter of
            # the time of two.
            there = 0.0
            for i in range(budget + sizes[1]):
                there += gram[start + b, i] * coef[i]
            losses[b] = 1.0 - sign * (score - there)
            chosen[b] = losses[b] > 0.0
            n_chosen += chosen[b]
        if 0 < settings.n_neighbors < n_chosen:
            # The nearest; of those equally near, the first.
            for _ in range(settings.n_neighbors):
                best = -1
                for b in range(n_other):
                    is_nearer = best < 0 or kernel[start + b] > kernel[start + best]
                    if chosen[b] and losses[b] > 0.0 and is_nearer:
                        best = b
                losses[best] = -losses[best]
            for b in range(n_other):
                chosen[b] = losses[b] < 0.0 and chosen[b]
                losses[b] = abs(losses[b])
            n_chosen = settings.n_neighbors
        # How far to step.
        n_own, n_opposite = counts[own] + 1, max(1, counts[1 - own])
        shrink = settings.step_size
        if settings.step_size == 0.0:
            shrink = FIRST_RATE
            if not settings.is_fifo:
                shrink = min(FIRST_RATE, MEMORY / seen)
        weight = settings.loss_weight
        if settings.loss_weight == 0.0:
            balance = (0.25 * seen / n_own) * (seen / n_opposite)
            weight = WEIGHT * np.sqrt(max(seen, SHORT)) / seen
            weight *= min(MOST_BALANCE, balance)
        alone = shrink * weight
        step = alone * max(1.0, counts[1 - own] / budget)
        added = step * n_chosen
        if settings.is_squared:
            step *= 2.0
            if settings.loss_weight == 0.0:
                step = min(step, 2.0 * STABLE / max(1, n_chosen))
            added = 0.0
            for b in range(n_other):
                if chosen[b]:
                    added += step * losses[b]
        if n_other == 0 or (sizes[own] == 0 and n_chosen == 0):
            added = alone
        if not added < LARGEST_STEP:
            return t
        counts[own] += 1
        # A scalar that all weights share would save less than one of the 2 N kernel
        # values costs.
        for i in range(2 * budget):
            coef[i] *= 1.0 - shrink
        for b in range(n_other):
            if chosen[b]:
                change = step * losses[b] if settings.is_squared else step
                coef[start + b] -= sign * change
        if added == 0.0:
            continue
        added *= sign
        # Where the row goes, and what its place held.
        place, removed = -1, 0.0
        if sizes[own] < budget:
            place = first + sizes[own]
            sizes[own] += 1
        elif settings.is_fifo:
            place = first + support.oldest[own]
            support.oldest[own] = (support.oldest[own] + 1) % budget
            removed = coef[place]
        elif slots[t] >= 0:
            place = first + slots[t]
            removed = coef[place]
        else:
            removed = added
        heir = -1
        if settings.compensate and removed != 0.0:
            nearest = -1.0
            for i in range(first, first + budget):
                near = kernel[i]
                if place >= 0 and i != place:
                    near = gram[place, i]
                if near > nearest:
                    nearest, heir = near, i
        if place >= 0:
            kernel[place] = 1.0
            for i in range(2 * budget):
                gram[place, i] = kernel[i]
                gram[i, place] = kernel[i]
            coef[place] = added
            norms[place] = square
            lengths[place] = high - low
            for q in range(high - low):
                if is_dense:
                    values[place, q] = X[t, q]
                else:
                    values[place, q] = data[low + q]
                    columns[place, q] = indices[low + q]
        if heir >= 0:
            coef[heir] += removed
    return n


@jit(reorder_sums=True)
def score_dense(
    X: FloatArray, basis: FloatArray, coef: FloatArray, gamma: float, out: FloatArray
) -> None:
    """Write the scores of dense rows.

    Row by row, so that equal rows get equal scores, to the last bit.
    """
    for t in range(X.shape[0]):
        score = 0.0
        for i in range(basis.shape[0]):
            distance = 0.0
            for j in range(X.shape[1]):
                gap = X[t, j] - basis[i, j]
                distance += gap * gap
            score += coef[i] * np.exp(-gamma * distance)
        out[t] = score


@jit(reorder_sums=True)
def score_csr(
    data: FloatArray,
    indices: NDArray[np.int32],
    indptr: NDArray[np.int32],
    values: FloatArray,
    columns: NDArray[np.int32],
    starts: NDArray[np.int32],
    coef: FloatArray,
    gamma: float,
    work: FloatArray,
    out: FloatArray,
) -> None:
    """Write the scores of CSR rows; the basis is the CSR ``values, columns, starts``.

    ``work`` is zero before and after.
    """
    n_basis = coef.shape[0]
    norms = np.zeros(n_basis)
    for i in range(n_basis):
        for q in range(starts[i], starts[i + 1]):
            norms[i] += values[q] * values[q]
    for t in range(out.shape[0]):
        square, score = 0.0, 0.0
        for q in range(indptr[t], indptr[t + 1]):
            work[indices[q]] = data[q]
            square += data[q] * data[q]
        for i in range(n_basis):
            product = 0.0
            for q in range(starts[i], starts[i + 1]):
                product += values[q] * work[columns[q]]
            distance = max(0.0, square + norms[i] - 2.0 * product)
            score += coef[i] * np.exp(-gamma * distance)
        for q in range(indptr[t], indptr[t + 1]):
            work[indices[q]] = 0.0
        out[t] = score
