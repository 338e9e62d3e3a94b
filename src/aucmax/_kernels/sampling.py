# SPDX-License-Identifier: BSD-3-Clause
"""Drawing rows by importance, without random numbers and without copies."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucmax._kernels.jit import jit
from aucmax._utils.typing import BoolArray, FloatArray, IntArray


@jit
def draw_systematically(
    importance: NDArray[Any],
    is_pos: BoolArray,
    sizes: IntArray,
    rates: FloatArray,
    index: IntArray,
    chance: FloatArray,
) -> int:
    """Draw about ``sizes[0]`` negatives and ``sizes[1]`` positives; return how many.

    The chance of a row is proportional to its importance, and at most one. Chances are
    summed along the rows of a class, and a row is drawn whenever the sum passes the
    next half. Writes the rows, in order, to ``index`` and their chances to ``chance``.
    ``rates`` are zero, or infinite for a class of which all rows are wanted.
    """
    find_rates(importance, is_pos, sizes, rates)
    count = 0
    sums = np.full(2, 0.5)
    for i in range(len(importance)):
        if importance[i] > 0.0:
            label = int(is_pos[i])
            share = min(1.0, rates[label] * importance[i])
            before = np.floor(sums[label])
            sums[label] += share
            if np.floor(sums[label]) > before and count < len(index):
                index[count] = i
                chance[count] = share
                count += 1
    return count


@jit
def find_rates(
    importance: NDArray[Any], is_pos: BoolArray, sizes: IntArray, rates: FloatArray
) -> None:
    """Raise the chances per importance until they add up to the sizes.

    Rows whose chance is cut to one leave more for the others.
    """
    for _ in range(20):
        certain, rest = np.zeros(2), np.zeros(2)
        for i in range(len(importance)):
            if importance[i] > 0.0:
                label = int(is_pos[i])
                if rates[label] * importance[i] >= 1.0:
                    certain[label] += 1.0
                else:
                    rest[label] += importance[i]
        settled = True
        for label in range(2):
            rate = np.inf
            if rest[label] > 0.0:
                rate = (sizes[label] - certain[label]) / rest[label]
            if rate > rates[label] * (1.0 + 1e-6):
                rates[label] = rate
                settled = False
        if settled:
            break
