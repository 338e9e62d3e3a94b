# SPDX-License-Identifier: BSD-3-Clause
"""RankSVM from sums over bins of scores, by a solver of scipy."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy import linalg, optimize

from aucmax._utils.typing import BoolArray, FloatArray, Matrix
from aucmax.design import LocalDesign
from aucmax.design.streamed import stacked
from aucmax.distributed._binned import Objective, Point
from aucmax.distributed._block import Block, Part
from aucmax.distributed._cluster import fetch, later
from aucmax.distributed._inputs import DaskInputs
from aucmax.distributed.design import DaskDesign
from aucmax.losses import SquaredHinge
from aucmax.metrics.threshold import balanced_threshold
from aucmax.solvers._base import OnStep, Problem, Result, Step
from aucmax.solvers._sampled_hessian import exact_hessian
from aucmax.solvers.nonlinear_cg import nonlinear_cg

# Rows fetched for a first solution: at least so many, so many per feature, and no more
# values than these.
LEAST_ROWS, ROWS_PER_FEATURE, MOST_VALUES = 4000, 40, 2**23
# Steps that may gain less than the bins resolve before that is the end.
PATIENCE = 3
# And what is left to gain when it is below this share of that.
RESOLVED = 0.1


def minimise_binned(
    design: DaskDesign,
    inputs: DaskInputs,
    *,
    alpha: float,
    bins_per_octave: int,
    start: FloatArray | None,
    tol: float,
    max_iter: int,
    on_step: OnStep | None,
) -> tuple[Result, float, float]:
    """Minimise by scipy's Newton-CG in a trust region.

    From the solution of some rows, in the metric of their Hessian: there, half the
    square of the gradient is about what is left to gain. Stops where that is below
    ``tol`` of the objective, or below what the bins resolve.

    Returns
    -------
    result, error, threshold
        The outcome, how much its value may be too high, and where to cut the scores.
    """
    objective = Objective(design, inputs, alpha=alpha, bins_per_octave=bins_per_octave)
    first, metric = _first_solution(design, inputs, alpha, start)
    history: list[Step] = []
    stop = _Stop(objective, metric, history, tol, on_step)

    def coef_of(z: FloatArray) -> FloatArray:
        return first + metric.forward(z)

    def value(z: FloatArray) -> float:
        return objective.at(coef_of(z)).value

    def hess_dot(z: FloatArray, vector: FloatArray) -> FloatArray:
        point = objective.at(coef_of(z))
        return metric.back(point.hess_dot(metric.forward(vector)))

    stop.coef_of = coef_of
    settings: dict[str, Any] = {
        "jac": lambda z: metric.back(objective.at(coef_of(z)).grad()),
        "hessp": hess_dot,
        "method": "trust-ncg",
        "callback": stop,
        "options": {"maxiter": max_iter, "gtol": 0.0},
    }
    if not stop.look_at(objective.at(first)):
        optimize.minimize(value, np.zeros(len(first)), **settings)
    best = stop.best
    assert best is not None
    result = Result(
        best.coef, best.value, len(history), stop.converged, stop.message, history
    )
    rounded = best.coef.astype(inputs.dtype).astype(np.float64)
    return result, best.error, _threshold(objective, rounded)


class _Stop:
    """Callback of scipy that keeps the best point and says when it is enough."""

    def __init__(
        self,
        objective: Objective,
        metric: "_Metric",
        history: list[Step],
        tol: float,
        on_step: OnStep | None,
    ) -> None:
        self.objective = objective
        self.metric = metric
        self.history = history
        self.tol = tol
        self.on_step = on_step
        self.coef_of: Callable[[FloatArray], FloatArray]
        self.best: Point | None = None
        self.n_idle = 0
        self.converged, self.message = False, "out of steps"

    def __call__(self, intermediate_result: Any) -> None:
        before = self.best
        point = self.objective.at(self.coef_of(intermediate_result.x))
        is_done = self.look_at(point)
        assert before is not None
        gain = before.value - point.value
        self.n_idle = self.n_idle + 1 if gain <= point.error else 0
        if self.n_idle >= PATIENCE and not is_done:
            is_done = self.converged = True
            self.message = "steps gain less than the bins resolve"
        if is_done:
            raise StopIteration

    def look_at(self, point: Point) -> bool:
        """Say whether a point is good enough, and keep it if it is the best."""
        grad = self.metric.back(point.grad())
        left = 0.5 * float(grad @ grad) / self.metric.least
        gap = left / max(point.value, np.finfo(float).tiny)
        if self.best is None or point.value <= self.best.value:
            self.best = point
        self.history.append(Step(point.value, gap, self.objective.n_passes))
        if self.on_step is not None:
            self.on_step(self.history[-1])
        self.message = f"relative gap estimated to be {gap:.1e}"
        self.converged = left <= max(self.tol * point.value, RESOLVED * point.error)
        return self.converged


class _Metric(NamedTuple):
    """A change of variables, ``coef = factor^-T z``, and the least curvature after."""

    factor: FloatArray | None
    least: float

    def forward(self, z: FloatArray) -> FloatArray:
        if self.factor is None:
            return z
        return linalg.solve_triangular(self.factor, z, lower=True, trans="T")

    def back(self, grad: FloatArray) -> FloatArray:
        if self.factor is None:
            return grad
        return linalg.solve_triangular(self.factor, grad, lower=True)


def _first_solution(
    design: DaskDesign,
    inputs: DaskInputs,
    alpha: float,
    start: FloatArray | None,
) -> tuple[FloatArray, _Metric]:
    """Return the solution of a spread of the rows, and their Hessian's metric."""
    rows, is_pos, weight = _spread(design, inputs)
    local, loss = LocalDesign(rows), SquaredHinge()
    problem = Problem(local, loss, is_pos, weight)
    if start is None:
        start = nonlinear_cg(problem, alpha, tol=1e-3).coef
    scores = local.scores(start)
    hessian = exact_hessian(problem, problem.evaluate(scores))
    if not np.isfinite(hessian).all():
        # The penalty alone is sure to curve.
        return start, _Metric(None, alpha)
    d = len(start)
    ridged = hessian.copy()
    ridged.flat[:: d + 1] += alpha + 1e-7 * float(np.trace(hessian)) / d
    return start, _Metric(linalg.cholesky(ridged, lower=True), 1.0)


def _spread(
    design: DaskDesign, inputs: DaskInputs
) -> tuple[Matrix, BoolArray, FloatArray]:
    """Fetch some rows of each class, evenly spread over the blocks."""
    n, d = inputs.shape
    room = min(max(LEAST_ROWS, ROWS_PER_FEATURE * d), max(MOST_VALUES // d, 100))
    totals = inputs.counts.sum(axis=0)
    # At least a quarter of each class: the mean over pairs does not mind.
    share = np.clip(totals / n, 0.25, 0.75) * room / totals
    wanted = np.ceil(inputs.counts * np.minimum(share, 1.0)).astype(int)
    parts = fetch(
        [
            later(_draw, block, *map(int, sizes))
            for block, sizes in zip(design.blocks, wanted, strict=True)
        ]
    )
    used = [part for part in parts if len(part.is_pos)]
    return (
        stacked([part.rows for part in used]),
        np.concatenate([part.is_pos for part in used]),
        np.concatenate([part.weight for part in used]),
    )


def _threshold(objective: Objective, coef: FloatArray) -> float:
    """Return the score between two bins with the best balanced accuracy."""
    table, offset = objective.scores(coef)
    used = np.flatnonzero(table.mass.sum(axis=0) > 0.0)
    low, high, mass = table.low[used], table.high[used], table.mass[:, used]
    number = np.arange(len(used), dtype=np.float64)
    cut = balanced_threshold(
        np.tile(number, 2), np.repeat([False, True], len(used)), mass.ravel()
    )
    below = int(np.floor(cut))
    if below + 1 >= len(used):
        return float(high[below]) + offset
    return 0.5 * float(high[below] + low[below + 1]) + offset


def _draw(block: Block, n_neg: int, n_pos: int) -> Part:
    """Return some rows of each class that have weight, evenly spread."""
    _, is_pos, weight = block.part
    chosen = []
    for mask, size in ((~is_pos, n_neg), (is_pos, n_pos)):
        index = np.flatnonzero(mask & (weight > 0.0))
        count = min(size, len(index))
        spread = np.linspace(0, len(index), count, endpoint=False).astype(np.int64)
        chosen.append(index[spread])
    index = np.sort(np.concatenate(chosen))
    return Part(block.design.rows(index), is_pos[index], weight[index])
