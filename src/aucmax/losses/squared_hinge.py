# SPDX-License-Identifier: BSD-3-Clause
"""The squared hinge over all pairs: smooth, exact, one sort."""

from dataclasses import dataclass

import numpy as np

from aucmax._kernels.order import argsort
from aucmax._kernels.products import dot
from aucmax._kernels.sweeps import active_mass, active_product, sign_weights
from aucmax._utils.typing import BoolArray, FloatArray
from aucmax.losses._base import Terms


@dataclass(frozen=True, slots=True)
class SquaredHinge:
    """Mean over pairs of ``max(0, margin - (s_pos - s_neg)) ** 2``.

    One sort and two sweeps for value and gradient, O(n log n); two sweeps, O(n), for a
    curvature product, whatever the number of pairs.
    """

    margin: float = 1.0

    def evaluate(
        self, scores: FloatArray, is_pos: BoolArray, weight: FloatArray
    ) -> Terms:
        """Return value, gradient and curvature at ``scores``."""
        shifted = np.subtract(scores, self.margin * is_pos)
        # A pair exactly on the kink adds zero to value and gradient, so any order of
        # ties is exact.
        order = argsort(shifted)
        signed = sign_weights(is_pos, weight, order)
        # Masses are float64: a million times a million pairs would overflow int32.
        scale = 2.0 / (float(weight[is_pos].sum()) * float(weight[~is_pos].sum()))

        def hess_dot(vector: FloatArray) -> FloatArray:
            out = np.empty(order.shape[0])
            active_product(vector, order, signed, out)
            out *= scale
            return out

        def hess_diag() -> FloatArray:
            out = np.empty(order.shape[0])
            active_mass(order, signed, out)
            out *= scale
            return out

        # On a fixed active set the loss is a homogeneous quadratic of the shifted
        # scores, so its gradient is a curvature product and its value half a dot.
        grad = hess_dot(shifted)
        shifted -= shifted[order[order.shape[0] // 2]]
        return Terms(0.5 * dot(shifted, grad), grad, hess_dot, hess_diag)
