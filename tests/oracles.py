# SPDX-License-Identifier: BSD-3-Clause
"""Slow, obvious versions of the fast functions: all pairs, one by one."""

from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar


class PairTerms(NamedTuple):
    value: float
    grad: np.ndarray
    hessian: np.ndarray


def _squared_hinge(m):
    active = m > 0
    return np.where(active, m, 0) ** 2, 2 * np.where(active, m, 0), 2.0 * active


def _hinge(m):
    return np.maximum(m, 0), (m > 0).astype(float), np.zeros_like(m)


def _square(m):
    return m**2, 2 * m, np.full_like(m, 2.0)


PAIR_LOSSES = {"SquaredHinge": _squared_hinge, "Hinge": _hinge, "Square": _square}


def pair_terms(name, scores, is_pos, weight, margin=1.0):
    """Mean over pairs of ``l(margin - s_pos + s_neg)`` with its derivatives."""
    scores = np.asarray(scores, dtype=np.float64)
    n = len(scores)
    value, grad, hessian = 0.0, np.zeros(n), np.zeros((n, n))
    for i in np.flatnonzero(is_pos):
        for j in np.flatnonzero(~is_pos):
            w = weight[i] * weight[j]
            loss, first, second = PAIR_LOSSES[name](margin - scores[i] + scores[j])
            value += w * loss
            grad[i] -= w * first
            grad[j] += w * first
            hessian[i, i] += w * second
            hessian[j, j] += w * second
            hessian[i, j] -= w * second
            hessian[j, i] -= w * second
    mass = weight[is_pos].sum() * weight[~is_pos].sum()
    return PairTerms(value / mass, grad / mass, hessian / mass)


ROW_LOSSES = {
    "Logistic": lambda m: np.logaddexp(0, -m),
    "UnivariateSquare": lambda m: (1 - m) ** 2 / 2,
    "Exponential": lambda m: np.exp(-m),
}


def balanced_value(name, scores, is_pos, weight):
    """Class-balanced mean of a row loss at the best intercept, found by search."""
    loss = ROW_LOSSES[name]

    def at(intercept):
        losses = loss(np.where(is_pos, 1.0, -1.0) * (scores + intercept))
        pos = np.average(losses[is_pos], weights=weight[is_pos])
        neg = np.average(losses[~is_pos], weights=weight[~is_pos])
        return (pos + neg) / 2

    span = np.abs(scores).max() + 20
    best = minimize_scalar(
        at, bounds=(-span, span), method="bounded", options={"xatol": 1e-10}
    )
    return best.fun


def pair_differences(X, is_pos):
    """All ``x_pos - x_neg``, one per row."""
    return (X[is_pos][:, None, :] - X[~is_pos][None, :, :]).reshape(-1, X.shape[1])
