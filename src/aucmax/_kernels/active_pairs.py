# SPDX-License-Identifier: BSD-3-Clause
"""Sums over all active pairs, again and again at the same scores.

Positives are shifted down by the margin and everything is sorted. A pair (positive,
negative) is *active*, that is, less than a margin apart, if its positive comes first.
Visit the rows so that of each active pair the row of the smaller class comes first:
upwards if that is the positives, else downwards. A row of the larger class is then
active with the rows of the smaller one that came before it, and a row of the smaller
class with those of the larger one that follow.

With m rows in the smaller class, the *place* of a row of the larger class is the number
of rows of the smaller one before it; that of a row of the smaller class is m + 1 plus
that number. A product with the pairs adds up the rows by place, turns these 2 m + 1
sums into sums over the partners of the rows there, and looks them up. Only these sums
are accessed at random, and with few positives they stay in the cache.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aucmax._kernels.jit import jit
from aucmax._utils.typing import BoolArray, FloatArray, IntArray


class ActivePairs(NamedTuple):
    """The active pairs at some scores."""

    # Place of each row, and the number of rows in the smaller class.
    place: IntArray
    n_few: int
    weight: FloatArray
    # Weight of each row times that of its active partners; weight of all pairs.
    partner_mass: FloatArray
    pair_mass: float


def find_active_pairs(
    order: IntArray, is_pos: BoolArray, weight: FloatArray
) -> ActivePairs:
    """Return the pairs that are active when ``order`` sorts the shifted scores."""
    n_pos = int(np.count_nonzero(is_pos))
    n_few = min(n_pos, len(is_pos) - n_pos)
    place, mass = np.empty(len(order), dtype=np.int64), np.empty(len(order))
    place_rows(order, is_pos, n_pos == n_few, n_few, place)
    pair_mass = add_partners(weight, place, n_few, mass)
    return ActivePairs(place, n_few, weight, mass, pair_mass)


@jit
def place_rows(
    order: IntArray,
    is_pos: BoolArray,
    few_are_pos: bool,
    n_few: int,
    place: IntArray,
) -> None:
    """Write the place of each row."""
    n, before = order.shape[0], 0
    for k in range(n):
        row = order[k if few_are_pos else n - 1 - k]
        step = int(is_pos[row] == few_are_pos)
        place[row] = before + step * (n_few + 1)
        before += step


@jit
def sum_over_partners(sums: FloatArray, n_few: int) -> None:
    """Turn sums of rows by place into sums over the partners of rows there."""
    total = 0.0
    for k in range(n_few + 1, 2 * n_few + 1):
        total += sums[k]
        sums[k] = total
    total = 0.0
    for k in range(n_few, 0, -1):
        total += sums[k]
        # Of the smaller class up to here; of the larger one from here on.
        sums[k], sums[n_few + k] = sums[n_few + k], total
    sums[0] = 0.0


@jit
def add_partners(
    weight: FloatArray, place: IntArray, n_few: int, out: FloatArray
) -> float:
    """Write each weight times that of the row's partners; return that of all pairs."""
    sums = np.zeros(2 * n_few + 1)
    for i in range(weight.shape[0]):
        sums[place[i]] += weight[i]
    pair_mass: float = sums[: n_few + 1].sum() * sums[n_few + 1 :].sum()
    sum_over_partners(sums, n_few)
    for i in range(weight.shape[0]):
        out[i] = weight[i] * sums[place[i]]
    return pair_mass


@jit
def active_product(
    pairs: ActivePairs,
    vectors: NDArray[Any],
    middle: int,
    scale: float,
    out: NDArray[Any],
) -> None:
    """Multiply vectors with ``scale`` times the Laplacian of the active pairs.

    ``out[v, i] = scale * weight[i] * sum over active partners j of weight[j]
    (vectors[v, i] - vectors[v, j])``. Only differences matter, so the value at row
    ``middle`` is subtracted first: without, values near 1e8 lose every digit. Sums are
    in float64, whatever the vectors are; ``out`` may be ``vectors``.
    """
    place, n_few, weight, mass, _ = pairs
    n = vectors.shape[1]
    for v in range(vectors.shape[0]):
        vector, product = vectors[v], out[v]
        pivot = np.float64(vector[middle])
        sums = np.zeros(2 * n_few + 1)
        for i in range(n):
            sums[place[i]] += weight[i] * (vector[i] - pivot)
        sum_over_partners(sums, n_few)
        for i in range(n):
            own = mass[i] * (vector[i] - pivot)
            product[i] = scale * (own - weight[i] * sums[place[i]])
