# SPDX-License-Identifier: BSD-3-Clause
"""Counting ordered pairs: one positive above one negative, ties one half.

Without weights the two classes are sorted by value and merged, which needs no argsort.
With weights, or where each row wants its own answer, rows are visited in sorted order.

Counts of pairs are exact. No product of two counts is formed in a machine integer,
which 10^10 positives and as many negatives would overflow.
"""

import numpy as np

from aucmax._kernels.jit import jit
from aucmax._utils.typing import BoolArray, FloatArray, IntArray

# A count of pairs is two integers, ``(high << LOW_BITS) + low``.
LOW_BITS = 32


@jit
def split_by_class(values: FloatArray, is_pos: BoolArray, out: FloatArray) -> int:
    """Copy positives to the front of ``out``, negatives behind them; count the former.

    Each value is written to both ends and the end it belongs to moves. There is no
    branch to predict: three times as fast as two boolean masks.
    """
    front, back = 0, values.shape[0] - 1
    for i in range(values.shape[0]):
        out[front] = values[i]
        out[back] = values[i]
        step = int(is_pos[i])
        front += step
        back -= 1 - step
    return front


@jit
def count_ordered(pos: FloatArray, neg: FloatArray) -> tuple[int, int]:
    """Return twice the ordered pairs of two sorted arrays, as high and low part.

    Twice, because a tie counts one half: each positive adds the negatives below it and
    the negatives not above it.
    """
    high, low = 0, 0
    below, upto = 0, 0
    for i in range(pos.shape[0]):
        score = pos[i]
        while below < neg.shape[0] and neg[below] < score:
            below += 1
        upto = max(upto, below)
        while upto < neg.shape[0] and neg[upto] == score:
            upto += 1
        low += below + upto
        high += low >> LOW_BITS
        low &= (1 << LOW_BITS) - 1
    return high, low


@jit
def placement_squares(
    pos: FloatArray, neg: FloatArray, auc: float
) -> tuple[float, float]:
    """Return the sums of squares of the placements around their mean, ``auc``.

    The placement of a positive is the share of negatives below it, that of a negative
    the share of positives above it. Both arrays are sorted.
    """
    n_pos, n_neg = pos.shape[0], neg.shape[0]
    mean_pos, mean_neg = auc * n_neg, auc * n_pos
    squares_pos, squares_neg = 0.0, 0.0
    i, upto = 0, 0
    while i < n_pos:
        score, first, start = pos[i], i, upto
        below = start
        while below < n_neg and neg[below] < score:
            below += 1
        upto = below
        while upto < n_neg and neg[upto] == score:
            upto += 1
        while i < n_pos and pos[i] == score:
            i += 1
        gap = 0.5 * (below + upto) - mean_pos
        squares_pos += (i - first) * gap * gap
        gap = (n_pos - first) - mean_neg
        squares_neg += (below - start) * gap * gap
        gap = (n_pos - 0.5 * (first + i)) - mean_neg
        squares_neg += (upto - below) * gap * gap
    squares_neg += (n_neg - upto) * mean_neg * mean_neg
    return squares_pos / n_neg / n_neg, squares_neg / n_pos / n_pos


@jit
def sign_weights(weight: FloatArray, is_pos: BoolArray) -> None:
    """Give the weights of negatives a minus sign, in place."""
    for i in range(weight.shape[0]):
        weight[i] = weight[i] if is_pos[i] else -weight[i]


@jit
def weigh_pairs(
    scores: FloatArray, signed: FloatArray, order: IntArray
) -> tuple[float, float, float]:
    """Return the weight of ordered, tied and misordered pairs.

    ``signed`` has the weights, negative for negatives; ``order`` sorts the scores.
    """
    ordered, tied, misordered = 0.0, 0.0, 0.0
    mass_pos, mass_neg = 0.0, 0.0  # below the present score
    here_pos, here_neg = 0.0, 0.0  # at the present score
    previous = np.nan
    for i in order:
        if scores[i] != previous:
            ordered += here_pos * mass_neg
            tied += here_pos * here_neg
            misordered += here_neg * mass_pos
            mass_pos += here_pos
            mass_neg += here_neg
            here_pos, here_neg = 0.0, 0.0
            previous = scores[i]
        part = max(signed[i], 0.0)
        here_pos += part
        here_neg += part - signed[i]
    ordered += here_pos * mass_neg
    tied += here_pos * here_neg
    misordered += here_neg * mass_pos
    return ordered, tied, misordered


@jit
def placement_counts(
    scores: FloatArray, order: IntArray, is_pos: BoolArray, n_pos: int, out: IntArray
) -> None:
    """Write twice the placement count of each row; ``order`` sorts the scores.

    Twice the negatives below a positive, twice the positives above a negative; a tie
    adds one.
    """
    below_pos, below_neg = 0, 0
    end = 0
    while end < order.shape[0]:
        start, score, here_pos = end, scores[order[end]], 0
        while end < order.shape[0] and scores[order[end]] == score:
            here_pos += int(is_pos[order[end]])
            end += 1
        here_neg = end - start - here_pos
        for i in order[start:end]:
            if is_pos[i]:
                out[i] = 2 * below_neg + here_neg
            else:
                out[i] = 2 * (n_pos - below_pos) - here_pos
        below_pos += here_pos
        below_neg += here_neg


@jit
def best_cut(
    scores: FloatArray, order: IntArray, is_pos: BoolArray, weight: FloatArray
) -> int:
    """Return where to cut ``order`` for the best balanced accuracy.

    Rows from there on are called positive. Never between equal scores; 0 when all are
    equal.
    """
    mass_pos, mass_neg = 0.0, 0.0
    for i in range(scores.shape[0]):
        part = weight[i] * is_pos[i]
        mass_pos += part
        mass_neg += weight[i] - part
    best, best_gain = 0, -np.inf
    # Gain over calling every row positive: negatives won less positives lost.
    gain, previous = 0.0, scores[order[0]]
    for k in range(order.shape[0]):
        i = order[k]
        if gain > best_gain and scores[i] > previous:
            best, best_gain = k, gain
        previous = scores[i]
        gain += -weight[i] / mass_pos if is_pos[i] else weight[i] / mass_neg
    return best
