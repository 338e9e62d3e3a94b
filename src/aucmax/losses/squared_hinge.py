# SPDX-License-Identifier: BSD-3-Clause
"""The squared hinge over all pairs: smooth, exact, one sort."""

from dataclasses import dataclass
from threading import Lock

import numpy as np

from aucmax import _kernels
from aucmax._utils.typing import AnyFloats, BoolArray, FloatArray, IntArray
from aucmax.losses._base import Terms

# Rows are numbered in 32 bits, which halves what a product reads besides the vectors.
MAX_ROWS = 2**32 - 2


@dataclass(frozen=True, slots=True)
class SquaredHinge:
    """Mean over pairs of ``max(0, margin - (s_pos - s_neg)) ** 2``.

    One sort for value and gradient, O(n log n); none, O(n), for a curvature product,
    whatever the number of pairs.
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
        n = scores.shape[0]
        if n > MAX_ROWS:
            raise ValueError(
                f"The squared hinge takes up to {MAX_ROWS} rows, got {n}. Fit to a "
                "sample of them."
            )
        block = np.empty((4, n + 2)) if memory is None else memory
        scores = np.ascontiguousarray(scores, dtype=np.float64)
        shifted, order, third, mass = sorted_scores(scores, is_pos, self.margin, block)
        middle = _middle(order, weight)
        pivot = float(shifted[middle])
        place = third.view(np.uint32)[:n]
        few = _kernels.active_pairs.place_rows(order, is_pos, place)
        # Nothing below needs the order any more.
        sums = block[1]
        is_even = bool(weight.min() == weight.max())
        # A weight that all share cancels.
        needed = None if is_even else weight
        scale = 2.0 / _kernels.active_pairs.partner_mass(needed, place, few, sums, mass)
        pairs = middle, needed, place, few, mass, scale
        # Whoever multiplies meanwhile, in another thread, takes other memory.
        is_taken = Lock()

        def hess_dot(vector: AnyFloats, out: AnyFloats | None = None) -> AnyFloats:
            out = np.empty(vector.shape) if out is None else out
            is_ours = is_taken.acquire(blocking=False)
            try:
                scratch = sums if is_ours else np.empty(n + 2)
                rows, results = np.atleast_2d(vector), np.atleast_2d(out)
                _kernels.active_pairs.active_product(rows, *pairs, scratch, results)
            finally:
                if is_ours:
                    is_taken.release()
            return out

        # On a fixed active set the loss is a homogeneous quadratic of the shifted
        # scores, so its gradient is a curvature product and its value half a dot.
        grad = shifted
        _kernels.active_pairs.active_product(shifted[None], *pairs, sums, grad[None])
        shifted = sums[:n]
        _kernels.active_pairs.shift_positives(
            scores, is_pos, self.margin, pivot, shifted
        )
        return Terms(
            0.5 * _kernels.products.dot(shifted, grad),
            grad,
            hess_dot,
            lambda: scale * mass,
        )


def _middle(order: IntArray, weight: FloatArray) -> int:
    """Return the row in the middle of the order, of those that have weight."""
    middle = order[len(order) // 2]
    if weight[middle] == 0.0:
        used = order[weight[order] > 0.0]
        middle = used[len(used) // 2]
    return int(middle)


def sorted_scores(
    scores: FloatArray,
    is_pos: BoolArray,
    margin: float,
    memory: FloatArray | None = None,
) -> tuple[FloatArray, IntArray, FloatArray, FloatArray]:
    """Return the scores less the margin of the positives, their order, and two vectors.

    All four share one block of memory, by default a new one.
    """
    n = scores.shape[0]
    block = np.empty((4, n + 2)) if memory is None else memory
    shifted, order, third, grad = block[:, :n]
    _kernels.active_pairs.shift_positives(scores, is_pos, margin, 0.0, shifted)
    keys, spare = order.view(np.int64), third.view(np.int64)
    return shifted, _kernels.order.argsort(shifted, out=keys, spare=spare), third, grad
