# SPDX-License-Identifier: BSD-3-Clause
"""Kernel functions between rows, a block at a time."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics.pairwise import laplacian_kernel, polynomial_kernel, rbf_kernel

from aucmax._utils.typing import FloatArray, Matrix, is_sparse

# Rows whose spread sets the width of the kernel: as many as khalid2018 trains on.
MAX_ROWS = 80_000


@dataclass(frozen=True, slots=True)
class Kernel:
    """A kernel function with its parameters.

    Attributes
    ----------
    name : {"rbf", "laplacian", "polynomial"} or callable
        ``exp(-gamma |x - y|^2)``, ``exp(-gamma |x - y|_1)``, ``(gamma x'y +
        coef0)^degree``, or a function of two matrices that returns all values.
    gamma : float
        Inverse width; a callable ignores it.
    degree, coef0 : float
        Of the polynomial.
    """

    name: str | Callable[..., Any]
    gamma: float
    degree: float = 3.0
    coef0: float = 1.0

    def __call__(self, X: Matrix, Y: Matrix) -> NDArray[Any]:
        """Return the kernel between all rows of ``X`` and of ``Y``, dense.

        In float32 when both are, else in float64. ``X`` may be CSR; ``Y`` is dense.
        """
        if callable(self.name):
            values = self.name(X, Y)
        elif self.name == "rbf":
            values = rbf_kernel(X, Y, gamma=self.gamma)
        elif self.name == "laplacian":
            values = laplacian_kernel(X, Y, gamma=self.gamma)
        else:
            values = polynomial_kernel(
                X, Y, degree=self.degree, gamma=self.gamma, coef0=self.coef0
            )
        return np.asarray(values)


def mean_square_distance(X: Matrix, weight: FloatArray | None = None) -> float:
    """Return the mean squared distance of the rows to their mean (khalid2018's b).

    Of at most 80,000 rows, evenly spread. One where the rows are all equal.
    """
    n = X.shape[0]
    step = max(1, -(-n // MAX_ROWS))
    rows = X[::step]
    mass = np.ones(rows.shape[0]) if weight is None else weight[::step]
    total = float(mass.sum()) or 1.0
    if is_sparse(rows):
        squares = rows.multiply(rows).sum(axis=1)
        mean = np.asarray(rows.T @ mass).ravel() / total
        spread = float(mass @ np.asarray(squares).ravel()) / total - float(mean @ mean)
    else:
        mean = (mass @ rows) / total
        centred = rows - mean
        spread = float(mass @ np.einsum("ij,ij->i", centred, centred)) / total
    return spread if spread > 0.0 else 1.0
