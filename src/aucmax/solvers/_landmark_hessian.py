# SPDX-License-Identifier: BSD-3-Clause
"""A preconditioner for the full kernel: the Hessian at the landmarks, exactly."""

import math

import numpy as np
from scipy.linalg import cho_solve

from aucmax._utils.typing import BoolArray, FloatArray
from aucmax.design.gram import Gram
from aucmax.losses import Terms
from aucmax.solvers._expansion import factorise_gram
from aucmax.solvers._sampling import draw_rows

# Landmarks multiplied at a time.
LANDMARK_BLOCK = 128
# Off the landmarks' span, the curvature is taken for so many times the least on it: two
# to ten are alike, but zero took two to three times the steps.
REST = 5.0
N_INVERSE = 5


class LandmarkHessian:
    """The Hessian on the span of some rows' kernel functions, a constant off it.

    With P the projection on that span, an estimate of the Hessian that is exact between
    any two of its functions. K times a solution needs no product with K, only one with
    the landmarks' columns.

    Attributes
    ----------
    share : float
        What a product with those columns costs, in products with K.
    """

    def __init__(
        self,
        gram: Gram,
        terms: Terms,
        is_pos: BoolArray,
        *,
        alpha: float,
        size: int,
    ) -> None:
        importance = np.sqrt(terms.hess_diag()).astype(np.float32)
        self._index, _ = draw_rows(importance, is_pos, size)
        self.share = len(self._index) / gram.n
        self._rows = gram.rows(self._index)
        kernel = self._rows[:, self._index].astype(np.float64)
        dtype = self._rows.dtype
        hessian = alpha * kernel + self._loss_hessian(terms)
        self._kernel = factorise_gram(kernel, dtype), True
        self._hessian = factorise_gram(hessian, dtype), True
        self._rest = alpha + REST * max(0.0, self._least_curvature(kernel) - alpha)

    def solve(self, grad: FloatArray) -> FloatArray:
        """Return the solution of ``H z = grad``; both are coefficients and scores."""
        slopes = grad[1, self._index]
        step = cho_solve(self._hessian, slopes, check_finite=False)
        step -= cho_solve(self._kernel, slopes, check_finite=False) / self._rest
        return grad / self._rest + self._function(step)

    def newton_step(self, grad: FloatArray) -> FloatArray:
        """Return the best step within the span, given the gradient's coefficients."""
        slopes = (self._rows @ grad.astype(self._rows.dtype)).astype(np.float64)
        return self._function(-cho_solve(self._hessian, slopes, check_finite=False))

    def _function(self, step: FloatArray) -> FloatArray:
        """Return the coefficients and scores of a sum of the landmarks' functions."""
        function = np.zeros((2, self._rows.shape[1]))
        function[0, self._index] = step
        function[1] = step.astype(self._rows.dtype) @ self._rows
        return function

    def _loss_hessian(self, terms: Terms) -> FloatArray:
        size = len(self._rows)
        hessian = np.empty((size, size))
        for low in range(0, size, LANDMARK_BLOCK):
            block = self._rows[low : low + LANDMARK_BLOCK]
            products = terms.hess_dot(block, out=np.empty_like(block))
            hessian[low : low + LANDMARK_BLOCK] = products @ self._rows.T
        return hessian

    def _least_curvature(self, kernel: FloatArray) -> float:
        """Return about the least curvature on the span, by inverse iteration."""
        function = np.random.default_rng(0).normal(size=len(kernel))
        for _ in range(N_INVERSE):
            function /= math.sqrt(float(function @ kernel @ function))
            function = cho_solve(self._hessian, kernel @ function, check_finite=False)
        return 1.0 / math.sqrt(float(function @ kernel @ function))
