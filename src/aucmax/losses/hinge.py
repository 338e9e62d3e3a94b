# SPDX-License-Identifier: BSD-3-Clause
"""The hinge over all pairs: piecewise linear, one sort."""

from dataclasses import dataclass

import numpy as np

from aucmax import _kernels
from aucmax._utils.typing import BoolArray, FloatArray
from aucmax.losses._base import Terms
from aucmax.losses.squared_hinge import shift_positives


@dataclass(frozen=True, slots=True)
class Hinge:
    """Mean over pairs of ``max(0, margin - (s_pos - s_neg))``.

    ``grad`` is a subgradient; the curvature is zero wherever it exists.
    """

    margin: float = 1.0

    def evaluate(
        self, scores: FloatArray, is_pos: BoolArray, weight: FloatArray
    ) -> Terms:
        """Return value, subgradient and (zero) curvature at ``scores``."""
        shifted = shift_positives(scores, is_pos, self.margin)
        order = _kernels.order.argsort(shifted)
        pairs = _kernels.active_pairs.find_active_pairs(order, is_pos, weight)
        grad = pairs.partner_mass / -pairs.pair_mass
        _kernels.counts.sign_weights(grad, is_pos)
        # Homogeneous of degree one on a fixed active set; the gradient sums to zero, so
        # a pivot changes nothing but the rounding.
        shifted -= shifted[order[len(order) // 2]]
        return Terms(
            _kernels.products.dot(shifted, grad),
            grad,
            lambda vector, out=None: np.zeros_like(vector),
            lambda: np.zeros_like(grad),
        )
