# SPDX-License-Identifier: BSD-3-Clause
"""What all second-order solvers share: conjugate directions and an exact line search.

A new point costs one sort; everything along a direction happens in score space, without
touching the rows. That is why the active pairs are never frozen for an inner linear
solve, as truncated Newton does: each product with the rows ends with a search, and a
gradient at the true active pairs.
"""

from collections.abc import Callable

import numpy as np

from aucmax import _kernels
from aucmax._utils.typing import FloatArray
from aucmax.losses import Terms
from aucmax.solvers._search import search_line
from aucmax.solvers.base import OnStep, Step

# The slope along a direction is "zero" at this fraction of its first value.
SEARCH_TOL = 1e-2
TINY = float(np.finfo(float).tiny)


class Descent:
    """A point that moves downhill on ``loss(scores) + alpha / 2 * |coef|^2``.

    Parameters
    ----------
    evaluate : callable
        Returns the loss of some scores, and its derivatives.

    Attributes
    ----------
    coef : ndarray
        Where it stands, in the space of ``inner``.
    scores : ndarray of shape (n_samples,)
        The scores there.
    terms : Terms
        The loss there and its derivatives.
    n_passes : float
        Trips over the rows so far.
    history : list of Step
        The steps so far.
    drops : list of float
        By how much each step lowered the objective.
    length : float
        The length of the last step, where the preconditioner expected one.
    """

    coef: FloatArray
    scores: FloatArray

    def __init__(self, evaluate: Callable[[FloatArray], Terms]) -> None:
        self.evaluate = evaluate
        self.n_passes = 0.0
        self.history: list[Step] = []
        self.drops = [np.inf]
        self.restart()

    def restart(self) -> None:
        """Forget the directions so far."""
        self.direction: FloatArray | None = None
        self.previous: tuple[FloatArray, FloatArray] | None = None
        self.length = 1.0

    def inner(self, left: FloatArray, right: FloatArray) -> float:
        """Return the inner product of two vectors like ``coef``.

        What overflows is refused by name after the step.
        """
        return _kernels.products.dot(left, right)

    def objective(self, alpha: float) -> float:
        """Return the loss plus the penalty where the point stands."""
        return self.terms.value + 0.5 * alpha * self.inner(self.coef, self.coef)

    def turn(self, grad: FloatArray, scaled: FloatArray) -> float:
        """Choose the next direction; return how steeply it falls.

        ``scaled`` is the gradient after the preconditioner. The momentum is that of
        Polak and Ribiere, but never negative.
        """
        momentum = 0.0
        if self.direction is not None and self.previous is not None:
            last_grad, last_scaled = self.previous
            change = self.inner(scaled, grad - last_grad)
            momentum = max(0.0, change / self.inner(last_grad, last_scaled))
        direction = -scaled
        if momentum > 0.0 and self.direction is not None:
            conjugate = momentum * self.direction - scaled
            if self.inner(grad, conjugate) < 0.0:
                direction = conjugate
        self.direction, self.previous = direction, (grad, scaled)
        return -self.inner(grad, direction)

    def search(self, along: FloatArray, *, alpha: float, slope: float) -> None:
        """Move to where the slope along the direction vanishes.

        ``along`` are the scores of the direction; no product with the rows is needed.
        """
        assert self.direction is not None
        value = self.objective(alpha)
        ridge_slope = alpha * self.inner(self.coef, self.direction)
        ridge_curvature = alpha * self.inner(self.direction, self.direction)
        start = self.scores

        def slope_at(t: float) -> float:
            self.scores = start + t * along
            self.terms = self.evaluate(self.scores)
            return self.terms.slope(along) + ridge_slope + t * ridge_curvature

        def curvature() -> float:
            return self.terms.curvature(along) + ridge_curvature

        self.length = search_line(
            slope_at, curvature, first=1.0, enough=SEARCH_TOL * abs(slope)
        )
        self.coef = self.coef + self.length * self.direction
        self.drops.append(value - self.objective(alpha))

    def recent_drop(self) -> float:
        """Return by how much the last eighth of the steps lowered the objective.

        Where hundreds are needed, much may be left although one gains little.
        """
        return sum(self.drops[-max(1, len(self.history) // 8) :])

    def record(self, gap: float, alpha: float, on_step: OnStep | None) -> None:
        """Add the last step to the history."""
        self.history.append(Step(self.objective(alpha), gap, self.n_passes))
        if on_step is not None:
            on_step(self.history[-1])
