# SPDX-License-Identifier: BSD-3-Clause
"""Fewer points that draw the same picture."""

import numpy as np

from aucmax._utils.typing import FloatArray, IntArray

# Parts of an axis that can be told apart; no screen shows more in one plot.
PARTS = 2000
# Columns of a plot; each keeps four points at most.
COLUMNS = 1000


def thin_rising(x: FloatArray, y: FloatArray) -> IntArray:
    """Return which points of a curve in the unit square, both rising, to draw.

    The line through them is nowhere further from the curve than one part in 2,000.
    """
    if len(x) <= 2 * PARTS:
        return np.arange(len(x))
    cell = np.floor(x * PARTS) + np.floor(y * PARTS)
    is_first = np.append(True, cell[1:] != cell[:-1])
    is_first[-1] = True
    return np.flatnonzero(is_first)


def thin_columns(x: FloatArray, y: FloatArray) -> IntArray:
    """Return which points of a curve with rising x to draw.

    Of each of 1,000 columns the first, the last, the lowest and the highest point,
    which draw the same pixels as all of them.
    """
    if len(x) <= 4 * COLUMNS:
        return np.arange(len(x))
    column = np.floor((x - x[0]) * (COLUMNS / (x[-1] - x[0])))
    starts = np.flatnonzero(np.append(True, column[1:] != column[:-1]))
    by_height = np.lexsort((y, column))
    ends = np.append(starts[1:], len(x)) - 1
    return np.unique(np.concatenate([starts, ends, by_height[starts], by_height[ends]]))
