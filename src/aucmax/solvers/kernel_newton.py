# SPDX-License-Identifier: BSD-3-Clause
"""The full-kernel problem, solved in the kernel's own inner product.

Minimises ``loss(K coef) + alpha / 2 * coef' K coef``. A function is the vector of its
coefficients, and ``<a, b> = a' K b``; then the gradient is ``alpha * coef +
loss_grad``, the Hessian maps p to ``alpha * p + loss_hessian(K p)``, and every inner
product needs one product with K per step, since the images of sums are the sums of
images. The condition number is that of ``K``; the Euclidean form, with ``alpha K + K H
K``, squares it and takes two products per step.

Steps are those of non-linear CG: each ends with an exact search along its direction, in
score space, and a gradient at the true active pairs. On twelve problems of 2000 rows
that took 0.3 to 1.2 times the products of truncated Newton to a gap of 1e-4, 0.6 in the
middle; the preconditioner, a third of those (a fifth with 6000 rows).
"""

import math

import numpy as np
from scipy.linalg import LinAlgError

from aucmax import _kernels
from aucmax._utils.typing import BoolArray, FloatArray
from aucmax.design.gram import Gram
from aucmax.losses import PairLoss, Terms
from aucmax.solvers._base import OnStep, Result, Step, check_finite
from aucmax.solvers._landmark_hessian import LandmarkHessian
from aucmax.solvers._search import search_line

# The slope along a direction is "zero" at this fraction of its first value.
SEARCH_TOL = 1e-2
# Fewer rows are solved without landmarks: products cost next to nothing there.
LANDMARKS_ABOVE = 300
# The first are drawn after so many steps, when the easy pairs have left; others when
# the steps have doubled, and so much of the curvature has moved to other rows.
FIRST_DRAW, LEAST_WAIT, MAX_DRIFT = 4, 10, 0.01
# Landmarks per root of the number of rows, which makes drawing them cost three products
# whatever that number; and at most so many.
LANDMARKS, MAX_LANDMARKS = 5.0, 2000
# The gap is judged by the last eighth of the steps, and at least so many.
LEAST_WINDOW, WINDOW_SHARE = 3, 8
SLOWEST_RATE = 0.95
# Up to so many active rows Newton's equations are solved directly, after so many steps
# or at the end, until a step changes the objective by no more than this share.
MAX_DIRECT, DIRECT_AFTER = 1000, 30
DIRECT_TOL = {np.dtype(np.float64): 1e-12, np.dtype(np.float32): 1e-5}
# With more, idle rows are cleared with the help of landmarks, once, twice or four times
# as many as usual: whatever costs less than this share of ``tol``.
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

    Stops where the gap is proved to be below ``tol`` of the objective, by the squared
    norm of the gradient over ``2 alpha``, or, far more often, where the decrease of the
    last steps, continued at its rate, would come to less than that.

    At the minimum ``coef = -loss_grad / alpha``: zero for rows in no active pair. The
    last step sees to that. With at most 1000 active rows it solves Newton's equations
    on them, so that the solution is exact to rounding and does not depend on the way
    there; with more, it clears the other coefficients, makes up for them at landmarks,
    and keeps the outcome if the objective, at freshly computed scores, has not risen by
    more than half of ``tol``. The few rows that become idle by that keep theirs.

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
    solver = KernelNewton(gram, is_pos, weight, loss=loss, alpha=alpha)
    return solver.minimise(tol=tol, max_iter=max_iter, on_step=on_step)


class KernelNewton:
    """A function that moves: its coefficients and scores, and the loss there."""

    def __init__(
        self,
        gram: Gram,
        is_pos: BoolArray,
        weight: FloatArray,
        *,
        loss: PairLoss,
        alpha: float,
    ) -> None:
        self.gram = gram
        self.is_pos = is_pos
        self.weight = weight
        self.loss = loss
        self.alpha = alpha
        self.coef = np.zeros(gram.n)
        self.scores = np.zeros(gram.n)
        self.terms = self._evaluate(self.scores)
        self.n_passes = 0.0
        self.history: list[Step] = []
        self._values = [self.objective()]
        self._landmarks: LandmarkHessian | None = None
        self._next_draw = FIRST_DRAW
        # Whether float64 has enough of them for direct steps.
        self._has_digits = True

    def objective(self) -> float:
        """Return the loss plus the penalty."""
        return self._objective(self.coef, self.scores, self.terms)

    def minimise(
        self, *, tol: float, max_iter: int, on_step: OnStep | None = None
    ) -> Result:
        """Minimise to ``tol``, then clear the coefficients of idle rows."""
        gap, is_exact = self._descend(tol, max_iter, on_step), False
        while self._is_small() and 0 < len(self.history) < max_iter:
            is_exact = self._solve_directly(max_iter, on_step)
            if is_exact:
                break
            # Too many rows have become active, or digits ran out.
            gap = self._descend(tol, max_iter, on_step)
        converged = is_exact or gap <= tol
        if converged and not is_exact and self._n_idle() and np.any(self.terms.grad):
            self._clear_idle(tol)
            self._record(gap, on_step)
        message = (
            f"estimated relative gap below {tol:g}"
            if converged
            else f"estimated relative gap {gap:.1e} after {len(self.history)} steps"
        )
        return Result(
            self.coef,
            self.objective(),
            len(self.history),
            converged,
            message,
            self.history,
        )

    def _descend(self, tol: float, max_iter: int, on_step: OnStep | None) -> float:
        """Take steps of CG until they, or direct ones, will do; return the gap."""
        direction = previous = None
        while True:
            grad = self.alpha * self.coef + self.terms.grad
            image = self._product(grad)
            bound = self._squared_norm(grad, image) / (2.0 * self.alpha)
            value = max(self.objective(), np.finfo(float).tiny)
            gap = min(bound, self._expected_gain()) / value
            n_steps = len(self.history)
            is_slow = n_steps >= DIRECT_AFTER and self._is_small()
            # One step at least, however strong the penalty: it alone makes a ranking.
            is_done = gap <= tol and (n_steps > 0 or bound == 0.0)
            if is_done or n_steps >= max_iter or is_slow:
                return gap
            if self._renew_landmarks():
                direction = None
            scaled, scaled_image = self._precondition(grad, image)
            steepness = _kernels.products.dot(grad, scaled_image)
            if direction is None or previous is None:
                direction, along = -scaled, -scaled_image
            else:
                # Polak and Ribiere, but never back.
                last_grad, last_steepness = previous
                momentum = steepness - _kernels.products.dot(last_grad, scaled_image)
                momentum = max(0.0, momentum / last_steepness)
                direction = momentum * direction - scaled
                along = momentum * along - scaled_image
            if _kernels.products.dot(grad, along) >= 0.0:
                direction, along = -grad, -image
            previous = grad, steepness
            self._search(direction, along, slope=_kernels.products.dot(grad, along))
            self._record(gap, on_step)

    def _evaluate(self, scores: FloatArray) -> Terms:
        return self.loss.evaluate(scores, self.is_pos, self.weight)

    def _objective(self, coef: FloatArray, scores: FloatArray, terms: Terms) -> float:
        return terms.value + 0.5 * self.alpha * _kernels.products.dot(coef, scores)

    def _product(self, vector: FloatArray) -> FloatArray:
        self.n_passes += 1
        image = self.gram.dot(vector)
        check_finite(self.terms.value, image)
        return image

    def _squared_norm(self, vector: FloatArray, image: FloatArray) -> float:
        """Return ``vector' K vector``; raise where it is clearly below zero."""
        norm = _kernels.products.dot(vector, image)
        largest = abs(self.gram.trace) * _kernels.products.dot(vector, vector)
        if norm < -INDEFINITE[self.gram.dtype] * largest:
            raise ValueError(
                "The kernel is not positive semi-definite: a function has the squared "
                f"norm {norm:g}. Choose another kernel, or other parameters for it; "
                "rbf and laplacian always are, the polynomial for coef0 >= 0 and a "
                "whole degree."
            )
        # The very first is all rounding where the rows are alike.
        is_noise = norm <= 8.0 * np.finfo(self.gram.dtype).eps * largest
        return 0.0 if is_noise and not self.history else max(norm, 0.0)

    def _expected_gain(self) -> float:
        """Return what the decrease of the last steps would come to if it went on.

        They decrease at a rate; but the fall in the first steps says little about the
        last, so that at least as much as in the window itself is expected.
        """
        window = max(LEAST_WINDOW, (len(self._values) - 1) // WINDOW_SHARE)
        if len(self._values) <= 2 * window:
            return np.inf
        before, middle, now = self._values[-1 - 2 * window :: window][:3]
        rate = SLOWEST_RATE
        if before > middle:
            rate = min(rate, (middle - now) / (before - middle))
        return (middle - now) * max(1.0, rate / (1.0 - rate))

    def _renew_landmarks(self) -> bool:
        """Draw landmarks where it is time and they would differ; say whether."""
        n_steps = len(self.history)
        if self.gram.n < LANDMARKS_ABOVE or n_steps < self._next_draw:
            return False
        landmarks = self._landmarks
        if landmarks is not None and landmarks.drift(self.terms) <= MAX_DRIFT:
            return False
        if not np.any(self.terms.grad):
            return False
        self._draw_landmarks()
        self._next_draw = n_steps + max(LEAST_WAIT, n_steps)
        return True

    def _draw_landmarks(self, factor: int = 1) -> LandmarkHessian:
        self._landmarks = None  # frees its memory first
        size = round(LANDMARKS * math.sqrt(self.gram.n))
        self._landmarks = LandmarkHessian(
            self.gram,
            self.terms,
            self.is_pos,
            alpha=self.alpha,
            size=min(factor * size, MAX_LANDMARKS),
        )
        self.n_passes += self._landmarks.share
        return self._landmarks

    def _precondition(
        self, grad: FloatArray, image: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        if self._landmarks is None:
            return grad, image
        self.n_passes += self._landmarks.share
        return self._landmarks.solve(grad, image)

    def _search(self, direction: FloatArray, along: FloatArray, slope: float) -> float:
        """Move to where the slope along ``direction`` vanishes; return how far.

        ``along`` is K times ``direction``.
        """
        ridge_slope = self.alpha * _kernels.products.dot(self.scores, direction)
        ridge_curvature = self.alpha * _kernels.products.dot(direction, along)
        start = self.scores

        def slope_at(t: float) -> float:
            self.scores = start + t * along
            self.terms = self._evaluate(self.scores)
            return (
                _kernels.products.dot(self.terms.grad, along)
                + ridge_slope
                + t * ridge_curvature
            )

        def curvature() -> float:
            return (
                _kernels.products.dot(along, self.terms.hess_dot(along))
                + ridge_curvature
            )

        here = curvature()
        first = -slope / here if here > 0.0 else 1.0
        t = search_line(
            slope_at,
            curvature,
            first=first if np.isfinite(first) else 1.0,
            enough=SEARCH_TOL * abs(slope),
        )
        self.coef = self.coef + t * direction
        return t

    def _record(self, gap: float, on_step: OnStep | None) -> None:
        self._values.append(self.objective())
        self.history.append(Step(self._values[-1], gap, self.n_passes))
        if on_step is not None:
            on_step(self.history[-1])

    def _is_small(self) -> bool:
        """Say whether Newton's equations can be solved directly."""
        n_active = int(np.count_nonzero(self.terms.hess_diag()))
        return self._has_digits and 0 < n_active <= MAX_DIRECT

    def _is_idle(self) -> BoolArray:
        """Mask the rows whose coefficient is zero at the minimum, but not here."""
        idle: BoolArray = (self.terms.grad == 0.0) & (self.coef != 0.0)
        return idle

    def _n_idle(self) -> int:
        return int(np.count_nonzero(self._is_idle()))

    def _solve_directly(self, max_iter: int, on_step: OnStep | None) -> bool:
        """Take exact Newton steps until they change nothing; say if they did that."""
        slack, n_last = DIRECT_TOL[self.gram.dtype], 0
        while self._is_small() and len(self.history) < max_iter:
            value = self.objective()
            promise = self._step_directly(slack)
            if promise is None:
                self._has_digits = False
                break
            self._record(promise / max(value, np.finfo(float).tiny), on_step)
            # One more where the last has left rows idle, but not for ever.
            n_last += abs(value - self.objective()) <= slack * value
            if n_last > 1 or (n_last == 1 and not self._n_idle()):
                return True
        return False

    def _step_directly(self, slack: float) -> float | None:
        """Take the exact Newton step; return what it promised.

        Its end ``c`` solves ``alpha c + loss_grad + H (K c - scores) = 0``, so c lives
        on the rows that H touches. None where that is beyond the digits of float64, at
        penalties far below any use.
        """
        active = np.flatnonzero(self.terms.hess_diag() > 0.0)
        kernel = self.gram.block(active, active).astype(np.float64)
        matrix = np.empty_like(kernel)
        spread = np.zeros(self.gram.n)
        for k, row in enumerate(kernel):
            spread[active] = row
            matrix[:, k] = self.terms.hess_dot(spread)[active]
        matrix[np.diag_indices_from(matrix)] += self.alpha
        target = self.terms.hess_dot(self.scores) - self.terms.grad
        end = np.zeros(self.gram.n)
        try:
            end[active] = np.linalg.solve(matrix, target[active])
        except LinAlgError:
            return None
        end_scores = self._product(end)

        along = end_scores - self.scores
        slope = _kernels.products.dot(self.alpha * self.coef + self.terms.grad, along)
        terms = self._evaluate(end_scores)
        value = self._objective(end, end_scores, terms)
        if value <= (1.0 + slack) * self.objective():
            # The whole step, and with no rounding: zeros stay zeros.
            self.coef, self.scores, self.terms = end, end_scores, terms
        elif slope < 0.0:
            self._search(end - self.coef, along, slope)
        else:
            return None
        return max(0.0, -0.5 * slope)

    def _clear_idle(self, tol: float) -> None:
        """Clear their coefficients, and make up for them at the landmarks."""
        cleared = np.where(self._is_idle(), 0.0, self.coef)
        cleared_scores = self._product(cleared)
        # The gradient there, were the curvature constant.
        grad = self.alpha * cleared + self.terms.grad
        grad += self.terms.hess_dot(cleared_scores - self.scores)
        limit = (1.0 + CLEAR_COST * tol) * self.objective()
        for factor in CLEAR_WITH:
            landmarks = self._draw_landmarks(factor)
            step, step_scores = landmarks.newton_step(grad)
            self.n_passes += 2.0 * landmarks.share
            coef, scores = cleared + step, cleared_scores + step_scores
            terms = self._evaluate(scores)
            if self._objective(coef, scores, terms) <= limit:
                self.coef, self.scores, self.terms = coef, scores, terms
                break
