# SPDX-License-Identifier: BSD-3-Clause
"""The rows of another design times a matrix."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from aucmax._utils.typing import FloatArray, IntArray, Matrix
from aucmax.design._base import Design
from aucmax.design.mapped import RowMap

# A matrix that shortens rows to at most this share is better applied to the rows once
# than to the coefficients at every product.
SHORT = 0.5


class MixedDesign:
    """``X @ mixing``, where X is what another design shows.

    The matrix is multiplied with the coefficients, not with the rows.

    Parameters
    ----------
    design : Design
        The rows.
    mixing : ndarray of shape (n_columns, rank)
        The matrix, in float64.
    dtype : {"float32", "float64"}
        Precision of the rows that are shown.
    """

    def __init__(self, design: Design, mixing: FloatArray, *, dtype: DTypeLike) -> None:
        self.design = design
        self.reads_in_order = design.reads_in_order
        self.shape = design.shape[0], mixing.shape[1]
        self.n_values = design.n_values
        self._mixing = mixing
        self._rounded = mixing.astype(dtype)

    def scores(self, coef: FloatArray, out: FloatArray | None = None) -> FloatArray:
        """Return ``X @ (mixing @ coef)``."""
        return self.design.scores(self._mixing @ coef, out=out)

    def adjoint(self, vector: FloatArray) -> FloatArray:
        """Return ``mixing.T @ (X.T @ vector)``."""
        return np.asarray(self.design.adjoint(vector) @ self._mixing)

    def square_sums(self, weight: FloatArray) -> FloatArray:
        """Estimate the squares of the rows times ``weight``: to mix all takes long."""
        return sampled_square_sums(self, weight)

    def rows(self, index: IntArray, columns: IntArray | None = None) -> Matrix:
        """Return the given rows, and only some of their columns if given."""
        mixing = self._rounded if columns is None else self._rounded[:, columns]
        return np.asarray(self.design.rows(index) @ mixing)


def shortens_rows(mixing: FloatArray) -> bool:
    """Say whether `mixed_design` applies the matrix to the rows themselves."""
    return bool(mixing.shape[1] <= SHORT * mixing.shape[0])


def mixed_design(
    make: Callable[[RowMap, int], Design],
    row_map: RowMap,
    mixing: FloatArray,
    *,
    dtype: DTypeLike,
) -> Design:
    """Return the design of mapped rows times a matrix.

    Parameters
    ----------
    make : callable
        ``make(row_map, n_columns)`` returns the design of rows through a map.
    row_map : RowMap
        The map.
    mixing : ndarray of shape (n_columns, rank)
        Multiplies the mapped rows from the right.
    dtype : {"float32", "float64"}
        Precision of mapped rows.
    """
    if not shortens_rows(mixing):
        return MixedDesign(make(row_map, mixing.shape[0]), mixing, dtype=dtype)
    rounded = mixing.astype(dtype)

    def mixed_map(rows: Matrix, out: NDArray[Any] | None = None) -> NDArray[Any]:
        return np.matmul(row_map(rows), rounded, out=out)

    return make(mixed_map, mixing.shape[1])


def sampled_square_sums(design: Design, weight: FloatArray) -> FloatArray:
    """Estimate ``square_sums`` from a part of the rows, where a row is dear to make."""
    # All of them would take as long as a product with a matrix of as many columns.
    stride = max(1, design.shape[1] // 32)
    index = np.flatnonzero(weight)[::stride]
    some = weight[index]
    squares: FloatArray = some @ np.square(design.rows(index), dtype=np.float64)
    squares *= weight.sum() / some.sum()
    return squares
