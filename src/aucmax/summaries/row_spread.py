# SPDX-License-Identifier: BSD-3-Clause
"""How far the rows of two classes are apart."""

from dataclasses import dataclass

import numpy as np

from aucmax import _kernels
from aucmax._utils.typing import BoolArray, FloatArray, Matrix


@dataclass(frozen=True, slots=True)
class RowSpread:
    """Weight, mean and scatter of both classes.

    Attributes
    ----------
    mass : ndarray of shape (2,)
        Weight of the negatives and of the positives.
    mean : ndarray of shape (2, n_features)
        Their weighted means.
    scatter : ndarray of shape (2,)
        Weighted sums of the squared distances to these means.
    """

    mass: FloatArray
    mean: FloatArray
    scatter: FloatArray

    @classmethod
    def of_rows(
        cls, rows: Matrix, is_pos: BoolArray, weight: FloatArray
    ) -> "RowSpread":
        """Return that of ``rows``, dense or CSR."""
        n, d = rows.shape
        mass = np.array([weight[~is_pos].sum(), weight[is_pos].sum()])
        sums, squares, offset = np.zeros((2, d)), np.zeros(2), np.zeros(d)
        if isinstance(rows, np.ndarray) and n:
            # Any row will do: far from zero, squares lose the digits in which they
            # differ.
            offset[:] = rows[0]
            _kernels.spread.add_rows(rows, offset, is_pos, weight, sums, squares)
        elif n:
            csr = rows.data, rows.indices, rows.indptr
            _kernels.spread.add_rows_csr(*csr, is_pos, weight, sums, squares)
        mean = sums / np.where(mass > 0.0, mass, 1.0)[:, None]
        # Squares beyond the range of float64 are infinite, which is noticed later.
        with np.errstate(over="ignore", invalid="ignore"):
            between = mass * np.square(mean).sum(axis=1)
            scatter = np.maximum(squares - between, 0.0)
        return cls(mass, mean + offset, scatter)

    def merge(self, other: "RowSpread") -> "RowSpread":
        """Return that of both sets of rows together."""
        mass = self.mass + other.mass
        share = other.mass / np.where(mass > 0.0, mass, 1.0)
        with np.errstate(over="ignore", invalid="ignore"):
            gap = other.mean - self.mean
            between = self.mass * share * np.square(gap).sum(axis=1)
            mean = self.mean + gap * share[:, None]
            return RowSpread(mass, mean, self.scatter + other.scatter + between)

    def squared_distance(self) -> float:
        """Return the mean squared distance between a positive and a negative row."""
        with np.errstate(over="ignore", invalid="ignore"):
            gap = self.mean[1] - self.mean[0]
            return float((self.scatter / self.mass).sum() + gap @ gap)
