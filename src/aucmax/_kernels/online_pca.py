# SPDX-License-Identifier: BSD-3-Clause
"""Principal directions, one row at a time.

Both kernels share their state. ``directions`` have unit length, or are zero while
unknown, the unknown ones last; ``variances`` are the mean squares along them, to which
row t adds with weight (1 + amnesic) / (t + amnesic). Each row first moves the mean.
What the directions learn from is sqrt(1 - 1/t) times its distance from the mean before
it: the outer products of these add up to the scatter about the final mean, exactly.
What is left of a row when the known directions are taken out becomes the next one.
"""

import numpy as np

from aucmax._kernels.jit import jit
from aucmax._utils.typing import FloatArray, IntArray

# What is left of a row is rounding if its square is smaller, relative to the row's.
ROUNDING = 1e-24
# Directions that a step makes longer than this, or shorter than its inverse, are
# normalised at once: no outlier can make the cubes in the next steps overflow.
MOST_STRETCHED = 2.0
# One over less would overflow, times a step of 1e6.
LEAST_SPREAD = 1e-300


@jit(reorder_sums=True)
def ccipca_rows(
    X: FloatArray,
    n_seen: IntArray,
    mean: FloatArray,
    directions: FloatArray,
    variances: FloatArray,
    amnesic: float,
) -> None:
    """Take in rows: each direction moves towards the row, then is taken out of it."""
    d = mean.shape[0]
    row = np.empty(d)
    for k in range(X.shape[0]):
        n_seen[0] += 1
        t = n_seen[0]
        shrink = np.sqrt(1.0 - 1.0 / t)
        weight = (1.0 + amnesic) / (t + amnesic)
        square = 0.0
        for j in range(d):
            away = X[k, j] - mean[j]
            mean[j] += away / t
            away *= shrink
            row[j] = away
            square += away * away
        smallest = ROUNDING * square
        for i in range(directions.shape[0]):
            direction = directions[i]
            along = size = rest = 0.0
            for j in range(d):
                along += row[j] * direction[j]
                size += direction[j] * direction[j]
                rest += row[j] * row[j]
            if size == 0.0:
                if rest > smallest:
                    length = np.sqrt(rest)
                    for j in range(d):
                        direction[j] = row[j] / length
                    variances[i] = weight * rest
                break
            # The weighted mean of covariances, times the direction. Divided by its
            # part along the old direction, it neither underflows nor vanishes.
            scale = (1.0 - weight) * variances[i] + weight * along * along
            if scale == 0.0:
                continue
            old = (1.0 - weight) * variances[i] / scale
            new = weight * along / scale
            square = 0.0
            for j in range(d):
                moved = old * direction[j] + new * row[j]
                direction[j] = moved
                square += moved * moved
            length = np.sqrt(square)
            variances[i] = scale * length
            along = (old * along + new * rest) / length
            for j in range(d):
                moved = direction[j] / length
                direction[j] = moved
                row[j] -= along * moved


@jit(reorder_sums=True)
def sga_rows(
    X: FloatArray,
    n_seen: IntArray,
    mean: FloatArray,
    directions: FloatArray,
    variances: FloatArray,
    amnesic: float,
    spread: FloatArray,
    step_size: float,
    decay: float,
) -> None:
    """Take in rows: one step of stochastic gradient ascent each.

    ``spread`` is the mean squared distance of the rows from their mean. The step of row
    t is ``step_size / spread / t**decay``. Directions are orthonormal after each q-th
    row, and after every row while some are unknown.
    """
    q, d = directions.shape
    row = np.empty(d)
    left = np.empty(d)
    along = np.empty(q)
    for k in range(X.shape[0]):
        n_seen[0] += 1
        t = n_seen[0]
        shrink = np.sqrt(1.0 - 1.0 / t)
        weight = (1.0 + amnesic) / (t + amnesic)
        square = 0.0
        for j in range(d):
            away = X[k, j] - mean[j]
            mean[j] += away / t
            away *= shrink
            row[j] = away
            left[j] = away
            square += away * away
        spread[0] += (square - spread[0]) / t

        n_known = 0
        for i in range(q):
            product = size = 0.0
            for j in range(d):
                product += row[j] * directions[i, j]
                size += directions[i, j] * directions[i, j]
            if size == 0.0:
                break
            n_known += 1
            along[i] = product
            variances[i] += weight * (product * product / size - variances[i])
        is_growing = n_known < q
        rest = 0.0
        if is_growing:
            for i in range(n_known):
                for j in range(d):
                    left[j] -= along[i] * directions[i, j]
            for j in range(d):
                rest += left[j] * left[j]

        step = step_size / t**decay / spread[0] if spread[0] > LEAST_SPREAD else 0.0
        is_stretched = False
        for i in range(n_known):
            direction = directions[i]
            product = along[i]
            rate = step * product
            size = 0.0
            for j in range(d):
                old = direction[j]
                moved = old + rate * (row[j] - product * old)
                direction[j] = moved
                size += moved * moved
                row[j] -= 2.0 * product * old
            if not MOST_STRETCHED**-2 < size < MOST_STRETCHED**2:
                is_stretched = True
        if is_growing and rest > ROUNDING * square:
            length = np.sqrt(rest)
            for j in range(d):
                directions[n_known, j] = left[j] / length
            variances[n_known] = weight * rest
            n_known += 1

        if t % q == 0 or is_growing or is_stretched:
            for i in range(n_known):
                direction = directions[i]
                for h in range(i):
                    product = 0.0
                    for j in range(d):
                        product += direction[j] * directions[h, j]
                    for j in range(d):
                        direction[j] -= product * directions[h, j]
                size = 0.0
                for j in range(d):
                    size += direction[j] * direction[j]
                length = np.sqrt(size)
                for j in range(d):
                    direction[j] /= length


@jit(reorder_sums=True)
def project_rows(
    X: FloatArray, mean: FloatArray, axes: FloatArray, out: FloatArray
) -> None:
    """Write ``(X - mean) @ axes.T``.

    One row at a time: a row must get the same values alone and among others, to the
    last bit, which BLAS does not promise. Neighbours at equal distances need that.
    """
    q, d = axes.shape
    row = np.empty(d)
    for k in range(X.shape[0]):
        for j in range(d):
            row[j] = X[k, j] - mean[j]
        for i in range(q):
            total = 0.0
            for j in range(d):
                total += row[j] * axes[i, j]
            out[k, i] = total
