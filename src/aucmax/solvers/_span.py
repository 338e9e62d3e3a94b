# SPDX-License-Identifier: BSD-3-Clause
"""Problems of fewer rows than features, in the coordinates of their rows."""

from dataclasses import replace

import numpy as np

from aucmax._utils.typing import FloatArray
from aucmax.design import LocalDesign
from aucmax.solvers.base import Problem

# Up to so many rows: the eigenvectors of their products take 50 ms then.
MAX_ROWS = 500


class RowSpan:
    """The span of few rows of many features, where the minimum always lies.

    ``X X' = V S V'``, so ``V sqrt(S)`` are the rows in orthonormal coordinates: the
    same problem with no more columns than rows.

    Attributes
    ----------
    problem : Problem
        The problem in these coordinates.
    """

    def __init__(self, problem: Problem) -> None:
        self._design = problem.design
        n = problem.design.shape[0]
        rows = problem.design.rows(np.arange(n))
        products = rows @ rows.T
        dense = products if isinstance(products, np.ndarray) else products.toarray()
        values, vectors = np.linalg.eigh(dense.astype(np.float64))
        kept = values > n * np.finfo(rows.dtype).eps * max(values[-1], 0.0)
        self._root = np.sqrt(values[kept])
        self._vectors = vectors[:, kept]
        self.problem = replace(
            problem,
            design=LocalDesign(self._vectors * self._root, np.zeros(kept.sum())),
        )

    def coordinates(self, coef: FloatArray) -> FloatArray:
        """Return the coordinates of the part of ``coef`` that lies in the span."""
        return np.asarray((self._design.scores(coef) @ self._vectors) / self._root)

    def coef(self, coordinates: FloatArray) -> FloatArray:
        """Return the coefficients of the features."""
        return self._design.adjoint(self._vectors @ (coordinates / self._root))


def has_few_rows(problem: Problem) -> bool:
    """Say whether a `RowSpan` makes the problem smaller."""
    n, d = problem.design.shape
    return n < d and n <= MAX_ROWS
