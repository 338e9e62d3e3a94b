# SPDX-License-Identifier: BSD-3-Clause
"""The squared hinge over all pairs: smooth, exact, one sort."""

from dataclasses import dataclass

import numpy as np

from aucmax._kernels.order import argsort
from aucmax._kernels.products import dot
from aucmax._kernels.sweeps import active_mass, active_product, sign_weights
from aucmax._utils.typing import BoolArray, FloatArray, IntArray
from aucmax.losses._base import Terms


@dataclass(frozen=True, slots=True)
class SquaredHinge:
    """Mean over pairs of ``max(0, margin - (s_pos - s_neg)) ** 2``.

    One sort and two sweeps for value and gradient, O(n log n); two sweeps, O(n), for a
    curvature product, whatever the number of pairs.
    """

    margin: float = 1.0

    def evaluate(
        self,
        scores: FloatArray,
        is_pos: BoolArray,
        weight: FloatArray,
        memory: FloatArray | None = None,
    ) -> Terms:
        """Return value, gradient and curvature at ``scores``."""
        # A pair exactly on the kink adds zero to value and gradient, so any order of
        # ties is exact.
        shifted, order, signed, grad = sorted_scores(
            scores, is_pos, self.margin, memory
        )
        mass_pos, mass_neg = sign_weights(is_pos, weight, order, signed)
        scale = 2.0 / (mass_pos * mass_neg)

        def hess_dot(vector: FloatArray, out: FloatArray | None = None) -> FloatArray:
            out = np.empty(order.shape[0]) if out is None else out
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
        hess_dot(shifted, out=grad)
        shifted -= shifted[order[order.shape[0] // 2]]
        return Terms(0.5 * dot(shifted, grad), grad, hess_dot, hess_diag)


def sorted_scores(
    scores: FloatArray,
    is_pos: BoolArray,
    margin: float,
    memory: FloatArray | None = None,
) -> tuple[FloatArray, IntArray, FloatArray, FloatArray]:
    """Return the scores less the margin of the positives, their order, and two vectors.

    All four share one block of memory, by default a new one.
    """
    block = np.empty((4, scores.shape[0])) if memory is None else memory
    shifted, order, signed, grad = block
    np.copyto(shifted, scores)
    np.subtract(shifted, margin, out=shifted, where=is_pos)
    return shifted, argsort(shifted, out=order.view(np.int64)), signed, grad
