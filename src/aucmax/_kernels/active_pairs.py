# SPDX-License-Identifier: BSD-3-Clause
"""Sums over all active pairs, again and again at the same scores.

Positives are shifted down by the margin and everything is sorted. A pair (positive,
negative) is *active*, that is, not yet a margin apart, exactly when its positive comes
first. Walk that order so that of each active pair the row of the smaller class comes
first: upwards if that is the positives, else downwards. A row of the larger class is
then active with the rows of the smaller one that came before it, and a row of the
smaller class with the larger's that follow.

``place[i]`` is, with m rows in the smaller class, the number of those before row i if i
is of the larger class, and m + 1 plus that number if it is one of them. Rows are added
up by place in one trip through memory, running sums turn the 2 m + 1 places into what
rows there want to know of their partners, and a second trip looks that up. Nothing but
the places is read out of order, and with few positives the cache holds them all.

A weight of None stands for ones. The compiler then leaves out all that reads weights.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucmax._kernels.jit import jit
from aucmax._utils.typing import BoolArray, FloatArray, IntArray


@jit
def shift_positives(
    scores: FloatArray, is_pos: BoolArray, margin: float, pivot: float, out: FloatArray
) -> None:
    """Write the scores, those of the positives less the margin, less a pivot."""
    for i in range(scores.shape[0]):
        out[i] = (scores[i] - margin * is_pos[i]) - pivot


@jit
def place_rows(order: IntArray, is_pos: BoolArray, place: NDArray[Any]) -> int:
    """Write ``place`` from the sorted order; return the size of the smaller class."""
    n = order.shape[0]
    n_pos = 0
    for i in range(n):
        n_pos += int(is_pos[i])
    few: int = min(n_pos, n - n_pos)
    few_are_pos = n_pos == few
    before = 0
    for k in range(n):
        # Unsigned indices are not checked for being negative.
        row = np.uint64(order[np.uint64(k if few_are_pos else n - 1 - k)])
        step = int(is_pos[row] == few_are_pos)
        place[row] = before + step * (few + 1)
        before += step
    return few


@jit
def partner_mass(
    weight: FloatArray | None,
    place: NDArray[Any],
    few: int,
    sums: FloatArray,
    out: FloatArray,
) -> float:
    """Write ``weight[i]`` times the weight of its active partners for every row.

    Returns the weight of all pairs, active or not; ``sums``, of length 2 few + 1 or
    more, is overwritten.
    """
    n = out.shape[0]
    sums[: 2 * few + 1] = 0.0
    for i in range(n):
        sums[place[i]] += 1.0 if weight is None else weight[i]
    total = 0.0
    for k in range(few + 1, 2 * few + 1):
        total += sums[k]
        sums[k] = total
    mass_few, total = total, 0.0
    for k in range(few, 0, -1):
        total += sums[k]
        # Of the smaller class up to here; of the larger one from here on.
        sums[k], sums[few + k] = sums[few + k], total
    mass_many: float = total + sums[0]
    sums[0] = 0.0
    for i in range(n):
        mass = sums[place[i]]
        out[i] = mass if weight is None else weight[i] * mass
    return mass_few * mass_many


@jit
def active_product(
    vectors: NDArray[Any],
    middle: int,
    weight: FloatArray | None,
    place: NDArray[Any],
    few: int,
    mass: FloatArray,
    scale: float,
    sums: FloatArray,
    out: NDArray[Any],
) -> None:
    """Multiply vectors with ``scale`` times the Laplacian of the active pairs.

    ``out[v, i] = scale * weight[i] * sum over active partners j of weight[j]
    (vectors[v, i] - vectors[v, j])``. Only differences matter, so values are seen less
    that of the row ``middle``: without, values near 1e8 lose every digit. ``mass`` is
    what ``partner_mass`` wrote; ``sums`` is overwritten; ``out`` may be ``vectors``.
    All sums are in float64, whatever the vectors are.
    """
    n = vectors.shape[1]
    for v in range(vectors.shape[0]):
        vector, product = vectors[v], out[v]
        pivot = np.float64(vector[middle])
        sums[: 2 * few + 1] = 0.0
        for i in range(n):
            value = vector[i] - pivot
            sums[place[i]] += value if weight is None else weight[i] * value
        total = 0.0
        for k in range(few + 1, 2 * few + 1):
            total += sums[k]
            sums[k] = total
        total = 0.0
        for k in range(few, 0, -1):
            total += sums[k]
            sums[k], sums[few + k] = sums[few + k], total
        sums[0] = 0.0
        for i in range(n):
            other = sums[place[i]]
            other = other if weight is None else weight[i] * other
            product[i] = scale * (mass[i] * (vector[i] - pivot) - other)
