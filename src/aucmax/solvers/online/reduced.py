# SPDX-License-Identifier: BSD-3-Clause
"""A learner on fewer features, each a linear function of those given."""

import numpy as np

from aucmax._utils.typing import BoolArray, Matrix, to_dense
from aucmax.solvers.online._base import Learner, LinearModel


class Reduced:
    """Learns from ``X @ projection``; its model is one of ``X`` again.

    Parameters
    ----------
    learner : Learner
        A linear one, for dense rows of as many features as ``projection`` has columns.
    projection : ndarray or sparse matrix of shape (n_features, n_components)
        The map.
    """

    def __init__(self, learner: Learner, projection: Matrix) -> None:
        self.learner = learner
        self.projection = projection
        self.is_order_free = learner.is_order_free

    def learn(self, X: Matrix, is_pos: BoolArray) -> None:
        """Take in rows."""
        self.learner.learn(np.ascontiguousarray(to_dense(X @ self.projection)), is_pos)

    def model(self) -> LinearModel:
        """Return the weights of the features given."""
        model = self.learner.model()
        return LinearModel(np.asarray(self.projection @ model.coef))  # type: ignore[attr-defined]
