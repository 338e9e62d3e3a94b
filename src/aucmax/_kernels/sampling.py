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
    index: IntArray,
    chance: FloatArray,
) -> int:
    """Draw about ``sizes[0]`` negatives and ``sizes[1]`` positives; return how many.

    The chance of a row is proportional to its importance, and one at most. Chances add
    up along the rows, and a row is drawn whenever the sum passes the next half. Writes
    the rows, in order, to ``index`` and their chances to ``chance``.
    """
    n = importance.shape[0]
    rates = np.zeros(2)
    n_used = np.zeros(2, dtype=np.int64)
    for i in range(n):
        if importance[i] > 0.0:
            n_used[int(is_pos[i])] += 1
    for which in range(2):
        if n_used[which] <= sizes[which]:
            rates[which] = np.inf
    for _ in range(20):
        certain, rest = np.zeros(2), np.zeros(2)
        for i in range(n):
            if importance[i] <= 0.0:
                continue
            which = int(is_pos[i])
            if rates[which] * importance[i] >= 1.0:
                certain[which] += 1.0
            else:
                rest[which] += importance[i]
        settled = True
        for which in range(2):
            rate = np.inf
            if rest[which] > 0.0:
                rate = (sizes[which] - certain[which]) / rest[which]
            # Rows at the limit of one leave more for the others: the rate only rises.
            if rate > rates[which] * (1.0 + 1e-6):
                rates[which] = rate
                settled = False
        if settled:
            break
    count = 0
    sums = np.full(2, 0.5)
    for i in range(n):
        if importance[i] > 0.0:
            which = int(is_pos[i])
            share = min(1.0, rates[which] * importance[i])
            before = np.floor(sums[which])
            sums[which] += share
            if np.floor(sums[which]) > before and count < index.shape[0]:
                index[count] = i
                chance[count] = share
                count += 1
    return count
