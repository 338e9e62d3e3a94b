# SPDX-License-Identifier: BSD-3-Clause
"""Bundle method (cutting planes with an exact line search) for losses with kinks.

A convex loss lies above each of its tangents; the largest of the tangents met so far is
a model from below. Minimising model plus ridge gives a lower bound of the objective and
a direction; the difference between the best value and that bound certifies the gap.
"""

from typing import NamedTuple

import numpy as np

from aucmax import _kernels
from aucmax._utils.typing import FloatArray
from aucmax.solvers.base import OnStep, Problem, Result, Step, check_finite

# The next tangent is taken this far from the best point towards the model's minimiser
# (Franc and Sonnenburg): close enough to be relevant, far enough to be new.
LOOK_AHEAD = 0.1
# With so many tangents, those of little weight in the model are made one.
MAX_PLANES = 200
# Moves of weight between tangents per step; short of the optimum the bound still holds.
MAX_MOVES = 20_000
# The search stops when it can gain no more than this share of what it has gained.
SEARCH_TOL, SEARCH_STEPS = 0.2, 30


class Point(NamedTuple):
    """Where we are: weights, scores, objective, and gradient of the loss by scores."""

    coef: FloatArray
    scores: FloatArray
    value: float
    grad: FloatArray


class CuttingPlanes:
    """The largest of some tangents, plus ``alpha / 2 * |coef|^2``.

    Minimised by its dual, a quadratic programme over ``shares`` of the tangents that
    are not negative and sum to one.
    """

    def __init__(self, n_features: int, alpha: float) -> None:
        self.alpha = alpha
        # The zero function is below the loss too: it lets the sum be one.
        self.planes, self.heights = np.zeros((1, n_features)), np.zeros(1)
        self.gram, self.shares = np.zeros((1, 1)), np.ones(1)

    def add(self, slope: FloatArray, height: float) -> None:
        """Add the tangent ``slope @ coef + height``."""
        if len(self.shares) >= MAX_PLANES:
            self._merge()
        self.planes = np.vstack([self.planes, slope])
        self.heights = np.append(self.heights, height)
        column = self.planes @ slope / self.alpha
        self.gram = np.block([[self.gram, column[:-1, None]], [column[None, :]]])
        self.shares = np.append(self.shares, 0.0)

    def minimise(self, tol: float) -> FloatArray:
        """Return where the model is smallest."""
        _kernels.simplex.maximise_over_simplex(
            self.gram, self.heights, self.shares, tol, MAX_MOVES
        )
        return -(self.shares @ self.planes) / self.alpha

    def lower_bound(self) -> float:
        """Return the dual's value, below the model wherever the shares are."""
        curved = float(self.shares @ self.gram @ self.shares)
        return float(self.heights @ self.shares) - 0.5 * curved

    def _merge(self) -> None:
        """Make one tangent of the half with the smallest shares.

        Their mean, weighted by the shares, is below the loss too, and neither the
        model's minimum nor the bound changes.
        """
        order = np.argsort(self.shares, kind="stable")
        drop, keep = np.split(order, [len(order) // 2])
        total = float(self.shares[drop].sum())
        mixture = np.zeros((len(keep) + 1, len(order)))
        mixture[np.arange(len(keep)), keep] = 1.0
        # Without any share left they say nothing, and the zero function is as good.
        mixture[-1, drop] = self.shares[drop] / total if total > 0.0 else 0.0
        self.planes, self.heights = mixture @ self.planes, mixture @ self.heights
        self.gram = mixture @ self.gram @ mixture.T
        self.shares = np.append(self.shares[keep], total)


def bundle(
    problem: Problem,
    alpha: float,
    *,
    start: FloatArray | None = None,
    tol: float = 1e-3,
    max_iter: int = 1000,
    on_step: OnStep | None = None,
) -> Result:
    """Minimise the loss plus ``alpha / 2 * |coef|^2`` to a certified gap.

    Stops when the objective is proved to be within ``tol`` of its minimum, relative to
    the objective. The loss must not be negative anywhere.

    Cost per step: two passes over the rows, some sorts, and a quadratic programme in as
    many variables as there are tangents.
    """
    design = problem.design
    n, d = design.shape
    coef = np.zeros(d) if start is None else np.array(start, dtype=np.float64)
    scores = design.scores(coef) if np.any(coef) else np.zeros(n)
    terms = problem.evaluate(scores)
    value = terms.value + 0.5 * alpha * float(coef @ coef)
    best = Point(coef, scores, value, terms.grad.copy())
    cut_coef = coef
    lower, gap = -np.inf, np.inf
    history: list[Step] = []
    model = CuttingPlanes(d, alpha)
    for k in range(max_iter):
        slope = design.adjoint(terms.grad)
        check_finite(terms.value, slope)
        model.add(slope, terms.value - float(slope @ cut_coef))
        model_coef = model.minimise(1e-3 * tol * best.value)
        lower = max(lower, model.lower_bound())
        model_scores = design.scores(model_coef)
        best = _search(problem, alpha, best, model_coef, model_scores)
        gap = max(0.0, best.value - lower) / max(best.value, np.finfo(float).tiny)
        history.append(Step(best.value, gap, 2.0 * (k + 1)))
        if on_step is not None:
            on_step(history[-1])
        if gap <= tol:
            break
        cut_coef = (1.0 - LOOK_AHEAD) * best.coef + LOOK_AHEAD * model_coef
        cut_scores = (1.0 - LOOK_AHEAD) * best.scores + LOOK_AHEAD * model_scores
        terms = problem.evaluate(cut_scores)
    check_finite(best.value, best.coef)
    message = f"certified gap {gap:.1e} of the objective, asked {tol:g}"
    return Result(best.coef, best.value, len(history), gap <= tol, message, history)


class _Place(NamedTuple):
    """A place on a line: how far along, value and slope, gradient of the loss."""

    t: float
    value: float
    slope: float
    grad: FloatArray


def _search(
    problem: Problem, alpha: float, here: Point, coef: FloatArray, scores: FloatArray
) -> Point:
    """Minimise along the line from ``here`` through another point, in score space.

    The slope is increasing, so its zero is bracketed. The tangents at both ends cross
    below the curve: a bound on what is left to gain, and where to look next, in turns
    with where a slope that grows evenly would vanish.
    """
    step_coef, step_scores = coef - here.coef, scores - here.scores
    if not (np.any(step_coef) and np.any(step_scores)):
        return here
    ridge = alpha * float(step_coef @ step_coef)
    ridge_slope = alpha * float(here.coef @ step_coef)
    base = 0.5 * alpha * float(here.coef @ here.coef)

    def look(t: float) -> _Place:
        terms = problem.evaluate(here.scores + t * step_scores)
        value = terms.value + base + t * (ridge_slope + 0.5 * t * ridge)
        slope = terms.slope(step_scores) + ridge_slope + t * ridge
        return _Place(t, value, slope, terms.grad.copy())

    slope = _kernels.products.dot(here.grad, step_scores) + ridge_slope
    low = best = _Place(0.0, here.value, slope, here.grad)
    high = look(1.0)
    while slope < 0.0 and high.slope < 0.0 and high.t < 2.0**20:
        low, high = high, look(4.0 * high.t)
    for k in range(SEARCH_STEPS):
        best = min(best, low, high, key=lambda place: place.value)
        # Where it falls for ever, as far as we can see, there is nothing to look for.
        if not low.slope < 0.0 <= high.slope:
            break
        rest = high.value - low.value - high.slope * (high.t - low.t)
        t = low.t + rest / (low.slope - high.slope)
        bound = low.value + low.slope * (t - low.t)
        if best.value - bound <= SEARCH_TOL * (here.value - best.value):
            break
        if k % 2 == 0:
            share = low.slope / (low.slope - high.slope)
            t = low.t + share * (high.t - low.t)
        place = look(t)
        low, high = (place, high) if place.slope < 0.0 else (low, place)
    if best.t == 0.0:
        return here
    return Point(
        here.coef + best.t * step_coef,
        here.scores + best.t * step_scores,
        best.value,
        best.grad,
    )
