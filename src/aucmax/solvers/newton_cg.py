# SPDX-License-Identifier: BSD-3-Clause
"""Truncated Newton with preconditioned CG and an exact search along each direction.

Minimises ``loss(scores(coef)) + alpha / 2 * |coef|^2`` for any smooth loss in score
space and any design. A new point costs one sort; everything along a direction happens
in score space, without touching the rows.
"""

from typing import NamedTuple

import numpy as np

from aucmax._utils.checkpoint import Offer, State
from aucmax._utils.typing import BoolArray, FloatArray
from aucmax.design import Design, LocalDesign
from aucmax.losses import PairLoss
from aucmax.solvers._base import OnStep, Result, Step
from aucmax.solvers._descent import Descent
from aucmax.solvers._preconditioner import MAX_STEPS, Preconditioner
from aucmax.solvers._sampling import spread_sample

# CG stops when its k-th step lowers the quadratic model by less than this share of the
# mean of all k steps (Nash and Sofer); a test on the residual is fooled by directions
# that the preconditioner has missed. With none, or with few rows per feature, progress
# is slow rather than done: the residual must shrink as much as well. A direction that
# has taken many CG steps may stay rough there: in the first steps, until one promises
# less than this many times the tolerance.
MIN_PROGRESS = 0.1
MIN_PROGRESS_HARD, MIN_PROGRESS_ROUGH = 0.01, 0.5
ROUGH_STEPS, ROUGH, ROUGH_AFTER = 15, 100.0, 25
MAX_CG = 250
# Or when nothing is left of the residual, as after one step where the preconditioner is
# the Hessian. An estimate of it may overstate weak directions, in whose metric nothing
# seems left while they are all that is left.
SOLVED = 1e-8
# The slope along a direction is "zero" at this fraction of its first value.
SEARCH_TOL = 0.1
# Fewer rows than this are solved at once rather than from a sub-sample's solution, as
# are problems whose sub-sample would have fewer rows per feature than this.
SUBSAMPLE_ABOVE = 5000
SUBSAMPLE_ROWS_PER_FEATURE = 20
# There, a step that kept a promise of this many times the tolerance, and of no more
# than this share of the objective, has left about the tolerance.
SUBSAMPLE_PROMISE, SUBSAMPLE_SHARE = 10.0, 0.05
# With fewer rows than this, the sub-sample's preconditioner is good enough: drawing
# another would take longer than the CG steps it saves.
REUSE_BELOW = 30_000
# A preconditioner is an estimate: a gap that it puts below this share of the tolerance
# is below the tolerance.
SAFETY = 0.5
# And only near the end: a step that promised this many times the tolerance. It must
# have kept what it promised to this factor: where it gained 1.4 times as much, pairs
# stop being active so fast that three times the estimate was left.
NEARLY = 30.0
KEPT, KEPT_CLOSELY = 1.5, 1.3
# A float of Python: where rounding leaves a separated problem no objective, the gap is
# infinite without a warning.
TINY = float(np.finfo(float).tiny)
TOO_SMALL = (
    "The gradient is too small to square: X holds tiny values. Scale the features "
    "first, for example with sklearn.preprocessing.StandardScaler."
)


def newton_cg(
    design: Design,
    is_pos: BoolArray,
    weight: FloatArray,
    *,
    loss: PairLoss,
    alpha: float,
    start: FloatArray | None = None,
    tol: float = 1e-6,
    max_iter: int = 100,
    on_step: OnStep | None = None,
    saved: State | None = None,
    offer: Offer | None = None,
) -> Result:
    """Minimise the loss plus ``alpha / 2 * |coef|^2``.

    Converges from any ``start`` at which the objective is finite: it is strictly
    convex, and every step minimises it along a direction of descent. Stops after a step
    that promised less than ``tol`` of the objective and gained about that, or where a
    preconditioner that has just proved good puts what is left well below ``tol``. Both
    are estimates, not certificates.

    Cost: two passes over the rows per CG step, one sort per point of a line search.

    The state is offered at the start and after every step but the last; ``saved`` is
    such a state, from which the same steps follow as without the break.
    """
    solver = NewtonCG(
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


class NewtonCG(Descent):
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
        self.preconditioner: Preconditioner | None = None
        # Steps that a saved state has behind it.
        self.taken: list[Step] = []
        # Longest step CG took in the metric of the preconditioner: by how much that
        # overstates the curvature.
        self.stretch = np.inf
        if saved is not None:
            self._restore(saved)
            return
        self.place(self._subsample_solution(first_alpha) if start is None else start)

    def state(self, history: list[Step]) -> State:
        """Return what the next step depends on."""
        preconditioner = self.preconditioner
        assert preconditioner is not None
        return self._point() | {
            "stretch": self.stretch,
            "hessian": preconditioner.hessian,
            "patience": preconditioner.patience,
            "history": np.array(history),
        }

    def _restore(self, state: State) -> None:
        self._return_to(state)
        self.stretch = state["stretch"]
        self.preconditioner = Preconditioner(state["hessian"], state["patience"])
        self.taken = [Step(*map(float, step)) for step in state["history"]]

    def _subsample_solution(self, alpha: float) -> FloatArray:
        """Return the solution of the same problem on a spread of the rows.

        It costs a fraction and is off by a few d/n of the objective. The rows take no
        more space than four vectors of scores. Zero where a sub-sample would be too
        small to help.
        """
        n, d = self.design.shape
        n_rows = min(n // 8, 4 * n // d)
        if n < SUBSAMPLE_ABOVE or n_rows < SUBSAMPLE_ROWS_PER_FEATURE * d:
            return np.zeros(d)
        index = spread_sample(self.is_pos, self.weight, n_rows)
        solver = NewtonCG(
            LocalDesign(self.design.rows(index)),
            self.is_pos[index],
            self.weight[index],
            loss=self.loss,
            first_alpha=alpha,
        )
        result = solver.minimise(
            alpha,
            tol=d / n_rows,
            max_iter=50,
            promise=min(SUBSAMPLE_PROMISE * d / n_rows, SUBSAMPLE_SHARE),
        )
        self.n_passes += solver.n_passes * len(index) / n
        if solver.preconditioner is not None and n < REUSE_BELOW:
            self.preconditioner = Preconditioner(solver.preconditioner.hessian)
        return result.coef

    def minimise(
        self,
        alpha: float,
        *,
        tol: float,
        max_iter: int,
        on_step: OnStep | None = None,
        offer: Offer | None = None,
        promise: float = 0.0,
    ) -> Result:
        """Minimise at ``alpha`` from where the solver stands.

        A kept promise below ``promise``, if that is above ``tol``, is enough too.
        """
        history, self.taken = self.taken, []
        preconditioner = self.preconditioner or self._new_preconditioner()
        preconditioner.factorise(alpha)
        if offer is not None and not history:
            # Of large data, most passes lead to the start, and one step may be enough.
            offer(lambda: self.state(history))
        converged = not history and self._is_close_enough(alpha, tol)
        gap = history[-1].gap if history else np.inf
        for _ in range(0 if converged else max_iter - len(history)):
            value = self.objective(alpha)
            grad = self.loss_grad + alpha * self.coef
            if not grad.any():
                converged = True
                break
            is_rough = len(history) < ROUGH_STEPS and gap > ROUGH * tol
            direction = self._newton_direction(grad, alpha, preconditioner, is_rough)
            decrement = -float(grad @ direction.coef)
            self._search(
                direction.coef,
                direction.scores,
                alpha=alpha,
                slope=-decrement,
                tol=SEARCH_TOL,
            )
            # Half the decrement is what the quadratic model says is left to gain.
            gap = 0.5 * decrement / max(value, TINY)
            history.append(Step(self.objective(alpha), gap, self.n_passes))
            if on_step is not None:
                on_step(history[-1])
            # A small promise is only worth something if it was kept: where pairs stop
            # being active along the way, there is more to gain than the model knew,
            # and a rough direction does not show all that there is.
            drop = (value - history[-1].value) / max(value, TINY)
            kept = drop <= KEPT * gap and not direction.is_rough
            # CG has just shown how good the preconditioner is here.
            self.stretch = (
                direction.stretch if kept and drop <= KEPT_CLOSELY * gap else np.inf
            )
            if (kept and gap <= max(tol, promise)) or (
                gap <= NEARLY * tol and self._is_close_enough(alpha, tol)
            ):
                converged = True
                break
            if direction.n_steps > preconditioner.patience:
                preconditioner = self._new_preconditioner()
                preconditioner.factorise(alpha)
            if offer is not None:
                offer(lambda: self.state(history))
        value = self.objective(alpha)
        message = (
            f"relative Newton decrement below {tol:g}"
            if converged
            else f"relative decrement {history[-1].gap:.1e} after {max_iter} steps"
        )
        return Result(
            self.coef.copy(), value, len(history), converged, message, history
        )

    def _new_preconditioner(self) -> Preconditioner:
        self.preconditioner = Preconditioner.build(
            self.design,
            self.loss,
            self.scores,
            self.terms,
            self.is_pos,
            self.weight,
        )
        return self.preconditioner

    def _is_close_enough(self, alpha: float, tol: float) -> bool:
        """Say whether a good preconditioner puts the gap well below ``tol``.

        Costs no product. It saves the last step of most fits and, where a solution
        stays as it is from one alpha of a path to the next, the whole fit.
        """
        if self.preconditioner is None or self.stretch == np.inf:
            return False
        grad = self.loss_grad + alpha * self.coef
        gap = 0.5 * self.stretch * float(grad @ self.preconditioner.solve(grad))
        return gap <= SAFETY * tol * self.objective(alpha)

    def _newton_direction(
        self,
        grad: FloatArray,
        alpha: float,
        preconditioner: Preconditioner,
        is_rough: bool,
    ) -> "_Direction":
        """Solve ``H d = -grad`` by preconditioned CG, roughly."""
        coef = np.zeros_like(grad)
        scores, step_scores, curved = self._work
        scores.fill(0.0)
        residual = -grad
        scaled = preconditioner.solve(residual)
        step = scaled
        norm = first_norm = float(residual @ scaled)
        if first_norm == 0.0:
            raise ValueError(TOO_SMALL)
        n_steps, decrease, stretch = 0, 0.0, 1.0
        n, d = self.design.shape
        is_hard = preconditioner.hessian is None or n < 2 * d
        # The shift overstates them as well.
        solved = SOLVED * alpha / preconditioner.shift if preconditioner.is_exact else 0
        least = MIN_PROGRESS_HARD
        while n_steps < MAX_CG:
            n_steps += 1
            self.design.scores(step, out=step_scores)
            self.terms.hess_dot(step_scores, out=curved)
            product = self.design.adjoint(curved)
            self.n_passes += 2
            product += alpha * step
            curvature = float(step @ product)
            if curvature <= 0.0:
                # Rounding, where features differ in size by half the digits or more.
                # Any direction of descent will do: the search finds how far to go.
                if n_steps == 1:
                    coef += step
                    scores += step_scores
                break
            length = norm / curvature
            coef += length * step
            residual -= length * product
            step_scores *= length
            scores += step_scores
            stretch = max(stretch, length)
            gain = length * norm
            decrease += gain
            scaled = preconditioner.solve(residual)
            previous, norm = norm, float(residual @ scaled)
            if norm <= solved * first_norm:
                break
            if is_hard:
                if is_rough and n_steps >= ROUGH_AFTER:
                    least = MIN_PROGRESS_ROUGH
                slow = n_steps * gain <= least * decrease
                if slow and norm <= least**2 * first_norm:
                    break
            elif n_steps * gain <= MIN_PROGRESS * decrease:
                break
            step = scaled + (norm / previous) * step
        if n_steps > MAX_STEPS or not preconditioner.is_lasting or is_hard:
            stretch = np.inf
        return _Direction(coef, scores, n_steps, stretch, is_hard and is_rough)


class _Direction(NamedTuple):
    coef: FloatArray
    scores: FloatArray
    n_steps: int
    stretch: float
    is_rough: bool
