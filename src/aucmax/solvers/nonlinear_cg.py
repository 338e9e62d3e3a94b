# SPDX-License-Identifier: BSD-3-Clause
"""Non-linear conjugate gradients with an exact search along each direction.

For wide rows, where a sort costs a few percent of a product with the rows. Truncated
Newton keeps its active pairs frozen for the many products of one linear solve; here
every product ends with a sort, a search, and a gradient that knows the true active
pairs. It needs about half as many products as truncated Newton with an equally good
preconditioner, and a fifth of what it needs without.
"""

from functools import partial
from typing import NamedTuple

import numpy as np

from aucmax._utils.checkpoint import Offer, State
from aucmax._utils.typing import BoolArray, FloatArray
from aucmax.design import Design, LocalDesign
from aucmax.losses import PairLoss, Terms
from aucmax.solvers._base import OnStep, Result, Step
from aucmax.solvers._curvature_block import (
    FIRST_ROWS_PER_COLUMN,
    ROWS_PER_COLUMN,
    CurvatureBlock,
    Draw,
)
from aucmax.solvers._descent import Descent
from aucmax.solvers._sampling import spread_sample

# The slope along a direction is "zero" at this fraction of its first value.
SEARCH_TOL = 1e-2
# Look at the preconditioner after so many steps, half as many if it cost no more than a
# product, or after this share of its cost in products.
LOOK_AFTER, LOOK_AFTER_COST = 8, 0.5
# A new one when this share of the curvature sits on other rows: weak directions hang on
# few pairs, so a small change of the active pairs is a large change there.
MAX_DRIFT = 0.01
# What a block may cost, in products: this at first, and so many times as much whenever
# one that this cut short did not do. All that were too small then cost half of the one
# that is not.
FIRST_BUDGET, BUDGET_GROWTH = 4.0, 3.0
# A small alpha is reached by tenths from this share of the Hessian's trace: far from
# the solution, the few columns that matter at a large alpha do most of the work.
FIRST_ALPHA, ALPHA_STEP = 3e-4, 10.0
# On to the next alpha when a step promises less than this share of the objective.
LOOSE = 0.2
# The sub-sample that gives the start: this share of the rows, and the tolerance there.
# More is worth it where no other alpha lies between the start and the solution.
SUBSAMPLE_SHARE, SUBSAMPLE_TOL = 1 / 8, 0.03
SUBSAMPLE_SHARE_DIRECT, SUBSAMPLE_TOL_DIRECT = 1 / 4, 0.01
SUBSAMPLE_ROWS, SUBSAMPLE_ABOVE = 4000, 5000
# It leaves out columns whose curvature is below this share of its alpha.
NEGLIGIBLE = 0.1
KEPT = (
    "n_steps",
    "rows_per_column",
    "budget",
    "age",
    "stretch",
    "diagonal_share",
)


def nonlinear_cg(
    design: Design,
    is_pos: BoolArray,
    weight: FloatArray,
    *,
    loss: PairLoss,
    alpha: float,
    start: FloatArray | None = None,
    tol: float = 1e-4,
    max_iter: int = 1000,
    on_step: OnStep | None = None,
    saved: State | None = None,
    offer: Offer | None = None,
) -> Result:
    """Minimise the loss plus ``alpha / 2 * |coef|^2``.

    Converges from any ``start`` at which the objective is finite: it is strictly
    convex, and every step minimises it along a direction of descent. Stops where a step
    promises less than ``tol`` of the objective, an estimate of twice the gap.

    Cost: two passes over the rows per step.

    The state is offered at the start and after every step; ``saved`` is such a state,
    from which the same steps follow as without the break.
    """
    solver = NonlinearCG(
        design,
        is_pos,
        weight,
        loss=loss,
        start=start,
        first_alpha=alpha,
        saved=saved,
    )
    return solver.minimise(
        alpha, tol=tol, max_iter=max_iter, on_step=on_step, offer=offer
    )


class NonlinearCG(Descent):
    """The state of the solver, kept between the alphas of a path."""

    def __init__(
        self,
        design: Design,
        is_pos: BoolArray,
        weight: FloatArray,
        *,
        loss: PairLoss,
        first_alpha: float,
        start: FloatArray | None = None,
        saved: State | None = None,
    ) -> None:
        super().__init__(design, is_pos, weight, loss=loss)
        # The way that a saved state has behind it.
        self.way: _Way | None = None
        self.n_steps = 0
        self.rows_per_column = ROWS_PER_COLUMN
        self.budget = FIRST_BUDGET
        # Steps since the block was made, and the length of the last in its metric.
        self.age, self.stretch = 0, 1.0
        # A penalty at which few columns matter, to start from zero with.
        self.easy_alpha = 0.0
        # The diagonal of the Hessian at zero, as a share of the curvature of all rows.
        self.diagonal_share = np.zeros(0)
        if saved is not None:
            self._restore(saved)
            return
        self.place(self._subsample_solution(first_alpha) if start is None else start)

    def _subsample_solution(self, alpha: float) -> FloatArray:
        """Return a rough solution, at no small alpha, on a spread of the rows.

        Only in the columns that matter at that alpha.
        """
        n, d = self.design.shape
        coef = np.zeros(d)
        curvature = self._curvature_at_zero()
        self.easy_alpha = FIRST_ALPHA * float(curvature.sum())
        if n < SUBSAMPLE_ABOVE:
            return coef
        share, tol = SUBSAMPLE_SHARE_DIRECT, SUBSAMPLE_TOL_DIRECT
        if alpha < self.easy_alpha:
            alpha, share, tol = self.easy_alpha, SUBSAMPLE_SHARE, SUBSAMPLE_TOL
        columns = np.flatnonzero(curvature > NEGLIGIBLE * alpha)
        size = min(int(share * n), SUBSAMPLE_ROWS)
        index = spread_sample(self.is_pos, self.weight, size)
        if len(columns) == 0:
            return coef
        solver = NonlinearCG(
            LocalDesign(self.design.rows(index, columns)),
            self.is_pos[index],
            self.weight[index],
            loss=self.loss,
            first_alpha=alpha,
            start=np.zeros(len(columns)),
        )
        result = solver.minimise(alpha, tol=tol, max_iter=50)
        self.n_passes += solver.n_passes * len(index) / n * len(columns) / d
        coef[columns] = result.coef
        return coef

    def _curvature_at_zero(self) -> FloatArray:
        """Return the diagonal of the Hessian at zero; keep how it is shared out."""
        zero = np.zeros(self.design.shape[0])
        terms = self.loss.evaluate(zero, self.is_pos, self.weight)
        draw = Draw(self.design, self.loss, zero, terms, self.is_pos, self.weight)
        diagonal = draw.diagonal()
        self.diagonal_share = diagonal / (draw.total or 1.0)
        return diagonal

    def minimise(
        self,
        alpha: float,
        *,
        tol: float,
        max_iter: int,
        on_step: OnStep | None = None,
        offer: Offer | None = None,
    ) -> Result:
        """Minimise at ``alpha`` from where the solver stands."""
        final, converged = alpha, False
        if self.way is None:
            # Only on the way from zero: later alphas of a path are a short way off.
            alpha, self.easy_alpha = max(alpha, self.easy_alpha), 0.0
            block = self._renewed_block(alpha, final)
            direction = previous = None
            history: list[Step] = []
            if offer is not None:
                # Of large data, most passes lead to the start, which may be the end.
                offer(partial(self.state, _Way(alpha, block, None, None, history)))
        else:
            (alpha, block, direction, previous, history), self.way = self.way, None
        while True:
            value = self.objective(alpha)
            grad = self.loss_grad + alpha * self.coef
            if not np.any(grad) and alpha == final:
                converged = True
                break
            if self._is_stale(block):
                block, direction = self._renewed_block(alpha, final), None
            scaled = block.solve(grad)
            if direction is None or previous is None:
                direction = -scaled
            else:
                # Polak and Ribiere, but never back.
                momentum = float(scaled @ (grad - previous[0]))
                momentum /= float(previous[0] @ previous[1])
                direction = max(0.0, momentum) * direction - scaled
                if float(grad @ direction) >= 0.0:
                    direction = -scaled
            promise = -float(grad @ direction)
            if alpha > final and promise <= LOOSE * value:
                alpha = _next_alpha(alpha, final)
                block, direction = self._renewed_block(alpha, final), None
                continue
            # A step longer than promised: curvature has gone, and more is left.
            gap = promise * max(1.0, self.stretch) / max(value, np.finfo(float).tiny)
            # One step at least from zero: however small, it alone makes a ranking.
            if alpha == final and gap <= tol and np.any(self.coef):
                converged = True
                break
            if len(history) >= max_iter:
                break
            direction_scores = self.design.scores(direction, out=self._work[0])
            self.n_passes += 1
            self.stretch = self._search(
                direction, direction_scores, alpha=alpha, slope=-promise, tol=SEARCH_TOL
            )
            previous = grad, scaled
            self.age += 1
            self.n_steps += 1
            history.append(Step(self.objective(final), gap, self.n_passes))
            if on_step is not None:
                on_step(history[-1])
            if offer is not None:
                way = _Way(alpha, block, direction, previous, history)
                offer(partial(self.state, way))
        message = (
            f"a step promised less than {tol:g} of the objective"
            if converged
            else f"a step still promised {gap:.1e} of the objective after {max_iter}"
        )
        value = self.objective(final)
        return Result(
            self.coef.copy(), value, len(history), converged, message, history
        )

    def state(self, way: "_Way") -> State:
        """Return what the next step depends on."""
        return (
            self._point()
            | {name: getattr(self, name) for name in KEPT}
            | way._asdict()
            | {"block": way.block.state(), "history": np.array(way.history)}
        )

    def _restore(self, state: State) -> None:
        self._return_to(state)
        for name in KEPT:
            setattr(self, name, state[name])
        alpha = state["alpha"]
        self.way = _Way(
            alpha,
            CurvatureBlock.restored(state["block"], alpha),
            state["direction"],
            state["previous"] and tuple(state["previous"]),
            [Step(*map(float, step)) for step in state["history"]],
        )

    def _is_stale(self, block: CurvatureBlock) -> bool:
        """Say whether a new block would pay."""
        if block.is_small:
            return self.age > 0
        least = LOOK_AFTER if block.cost > 1.0 else LOOK_AFTER // 2
        wait = max(least, LOOK_AFTER_COST * block.cost)
        if self.age < wait:
            return False
        if block.is_cut:
            self.budget *= BUDGET_GROWTH
            return True
        if block.drift(self.terms) > MAX_DRIFT:
            return True
        if not block.is_complete and self.age >= 2 * wait:
            self.rows_per_column *= 2.0
            return True
        return False

    def _renewed_block(self, alpha: float, final: float) -> CurvatureBlock:
        is_first = self.n_steps == 0 and not np.any(self.coef)
        self.age, self.stretch = 0, 1.0
        return CurvatureBlock(
            *self._here(),
            alpha=alpha,
            rows_per_column=(
                FIRST_ROWS_PER_COLUMN if is_first else self.rows_per_column
            ),
            budget=self.budget,
            # On the way, where rough steps do, so does a rough diagonal.
            diagonal_share=self.diagonal_share if alpha > final else None,
        )

    def _here(
        self,
    ) -> tuple[Design, PairLoss, FloatArray, Terms, BoolArray, FloatArray]:
        return (
            self.design,
            self.loss,
            self.scores,
            self.terms,
            self.is_pos,
            self.weight,
        )


class _Way(NamedTuple):
    """How the next step depends on those before, besides where they led."""

    alpha: float
    block: CurvatureBlock
    direction: FloatArray | None
    previous: tuple[FloatArray, FloatArray] | None
    history: list[Step]


def _next_alpha(alpha: float, final: float) -> float:
    """Return a tenth, or ``final`` where that is nearer to it than to ``alpha``."""
    lower = max(final, alpha / ALPHA_STEP)
    return final if lower < final * ALPHA_STEP**0.5 else lower
