# SPDX-License-Identifier: BSD-3-Clause
"""Kernel values against fixed rows, at the speed of one matrix product."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from aucmax import _kernels
from aucmax._utils.typing import FloatArray, Matrix, is_sparse, to_dense

if TYPE_CHECKING:
    from aucmax.features.kernels import Kernel

# Rows whose values are computed together: against 1600 landmarks they take 5 MB in
# float32 and stay in the cache. Between 512 and 4096 the time changes by a few percent.
BLOCK_ROWS = 768
# Where exponents could be off by more in float32, they are computed in float64; where
# those of CSR rows still could, as they are seen from zero, of dense rows.
MAX_NOISE = 1e-3
TOO_LARGE = (
    "Distances between rows overflow: X holds values too large to square. Scale the "
    "features first, for example with sklearn.preprocessing.StandardScaler."
)
# Polynomials of higher degree are left to np.power, ten times a multiplication.
MAX_FACTORS = 10


class PreparedKernel:
    """Kernel values of any rows against fixed ones.

    Parameters
    ----------
    kernel : Kernel
        The function.
    Y : ndarray of shape (n_columns, n_features)
        The fixed rows.
    dtype : dtype
        float64 or float32, of the values.
    sparse : bool
        Whether the rows will be CSR.
    """

    def __init__(
        self,
        kernel: "Kernel",
        Y: NDArray[Any],
        *,
        dtype: np.dtype[Any],
        sparse: bool,
    ) -> None:
        self.kernel = kernel
        self.Y = Y
        self.dtype = dtype
        self.sparse = sparse
        self._wide: PreparedKernel | None = None
        self._offset: NDArray[Any] | None = None
        if kernel.name == "rbf":
            # gamma |x - y|^2 = |u|^2 / 2 + |v|^2 / 2 - u'v with sqrt(2 gamma) in u, v.
            self._fill, self._unit = self._fill_rbf, np.sqrt(2.0 * kernel.gamma)
        elif kernel.name == "laplacian":
            self._fill, self._unit = self._fill_laplacian, kernel.gamma
        elif kernel.name == "polynomial":
            self._fill, self._unit = self._fill_polynomial, np.sqrt(kernel.gamma)
        else:
            self._fill = self._fill_by_call
            return
        with np.errstate(over="ignore", invalid="ignore"):
            # Distances are the same from anywhere; seen from the middle of Y they keep
            # their digits when all rows are far from zero. A mean follows outliers.
            if kernel.name == "laplacian" or (kernel.name == "rbf" and not sparse):
                self._offset = np.median(Y, axis=0).astype(dtype)
            columns = self._scaled(Y)
            self._right = _half_norms(columns).astype(dtype)
            self._columns = np.ascontiguousarray(columns.T)
            self._reach = float(np.abs(self._right).max(initial=0.0))

    def __call__(self, rows: Matrix, out: NDArray[Any] | None = None) -> NDArray[Any]:
        """Return the kernel between ``rows`` and ``Y``."""
        n = rows.shape[0]
        values = np.empty((n, len(self.Y)), self.dtype) if out is None else out
        with np.errstate(over="ignore", invalid="ignore"):
            for low in range(0, n, BLOCK_ROWS):
                block = slice(low, low + BLOCK_ROWS)
                self._fill(rows[block], values[block])
        return values

    def _fill_rbf(self, rows: Matrix, out: NDArray[Any]) -> None:
        scaled = self._scaled(rows)
        left = _half_norms(scaled).astype(self.dtype)
        # Of one product: a sum over d features, rounded d times.
        noise = np.finfo(self.dtype).eps * max(4.0, np.sqrt(rows.shape[1]))
        reach = float(left.max()) + self._reach
        is_noisy = not noise * reach < MAX_NOISE
        if is_noisy and self.dtype == np.float32:
            out[...] = self._more_exact(sparse=self.sparse)(rows)
            return
        if is_noisy and self.sparse:
            out[...] = self._more_exact(sparse=False)(to_dense(rows))
            return
        if not np.isfinite(reach):
            raise ValueError(TOO_LARGE)
        _multiply(scaled, self._columns, out)
        _exponentiate(out, left, self._right, float(noise))

    def _fill_laplacian(self, rows: Matrix, out: NDArray[Any]) -> None:
        _kernels.exponential.subtract_distances(
            self._scaled(to_dense(rows)), self._columns, out
        )
        left, right = np.zeros(len(out), self.dtype), np.zeros_like(self._right)
        _exponentiate(out, left, right, 0.0)

    def _fill_polynomial(self, rows: Matrix, out: NDArray[Any]) -> None:
        _multiply(self._scaled(rows), self._columns, out)
        out += self.dtype.type(self.kernel.coef0)
        degree = self.kernel.degree
        if degree in range(1, MAX_FACTORS + 1):
            base = out.copy()
            for _ in range(int(degree) - 1):
                out *= base
        else:
            np.power(out, self.dtype.type(degree), out=out)

    def _fill_by_call(self, rows: Matrix, out: NDArray[Any]) -> None:
        values = self.kernel.name(rows, self.Y)  # type: ignore[operator]
        values = to_dense(values) if is_sparse(values) else np.asarray(values)
        if values.shape != out.shape:
            raise ValueError(
                f"The kernel function returned an array of shape {values.shape} for "
                f"{out.shape[0]} and {out.shape[1]} rows. It must return one value per "
                f"pair of rows: shape {out.shape}."
            )
        if values.dtype.kind not in "biuf" or not np.all(np.isfinite(values)):
            raise ValueError(
                "The kernel function must return finite real numbers, but it returned "
                f"{values.dtype} values that are not. Check it on the rows it is given."
            )
        out[...] = values

    def _scaled(self, rows: Matrix) -> Matrix:
        """Return ``(rows - offset) * unit`` in the precision of the values."""
        if is_sparse(rows):
            return (rows * self._unit).astype(self.dtype)
        if self._offset is None:
            return rows.astype(self.dtype, copy=False) * self.dtype.type(self._unit)
        # Rows of more digits lose them after the subtraction, not before.
        wider = np.result_type(rows.dtype, self.dtype)
        scaled = rows - self._offset.astype(wider)
        scaled *= wider.type(self._unit)
        return scaled.astype(self.dtype, copy=False)

    def _more_exact(self, *, sparse: bool) -> "PreparedKernel":
        """Return the same kernel in float64."""
        if self._wide is None:
            self._wide = PreparedKernel(
                self.kernel, self.Y, dtype=np.dtype(np.float64), sparse=sparse
            )
        return self._wide


def _exponentiate(
    out: NDArray[Any], left: NDArray[Any], right: NDArray[Any], noise: float
) -> None:
    if out.dtype == np.float32:
        _kernels.exponential.exponentiate32(out, left, right, np.float32(noise))
    else:
        _kernels.exponential.exponentiate64(out, left, right, noise)


def _half_norms(rows: Matrix) -> FloatArray:
    """Return half the squared norm of each row, added up in float64."""
    if is_sparse(rows):
        squares = rows.astype(np.float64).power(2).sum(axis=1)
        return np.asarray(squares, np.float64).ravel() / 2.0
    norms: FloatArray = np.einsum("ij,ij->i", rows, rows, dtype=np.float64)
    return norms / 2.0


def _multiply(rows: Matrix, columns: NDArray[Any], out: NDArray[Any]) -> None:
    if is_sparse(rows):
        out[...] = rows @ columns
    else:
        np.matmul(rows, columns, out=out)
