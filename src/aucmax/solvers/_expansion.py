# SPDX-License-Identifier: BSD-3-Clause
"""A sum of kernel functions at chosen training rows, and the training of its weights.

The objective is ``loss(columns @ coef) + alpha / 2 * coef' gram coef``: the penalty is
the squared norm of the sum in the kernel's own space.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy.linalg import LinAlgError, cholesky, solve_triangular

from aucmax._utils.typing import BoolArray, FloatArray, IntArray
from aucmax.design import LocalDesign, MixedDesign
from aucmax.losses import PairLoss, SquaredHinge, Terms
from aucmax.solvers.base import Problem
from aucmax.solvers.nonlinear_cg import nonlinear_cg

# ``values(rows, index)``: the kernel between two lists of training rows, dense.
KernelValues = Callable[[IntArray, IntArray], NDArray[Any]]

# Rows whose columns are filled in at a time.
BLOCK_ROWS = 8192
MAX_NEWTON = 100
# Added to the diagonal of the gram matrix, relative to its mean: rows given twice make
# it singular. With 40 wide functions on 200 rows, float32 columns end .04 % above the
# objective of float64 at 1e-7, and .6 % at 1e-6.
JITTER = {np.dtype(np.float32): 1e-7, np.dtype(np.float64): 1e-11}


class Expansion:
    """Chosen rows, their kernel columns and weights, and the loss at the scores.

    Parameters
    ----------
    values : callable
        ``values(rows, index)``: the kernel between two lists of training rows.
    is_pos, weight : ndarray of shape (n_samples,)
        Positives; weights, zero for rows that are scored but not trained on.
    loss : SquaredHinge
        The loss over pairs.
    alpha : float
        Strength of the penalty.
    capacity : int
        Most functions there will be.
    dtype : dtype, default=float64
        Precision of the columns.
    """

    def __init__(
        self,
        values: KernelValues,
        is_pos: BoolArray,
        weight: FloatArray,
        *,
        loss: SquaredHinge,
        alpha: float,
        capacity: int,
        dtype: DTypeLike = np.float64,
    ) -> None:
        self.values = values
        self.is_pos = is_pos
        self.weight = weight
        self.loss = loss
        self.alpha = alpha
        self.index: IntArray = np.empty(0, dtype=np.int64)
        self.coef: FloatArray = np.empty(0)
        # Fortran order: one more function is one more contiguous column.
        self._columns = np.empty((len(is_pos), capacity), dtype=dtype, order="F")
        self.move_to(np.zeros(len(is_pos)))

    @property
    def columns(self) -> NDArray[Any]:
        """Kernel between all rows and the chosen ones."""
        return self._columns[:, : len(self.index)]

    @property
    def objective(self) -> float:
        """Value of the objective; ``scores[index]`` is ``gram @ coef``."""
        norm = float(self.coef @ self.scores[self.index])
        return self.terms.value + 0.5 * self.alpha * norm

    def move_to(self, scores: FloatArray, terms: Terms | None = None) -> None:
        """Take new scores, and the loss at them where it is known."""
        self.scores = scores
        self.terms = (
            self.loss.evaluate(scores, self.is_pos, self.weight)
            if terms is None
            else terms
        )

    def append(self, index: IntArray) -> None:
        """Add functions at the training rows ``index``, of weight zero."""
        size = len(self.index)
        new = slice(size, size + len(index))
        for low in range(0, len(self.is_pos), BLOCK_ROWS):
            rows = np.arange(low, min(low + BLOCK_ROWS, len(self.is_pos)))
            self._columns[low : low + BLOCK_ROWS, new] = self.values(rows, index)
        self.index = np.concatenate([self.index, index])
        self.coef = np.concatenate([self.coef, np.zeros(len(index))])

    def truncate(self, coef: FloatArray) -> None:
        """Keep the first functions only, with these weights."""
        self.index = self.index[: len(coef)]
        self.coef = coef
        self._rescore()

    def retrain(self, tol: float) -> None:
        """Train all weights, and compute the scores anew, which removes any drift."""
        self.coef = train_weights(
            self.columns,
            self.columns[self.index],
            self.is_pos,
            self.weight,
            loss=self.loss,
            alpha=self.alpha,
            start=self.coef,
            tol=tol,
        )
        self._rescore()

    def _rescore(self) -> None:
        coef = self.coef.astype(self._columns.dtype)
        self.move_to((self.columns @ coef).astype(np.float64, copy=False))


def train_weights(
    columns: NDArray[Any],
    gram: NDArray[Any],
    is_pos: BoolArray,
    weight: FloatArray,
    *,
    loss: PairLoss,
    alpha: float,
    start: FloatArray,
    tol: float,
) -> FloatArray:
    """Minimise the objective over the weights of given functions, from ``start``."""
    factor = factorise_gram(gram)
    # In these coordinates the penalty is a plain ridge.
    whitening = solve_triangular(factor, np.eye(len(gram)), lower=True).T
    rows = LocalDesign(columns, np.zeros(len(gram)))
    result = nonlinear_cg(
        Problem(MixedDesign(rows, whitening, dtype=gram.dtype), loss, is_pos, weight),
        alpha,
        start=factor.T @ start,
        tol=tol,
        max_iter=MAX_NEWTON,
    )
    coef: FloatArray = whitening @ result.coef
    return coef


def factorise_gram(
    gram: NDArray[Any], precision: np.dtype[Any] | None = None
) -> FloatArray:
    """Return the lower Cholesky factor of a gram matrix, lifted where it is singular.

    By what is rounding in the precision it was computed with.
    """
    check_kernel(gram)
    symmetric = gram.astype(np.float64)
    symmetric = 0.5 * (symmetric + symmetric.T)
    mean = float(np.trace(symmetric)) / len(gram)
    jitter = JITTER[precision or gram.dtype] * (mean if mean > 0.0 else 1.0)
    for _ in range(5):
        symmetric.flat[:: len(gram) + 1] += jitter
        try:
            factor: FloatArray = cholesky(symmetric, lower=True, check_finite=False)
        except LinAlgError:
            jitter *= 10.0
        else:
            return factor
    raise ValueError(
        "The kernel is not positive semi-definite: the kernel matrix of "
        f"{len(gram)} rows has eigenvalues well below zero. Choose another kernel or "
        "other parameters for it."
    )


def check_kernel(values: NDArray[Any]) -> None:
    """Raise when kernel values, or their sums, have left the range of floats."""
    if not np.isfinite(values).all():
        raise ValueError(
            "Kernel values are not finite: X holds values too large for this kernel. "
            "Scale the features first, for example with "
            "sklearn.preprocessing.StandardScaler, or choose a smaller gamma."
        )
