# SPDX-License-Identifier: BSD-3-Clause
"""Samples of rows without random numbers, so that the same data give the same fit."""

import numpy as np
from numpy.typing import NDArray

from aucmax import _kernels
from aucmax._utils.typing import BoolArray, FloatArray, IntArray


def draw_rows(
    importance: NDArray[np.float32], is_pos: BoolArray, size: int
) -> tuple[IntArray, FloatArray]:
    """Draw about ``size`` rows, half of each class, in proportion to importance.

    Returns their indices and their chances of being drawn. Systematic sampling along
    the rows; rows without importance are never drawn, and room that one class does not
    need goes to the other.
    """
    used = importance > 0.0
    n_pos = int(np.count_nonzero(used & is_pos))
    n_neg = int(np.count_nonzero(used)) - n_pos
    size_pos = min(n_pos, max(size // 2, size - n_neg))
    sizes = np.array([min(n_neg, size - size_pos), size_pos])
    index, chance = np.empty(sizes.sum() + 2, np.int64), np.empty(sizes.sum() + 2)
    rates = np.where(sizes == [n_neg, n_pos], np.inf, 0.0)
    count = _kernels.sampling.draw_systematically(
        importance, is_pos, sizes, rates, index, chance
    )
    return index[:count], chance[:count]


def spread_sample(is_pos: BoolArray, weight: FloatArray, size: int) -> IntArray:
    """Return about ``size`` rows that have weight, evenly spread over their class.

    At least a quarter are positive, and a quarter negative, if there are as many.
    """
    parts, used = [], weight > 0.0
    for mask in (is_pos, ~is_pos):
        index = np.flatnonzero(mask & used)
        share = min(max(len(index) / len(is_pos), 0.25), 0.75)
        count = min(len(index), max(1, round(share * size)))
        parts.append(index[np.arange(count) * len(index) // count])
    return np.sort(np.concatenate(parts))
