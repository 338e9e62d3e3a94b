# SPDX-License-Identifier: BSD-3-Clause
"""Steps of stochastic gradient descent on sampled pairs.

A *visit* reads one positive and one negative row. A step on a block of B positives and
B negatives uses all their B^2 pairs and counts as B visits, the rows it reads: its sum
of gradients is divided by B, so that B visits are worth B steps on single pairs.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aucmax._kernels.jit import jit
from aucmax._utils.typing import FloatArray, IntArray

# A scale this small is multiplied into the vector before it loses digits.
SMALLEST_SCALE = 1e-9


class Rates(NamedTuple):
    """Constants of the method.

    Visit t takes a step of ``1 / (alpha * (t + offset))``. The penalty and the average
    are due every ``shrink_every`` and ``average_every`` visits.
    """

    alpha: float
    offset: float
    is_squared: bool
    block_size: int
    shrink_every: int
    average_every: int


@jit(reorder_sums=True)
def dense_steps(
    rows: NDArray[Any],
    pos: IntArray,
    neg: IntArray,
    rates: Rates,
    work: NDArray[Any],
    coef: FloatArray,
    mean: FloatArray,
    counts: IntArray,
) -> None:
    """Visit the pairs of rows ``(pos[k], neg[k])`` in order, updating all state.

    Steps change ``work``, the coefficients in the precision of the rows. Whenever
    penalty or average are due, its changes go to ``coef`` in float64, so that the
    rounding of one window is all that is ever lost; penalties of 1e-9 a window, usual
    where alpha is small, do not exist in float32. ``mean`` is the average of
    ``counts[1]`` values of ``coef``, and ``counts[0]`` the number of visits.
    """
    real = rows.dtype.type
    zero = real(0)
    d = work.shape[0]
    n = pos.shape[0]
    width = rates.block_size
    gap_one, gap_two = np.empty(d, rows.dtype), np.empty(d, rows.dtype)
    scores_pos, scores_neg = np.empty(width), np.empty(width)
    pull_pos, pull_neg = np.empty(width), np.empty(width)
    visits = counts[0]
    done = 0
    while done < n:
        if width == 1:
            # Two steps in one trip over four rows: the second margin is that before the
            # first step, plus the first step times the product of both differences.
            # Four rows arrive from memory at once, which hides its latency.
            following = visits + 1
            size = 2
            if (
                done + 1 == n
                or following % rates.shrink_every == 0
                or following % rates.average_every == 0
            ):
                size = 1
            last = done + size - 1
            a, b, c, e = (
                rows[pos[done]],
                rows[neg[done]],
                rows[pos[last]],
                rows[neg[last]],
            )
            one, two, both = zero, zero, zero
            for k in range(d):
                left = a[k] - b[k]
                right = c[k] - e[k]
                gap_one[k] = left
                gap_two[k] = right
                one += work[k] * left
                two += work[k] * right
                both += left * right
            step_one, step_two = 0.0, 0.0
            if one < 1.0:
                slope = 2.0 * (1.0 - one) if rates.is_squared else 1.0
                step_one = slope / (rates.alpha * (following + rates.offset))
            margin = two + step_one * both
            if size == 2 and margin < 1.0:
                slope = 2.0 * (1.0 - margin) if rates.is_squared else 1.0
                step_two = slope / (rates.alpha * (following + 1 + rates.offset))
            if step_one != 0.0 or step_two != 0.0:
                first, second = real(step_one), real(step_two)
                for k in range(d):
                    work[k] += first * gap_one[k] + second * gap_two[k]
        else:
            size = min(width, n - done)
            for i in range(0, size, 2):
                # Four rows at once, as above; the last one twice where size is odd.
                j = min(i + 1, size - 1)
                a, b = rows[pos[done + i]], rows[neg[done + i]]
                c, e = rows[pos[done + j]], rows[neg[done + j]]
                one, two, three, four = zero, zero, zero, zero
                for k in range(d):
                    one += work[k] * a[k]
                    two += work[k] * b[k]
                    three += work[k] * c[k]
                    four += work[k] * e[k]
                scores_pos[i], scores_neg[i] = one, two
                scores_pos[j], scores_neg[j] = three, four
            step = 1.0 / (rates.alpha * (visits + size + rates.offset) * size)
            for j in range(size):
                pull_neg[j] = 0.0
            for i in range(size):
                pull_pos[i] = 0.0
                for j in range(size):
                    margin = scores_pos[i] - scores_neg[j]
                    if margin < 1.0:
                        slope = 2.0 * (1.0 - margin) if rates.is_squared else 1.0
                        pull_pos[i] += step * slope
                        pull_neg[j] += step * slope
            for i in range(0, size, 2):
                j = min(i + 1, size - 1)
                a, b = rows[pos[done + i]], rows[neg[done + i]]
                c, e = rows[pos[done + j]], rows[neg[done + j]]
                one, two = real(pull_pos[i]), real(pull_neg[i])
                three, four = zero, zero
                if j > i:
                    three, four = real(pull_pos[j]), real(pull_neg[j])
                for k in range(d):
                    work[k] += (one * a[k] - two * b[k]) + (three * c[k] - four * e[k])
        before = visits
        visits += size
        done += size
        due = visits // rates.shrink_every - before // rates.shrink_every
        is_sample = visits // rates.average_every > before // rates.average_every
        if due > 0 or is_sample:
            shrink = 1.0 - due * rates.shrink_every / (visits + rates.offset)
            shrink = max(0.0, shrink)
            share = 0.0
            if is_sample:
                counts[1] += 1
                share = 1.0 / counts[1]
            for k in range(d):
                value = coef[k] + (np.float64(work[k]) - np.float64(real(coef[k])))
                value *= shrink
                coef[k] = value
                work[k] = real(value)
                mean[k] += share * (value - mean[k])
    counts[0] = visits


@jit(reorder_sums=True)
def sparse_steps(
    data: NDArray[Any],
    indices: NDArray[Any],
    indptr: NDArray[Any],
    pos: IntArray,
    neg: IntArray,
    rates: Rates,
    vector: FloatArray,
    rest: FloatArray,
    scales: FloatArray,
    counts: IntArray,
) -> None:
    """Visit pairs of CSR rows; a step costs the entries of its rows, whatever d is.

    The coefficients are ``scale * vector`` and the sum of those to be averaged is
    ``mass * vector + rest``, with ``scales = [scale, mass]``: the penalty then changes
    one number, and so does a sample for the average.
    """
    width = rates.block_size
    n = pos.shape[0]
    scores_pos, scores_neg = np.empty(width), np.empty(width)
    pull_pos, pull_neg = np.empty(width), np.empty(width)
    scale, mass = scales[0], scales[1]
    visits = counts[0]
    done = 0
    while done < n:
        size = min(width, n - done)
        for i in range(size):
            one, two = 0.0, 0.0
            row = pos[done + i]
            for k in range(indptr[row], indptr[row + 1]):
                one += data[k] * vector[indices[k]]
            row = neg[done + i]
            for k in range(indptr[row], indptr[row + 1]):
                two += data[k] * vector[indices[k]]
            scores_pos[i], scores_neg[i] = scale * one, scale * two
            pull_neg[i] = 0.0
        step = 1.0 / (rates.alpha * (visits + size + rates.offset) * size)
        for i in range(size):
            pull_pos[i] = 0.0
            for j in range(size):
                margin = scores_pos[i] - scores_neg[j]
                if margin < 1.0:
                    slope = 2.0 * (1.0 - margin) if rates.is_squared else 1.0
                    pull_pos[i] += step * slope
                    pull_neg[j] += step * slope
        for i in range(size):
            if pull_pos[i] != 0.0:
                row = pos[done + i]
                for k in range(indptr[row], indptr[row + 1]):
                    change = pull_pos[i] * data[k] / scale
                    vector[indices[k]] += change
                    rest[indices[k]] -= mass * change
            if pull_neg[i] != 0.0:
                row = neg[done + i]
                for k in range(indptr[row], indptr[row + 1]):
                    change = -pull_neg[i] * data[k] / scale
                    vector[indices[k]] += change
                    rest[indices[k]] -= mass * change
        before = visits
        visits += size
        done += size
        due = visits // rates.shrink_every - before // rates.shrink_every
        if due > 0:
            shrink = 1.0 - due * rates.shrink_every / (visits + rates.offset)
            scale *= max(0.0, shrink)
            if scale < SMALLEST_SCALE:
                for k in range(vector.shape[0]):
                    rest[k] += mass * vector[k]
                    vector[k] *= scale
                scale, mass = 1.0, 0.0
        if visits // rates.average_every > before // rates.average_every:
            counts[1] += 1
            mass += scale
    scales[0], scales[1] = scale, mass
    counts[0] = visits
