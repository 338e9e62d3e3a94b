# SPDX-License-Identifier: BSD-3-Clause
"""Problems of few rows or of columns that do not occur, in fewer coordinates."""

from dataclasses import replace
from typing import Protocol

import numpy as np

from aucmax._utils.typing import FloatArray, IntArray
from aucmax.design import LocalDesign
from aucmax.solvers.base import Problem

# Up to so many rows: the eigenvectors of their products take 50 ms then.
MAX_ROWS = 500


class Reduction(Protocol):
    """The same problem in fewer coordinates."""

    problem: Problem

    def coordinates(self, coef: FloatArray) -> FloatArray:
        """Return the coordinates of ``coef``, as far as the scores depend on it."""
        ...

    def coef(self, coordinates: FloatArray) -> FloatArray:
        """Return the coefficients of the features."""
        ...


def reduction(problem: Problem) -> Reduction | None:
    """Return the problem in fewer coordinates, where that pays."""
    n, d = problem.design.shape
    if n >= d or problem.sample is not None:
        return None
    if n <= MAX_ROWS:
        return RowSpan(problem)
    if problem.design.reads_in_order:
        return None
    used = np.flatnonzero(problem.design.square_sums(np.ones(n)))
    # Half of the columns are needed to pay for the copy.
    return UsedColumns(problem, used) if 0 < len(used) < d / 2 else None


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


class UsedColumns:
    """The columns in which rows differ from zero: hashed text leaves most empty.

    Parameters
    ----------
    problem : Problem
        All columns.
    used : ndarray
        Those to keep.

    Attributes
    ----------
    problem : Problem
        The problem of these columns.
    """

    def __init__(self, problem: Problem, used: IntArray) -> None:
        n, self._n_columns = problem.design.shape
        self._used = used
        rows = problem.design.rows(np.arange(n), used)
        design = LocalDesign(rows, np.zeros(len(used), dtype=rows.dtype))
        self.problem = replace(problem, design=design)

    def coordinates(self, coef: FloatArray) -> FloatArray:
        """Return the coefficients of the columns that are kept."""
        return coef[self._used]

    def coef(self, coordinates: FloatArray) -> FloatArray:
        """Return the coefficients of all columns; zero where nothing is known."""
        coef = np.zeros(self._n_columns)
        coef[self._used] = coordinates
        return coef
