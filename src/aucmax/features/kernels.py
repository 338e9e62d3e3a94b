# SPDX-License-Identifier: BSD-3-Clause
"""Kernel functions between rows, with their parameters."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from aucmax._utils.state import expect, expect_number
from aucmax._utils.typing import FloatArray, Matrix, is_sparse, to_dense
from aucmax.features._dispersion import mean_absolute_distance, mean_square_distance
from aucmax.features._prepared import PreparedKernel
from aucmax.saved import saved_as

__all__ = ["Kernel", "PreparedKernel", "mean_square_distance", "scale_mean_gamma"]


NAMES = ("rbf", "laplacian", "polynomial")


@saved_as("Kernel")
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

    Examples
    --------
    >>> import numpy as np
    >>> from aucmax.features.kernels import Kernel
    >>> X = np.array([[0.0, 0.0], [1.0, 0.0]])
    >>> Kernel("rbf", gamma=2.0)(X, X).round(3)
    array([[1.   , 0.135],
           [0.135, 1.   ]])
    """

    name: str | Callable[..., Any]
    gamma: float
    degree: float = 3.0
    coef0: float = 1.0

    def __call__(self, X: Matrix, Y: Matrix) -> NDArray[Any]:
        """Return the kernel between all rows of ``X`` and of ``Y``, dense.

        In float32 when both are, else in float64. ``X`` may be CSR; ``Y`` is dense.
        Equal rows have an rbf or laplacian kernel of exactly one.
        """
        return self.prepare(Y, like=X)(X)

    def check_state(self) -> None:
        """Raise ValueError unless the arrays of a loaded object fit together."""
        expect(
            callable(self.name) or self.name in NAMES, self, f"name is {self.name!r}"
        )
        for name in ("gamma", "degree", "coef0"):
            expect_number(self, name)

    def prepare(
        self, Y: Matrix, *, like: Matrix, dtype: DTypeLike | None = None
    ) -> PreparedKernel:
        """Return the kernel against ``Y`` as a function of blocks of rows.

        Norms and copies of ``Y`` are then made once. The rows to come are dense or CSR
        as ``like`` is; the values are of ``dtype``, by default float32 when both
        ``like`` and ``Y`` are.
        """
        precision = np.result_type(like.dtype, Y.dtype) if dtype is None else dtype
        return PreparedKernel(
            self, to_dense(Y), dtype=np.dtype(precision), sparse=is_sparse(like)
        )


def scale_mean_gamma(
    name: str | Callable[..., Any], X: Matrix, weight: FloatArray | None = None
) -> float:
    """Return the inverse width that ``gamma="scale-mean"`` stands for.

    One over the mean distance of the rows to their mean: squared for "rbf" and
    "polynomial", in the L1 norm for "laplacian". One for a callable.
    """
    if callable(name):
        return 1.0
    spread = mean_absolute_distance if name == "laplacian" else mean_square_distance
    gamma = max(1.0 / spread(X, weight), float(np.finfo(np.float64).tiny))
    # Nine digits: a row given twice and one of weight two, whose sums round apart, have
    # the same kernel to the last bit, and so the same eigenvectors.
    return float(f"{gamma:.9g}")
