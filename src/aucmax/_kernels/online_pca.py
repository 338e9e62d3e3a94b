# SPDX-License-Identifier: BSD-3-Clause
"""Principal directions, one row at a time.

Each row first moves the mean. What the directions learn from is sqrt(1 - 1/t) times its
distance from the mean before it: the outer products of these add up to the scatter
about the final mean, exactly. What is left of a row when the known directions are taken
out becomes the next one.
"""

from typing import NamedTuple

import numpy as np

from aucmax._kernels.jit import jit
from aucmax._kernels.products import add_scaled, copy_to, dot
from aucmax._utils.typing import FloatArray, IntArray
from aucmax.saved import saved_as

# What is left of a row is rounding if its square is smaller, relative to the row's.
ROUNDING = 1e-24
# Steps of "sga" change the length of a direction little. It is made one when its square
# is off by more than this; doing so after every step takes 1.5 times as long.
STRETCHED = 0.01
# One over less would overflow, times a step of 1e6.
LEAST_SPREAD = 1e-300


@saved_as("PCAState")
class PCAState(NamedTuple):
    """What is known about the rows so far; the arrays are written to.

    Attributes
    ----------
    n_seen : ndarray of shape (1,)
        Rows.
    mean : ndarray of shape (n_features,)
        Their mean.
    directions : ndarray of shape (n_directions, n_features)
        Of unit length, nearly for "sga"; zero while unknown, the unknown ones last.
    variances : ndarray of shape (n_directions,)
        Mean squares along them, to which row t adds with weight (1 + amnesic) / (t +
        amnesic).
    spread : ndarray of shape (1,)
        Mean squared distance of the rows from their mean.
    """

    n_seen: IntArray
    mean: FloatArray
    directions: FloatArray
    variances: FloatArray
    spread: FloatArray


@jit(reorder_sums=True)
def ccipca_steps(X: FloatArray, amnesic: float, state: PCAState) -> None:
    """Take in rows: each direction moves towards the row, then is taken out of it."""
    n_seen, mean, directions, variances, spread = state
    row = np.empty(X.shape[1])
    n_known = count_known(directions)
    for k in range(X.shape[0]):
        square = center(X[k], n_seen, mean, spread, row)
        weight = (1.0 + amnesic) / (n_seen[0] + amnesic)
        for i in range(n_known):
            variances[i] = move_ccipca(directions[i], variances[i], weight, row)
        if n_known < len(directions):
            variances[n_known] = weight * new_direction(
                row, square, directions[n_known]
            )
            n_known += variances[n_known] > 0.0


@jit(reorder_sums=True, inline=True)
def move_ccipca(
    direction: FloatArray, variance: float, weight: float, row: FloatArray
) -> float:
    """Move a direction and take it out of the row; return its variance.

    It becomes the weighted mean of covariances, times the direction. Divided by its
    part along the old direction, that neither underflows nor vanishes.
    """
    along, square, size = dot(row, direction), dot(row, row), 0.0
    scale = (1.0 - weight) * variance + weight * along * along
    if scale == 0.0:
        return variance
    old, new = (1.0 - weight) * variance / scale, weight * along / scale
    for j in range(row.shape[0]):
        moved = old * direction[j] + new * row[j]
        direction[j] = moved
        size += moved * moved
    length: float = np.sqrt(size)
    along = (old * along + new * square) / length
    for j in range(row.shape[0]):
        moved = direction[j] / length
        direction[j] = moved
        row[j] -= along * moved
    return scale * length


@jit(reorder_sums=True)
def sga_steps(
    X: FloatArray, amnesic: float, step_size: float, decay: float, state: PCAState
) -> None:
    """Take in rows: one step of stochastic gradient ascent each.

    The step of row t is ``step_size / spread / t**decay``. Directions are orthogonal
    after each q-th row, and after every row while some are unknown.
    """
    n_seen, mean, directions, variances, spread = state
    q, d = directions.shape
    row, deflated = np.empty(d), np.empty(d)
    n_known = count_known(directions)
    for k in range(X.shape[0]):
        square = center(X[k], n_seen, mean, spread, row)
        t = n_seen[0]
        weight = (1.0 + amnesic) / (t + amnesic)
        step = step_size / t**decay / spread[0] if spread[0] > LEAST_SPREAD else 0.0
        copy_to(deflated, row)
        for i in range(n_known):
            along = move_sga(directions[i], step, row, deflated)
            variances[i] += weight * (along * along - variances[i])
        if n_known < q:
            # The known directions were taken out of ``deflated`` twice.
            for j in range(d):
                row[j] = 0.5 * (row[j] + deflated[j])
            variances[n_known] = weight * new_direction(
                row, square, directions[n_known]
            )
            n_known += variances[n_known] > 0.0
            orthogonalize(directions, n_known)
        elif t % q == 0:
            orthogonalize(directions, n_known)


@jit(reorder_sums=True, inline=True)
def move_sga(
    direction: FloatArray, step: float, row: FloatArray, deflated: FloatArray
) -> float:
    """Make one step along ``deflated``, and take the old direction out of it twice.

    Returns the coordinate of the row along the old direction.
    """
    along, size = dot(row, direction), 0.0
    rate = step * along
    keep, twice = 1.0 - rate * along, 2.0 * along
    for j in range(row.shape[0]):
        old, rest = direction[j], deflated[j]
        moved = keep * old + rate * rest
        deflated[j] = rest - twice * old
        direction[j] = moved
        size += moved * moved
    if abs(size - 1.0) > STRETCHED:
        divide(direction, np.sqrt(size))
    return along


@jit(reorder_sums=True)
def count_known(directions: FloatArray) -> int:
    """Return how many directions are not zero."""
    n_known = 0
    for i in range(directions.shape[0]):
        n_known += dot(directions[i], directions[i]) > 0.0
    return n_known


@jit(reorder_sums=True, inline=True)
def center(
    x: FloatArray,
    n_seen: IntArray,
    mean: FloatArray,
    spread: FloatArray,
    row: FloatArray,
) -> float:
    """Move mean and spread; write the row to learn from and return its square."""
    n_seen[0] += 1
    t = n_seen[0]
    shrink, square = np.sqrt(1.0 - 1.0 / t), 0.0
    for j in range(row.shape[0]):
        gap = x[j] - mean[j]
        mean[j] += gap / t
        row[j] = shrink * gap
        square += row[j] * row[j]
    spread[0] += (square - spread[0]) / t
    return square


@jit(reorder_sums=True, inline=True)
def new_direction(rest: FloatArray, square: float, direction: FloatArray) -> float:
    """Write the direction of the rest of a row; return its square, 0 if negligible."""
    size = dot(rest, rest)
    if size <= ROUNDING * square:
        return 0.0
    add_scaled(direction, 1.0 / np.sqrt(size), rest)
    return size


@jit(reorder_sums=True)
def orthogonalize(directions: FloatArray, n_known: int) -> None:
    """Make the known directions orthonormal, in their order (Gram and Schmidt)."""
    for i in range(n_known):
        for h in range(i):
            product = dot(directions[i], directions[h])
            add_scaled(directions[i], -product, directions[h])
        divide(directions[i], np.sqrt(dot(directions[i], directions[i])))


@jit(reorder_sums=True, inline=True)
def divide(vector: FloatArray, length: float) -> None:
    """Divide a vector by a number."""
    for j in range(vector.shape[0]):
        vector[j] /= length
