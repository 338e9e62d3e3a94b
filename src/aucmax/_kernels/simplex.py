# SPDX-License-Identifier: BSD-3-Clause
"""A small concave quadratic over the simplex, by moving weight between two corners."""

from aucmax._kernels.jit import jit
from aucmax._utils.typing import FloatArray


@jit
def maximise_over_simplex(
    gram: FloatArray, linear: FloatArray, shares: FloatArray, tol: float, max_iter: int
) -> int:
    """Maximise ``linear'a - a'gram a / 2`` over ``a >= 0, sum(a) = sum(start)``.

    ``shares`` holds the start and receives the solution. Each step moves weight from
    the corner with the smallest slope that has any to the corner with the largest; the
    difference of the two slopes bounds the gap. Returns the number of steps.
    """
    n = linear.shape[0]
    slope = linear - gram @ shares
    for iteration in range(max_iter):
        up, down = 0, -1
        for k in range(n):
            if slope[k] > slope[up]:
                up = k
            if shares[k] > 0.0 and (down < 0 or slope[k] < slope[down]):
                down = k
        rise = slope[up] - slope[down]
        if rise <= tol:
            return iteration
        curvature = gram[up, up] + gram[down, down] - 2.0 * gram[up, down]
        step = shares[down]
        if curvature * step > rise:
            step = rise / curvature
        shares[up] += step
        # Exactly zero, so that an empty corner is never chosen again.
        shares[down] = 0.0 if step == shares[down] else shares[down] - step
        for k in range(n):
            slope[k] -= step * (gram[k, up] - gram[k, down])
    return max_iter
