# SPDX-License-Identifier: BSD-3-Clause
"""The hinge over all pairs: piecewise linear, one sort."""

from dataclasses import dataclass

import numpy as np

from aucmax import _kernels
from aucmax._utils.typing import BoolArray, FloatArray
from aucmax.losses._base import Terms
from aucmax.losses.squared_hinge import sorted_scores


@dataclass(frozen=True, slots=True)
class Hinge:
    """Mean over pairs of ``max(0, margin - (s_pos - s_neg))``.

    ``grad`` is a subgradient; the curvature is zero wherever it exists.
    """

    margin: float = 1.0

    def evaluate(
        self,
        scores: FloatArray,
        is_pos: BoolArray,
        weight: FloatArray,
        memory: FloatArray | None = None,
    ) -> Terms:
        """Return value, subgradient and (zero) curvature at ``scores``."""
        block = np.empty((4, scores.shape[0] + 2)) if memory is None else memory
        shifted, order, third, grad = sorted_scores(scores, is_pos, self.margin, block)
        middle = order[order.shape[0] // 2]
        place = third.view(np.uint32)[: scores.shape[0]]
        few = _kernels.active_pairs.place_rows(order, is_pos, place)
        # The order is not needed any more.
        grad /= -_kernels.active_pairs.partner_mass(weight, place, few, block[1], grad)
        _kernels.counts.sign_weights(grad, is_pos)
        # Homogeneous of degree one on a fixed active set; the gradient sums to zero, so
        # a pivot changes nothing but the rounding.
        shifted -= shifted[middle]
        return Terms(
            _kernels.products.dot(shifted, grad),
            grad,
            lambda vector, out=None: np.zeros_like(vector),
            lambda: np.zeros_like(grad),
        )
