# SPDX-License-Identifier: BSD-3-Clause
"""Where a convex function along a line stops falling."""

from collections.abc import Callable

import numpy as np

MAX_SEARCH = 60


def search_line(
    slope_at: Callable[[float], float],
    curvature: Callable[[], float],
    *,
    first: float,
    enough: float,
) -> float:
    """Return where the slope is no steeper than ``enough``, visited last.

    The slope is negative at zero, increasing and, for the squared hinge, piecewise
    linear: Newton's method inside a bracket.

    Parameters
    ----------
    slope_at : callable
        Visits a point of the line and returns the slope there.
    curvature : callable
        Returns the curvature at the point visited last.
    first : float
        Where to look first.
    enough : float
        Slope to stop at.
    """
    low, high, t = 0.0, np.inf, first
    for k in range(MAX_SEARCH):
        slope = slope_at(t)
        if abs(slope) <= enough or k == MAX_SEARCH - 1:
            break
        if slope < 0.0:
            low = t
        else:  # also when the loss overflowed and the slope is not a number
            high = t
        curved = curvature()
        t = t - slope / curved if curved > 0.0 else np.nan
        if not low < t < high:
            t = 0.5 * (low + high) if high < np.inf else 4.0 * low
    return t
