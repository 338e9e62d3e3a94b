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
from aucmax.saved import saved_as


@saved_as("PairRates")
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


@saved_as("PairState")
class State(NamedTuple):
    """What is learned.

    Steps change ``work``, the coefficients in the precision of the rows. Whenever
    penalty or average are due, its changes go to ``coef`` in float64, so that the
    rounding of one window is all that is ever lost; penalties of 1e-9 a window, usual
    where alpha is small, do not exist in float32. ``mean`` is the average of
    ``counts[1]`` values of ``coef``, and ``counts[0]`` the number of visits.
    """

    work: NDArray[Any]
    coef: FloatArray
    mean: FloatArray
    counts: IntArray


@jit(reorder_sums=True)
def pair_steps(
    rows: NDArray[Any], pos: IntArray, neg: IntArray, rates: Rates, state: State
) -> None:
    """Visit the pairs of rows ``(pos[k], neg[k])`` in order."""
    work, counts = state.work, state.counts
    scores, pulls = np.empty((2, rates.block_size)), np.empty((2, rates.block_size))
    for low in range(0, len(pos), rates.block_size):
        size = min(rates.block_size, len(pos) - low)
        for k in range(size):
            # Two rows at once, here and below, hide the latency of memory.
            row_pos, row_neg = rows[pos[low + k]], rows[neg[low + k]]
            score_pos, score_neg = rows.dtype.type(0), rows.dtype.type(0)
            for j in range(len(work)):
                score_pos += work[j] * row_pos[j]
                score_neg += work[j] * row_neg[j]
            scores[0, k], scores[1, k] = score_pos, score_neg
        visits = counts[0] + size
        step = 1.0 / (rates.alpha * (visits + rates.offset) * size)
        find_pulls(scores, size, step, rates.is_squared, pulls)
        for k in range(size):
            row_pos, row_neg = rows[pos[low + k]], rows[neg[low + k]]
            pull_pos = rows.dtype.type(pulls[0, k])
            pull_neg = rows.dtype.type(pulls[1, k])
            for j in range(len(work)):
                work[j] += pull_pos * row_pos[j] - pull_neg * row_neg[j]
        count_visits(visits, rates, state)


@jit(inline=True)
def find_pulls(
    scores: FloatArray, size: int, step: float, is_squared: bool, pulls: FloatArray
) -> None:
    """Write ``step`` times minus the slopes by score of the losses of a block."""
    for k in range(size):
        pulls[0, k], pulls[1, k] = 0.0, 0.0
    for i in range(size):
        for j in range(size):
            margin = scores[0, i] - scores[1, j]
            if margin < 1.0:
                pull = step * (2.0 * (1.0 - margin) if is_squared else 1.0)
                pulls[0, i] += pull
                pulls[1, j] += pull


@jit(inline=True)
def count_visits(visits: int, rates: Rates, state: State) -> None:
    """Count visits, and do what is due by them: penalty, sample of the average."""
    work, coef, counts = state.work, state.coef, state.counts
    due = visits // rates.shrink_every - counts[0] // rates.shrink_every
    is_sample = visits // rates.average_every > counts[0] // rates.average_every
    counts[0] = visits
    if due > 0 or is_sample:
        shrink = max(0.0, 1.0 - due * rates.shrink_every / (visits + rates.offset))
        share = 0.0
        if is_sample:
            counts[1] += 1
            share = 1.0 / counts[1]
        for j in range(len(coef)):
            change = np.float64(work[j]) - np.float64(work.dtype.type(coef[j]))
            coef[j] = shrink * (coef[j] + change)
            work[j] = work.dtype.type(coef[j])
            state.mean[j] += share * (coef[j] - state.mean[j])
