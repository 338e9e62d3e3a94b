# SPDX-License-Identifier: BSD-3-Clause
"""The squared hinge over all pairs: smooth, exact, one sort."""

from dataclasses import dataclass

import numpy as np

from aucmax import _kernels
from aucmax._utils.typing import AnyFloats, BoolArray, FloatArray, IntArray
from aucmax.losses._base import Terms


@dataclass(frozen=True, slots=True)
class SquaredHinge:
    """Mean over pairs of ``max(0, margin - (s_pos - s_neg)) ** 2``.

    One sort for value and gradient, O(n log n); none, O(n), for a curvature product,
    whatever the number of pairs.
    """

    margin: float = 1.0

    def evaluate(
        self, scores: FloatArray, is_pos: BoolArray, weight: FloatArray
    ) -> Terms:
        """Return value, gradient and curvature at ``scores``."""
        # A pair exactly on the kink adds zero to value and gradient, so any order of
        # ties is exact.
        shifted = shift_positives(scores, is_pos, self.margin)
        order = _kernels.order.argsort(shifted)
        middle = _middle(order, weight)
        pairs = _kernels.active_pairs.find_active_pairs(order, is_pos, weight)
        scale = 2.0 / pairs.pair_mass

        def hess_dot(vector: AnyFloats, out: AnyFloats | None = None) -> AnyFloats:
            out = np.empty(vector.shape) if out is None else out
            _kernels.active_pairs.active_product(
                pairs, np.atleast_2d(vector), middle, scale, np.atleast_2d(out)
            )
            return out

        # On a fixed active set the loss is a homogeneous quadratic of the shifted
        # scores, so its gradient is a curvature product and its value half a dot.
        grad = hess_dot(shifted)
        shifted -= shifted[middle]
        value = 0.5 * _kernels.products.dot(shifted, grad)
        return Terms(value, grad, hess_dot, lambda: scale * pairs.partner_mass)


def shift_positives(scores: FloatArray, is_pos: BoolArray, margin: float) -> FloatArray:
    """Return the scores in float64, those of the positives less the margin."""
    return np.asarray(scores - margin * is_pos, dtype=np.float64)


def _middle(order: IntArray, weight: FloatArray) -> int:
    """Return the row in the middle of the order, of those that have weight."""
    middle = order[len(order) // 2]
    if weight[middle] == 0.0:
        used = order[weight[order] > 0.0]
        middle = used[len(used) // 2]
    return int(middle)
