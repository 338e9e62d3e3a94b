# SPDX-License-Identifier: BSD-3-Clause
"""Steps on the hinge loss over pairs of a row and the buffered rows of the other class.

Each row updates the weights with the rows of the other class that are in the buffer, in
slot order, and then goes to its own slot. ``is_sequential`` makes one step per pair,
each from the weights that the last one left; otherwise all pairs of a row make one step
together. No step can overflow: steps are at most 1e100 and values 1e70, so that weights
stay below 1e210 for 1e15 rows.
"""

import numpy as np
from numpy.typing import NDArray

from aucmax._kernels.jit import jit
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


@jit(reorder_sums=True)
def dense_steps(
    X: FloatArray,
    is_pos: BoolArray,
    slots: IntArray,
    is_sequential: bool,
    step_size: float,
    is_averaged: bool,
    buffers: FloatArray,
    counts: IntArray,
    squares: FloatArray,
    sums: FloatArray,
    coef: FloatArray,
    mean: FloatArray,
) -> None:
    """Take in rows, updating all state.

    ``counts`` holds negatives and positives so far, and the number of values of
    ``coef`` of which ``mean`` is the average. ``squares`` holds the sums of the squared
    norms of the rows of each class, and the product of the sums of the rows, which are
    ``sums``; they are kept up only where ``step_size`` is zero, automatic.
    """
    d = coef.shape[0]
    size = buffers.shape[1]
    total = np.empty(d)
    for t in range(X.shape[0]):
        own = 1 if is_pos[t] else 0
        other = 1 - own
        sign = 1.0 if is_pos[t] else -1.0
        counts[own] += 1
        constant = step_size
        if step_size == 0.0:
            square, cross = 0.0, 0.0
            for j in range(d):
                square += X[t, j] * X[t, j]
                cross += X[t, j] * sums[other, j]
                sums[own, j] += X[t, j]
            squares[own] += square
            squares[2] += cross
        if counts[other] > 0:
            if step_size == 0.0:
                norms = squares[0] / counts[0] + squares[1] / counts[1]
                spread = norms - 2.0 * (squares[2] / counts[0]) / counts[1]
                spread = max(spread, ROUNDING * norms, SMALLEST_SPREAD)
                constant = AUTO / ((counts[0] + counts[1]) * spread)
            most = 0.5 * constant * max(1.0, counts[other] / size)
            n_rows = min(size, counts[other])
            if is_sequential:
                # The step of one pair is made while the next is read.
                step, last = 0.0, 0
                for b in range(n_rows):
                    score, norm = 0.0, 0.0
                    if step == 0.0:
                        for j in range(d):
                            gap = X[t, j] - buffers[other, b, j]
                            score += coef[j] * gap
                            norm += gap * gap
                    else:
                        for j in range(d):
                            value = coef[j] + step * (X[t, j] - buffers[other, last, j])
                            gap = X[t, j] - buffers[other, b, j]
                            coef[j] = value
                            score += value * gap
                            norm += gap * gap
                    loss = 1.0 - sign * score
                    step, last = 0.0, b
                    if loss > 0.0 and norm > 0.0:
                        step = sign * min(most, loss / norm)
                if step != 0.0:
                    for j in range(d):
                        coef[j] += step * (X[t, j] - buffers[other, last, j])
            else:
                for j in range(d):
                    total[j] = 0.0
                for b in range(n_rows):
                    score = 0.0
                    for j in range(d):
                        score += coef[j] * (X[t, j] - buffers[other, b, j])
                    if sign * score < 1.0:
                        for j in range(d):
                            total[j] += X[t, j] - buffers[other, b, j]
                step = sign * most
                for j in range(d):
                    coef[j] += step * total[j]
            counts[2] += 1
            if is_averaged:
                share = 1.0 / counts[2]
                for j in range(d):
                    mean[j] += share * (coef[j] - mean[j])
        if slots[t] >= 0:
            for j in range(d):
                buffers[own, slots[t], j] = X[t, j]


@jit(reorder_sums=True)
def csr_steps(
    data: FloatArray,
    indices: NDArray[np.int32],
    indptr: NDArray[np.int32],
    is_pos: BoolArray,
    slots: IntArray,
    is_sequential: bool,
    step_size: float,
    is_averaged: bool,
    values: FloatArray,
    columns: NDArray[np.int32],
    lengths: IntArray,
    norms: FloatArray,
    work: FloatArray,
    counts: IntArray,
    squares: FloatArray,
    sums: FloatArray,
    coef: FloatArray,
) -> None:
    """Take in CSR rows as :func:`dense_steps` does, touching nonzeros only.

    Buffered row ``b`` of a class has ``lengths[class, b]`` entries ``values`` in
    ``columns``, and the squared norm ``norms``. ``work`` is zero before and after.
    ``coef[:, 0]`` are the weights w; with ``coef[:, 1]`` = v, the average of the k =
    ``counts[2]`` last weights is ``w - v / k``: a change of w that comes after k of
    them adds k times itself to v.
    """
    size = values.shape[1]
    active = np.empty(size, np.bool_)
    for t in range(indptr.shape[0] - 1):
        own = 1 if is_pos[t] else 0
        other = 1 - own
        sign = 1.0 if is_pos[t] else -1.0
        low, high = indptr[t], indptr[t + 1]
        counts[own] += 1
        square, cross = 0.0, 0.0
        for q in range(low, high):
            square += data[q] * data[q]
        if step_size == 0.0:
            for q in range(low, high):
                cross += data[q] * sums[other, indices[q]]
                sums[own, indices[q]] += data[q]
            squares[own] += square
            squares[2] += cross
        if counts[other] > 0:
            constant = step_size
            if step_size == 0.0:
                both = squares[0] / counts[0] + squares[1] / counts[1]
                spread = both - 2.0 * (squares[2] / counts[0]) / counts[1]
                spread = max(spread, ROUNDING * both, SMALLEST_SPREAD)
                constant = AUTO / ((counts[0] + counts[1]) * spread)
            most = 0.5 * constant * max(1.0, counts[other] / size)
            n_rows = min(size, counts[other])
            age = float(counts[2]) if is_averaged else 0.0
            score = 0.0
            for q in range(low, high):
                work[indices[q]] = data[q]
                score += data[q] * coef[indices[q], 0]
            # The weights are those stored plus ``along`` times the row; ``score`` is
            # its score with the weights as they are now.
            along = 0.0
            for b in range(n_rows):
                stored, product = 0.0, 0.0
                for q in range(lengths[other, b]):
                    j = columns[other, b, q]
                    stored += values[other, b, q] * coef[j, 0]
                    product += values[other, b, q] * work[j]
                margin = sign * (score - stored - along * product)
                active[b] = margin < 1.0
                if active[b]:
                    norm = square + norms[other, b] - 2.0 * product
                    if norm <= CANCELLED * square:
                        norm, q, r = 0.0, low, 0
                        while q < high or r < lengths[other, b]:
                            here = indices[q] if q < high else work.shape[0]
                            there = work.shape[0]
                            if r < lengths[other, b]:
                                there = columns[other, b, r]
                            gap = 0.0
                            if here <= there:
                                gap += data[q]
                                q += 1
                            if there <= here:
                                gap -= values[other, b, r]
                                r += 1
                            norm += gap * gap
                    active[b] = norm > 0.0
                    if is_sequential and active[b]:
                        step = sign * min(most, (1.0 - margin) / norm)
                        for q in range(lengths[other, b]):
                            j = columns[other, b, q]
                            change = step * values[other, b, q]
                            coef[j, 0] -= change
                            coef[j, 1] -= age * change
                        along += step
                        score += step * (square - product)
            if not is_sequential:
                step = sign * most
                for b in range(n_rows):
                    if active[b]:
                        along += step
                        for q in range(lengths[other, b]):
                            j = columns[other, b, q]
                            change = step * values[other, b, q]
                            coef[j, 0] -= change
                            coef[j, 1] -= age * change
            for q in range(low, high):
                j = indices[q]
                work[j] = 0.0
                coef[j, 0] += along * data[q]
                coef[j, 1] += age * along * data[q]
            counts[2] += 1
        if slots[t] >= 0:
            lengths[own, slots[t]] = high - low
            norms[own, slots[t]] = square
            for q in range(low, high):
                values[own, slots[t], q - low] = data[q]
                columns[own, slots[t], q - low] = indices[q]
