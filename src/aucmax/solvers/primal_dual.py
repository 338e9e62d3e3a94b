# SPDX-License-Identifier: BSD-3-Clause
"""Stochastic primal-dual method for the pairwise square loss (SPDAM), re-derived.

With row i centred by its class mean and divided by the root of its class's share,
``row_i``, and ``gap = mean_neg - mean_pos``, half the objective is, up to a constant,
``max over dual of mean_i(dual_i coef'row_i - dual_i^2 / 2) + (gap'coef)^2 / 2 +
gap'coef + alpha / 4 |coef|^2``: a saddle point with one dual variable per row. Each
step updates the duals of a few random rows and then the coefficients. Distances to the
solution shrink by ``sqrt(theta)`` per step.
"""

import numpy as np

from aucmax import _kernels
from aucmax._utils.typing import BoolArray, FloatArray, IntArray, is_sparse
from aucmax._utils.validation import ignoring_overflow
from aucmax.design import Design
from aucmax.losses import Square
from aucmax.solvers.base import OnStep, Result, Step, check_finite

# Values of rows held at a time: 2 MB, so that they stay in cache.
BLOCK_VALUES = 2**18


def primal_dual(
    design: Design,
    is_pos: BoolArray,
    *,
    alpha: float,
    batch_size: int,
    tol: float,
    max_iter: int,
    rng: np.random.Generator,
    on_step: OnStep | None = None,
) -> Result:
    """Minimise the pairwise square loss plus ``alpha / 2 * |coef|^2``.

    One iteration is one pass: as many random rows as there are. After each, two more
    passes measure the true gradient; stops when its norm is below ``tol`` of that at
    zero.

    Cost per pass: O(n d), one dual variable per row; if rows are sparse, their nonzeros
    and O(d) per step.
    """
    n, d = design.shape
    rows = _CentredRows(design, is_pos)
    rates = _rates(alpha, n, batch_size, rows.largest_square())
    weight = np.ones(n)
    square = Square()

    def measure(coef: FloatArray) -> tuple[float, float]:
        # What has overflowed is refused below.
        with ignoring_overflow():
            terms = square.evaluate(design.scores(coef), is_pos, weight)
            grad = design.adjoint(terms.grad) + alpha * coef
            value = terms.value + 0.5 * alpha * float(coef @ coef)
            return value, float(np.linalg.norm(grad))

    _, first_norm = measure(np.zeros(d))
    coef = np.zeros(d)
    state = _kernels.primal_dual.State(np.zeros(n), np.zeros(d), coef, np.zeros(d))
    steps_per_block = max(1, BLOCK_VALUES // (rows.width * batch_size))
    steps_per_pass = max(1, n // batch_size)
    history: list[Step] = []
    norm = 1.0
    for _ in range(max_iter):
        for low in range(0, steps_per_pass, steps_per_block):
            n_steps = min(steps_per_block, steps_per_pass - low)
            ids = _draw(rng, n, batch_size, n_steps)
            rows.run(ids, rates, state)
        value, grad_norm = measure(coef)
        check_finite(value, coef)
        norm = grad_norm / first_norm if first_norm > 0.0 else 0.0
        # By strong convexity no more than this is left to gain: rounding, where the
        # features say nothing.
        if grad_norm**2 <= 2.0 * alpha * np.finfo(float).eps * value:
            norm = 0.0
        history.append(Step(value, norm, 3.0 * (len(history) + 1)))
        if on_step is not None:
            on_step(history[-1])
        if norm <= tol:
            break
    message = f"gradient {norm:.1e} of that at zero, asked {tol:g}"
    return Result(coef, history[-1].value, len(history), norm <= tol, message, history)


class _CentredRows:
    """Rows less their class mean, divided by the root of the class's share."""

    def __init__(self, design: Design, is_pos: BoolArray) -> None:
        n = design.shape[0]
        self.design = design
        # Values per row: features, or the nonzeros of a row.
        self.width = max(1, design.n_values // n)
        self.labels = is_pos.astype(np.intp)
        n_pos = int(np.count_nonzero(is_pos))
        mean_pos = design.adjoint(is_pos / n_pos)
        mean_neg = design.adjoint(~is_pos / (n - n_pos))
        self.gap = mean_neg - mean_pos
        check_finite(0.0, self.gap)
        self.means = np.stack([mean_neg, mean_pos])
        self.roots = np.sqrt([(n - n_pos) / n, n_pos / n])

    def run(
        self,
        ids: IntArray,
        rates: "_kernels.primal_dual.Rates",
        state: "_kernels.primal_dual.State",
    ) -> None:
        """Run one step for each batch of the rows ``ids``."""
        kernels, rows = _kernels.primal_dual, self.design.rows(ids)
        if not is_sparse(rows):
            rows = self.centre(rows, ids)
            kernels.primal_dual_steps_dense(rows, ids, self.gap, rates, state)
            return
        csr = rows.data, rows.indices, rows.indptr
        rows = kernels.ClassRows(*csr, self.labels[ids], self.means, self.roots)
        kernels.primal_dual_steps_csr(rows, ids, self.gap, rates, state)

    def centre(self, rows: FloatArray, ids: IntArray) -> FloatArray:
        labels = self.labels[ids]
        return np.asarray((rows - self.means[labels]) / self.roots[labels, None])

    def largest_square(self) -> float:
        """Return the largest square of the length of a row."""
        n = self.design.shape[0]
        size = max(1, BLOCK_VALUES // self.width)
        blocks = (np.arange(k, min(k + size, n)) for k in range(0, n, size))
        return max(float(self._squares(ids).max()) for ids in blocks)

    def _squares(self, ids: IntArray) -> FloatArray:
        rows, labels = self.design.rows(ids), self.labels[ids]
        if not is_sparse(rows):
            return np.asarray((self.centre(rows, ids) ** 2).sum(axis=1))
        squares = np.asarray(rows.power(2).sum(axis=1, dtype=np.float64)).ravel()
        squares -= 2.0 * (rows @ self.means.T)[np.arange(len(ids)), labels]
        squares += (self.means**2).sum(axis=1)[labels]
        # Rounding leaves a row that equals its mean a little below zero.
        return np.asarray(np.maximum(squares, 0.0) / self.roots[labels] ** 2)


def _rates(
    alpha: float, n: int, batch_size: int, square: float
) -> "_kernels.primal_dual.Rates":
    """Return the steps at which primal and dual distances contract at the same rate."""
    ridge = 0.5 * alpha
    # Rows all equal to their class mean: any scale will do.
    square = max(square, 1e-12 * ridge)
    rest = n - batch_size
    root = np.sqrt(rest**2 + 4.0 * n * batch_size * square / ridge)
    sigma = ridge * (rest + root) / (4.0 * batch_size * square)
    tau = 1.0 / (4.0 * sigma * square)
    theta = 1.0 - ridge / (ridge + 2.0 * sigma * square)
    return _kernels.primal_dual.Rates(sigma, tau, theta, ridge, n, batch_size)


def _draw(rng: np.random.Generator, n: int, batch_size: int, n_steps: int) -> IntArray:
    """Draw ``n_steps`` batches, each without replacement, one after the other."""
    if batch_size == 1:
        return rng.integers(n, size=n_steps)
    batches = [rng.choice(n, batch_size, replace=False) for _ in range(n_steps)]
    return np.concatenate(batches)
