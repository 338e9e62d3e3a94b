# SPDX-License-Identifier: BSD-3-Clause
"""The full-kernel problem, solved in the kernel's own inner product.

Minimises ``loss(K coef) + alpha / 2 * coef' K coef``. With ``<a, b> = a' K b`` the
gradient is ``alpha * coef + loss_grad`` and the Hessian maps p to ``alpha * p +
loss_hessian(K p)``. The condition number is that of ``K``; the Euclidean form, with
``alpha K + K H K``, squares it and takes two products per step.

A function is an array of two rows, its coefficients and its scores: an inner product
then needs no product with K, and a step of `Descent` needs one, for the gradient.
"""

import math
from collections.abc import Callable

import numpy as np
from scipy.linalg import LinAlgError

from aucmax import _kernels
from aucmax._utils.typing import BoolArray, FloatArray, IntArray
from aucmax.design.gram import Gram
from aucmax.losses import PairLoss, Terms
from aucmax.solvers._descent import TINY, Descent
from aucmax.solvers._landmark_hessian import LandmarkHessian
from aucmax.solvers.base import OnStep, Result, check_finite

# Landmarks per root of the number of rows, which makes drawing them cost three products
# whatever that number. Without any, fits of 3000 rows take 1.4 to 2 times as long.
LANDMARKS = 5.0
# The first are drawn after so many steps, when the easy pairs have left (at once: a
# fifth longer); others whenever the steps have tripled.
FIRST_DRAW, REDRAW = 4, 3
# Up to so many active rows, Newton's equations are solved directly, after so many steps
# or at the end, until a step changes the objective by no more than this share. Where
# nearly all pairs are apart, CG alone was not done after 1000 steps; with them, 99.
MAX_DIRECT, DIRECT_AFTER = 1000, 30
DIRECT_TOL = {np.dtype(np.float64): 1e-12, np.dtype(np.float32): 1e-5}
# With more, idle rows are cleared with the help of landmarks, once, twice or four times
# as many as usual: whatever costs less than this share of ``tol``. With the usual
# number only, two of five models kept a coefficient for every row.
CLEAR_WITH, CLEAR_COST = (1, 2, 4), 0.5
# Rounding gives a kernel eigenvalues below zero, but not below this share of its trace.
INDEFINITE = {np.dtype(np.float64): 1e-9, np.dtype(np.float32): 1e-5}


def kernel_newton(
    gram: Gram,
    is_pos: BoolArray,
    weight: FloatArray,
    *,
    loss: PairLoss,
    alpha: float,
    tol: float = 1e-4,
    max_iter: int = 1000,
    on_step: OnStep | None = None,
) -> Result:
    """Minimise the loss plus ``alpha / 2 * coef' K coef``; start at zero.

    Stops where the last steps have gained, and the next one should gain, less than
    ``tol`` of the objective: an estimate, not a certificate.

    At the minimum ``coef = -loss_grad / alpha``: zero for rows in no active pair. With
    at most 1000 active rows the last steps solve Newton's equations on them, so that
    the solution is exact to rounding; with more, the other coefficients are cleared
    where landmarks can make up for them.

    Parameters
    ----------
    gram : Gram
        The kernel matrix K.
    is_pos, weight : ndarray of shape (n_samples,)
        Mask of the positives; weights.
    loss : PairLoss
        A smooth loss in score space.
    alpha : float
        Strength of the penalty.
    tol : float, default=1e-4
        Relative accuracy of the objective.
    max_iter : int, default=1000
        Most steps, of one product with K each.
    on_step : callable, default=None
        Called with every entry of the history.

    Returns
    -------
    result : Result
        ``coef`` has one entry per row; ``n_passes`` of the history counts products with
        K, where one with a block of m landmarks is m / n of a product.
    """

    def evaluate(scores: FloatArray) -> Terms:
        return loss.evaluate(scores, is_pos, weight)

    solver = KernelNewton(gram, is_pos, evaluate, alpha=alpha)
    return solver.minimise(tol=tol, max_iter=max_iter, on_step=on_step)


class KernelNewton(Descent):
    """A function that moves downhill; ``coef`` holds its coefficients and scores."""

    def __init__(
        self,
        gram: Gram,
        is_pos: BoolArray,
        evaluate: Callable[[FloatArray], Terms],
        *,
        alpha: float,
    ) -> None:
        super().__init__(evaluate)
        self.gram = gram
        self.is_pos = is_pos
        self.alpha = alpha
        self.landmarks: LandmarkHessian | None = None
        self.next_draw = FIRST_DRAW
        self._move(np.zeros((2, gram.n)))

    def inner(self, left: FloatArray, right: FloatArray) -> float:
        """Return the inner product of the kernel's space."""
        return _kernels.products.dot(left[0], right[1])

    def minimise(
        self, *, tol: float, max_iter: int, on_step: OnStep | None = None
    ) -> Result:
        """Minimise to ``tol``, then clear the coefficients of idle rows."""
        gap, converged = self._descend(tol, max_iter, on_step, patience=DIRECT_AFTER)
        is_exact = self._solve_directly(max_iter, on_step)
        if not (converged or is_exact):
            gap, converged = self._descend(tol, max_iter, on_step, patience=max_iter)
            is_exact = self._solve_directly(max_iter, on_step)
        if (
            converged
            and not is_exact
            and self._is_idle().any()
            and self.terms.grad.any()
        ):
            self._clear_idle(tol)
            self.record(gap, self.alpha, on_step)
        converged = converged or is_exact
        message = (
            f"estimated relative gap below {tol:g}"
            if converged
            else f"estimated relative gap {gap:.1e} after {len(self.history)} steps"
        )
        return Result(
            self.coef[0],
            self.objective(self.alpha),
            len(self.history),
            converged,
            message,
            self.history,
        )

    def _descend(
        self, tol: float, max_iter: int, on_step: OnStep | None, *, patience: int
    ) -> tuple[float, bool]:
        """Take steps of CG; return the gap and whether it is small enough.

        After ``patience`` steps only while direct ones are out of reach.
        """
        while True:
            grad = self._gradient()
            self._renew_landmarks()
            value = max(self.objective(self.alpha), TINY)
            # Proved: the penalty alone curves as much.
            gap = self.inner(grad, grad) / (2.0 * self.alpha) / value
            if gap == 0.0:
                return gap, True
            predicted_gain = self.turn(grad, self._precondition(grad))
            if self.landmarks is not None:
                gap = min(gap, predicted_gain * max(1.0, self.length) / value)
            converged = gap <= tol and self.recent_drop() <= tol * value
            n_steps = len(self.history)
            is_slow = n_steps >= patience and 0 < len(self._active()) <= MAX_DIRECT
            if converged or n_steps >= max_iter or is_slow:
                return gap, converged
            assert self.direction is not None
            self.search(self.direction[1], alpha=self.alpha, slope=-predicted_gain)
            self.record(gap, self.alpha, on_step)

    def _move(self, function: FloatArray) -> None:
        self.coef, self.scores = function, function[1]
        self.terms = self.evaluate(self.scores)

    def _function(self, coef: FloatArray) -> FloatArray:
        """Return the function of some coefficients, at one product with K."""
        self.n_passes += 1
        scores = self.gram.dot(coef)
        check_finite(self.terms.value, scores)
        return np.stack([coef, scores])

    def _gradient(self) -> FloatArray:
        grad = self._function(self.alpha * self.coef[0] + self.terms.grad)
        norm = self.inner(grad, grad)
        largest = abs(self.gram.trace) * _kernels.products.dot(grad[0], grad[0])
        if norm < -INDEFINITE[self.gram.dtype] * largest:
            raise ValueError(
                "The kernel is not positive semi-definite: a function has the squared "
                f"norm {norm:g}. Choose another kernel, or other parameters for it; "
                "rbf and laplacian always are, the polynomial for coef0 >= 0 and a "
                "whole degree."
            )
        # The very first is all rounding where the rows are alike.
        is_noise = norm <= 8.0 * np.finfo(self.gram.dtype).eps * largest
        return np.zeros_like(grad) if is_noise and not self.history else grad

    def _renew_landmarks(self) -> None:
        if not np.any(self.terms.grad):
            # No pair is active: what landmarks say about the loss is wrong here.
            self.landmarks, self.next_draw = None, FIRST_DRAW
        elif len(self.history) >= self.next_draw:
            self._draw_landmarks()
            self.next_draw = REDRAW * len(self.history)
            self.restart()

    def _draw_landmarks(self, factor: int = 1) -> LandmarkHessian:
        self.landmarks = None  # frees its memory first
        size = factor * round(LANDMARKS * math.sqrt(self.gram.n))
        self.landmarks = LandmarkHessian(
            self.gram, self.terms, self.is_pos, alpha=self.alpha, size=size
        )
        self.n_passes += self.landmarks.share
        return self.landmarks

    def _precondition(self, grad: FloatArray) -> FloatArray:
        if self.landmarks is not None:
            self.n_passes += self.landmarks.share
            return self.landmarks.solve(grad)
        # To the length of a Newton step along it.
        norm = self.inner(grad, grad)
        curved = _kernels.products.dot(grad[1], self.terms.hess_dot(grad[1]))
        return grad * (norm / (curved + self.alpha * norm))

    def _active(self) -> IntArray:
        """Return the rows in active pairs."""
        return np.flatnonzero(self.terms.hess_diag() > 0.0)

    def _is_idle(self) -> BoolArray:
        """Mask the rows whose coefficient is zero at the minimum, but not here."""
        idle: BoolArray = (self.terms.grad == 0.0) & (self.coef[0] != 0.0)
        return idle

    def _solve_directly(self, max_iter: int, on_step: OnStep | None) -> bool:
        """Take exact Newton steps until they change nothing; say if they did that."""
        slack, n_last = DIRECT_TOL[self.gram.dtype], 0
        while 0 < len(self.history) < max_iter:
            value = self.objective(self.alpha)
            end = self._newton_end()
            if end is None or not self._move_towards(end, slack):
                return False
            change = abs(value - self.objective(self.alpha))
            self.record(change / max(value, TINY), self.alpha, on_step)
            # One more where the last has left rows idle, but not for ever.
            n_last += change <= slack * value
            if n_last > 1 or (n_last == 1 and not self._is_idle().any()):
                return True
        return False

    def _newton_end(self) -> FloatArray | None:
        """Return where the exact Newton step ends; None where it is not to be had.

        Its end ``c`` solves ``alpha c + loss_grad + H (K c - scores) = 0``, so c lives
        on the rows that H touches.
        """
        active = self._active()
        if not 0 < len(active) <= MAX_DIRECT:
            return None
        kernel = self.gram.block(active, active).astype(np.float64)
        matrix, spread = np.empty_like(kernel), np.zeros(self.gram.n)
        for k, row in enumerate(kernel):
            spread[active] = row
            matrix[:, k] = self.terms.hess_dot(spread)[active]
        matrix[np.diag_indices_from(matrix)] += self.alpha
        target = self.terms.hess_dot(self.scores) - self.terms.grad
        end = np.zeros(self.gram.n)
        try:
            end[active] = np.linalg.solve(matrix, target[active])
        except LinAlgError:  # a penalty beyond the digits of float64
            return None
        return self._function(end)

    def _move_towards(self, end: FloatArray, slack: float) -> bool:
        """Move to ``end``, or to the best point on the way; say if there is one."""
        start, value = self.coef, self.objective(self.alpha)
        grad = self.alpha * start[0] + self.terms.grad
        slope = _kernels.products.dot(grad, end[1] - start[1])
        # The whole step where it will do, and with no rounding: zeros stay zeros.
        self._move(end)
        if self.objective(self.alpha) <= (1.0 + slack) * value:
            return True
        self._move(start)
        if slope < 0.0:
            self.direction = end - start
            self.search(self.direction[1], alpha=self.alpha, slope=slope)
        return slope < 0.0

    def _clear_idle(self, tol: float) -> None:
        """Clear their coefficients, and make up for them at the landmarks."""
        before, value = self.coef, self.objective(self.alpha)
        cleared = self._function(np.where(self._is_idle(), 0.0, before[0]))
        # The gradient there, were the curvature constant.
        grad = self.alpha * cleared[0] + self.terms.grad
        grad += self.terms.hess_dot(cleared[1] - self.scores)
        limit = (1.0 + CLEAR_COST * tol) * value
        for factor in CLEAR_WITH:
            self._move(before)
            landmarks = self._draw_landmarks(factor)
            self.n_passes += 2.0 * landmarks.share
            self._move(cleared + landmarks.newton_step(grad))
            if self.objective(self.alpha) <= limit:
                return
        self._move(before)
