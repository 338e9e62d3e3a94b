# SPDX-License-Identifier: BSD-3-Clause
"""The pairwise square loss over all rows so far, solved when asked for."""

import numpy as np

from aucmax._utils.typing import BoolArray, Matrix, to_dense
from aucmax.solvers.closed_form import solve_moments
from aucmax.solvers.online._base import LinearModel
from aucmax.summaries import ClassMoments

# Rows of one class that become moments at once. Always as many, however the rows come
# in, so that sums are rounded in the same order.
BLOCK_ROWS = 256


class ExactLearner:
    """Moments of both classes; the model is the minimiser for all rows so far."""

    is_order_free = True

    def __init__(self, n_features: int, *, alpha: float) -> None:
        self.alpha = alpha
        self.moments = [ClassMoments.empty(n_features) for _ in range(2)]
        self.pending = [np.empty((0, n_features)) for _ in range(2)]

    def learn(self, X: Matrix, is_pos: BoolArray) -> None:
        """Take in rows."""
        X = to_dense(X)
        for own in (0, 1):
            rows = np.concatenate([self.pending[own], X[is_pos == own]])
            n_full = len(rows) // BLOCK_ROWS * BLOCK_ROWS
            for low in range(0, n_full, BLOCK_ROWS):
                block = rows[low : low + BLOCK_ROWS]
                part = ClassMoments.of_rows(block, np.ones(BLOCK_ROWS))
                self.moments[own] = self.moments[own].merge(part)
            self.pending[own] = rows[n_full:]

    def model(self) -> LinearModel:
        """Return the minimiser; zero while one class is missing."""
        neg, pos = (
            moments.merge(ClassMoments.of_rows(rows, np.ones(len(rows))))
            for moments, rows in zip(self.moments, self.pending, strict=True)
        )
        if min(neg.mass, pos.mass) == 0.0:
            return LinearModel(np.zeros(len(neg.mean)))
        return LinearModel(solve_moments(pos, neg, alpha=self.alpha).coef)
