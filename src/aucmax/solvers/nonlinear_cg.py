# SPDX-License-Identifier: BSD-3-Clause
"""Preconditioned non-linear conjugate gradients for any smooth loss and any design.

Minimises ``loss(scores(coef)) + alpha / 2 * |coef|^2``. Each step costs one product
with the rows and one with their transpose. The preconditioner is an estimate of the
Hessian that is renewed, and allowed to cost twice as much, whenever the steps since the
last one have cost as much as it did: so all of them together cost no more than the
steps.
"""

from dataclasses import replace

import numpy as np

from aucmax._utils.checkpoint import Offer, State
from aucmax._utils.state import expect_values
from aucmax._utils.typing import FloatArray
from aucmax.design import LocalDesign
from aucmax.solvers._descent import TINY, Descent
from aucmax.solvers._reduction import reduction
from aucmax.solvers._sampled_hessian import SampledHessian
from aucmax.solvers._sampling import spread_sample
from aucmax.solvers.base import (
    Checkpointing,
    OnStep,
    Problem,
    Result,
    Step,
    check_finite,
)

# Steps before an estimate of the Hessian is renewed, at least, and what the first may
# cost, in products with the rows.
LEAST_AGE, FIRST_BUDGET = 6.0, 2.0
# From so many rows on, the start is the solution of an eighth of them, of so many at
# most, to this tolerance.
SUBSAMPLE_ABOVE, SUBSAMPLE_ROWS, SUBSAMPLE_TOL = 5000, 4000, 0.03
# A step that should gain less than this share of the error of a loss is in vain.
RESOLVED = 0.1
STATE_NAMES = (
    *("coef", "scores", "loss_grad", "n_passes", "direction"),
    *("budget", "age", "length", "drops"),
)
NO_CHECKPOINTS = Checkpointing()
TOO_SMALL = (
    "The gradient is too small to square: X holds tiny values. Scale the features "
    "first, for example with sklearn.preprocessing.StandardScaler."
)


def nonlinear_cg(
    problem: Problem,
    alpha: float,
    *,
    start: FloatArray | None = None,
    tol: float = 1e-3,
    max_iter: int = 1000,
    on_step: OnStep | None = None,
    checkpointing: Checkpointing = NO_CHECKPOINTS,
) -> Result:
    """Minimise the loss plus ``alpha / 2 * |coef|^2``.

    Converges from any ``start`` at which the objective is finite: it is strictly
    convex, and every step minimises it along a direction of descent. Stops where the
    last step has gained, and the next one should gain, less than ``tol`` of the
    objective: an estimate, not a certificate.

    The state is offered at the start and after every step; from a saved one the same
    steps follow as without the break.
    """
    if (reduced := reduction(problem)) is not None:
        problem = reduced.problem
        start = None if start is None else reduced.coordinates(start)
    if checkpointing.saved is not None:
        solver = NonlinearCG.restored(problem, checkpointing.saved, alpha)
    elif start is not None:
        solver = NonlinearCG(problem, start)
    else:
        solver = NonlinearCG.started(problem, alpha)
    result = solver.minimise(
        alpha,
        tol=tol,
        max_iter=max_iter,
        on_step=on_step,
        offer=checkpointing.offer,
    )
    if reduced is not None:
        result = replace(result, coef=reduced.coef(result.coef))
    return result


class NonlinearCG(Descent):
    """The state of the solver, kept between the alphas of a path."""

    def __init__(self, problem: Problem, start: FloatArray) -> None:
        super().__init__(problem.evaluate)
        self.problem = problem
        self.hessian: SampledHessian | None = None
        self.budget = FIRST_BUDGET
        # Steps since the Hessian was estimated.
        self.age = 0
        self.coef = start
        if np.any(start) or problem.sample is not None:
            self.scores = problem.design.scores(start)
            self.n_passes += 1
        else:
            self.scores = np.zeros(problem.design.shape[0])
        self.terms = problem.evaluate(self.scores)
        self._update_gradient()

    @classmethod
    def started(cls, problem: Problem, alpha: float) -> "NonlinearCG":
        """Return the solver at the rough solution of a sub-sample, or at zero."""
        n, d = problem.design.shape
        if n < SUBSAMPLE_ABOVE:
            return cls(problem, np.zeros(d))
        size = min(n // 8, SUBSAMPLE_ROWS)
        index = spread_sample(problem.is_pos, problem.weight, size)
        part = Problem(
            LocalDesign(problem.design.rows(index)),
            problem.loss,
            problem.is_pos[index],
            problem.weight[index],
        )
        rough = cls(part, np.zeros(d))
        coef = rough.minimise(alpha, tol=SUBSAMPLE_TOL, max_iter=50).coef
        solver = cls(problem, coef)
        solver.n_passes += rough.n_passes * len(index) / n
        return solver

    @classmethod
    def restored(cls, problem: Problem, state: State, alpha: float) -> "NonlinearCG":
        """Return the solver of a saved state, to the last bit and without a product."""
        solver = cls.__new__(cls)
        Descent.__init__(solver, problem.evaluate)
        solver.problem = problem
        n, d = problem.design.shape
        for name, size in (("coef", d), ("scores", n), ("loss_grad", d)):
            expect_values(solver, name, state[name], (size,))
        for name in STATE_NAMES:
            setattr(solver, name, state[name])
        solver.previous = state["previous"] and tuple(state["previous"])
        solver.hessian = SampledHessian.restored(state["hessian"], alpha)
        solver.drops = list(state["drops"])
        solver.history = [Step(*map(float, step)) for step in state["history"]]
        solver.terms = problem.evaluate(solver.scores)
        return solver

    def state(self) -> State:
        """Return what the next step depends on."""
        assert self.hessian is not None
        return {name: getattr(self, name) for name in STATE_NAMES} | {
            "previous": self.previous,
            "hessian": self.hessian.state(),
            "history": np.array(self.history),
        }

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
        if not self.history:
            self._change_alpha(alpha)
        while True:
            if offer is not None:
                offer(self.state)
            grad = self.loss_grad + alpha * self.coef
            if not grad.any():
                gap, converged = 0.0, True
                break
            gap = self._choose_direction(grad, alpha)
            value = max(self.objective(alpha), TINY)
            enough = max(tol * value, RESOLVED * self.terms.error)
            converged = gap * value <= enough and self.recent_drop() <= enough
            if converged or len(self.history) >= max_iter:
                break
            self._step(grad, alpha)
            self.record(gap, alpha, on_step)
        history, self.history = self.history, []
        self.drops = self.drops[-1:]
        message = f"relative gain of the next step about {gap:.1e}"
        if not converged:
            message += f" after {len(history)} steps"
        return Result(
            self.coef.copy(),
            self.objective(alpha),
            len(history),
            converged,
            message,
            history,
        )

    def _change_alpha(self, alpha: float) -> None:
        self.restart()
        d = self.problem.design.shape[1]
        if self.hessian is None or len(self.hessian.columns) < d:
            self._estimate_hessian(alpha)
        else:
            self.hessian.factorise(alpha)

    def _estimate_hessian(self, alpha: float) -> SampledHessian:
        problem, scores, terms = self.problem, self.scores, self.terms
        budget = self.budget
        if problem.sample is not None:
            budget *= problem.design.n_values / problem.sample.design.n_values
            problem = problem.sample
            scores = problem.design.scores(self.coef)
            terms = problem.evaluate(scores)
        self.hessian = SampledHessian(
            problem, scores, terms, alpha=alpha, budget=budget
        )
        self.n_passes += 0.0 if self.hessian.is_exact else 2.0
        self.budget *= 2.0
        self.age, self.length = 0, 1.0
        return self.hessian

    def _choose_direction(self, grad: FloatArray, alpha: float) -> float:
        """Return what share of the objective a step along it should gain."""
        hessian = self.hessian
        assert hessian is not None
        least_age = 1.0 if hessian.is_exact else max(LEAST_AGE, hessian.cost)
        if self.age >= least_age:
            hessian = self._estimate_hessian(alpha)
            if self.previous is not None:
                last_grad = self.previous[0]
                self.previous = last_grad, hessian.solve(last_grad)
        fall = self.turn(grad, hessian.solve(grad))
        if fall == 0.0:
            raise ValueError(TOO_SMALL)
        # Where the last step was longer than expected, curvature has gone, and more is
        # left than predicted.
        gain = 0.5 * fall * max(1.0, self.length)
        return gain / max(self.objective(alpha), TINY)

    def _step(self, grad: FloatArray, alpha: float) -> None:
        assert self.direction is not None
        along = self.problem.design.scores(self.direction)
        self.n_passes += 1
        self.search(along, alpha=alpha, slope=self.inner(grad, self.direction))
        self.age += 1
        self._update_gradient()

    def _update_gradient(self) -> None:
        # Without the penalty, so that another alpha costs no product.
        self.loss_grad = self.problem.design.adjoint(self.terms.grad)
        self.n_passes += 1
        check_finite(self.terms.value, self.loss_grad)
