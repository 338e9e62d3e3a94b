# SPDX-License-Identifier: BSD-3-Clause
"""Class-balanced losses of single rows, with the intercept minimised out.

``value(s) = min over b of (mean over positives of l(s + b) + mean over negatives of
l(-s - b)) / 2``. With the best intercept built in, the value no longer changes when a
constant is added to all scores, so these are losses in score space like the pairwise
ones and every solver takes them. (Envelope theorem: the gradient is that at the best b;
the curvature loses the direction along which b moves.)
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logsumexp

from aucmax import _kernels
from aucmax._utils.typing import BoolArray, FloatArray
from aucmax.losses._base import Terms, row_by_row


@dataclass(frozen=True, slots=True)
class Logistic:
    """Balanced logistic loss ``log(1 + exp(-m))`` of the signed score ``m``."""

    def evaluate(
        self, scores: FloatArray, is_pos: BoolArray, weight: FloatArray
    ) -> Terms:
        """Return value, gradient and curvature at ``scores`` and the best intercept."""
        share = _balanced_shares(is_pos, weight)
        sign = np.where(is_pos, 1.0, -1.0)
        margins = sign * (scores + _logistic_intercept(scores, share))
        value = _kernels.products.dot(share, np.logaddexp(0.0, -margins))
        wrong = expit(-margins)
        return _profiled(value, -sign * share * wrong, share * wrong * expit(margins))


@dataclass(frozen=True, slots=True)
class UnivariateSquare:
    """Balanced square loss ``(1 - m) ** 2 / 2`` of the signed score ``m``."""

    def evaluate(
        self, scores: FloatArray, is_pos: BoolArray, weight: FloatArray
    ) -> Terms:
        """Return value, gradient and curvature at ``scores`` and the best intercept."""
        share = _balanced_shares(is_pos, weight)
        # The best intercept makes the balanced mean of the scores zero.
        centred = scores - scores[0]
        centred -= _kernels.products.dot(share, centred)
        residual = centred - np.where(is_pos, 1.0, -1.0)
        value = 0.5 * _kernels.products.dot(share, residual**2)
        return _profiled(value, share * residual, share)


@dataclass(frozen=True, slots=True)
class Exponential:
    """Balanced exponential loss ``exp(-m)`` of the signed score ``m``.

    With the best intercept this is the square root of the mean over pairs of
    ``exp(-(s_pos - s_neg))``.
    """

    def evaluate(
        self, scores: FloatArray, is_pos: BoolArray, weight: FloatArray
    ) -> Terms:
        """Return value, gradient and curvature at ``scores`` and the best intercept."""
        share = _balanced_shares(is_pos, weight)
        log_pos = logsumexp(-scores[is_pos], b=2.0 * share[is_pos])
        log_neg = logsumexp(scores[~is_pos], b=2.0 * share[~is_pos])
        intercept = 0.5 * (log_pos - log_neg)
        sign = np.where(is_pos, 1.0, -1.0)
        # Far from the optimum a row may overflow; the line search then steps back. The
        # share goes into the exponent, so that rows without weight stay without.
        with np.errstate(over="ignore", divide="ignore"):
            losses = np.exp(np.log(share) - sign * (scores + intercept))
        return _profiled(float(losses.sum()), -sign * losses, losses)


def _balanced_shares(is_pos: BoolArray, weight: FloatArray) -> FloatArray:
    """Weights that give either class one half."""
    mass = np.where(is_pos, weight[is_pos].sum(), weight[~is_pos].sum())
    shares: FloatArray = 0.5 * weight / mass
    return shares


def _profiled(value: float, grad: FloatArray, curvature: FloatArray) -> Terms:
    """Terms of a sum of row losses whose common intercept is at its optimum."""
    total = float(curvature.sum())

    def hess_dot(vector: FloatArray, out: FloatArray | None = None) -> FloatArray:
        # All rows saturated: flat, and no direction to remove.
        mean = _kernels.products.dot(curvature, vector) / total if total > 0.0 else 0.0
        centred = np.subtract(vector, mean, out=out)
        # Infinite where a step was too long, which the line search finds out.
        with np.errstate(over="ignore", invalid="ignore"):
            return np.multiply(curvature, centred, out=centred)

    return Terms(value, grad, row_by_row(hess_dot), curvature.copy)


def _logistic_intercept(scores: FloatArray, share: FloatArray) -> float:
    """Root of the derivative in the intercept, by Newton's method inside a bracket.

    At ``-max(scores)`` no row is above zero and the derivative is not positive; at
    ``-min(scores)`` it is not negative.
    """
    low, high = -float(scores.max()), -float(scores.min())
    intercept = min(max(-_kernels.products.dot(share, scores), low), high)
    for _ in range(100):
        positive = expit(scores + intercept)
        slope = _kernels.products.dot(share, positive) - 0.5
        curvature = _kernels.products.dot(share, positive * (1.0 - positive))
        if abs(slope) <= 1e-14:
            break
        if slope < 0.0:
            low = intercept
        else:
            high = intercept
        step = intercept - slope / curvature if curvature > 0.0 else np.nan
        if not low < step < high:
            step = 0.5 * (low + high)
        if step == intercept:
            break
        intercept = step
    return intercept
