# SPDX-License-Identifier: BSD-3-Clause
"""A preconditioner: the Hessian in the columns that matter, from a sample of rows.

The curvature of the loss sits in rows of many active pairs. Rows drawn in proportion to
the root of their curvature, each weighted with the inverse of its chance, and the *same
loss* evaluated on them give an estimate of the Hessian. Columns in which the loss
curves less than the penalty need no more than a diagonal: few matter at a large
``alpha``, all at a tiny one.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

from aucmax._utils.checkpoint import State
from aucmax._utils.threads import one_blas_thread
from aucmax._utils.typing import FloatArray, IntArray, to_dense
from aucmax.losses import Terms
from aucmax.solvers._descent import TINY
from aucmax.solvers._sampling import draw_rows
from aucmax.solvers.base import Problem

# Rows per column of the block: at least, and more than enough.
FEW_ROWS, MANY_ROWS = 3.0, 30.0
# All rows and columns, if there are no more rows than these, and no more columns than
# rows.
LEAST_ROWS = 1000
# A block of k columns from m rows costs this times m k^2 multiplications of a product
# with all rows, which waits for memory.
COST = 0.055
# Added to the diagonal of the block, as a share of it: rounding must not make it
# singular.
SHIFT = 1e-7
# Blocks from more values than these are computed in float32.
PRECISE_VALUES = 2**20


class Sample(NamedTuple):
    """Some rows, the loss on them alone, and what scales it to that of all rows."""

    rows: IntArray
    terms: Terms
    scale: float


class SampledHessian:
    """``H + alpha I``: dense for the columns that matter, diagonal for the rest.

    Parameters
    ----------
    problem : Problem
        Rows and loss.
    scores : ndarray of shape (n_samples,)
        The scores at which the Hessian is estimated.
    terms : Terms
        The loss there.
    alpha : float
        The penalty.
    budget : float
        What it may cost, in products with all rows; it then has the columns of the
        largest curvature only.

    Attributes
    ----------
    cost : float
        What it did cost.
    is_exact : bool
        Whether it is the Hessian itself.
    """

    def __init__(
        self,
        problem: Problem,
        scores: FloatArray,
        terms: Terms,
        *,
        alpha: float,
        budget: float,
    ) -> None:
        n, d = problem.design.shape
        self.cost = 0.0
        self.is_exact = d <= n <= LEAST_ROWS
        if self.is_exact:
            self.columns = np.arange(d)
            self.block = exact_hessian(problem, terms)
            self.diagonal = np.maximum(np.diagonal(self.block), 0.0)
        else:
            curvature = terms.hess_diag()
            self.diagonal = _diagonal(problem, curvature)
            work = budget * problem.design.n_values / COST
            self.columns = _columns_that_matter(self.diagonal, alpha, work)
            k = len(self.columns)
            self.block = np.zeros((k, k))
            if k:
                size = min(max(work / k**2, FEW_ROWS * k), MANY_ROWS * k)
                sample = _sample(problem, scores, curvature, round(size))
                self.cost = budget * len(sample.rows) * k**2 / work
                self._add_sample(problem, sample)
        self.factorise(alpha)

    def _add_sample(self, problem: Problem, sample: Sample) -> None:
        hessian, seen = _hessian(problem, sample.rows, sample.terms, self.columns)
        self.block += sample.scale * hessian
        # A column that is zero in all sampled rows is not flat.
        unseen = self.diagonal[self.columns] - sample.scale * seen
        self.block.flat[:: len(seen) + 1] += np.maximum(unseen, 0.0)

    @classmethod
    def restored(cls, state: State, alpha: float) -> "SampledHessian":
        """Return the one of such a state."""
        restored = cls.__new__(cls)
        vars(restored).update(state)
        restored.factorise(alpha)
        return restored

    def state(self) -> State:
        """Return what was estimated."""
        names = ("diagonal", "columns", "block", "cost", "is_exact")
        return {name: getattr(self, name) for name in names}

    def factorise(self, alpha: float) -> None:
        """Prepare ``solve`` for this ``alpha``."""
        self._scale = self.diagonal + alpha
        k = len(self.columns)
        # To a diagonal of ones, whatever the units of the columns.
        self._unit = 1.0 / np.sqrt(np.diagonal(self.block) + alpha)
        scaled = self._unit[:, None] * self.block * self._unit
        shift = SHIFT
        with one_blas_thread():
            while k > 0:
                scaled.flat[:: k + 1] = 1.0 + shift
                self._factor, failed = lapack.dpotrf(scaled.T, lower=True)
                if not failed:
                    break
                shift *= 10.0

    def solve(self, vector: FloatArray) -> FloatArray:
        """Return ``(H + alpha I)^-1 vector``."""
        solution = vector / self._scale
        if len(self.columns):
            some = self._unit * vector[self.columns]
            # scipy's cho_solve takes longer to check its arguments than to solve.
            part = lapack.dpotrs(self._factor, some, lower=True)[0]
            solution[self.columns] = self._unit * part
        return solution


def _diagonal(problem: Problem, curvature: FloatArray) -> FloatArray:
    """Return about the diagonal of the Hessian: variances, weighted by curvature."""
    total = max(float(curvature.sum()), TINY)
    sums = problem.design.adjoint(curvature)
    squares = problem.design.square_sums(curvature)
    return np.maximum(squares - sums * (sums / total), 0.0)


def _columns_that_matter(diagonal: FloatArray, alpha: float, work: float) -> IntArray:
    """Return the columns of more curvature than the penalty, and not too many."""
    columns = np.flatnonzero(diagonal > alpha)
    most = max(1, int((work / FEW_ROWS) ** (1 / 3)))
    if len(columns) > most:
        columns = np.sort(np.argpartition(diagonal, -most)[-most:])
    return columns


def _sample(
    problem: Problem, scores: FloatArray, curvature: FloatArray, size: int
) -> Sample:
    """Draw about ``size`` rows, or more where that is little."""
    total = float(curvature.sum())
    # A share, because the curvature may be out of float32's range.
    importance = np.sqrt(curvature / total).astype(np.float32)
    index, chance = draw_rows(importance, problem.is_pos, max(size, LEAST_ROWS))
    # In the order of their scores, sweeps over them run along memory.
    order = np.argsort(scores[index], kind="stable")
    index, chance = index[order], chance[order]
    some = Problem(
        problem.design,
        problem.loss,
        problem.is_pos[index],
        problem.weight[index] / chance,
    )
    terms = some.evaluate(scores[index])
    # A loss divides by the mass it sees, and rows of no curvature are not drawn.
    seen = float(terms.hess_diag().sum())
    return Sample(index, terms, total / seen if seen > 0.0 else 0.0)


def exact_hessian(problem: Problem, terms: Terms) -> FloatArray:
    """Return the Hessian of the loss where rows and columns are few."""
    n, d = problem.design.shape
    return _hessian(problem, np.arange(n), terms, np.arange(d))[0]


def _hessian(
    problem: Problem, index: IntArray, terms: Terms, columns: IntArray
) -> tuple[FloatArray, FloatArray]:
    """Return the Hessian of the loss on some rows, in some columns.

    With it what `_diagonal` would say of these rows.
    """
    is_all = len(columns) == problem.design.shape[1]
    rows = problem.design.rows(index, None if is_all else columns)
    is_large = len(index) * len(columns) > PRECISE_VALUES
    dtype = np.float32 if is_large else np.float64
    values: NDArray[Any] = np.ascontiguousarray(to_dense(rows).T, dtype=dtype)
    curvature = terms.hess_diag()
    share: NDArray[Any] = curvature / max(float(curvature.sum()), TINY)
    share = share.astype(dtype)
    with one_blas_thread():
        # The Hessian ignores it, and sums keep digits.
        values -= (values @ share)[:, None]
        diagonal = np.square(values) @ share * curvature.sum()
        hessian = terms.hess_dot(values, out=np.empty_like(values)) @ values.T
    return hessian.astype(np.float64, copy=False), diagonal
