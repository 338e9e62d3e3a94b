# SPDX-License-Identifier: BSD-3-Clause
"""Count, mean and scatter of one class: all the square loss needs to know."""

from dataclasses import dataclass

import numpy as np

from aucmax._utils.typing import FloatArray, Matrix, to_dense


@dataclass(frozen=True, slots=True)
class ClassMoments:
    """Weighted count, mean and scatter of the rows of one class.

    Attributes
    ----------
    mass : float
        Sum of the weights.
    mean : ndarray of shape (n_features,)
        Weighted mean of the rows.
    scatter : ndarray of shape (n_features, n_features)
        Weighted sum of the outer products of rows less their mean.
    """

    mass: float
    mean: FloatArray
    scatter: FloatArray

    @classmethod
    def empty(cls, n_features: int) -> "ClassMoments":
        """Return the moments of no rows at all."""
        return cls(0.0, np.zeros(n_features), np.zeros((n_features, n_features)))

    @classmethod
    def of_rows(cls, rows: Matrix, weight: FloatArray) -> "ClassMoments":
        """Return the moments of ``rows``, dense or CSR, accumulated in float64.

        Two passes, because ``mean(xx') - mean(x)mean(x)'`` cancels. CSR rows become
        dense: call it block by block.
        """
        dense = to_dense(rows).astype(np.float64, copy=False)
        mass = float(weight.sum())
        if mass == 0.0:
            return cls.empty(dense.shape[1])
        mean = (weight @ dense) / mass
        centred = (dense - mean) * np.sqrt(weight)[:, None]
        return cls(mass, mean, centred.T @ centred)

    def merge(self, other: "ClassMoments") -> "ClassMoments":
        """Return the moments of both sets of rows together, exactly."""
        mass = self.mass + other.mass
        if mass == 0.0:
            return self
        gap = other.mean - self.mean
        return ClassMoments(
            mass,
            self.mean + gap * (other.mass / mass),
            self.scatter
            + other.scatter
            + np.outer(gap, gap) * (self.mass * other.mass / mass),
        )

    @property
    def covariance(self) -> FloatArray:
        """Covariance with divisor ``mass``; zero for a single row."""
        return self.scatter / self.mass
