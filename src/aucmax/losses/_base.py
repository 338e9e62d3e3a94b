# SPDX-License-Identifier: BSD-3-Clause
"""What a loss is: the protocol every solver relies on."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from aucmax import _kernels
from aucmax._utils.typing import AnyFloats, BoolArray, FloatArray


class HessDot(Protocol):
    """A product with the Hessian."""

    def __call__(self, vector: AnyFloats, out: AnyFloats | None = None) -> AnyFloats:
        """Return the Hessian times ``vector``, in ``out`` where given.

        Of a matrix, that of each row, which may be float32 as ``out`` may.
        """
        ...


def row_by_row(
    product: Callable[[FloatArray, FloatArray | None], FloatArray],
) -> HessDot:
    """Return the product for matrices, too."""

    def hess_dot(vector: AnyFloats, out: AnyFloats | None = None) -> AnyFloats:
        if vector.ndim == 1:
            return product(vector, out)
        results = np.empty(vector.shape) if out is None else out
        for row, result in zip(vector, results, strict=True):
            result[:] = product(row.astype(np.float64, copy=False), None)
        return results

    return hess_dot


@dataclass(frozen=True, slots=True)
class Terms:
    """A loss and its derivatives at one score vector.

    Attributes
    ----------
    value : float
        The loss.
    grad : ndarray of shape (n_samples,)
        Its gradient with respect to the scores; sums to zero.
    hess_dot : callable
        ``hess_dot(vector, out=None)``: the (generalised) Hessian times a vector, O(n),
        or times each row of a matrix; written to ``out``, another array, where given.
    hess_diag : callable
        ``hess_diag()``: a new array with an upper bound of the diagonal of the Hessian,
        tight where rows count little against all others; it ranks rows by importance.
    error : float
        How much too large the value may be; steps that gain less are in vain.
    """

    value: float
    grad: FloatArray
    hess_dot: HessDot
    hess_diag: Callable[[], FloatArray]
    error: float = 0.0

    def slope(self, along: FloatArray) -> float:
        """Return the derivative along a direction."""
        return _kernels.products.dot(self.grad, along)

    def curvature(self, along: FloatArray) -> float:
        """Return the second derivative along a direction."""
        return _kernels.products.dot(along, self.hess_dot(along))


class PairLoss(Protocol):
    """A convex function of the score vector.

    Adding a constant to all scores changes nothing, so no intercept is needed; and a
    row of weight two counts as two rows.
    """

    def evaluate(
        self, scores: FloatArray, is_pos: BoolArray, weight: FloatArray
    ) -> Terms:
        """Return value, gradient and curvature at ``scores``.

        Parameters
        ----------
        scores : ndarray of shape (n_samples,)
            float64 scores, finite.
        is_pos : ndarray of shape (n_samples,)
            Mask of the positives; both classes carry mass.
        weight : ndarray of shape (n_samples,)
            Non-negative weights; a pair weighs the product of its two rows.
        """
        ...
