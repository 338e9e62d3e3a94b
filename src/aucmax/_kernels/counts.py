# SPDX-License-Identifier: BSD-3-Clause
"""Counting ordered pairs: one positive above one negative, ties one half.

The kernels walk up two sorted arrays at once. Counts of pairs are exact: no product of
two counts is ever formed in a machine integer, which 10^10 positives and as many
negatives would overflow.
"""

import numpy as np

from aucmax._kernels import jit
from aucmax._utils.typing import BoolArray, FloatArray, IntArray

# A count of pairs is two integers, ``high << LOW_BITS | low``.
LOW_BITS = 32


@jit
def split_by_class(values: FloatArray, is_pos: BoolArray, out: FloatArray) -> int:
    """Copy positives to the front of ``out``, negatives behind them; count the former.

    Each value is written to both ends, and the end it belongs to moves: no branch that
    the processor would have to guess, which makes this three times as fast as masks.
    """
    front, back = 0, values.shape[0] - 1
    for i in range(values.shape[0]):
        out[front] = values[i]
        out[back] = values[i]
        step = np.int64(is_pos[i])
        front += step
        back -= 1 - step
    return front


@jit
def count_ordered(pos: FloatArray, neg: FloatArray) -> tuple[int, int]:
    """Return twice the ordered pairs of two sorted arrays, as high and low part.

    Twice, because a tie counts one half: per positive the negatives below it and the
    negatives not above it are added.
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
def weigh_pairs(
    pos: FloatArray, pos_weight: FloatArray, neg: FloatArray, neg_weight: FloatArray
) -> tuple[float, float, float]:
    """Return the weight of ordered, tied and misordered pairs of two sorted arrays."""
    ordered, tied, misordered = 0.0, 0.0, 0.0
    mass_pos, mass_neg = 0.0, 0.0  # of the scores below the present one
    i, j = 0, 0
    while i < pos.shape[0]:
        score = pos[i]
        gap = 0.0
        while j < neg.shape[0] and neg[j] < score:
            gap += neg_weight[j]
            j += 1
        misordered += gap * mass_pos
        mass_neg += gap
        here_neg = 0.0
        while j < neg.shape[0] and neg[j] == score:
            here_neg += neg_weight[j]
            j += 1
        here_pos = 0.0
        while i < pos.shape[0] and pos[i] == score:
            here_pos += pos_weight[i]
            i += 1
        ordered += here_pos * mass_neg
        tied += here_pos * here_neg
        misordered += here_neg * mass_pos
        mass_pos += here_pos
        mass_neg += here_neg
    gap = 0.0
    while j < neg.shape[0]:
        gap += neg_weight[j]
        j += 1
    misordered += gap * mass_pos
    return ordered, tied, misordered


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
        score = pos[i]
        first, start = i, upto
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
        gap = n_pos - 0.5 * (first + i) - mean_neg
        squares_neg += (upto - below) * gap * gap
    squares_neg += (n_neg - upto) * mean_neg * mean_neg
    return squares_pos / n_neg / n_neg, squares_neg / n_pos / n_pos


@jit
def place(
    scores: FloatArray, is_pos: BoolArray, order: IntArray, n_pos: int, out: IntArray
) -> None:
    """Write twice the placement count of each row: a tie counts one instead of half.

    For a positive that is the negatives below it, for a negative the positives above.
    """
    below_pos, below_neg = 0, 0
    k = 0
    while k < order.shape[0]:
        start, score = k, scores[order[k]]
        here_pos = 0
        while k < order.shape[0] and scores[order[k]] == score:
            here_pos += np.int64(is_pos[order[k]])
            k += 1
        here_neg = k - start - here_pos
        for i in order[start:k]:
            if is_pos[i]:
                out[i] = 2 * below_neg + here_neg
            else:
                out[i] = 2 * (n_pos - below_pos) - here_pos
        below_pos += here_pos
        below_neg += here_neg
