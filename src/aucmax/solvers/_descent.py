# SPDX-License-Identifier: BSD-3-Clause
"""A point that moves: its scores, loss and gradient, and the search along a line.

A new point costs one sort; everything along a direction happens in score space, without
touching the rows.
"""

import numpy as np

from aucmax import _kernels
from aucmax._utils.checkpoint import State
from aucmax._utils.state import expect_values
from aucmax._utils.typing import BoolArray, FloatArray
from aucmax.design import Design
from aucmax.losses import PairLoss
from aucmax.solvers._base import check_finite
from aucmax.solvers._search import search_line


class Descent:
    """The state that solvers of ``loss(scores(coef)) + alpha / 2 * |coef|^2`` share."""

    def __init__(
        self,
        design: Design,
        is_pos: BoolArray,
        weight: FloatArray,
        *,
        loss: PairLoss,
    ) -> None:
        self.design = design
        self.is_pos = is_pos
        self.weight = weight
        self.loss = loss
        self.n_passes = 0.0

    def place(self, coef: FloatArray) -> None:
        """Stand at ``coef``."""
        n = self.design.shape[0]
        self._make_room()
        self.coef = coef
        if np.any(coef):
            self.scores = self.design.scores(coef)
            self.n_passes += 1
        else:
            self.scores = np.zeros(n)
        self._evaluate(self.scores)
        self._update_gradient()

    def _make_room(self) -> None:
        n = self.design.shape[0]
        # Vectors of scores for a direction and along it; the rest of _work is for CG.
        self._work = list(np.empty((3, n)))

    def _point(self) -> State:
        """Return where the point stands."""
        names = ("coef", "scores", "loss_grad", "n_passes")
        return {name: getattr(self, name) for name in names}

    def _return_to(self, state: State) -> None:
        """Stand where ``_point`` said, to the last bit and without a product."""
        n, d = self.design.shape
        for name, size in (("coef", d), ("scores", n), ("loss_grad", d)):
            expect_values(self, name, state[name], (size,))
        self._make_room()
        self.coef, self.scores = state["coef"], state["scores"]
        self._evaluate(self.scores)
        self.loss_grad, self.n_passes = state["loss_grad"], state["n_passes"]

    def objective(self, alpha: float) -> float:
        """Return the loss plus the penalty where the point stands."""
        return self.terms.value + 0.5 * alpha * float(self.coef @ self.coef)

    def _evaluate(self, scores: FloatArray) -> None:
        self.terms = self.loss.evaluate(scores, self.is_pos, self.weight)

    def _update_gradient(self) -> None:
        # Without the ridge, so that another alpha costs no product.
        self.loss_grad = self.design.adjoint(self.terms.grad)
        self.n_passes += 1
        check_finite(self.terms.value, self.loss_grad)

    def _search(
        self,
        direction: FloatArray,
        direction_scores: FloatArray,
        *,
        alpha: float,
        slope: float,
        tol: float,
    ) -> float:
        """Move to where the slope is ``tol`` of what it is here; return the length.

        No product with the rows is needed.
        """
        ridge_slope = alpha * float(self.coef @ direction)
        ridge_curvature = alpha * float(direction @ direction)
        trial, curved = self._work[1:]

        def slope_at(t: float) -> float:
            np.multiply(direction_scores, t, out=trial)
            np.add(trial, self.scores, out=trial)
            self._evaluate(trial)
            along = _kernels.products.dot(self.terms.grad, direction_scores)
            return along + ridge_slope + t * ridge_curvature

        def curvature() -> float:
            self.terms.hess_dot(direction_scores, out=curved)
            return _kernels.products.dot(direction_scores, curved) + ridge_curvature

        t = search_line(slope_at, curvature, first=1.0, enough=tol * abs(slope))
        self.coef = self.coef + t * direction
        self.scores, self._work[1] = trial, self.scores
        self._update_gradient()
        return t
