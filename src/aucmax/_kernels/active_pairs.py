# SPDX-License-Identifier: BSD-3-Clause
"""Sums over all active pairs, again and again at the same scores.

As in ``sweeps``, positives are shifted down by the margin, and a pair is active when
its positive comes first. The active partners of a row are then the first so many of the
other class: positives from the lowest up, negatives from the highest down. ``by_class``
lists the rows that way, positives first, and ``partner[i]`` says where, in the running
sums over ``by_class``, the sum over the active partners of row i is found. The sums of
either class begin with a zero, so there are n + 2 of them.

Walking the rows in their own order, with one look-up each, takes half the time of two
trips along the sorted scores, where the class of the next row has to be guessed.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucmax._kernels import jit
from aucmax._utils.typing import BoolArray, FloatArray, IntArray


@jit
def shift_positives(
    scores: FloatArray, is_pos: BoolArray, margin: float, pivot: float, out: FloatArray
) -> None:
    """Write the scores, those of the positives less the margin, less a pivot."""
    for i in range(scores.shape[0]):
        out[i] = (scores[i] - margin * is_pos[i]) - pivot


@jit
def link_partners(
    order: IntArray, is_pos: BoolArray, by_class: NDArray[Any], partner: NDArray[Any]
) -> int:
    """Write ``by_class`` and ``partner`` from the sorted order; return the positives.

    Each row is written to both ends of what is left, and the end it belongs to moves:
    no branch has to be guessed. Unsigned indices are not checked for being negative,
    which would take as long as all else.
    """
    n = order.shape[0]
    n_pos = 0
    for k in range(n):
        i = np.uint64(order[k])
        step = int(is_pos[i])
        by_class[np.uint64(n_pos)] = i
        by_class[np.uint64(n - 1 - (k - n_pos))] = i
        # A positive has k - n_pos negatives below it, and is active with the others.
        partner[i] = n_pos + step * (n + 1 - k)
        n_pos += step
    return n_pos


@jit
def partner_mass(
    weight: FloatArray,
    by_class: NDArray[Any],
    n_pos: int,
    partner: NDArray[Any],
    sums: FloatArray,
    out: FloatArray,
) -> tuple[float, float]:
    """Write ``weight[i]`` times the weight of its active partners for every row.

    Returns the masses of the two classes; ``sums``, of length n + 2, is overwritten.
    """
    n = out.shape[0]
    total = 0.0
    sums[0] = 0.0
    for k in range(n_pos):
        total += weight[by_class[k]]
        sums[k + 1] = total
    mass_pos, total = total, 0.0
    sums[n_pos + 1] = 0.0
    for k in range(n_pos, n):
        total += weight[by_class[k]]
        sums[k + 2] = total
    for i in range(n):
        out[i] = weight[i] * sums[partner[i]]
    return mass_pos, total


@jit
def active_product(
    vector: FloatArray,
    is_pos: BoolArray,
    margin: float,
    middle: int,
    weight: FloatArray,
    by_class: NDArray[Any],
    n_pos: int,
    partner: NDArray[Any],
    mass: FloatArray,
    scale: float,
    sums: FloatArray,
    out: FloatArray,
) -> None:
    """Multiply a vector with ``scale`` times the Laplacian of the active pairs.

    ``out[i] = scale * weight[i] * sum over active partners j of weight[j] (v[i] -
    v[j])`` with v the given vector, that of the positives less the margin. Only
    differences matter, so values are seen less that of the row ``middle``: without,
    values near 1e8 lose every digit. ``mass`` is what ``partner_mass`` wrote; ``sums``
    is overwritten.
    """
    n = vector.shape[0]
    pivot = vector[middle] - margin * is_pos[middle]
    for i in range(n):
        out[i] = weight[i] * (vector[i] - margin * is_pos[i] - pivot)
    total = 0.0
    sums[0] = 0.0
    for k in range(n_pos):
        total += out[by_class[k]]
        sums[k + 1] = total
    total = 0.0
    sums[n_pos + 1] = 0.0
    for k in range(n_pos, n):
        total += out[by_class[k]]
        sums[k + 2] = total
    for i in range(n):
        value = vector[i] - margin * is_pos[i] - pivot
        out[i] = scale * (mass[i] * value - weight[i] * sums[partner[i]])
