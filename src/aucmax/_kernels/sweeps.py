# SPDX-License-Identifier: BSD-3-Clause
"""Weights of all active pairs in one trip up and one down the sorted scores.

Positives are shifted down by the margin and everything is sorted. A pair (positive,
negative) is *active*, that is, not yet a margin apart, exactly when its positive comes
first in that order. ``signed[k]`` is the weight of the k-th row in that order, positive
for positives and negative for negatives, so one array carries weight and class.
"""

from aucmax._kernels import jit
from aucmax._utils.typing import BoolArray, FloatArray, IntArray


@jit
def sign_weights(
    is_pos: BoolArray, weight: FloatArray, order: IntArray, out: FloatArray
) -> tuple[float, float]:
    """Write the weights in ``order``, negated for negatives; return both masses."""
    mass_pos, mass_neg = 0.0, 0.0
    for k in range(order.shape[0]):
        i = order[k]
        part = weight[i] * is_pos[i]  # a product, because a branch would be guessed
        rest = weight[i] - part
        out[k] = part - rest
        mass_pos += part
        mass_neg += rest
    return mass_pos, mass_neg


@jit
def active_mass(order: IntArray, signed: FloatArray, out: FloatArray) -> None:
    """Write ``weight[i]`` times the weight of its active partners for every row."""
    n = order.shape[0]
    mass = 0.0
    for k in range(n):
        w = signed[k]
        if w > 0.0:
            mass += w
        else:
            out[order[k]] = -w * mass
    mass = 0.0
    for k in range(n - 1, -1, -1):
        w = signed[k]
        if w > 0.0:
            out[order[k]] = w * mass
        else:
            mass -= w
