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
# The search stops when it can gain no more than this share of what it has gained, and
# moves at least this share of the bracket.
SEARCH_TOL = 0.02
SEARCH_STEPS, LEAST_MOVE = 30, 0.02


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
        best = _search(problem, alpha, best, (model_coef, model_scores))
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


def _search(
    problem: Problem,
    alpha: float,
    here: Point,
    there: tuple[FloatArray, FloatArray],
) -> Point:
    """Minimise along the line from ``here`` through ``there``, in score space.

    The slope along the line is increasing. Of few pairs it jumps, of many it is next to
    smooth, so its zero is bracketed and looked for by false position. The slope of an
    end that stays again counts half as much, as in the Illinois method, or it could
    stay for ever.
    """
    step_coef, step_scores = there[0] - here.coef, there[1] - here.scores
    if not (np.any(step_coef) and np.any(step_scores)):
        return here
    ridge = alpha * float(step_coef @ step_coef)
    ridge_slope = alpha * float(here.coef @ step_coef)
    base = 0.5 * alpha * float(here.coef @ here.coef)
    best_t, best, grad = 0.0, here.value, here.grad.copy()

    def look(t: float) -> tuple[float, float, float]:
        nonlocal best_t, best
        terms = problem.evaluate(here.scores + t * step_scores)
        value = terms.value + base + t * ridge_slope + 0.5 * t * t * ridge
        if value < best:
            best_t, best, grad[:] = t, value, terms.grad
        return (
            t,
            value,
            _kernels.products.dot(terms.grad, step_scores) + ridge_slope + t * ridge,
        )

    low = 0.0, here.value, _kernels.products.dot(here.grad, step_scores) + ridge_slope
    if low[2] >= 0.0:
        return here
    high = look(1.0)
    while high[2] < 0.0 and high[0] < 2.0**20:
        low, high = high, look(4.0 * high[0])
    share_low = share_high = 1.0
    moved_low: bool | None = None
    # Where it falls for ever, as far as we can see, there is nothing to look for.
    for _ in range(SEARCH_STEPS if high[2] >= 0.0 else 0):
        # The tangents at both ends cross below the curve: a bound on what is left.
        crossing = (high[1] - low[1] + low[2] * low[0] - high[2] * high[0]) / (
            low[2] - high[2]
        )
        bound = low[1] + low[2] * (crossing - low[0])
        if best - bound <= SEARCH_TOL * (here.value - best):
            break
        down, up = share_low * low[2], share_high * high[2]
        width = high[0] - low[0]
        least = LEAST_MOVE * width
        t = low[0] + min(max(width * down / (down - up), least), width - least)
        point = look(t)
        moves_low = point[2] < 0.0
        stays = moves_low == moved_low
        if moves_low:
            low, share_low, share_high = point, 1.0, 0.5 * share_high if stays else 1.0
        else:
            high, share_high, share_low = point, 1.0, 0.5 * share_low if stays else 1.0
        moved_low = moves_low
    if best_t == 0.0:
        return here
    return Point(
        here.coef + best_t * step_coef, here.scores + best_t * step_scores, best, grad
    )
