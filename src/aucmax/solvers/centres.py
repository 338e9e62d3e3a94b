# SPDX-License-Identifier: BSD-3-Clause
"""Moving the centres of Gaussian functions, with their weights, downhill.

Minimises ``loss(K coef) + alpha / 2 * coef' K_UU coef`` with ``K = exp(-gamma |x_i -
u_q|^2)`` over coefficients and centres together, by L-BFGS. Not convex: it improves on
where it starts.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from sklearn.metrics.pairwise import rbf_kernel

from aucmax import _kernels
from aucmax._utils.typing import BoolArray, FloatArray, Matrix, is_sparse
from aucmax.losses import PairLoss
from aucmax.solvers._expansion import train_weights
from aucmax.solvers.base import OnStep, Step

# ``kernel(centres)`` returns a function of blocks of rows: their values, dense.
CentredKernel = Callable[[FloatArray], Callable[[Matrix], NDArray[Any]]]

BLOCK_ROWS = 2048
# Pairs of steps that L-BFGS remembers. 10, 30 and 60 end at objectives of .02356,
# .02325 and .02291 after 200 iterations on ijcnn1; more cost little time.
MEMORY = 50
# An iteration that lowers the objective by a smaller share is the last: float32 kernel
# values would not show much less.
LEAST_DECREASE = 1e-7


class Moved(NamedTuple):
    """Refined centres and coefficients, and the objective they reach."""

    centres: FloatArray
    coef: FloatArray
    value: float
    n_iter: int


def refine_centres(
    problem: "CentresProblem",
    centres: FloatArray,
    coef: FloatArray,
    *,
    max_iter: int = 200,
    tol: float = 1e-3,
    on_step: OnStep | None = None,
) -> Moved:
    """Move centres and coefficients from where they are; then train the coefficients.

    An iteration costs about as much as two products with the kernel columns plus
    computing them. Memory: one value per row and centre. ``tol`` is the relative
    accuracy of the last training of the coefficients.
    """
    # In units of the kernel's width, from the middle of the centres.
    unit, middle = np.sqrt(0.5 / problem.gamma), centres.mean(axis=0)
    k, d = centres.shape

    def unpack(point: FloatArray) -> tuple[FloatArray, FloatArray]:
        return point[k:].reshape(k, d) * unit + middle, point[:k]

    # L-BFGS compares decreases with one, so the objective is made to start there.
    first = problem.evaluate(centres, coef)[0] or 1.0

    def evaluate(point: FloatArray) -> tuple[float, FloatArray]:
        value, grad_centres, grad_coef = problem.evaluate(*unpack(point))
        grad = np.concatenate([grad_coef, unit * grad_centres.ravel()])
        return value / first, grad / first

    def show(intermediate_result: Any) -> None:
        if on_step is not None:
            value = first * float(intermediate_result.fun)
            on_step(Step(value, np.nan, problem.n_passes))

    start = np.concatenate([coef, ((centres - middle) / unit).ravel()])
    result = minimize(
        evaluate,
        start,
        jac=True,
        method="L-BFGS-B",
        callback=show,
        options={
            "maxiter": max_iter,
            "maxfun": 4 * max_iter,
            "maxcor": MEMORY,
            "ftol": LEAST_DECREASE,
            "gtol": 0.0,
        },
    )
    centres, coef = unpack(result.x)
    coef = problem.train(centres, coef, tol)
    value = problem.evaluate(centres, coef)[0]
    return Moved(centres, coef, value, int(result.nit))


@dataclass
class CentresProblem:
    """The objective and its gradient in centres and coefficients.

    Parameters
    ----------
    X : ndarray or CSR of shape (n_samples, n_features)
        Training rows.
    is_pos, weight : ndarray of shape (n_samples,)
        Positives, and weights.
    kernel : callable
        ``kernel(centres)(rows)`` returns ``exp(-gamma |row - centre|^2)``.
    gamma : float
        Inverse width.
    loss : PairLoss
        The loss over pairs.
    alpha : float
        Strength of the penalty.
    """

    X: Matrix
    is_pos: BoolArray
    weight: FloatArray
    kernel: CentredKernel
    gamma: float
    loss: PairLoss
    alpha: float

    def __post_init__(self) -> None:
        self.n_passes = 0.0
        self._values: NDArray[Any] = np.empty((0, 0))

    def evaluate(
        self, centres: FloatArray, coef: FloatArray
    ) -> tuple[float, FloatArray, FloatArray]:
        """Return the objective and its gradients in ``centres`` and in ``coef``."""
        scores = self._fill(centres, coef)
        terms = self.loss.evaluate(scores, self.is_pos, self.weight)
        total, moment = self._sums(terms.grad, centres)
        gram = self._gram(centres)
        smooth = gram @ coef
        value = terms.value + 0.5 * self.alpha * float(coef @ smooth)
        grad_coef = total + self.alpha * smooth
        # d k(x, u) / du = 2 gamma k(x, u) (x - u), for rows and for other centres.
        pull = gram * coef
        moment += self.alpha * (pull @ centres - smooth[:, None] * centres)
        return value, 2.0 * self.gamma * coef[:, None] * moment, grad_coef

    def train(self, centres: FloatArray, coef: FloatArray, tol: float) -> FloatArray:
        """Return the best coefficients for these centres."""
        self._fill(centres, coef)
        return train_weights(
            self._values,
            self._gram(centres).astype(self._values.dtype),
            self.is_pos,
            self.weight,
            loss=self.loss,
            alpha=self.alpha,
            start=coef,
            tol=tol,
        )

    def _fill(self, centres: FloatArray, coef: FloatArray) -> FloatArray:
        """Compute the kernel between rows and centres; return the scores."""
        values = self.kernel(centres)
        n = self.X.shape[0]
        scores = np.empty(n)
        for low in range(0, n, BLOCK_ROWS):
            part = slice(low, low + BLOCK_ROWS)
            block = values(self.X[part])
            if self._values.shape != (n, len(coef)):
                self._values = np.empty((n, len(coef)), dtype=block.dtype)
            self._values[part] = block
            # Sums in float64: coefficients of near neighbours are large and cancel.
            _kernels.products.row_scores(block, coef, scores[part])
        self.n_passes += 1
        return scores

    def _sums(
        self, grad: FloatArray, centres: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return ``sum g_i k(x_i, u)`` and ``sum g_i k(x_i, u) (x_i - u)`` per centre.

        Dense rows are seen from the middle of the centres, where fewer digits cancel.
        """
        dtype = self._values.dtype
        middle = 0.0 if is_sparse(self.X) else centres.mean(axis=0)
        grad = grad.astype(dtype)
        total, moment = np.zeros(len(centres)), np.zeros(centres.shape)
        for low in range(0, len(grad), BLOCK_ROWS):
            part = slice(low, low + BLOCK_ROWS)
            pulls = self._values[part] * grad[part, None]
            total += pulls.sum(axis=0, dtype=np.float64)
            rows = self.X[part]
            if not is_sparse(rows):
                rows = (rows - middle).astype(dtype, copy=False)
            moment += (rows.T @ pulls).T
        self.n_passes += 1
        moment -= total[:, None] * (centres - middle)
        return total, moment

    def _gram(self, centres: FloatArray) -> FloatArray:
        gram: FloatArray = rbf_kernel(centres - centres.mean(axis=0), gamma=self.gamma)
        return gram
