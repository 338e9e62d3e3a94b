# SPDX-License-Identifier: BSD-3-Clause
"""A learner on fewer features, each a linear function of those given."""

import numpy as np
from scipy import sparse

from aucmax._utils.state import (
    expect,
    expect_flag,
    expect_part,
    expect_rows,
)
from aucmax._utils.threads import one_blas_thread
from aucmax._utils.typing import BoolArray, Matrix, is_sparse, to_dense
from aucmax.saved import saved_as
from aucmax.solvers.online.base import Learner, LinearModel


@saved_as("Reduced")
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

    @property
    def n_features(self) -> int:
        """Length of a row."""
        return int(self.projection.shape[0])

    def check_state(self) -> None:
        """Raise ValueError unless the arrays of a loaded object fit together."""
        learner = expect_part(self, "learner", Learner)
        expect_flag(self, "is_order_free")
        width = expect_rows(self, "projection", self.projection)[1]
        expect(width == learner.n_features, self, "projection has another width")

    def learn(self, X: Matrix, is_pos: BoolArray) -> None:
        """Take in rows."""
        # The product of two dense matrices is rounded differently for one row and for
        # many. That of CSR rows is made row by row, so batches of any sizes agree.
        rows = X if is_sparse(X) else sparse.csr_matrix(X)
        reduced = to_dense(rows @ self.projection)
        self.learner.learn(np.ascontiguousarray(reduced), is_pos)

    def model(self) -> LinearModel:
        """Return the weights of the features given."""
        coef = self.learner.model().coef  # type: ignore[attr-defined]
        # BLAS rounds differently with a different number of threads.
        with one_blas_thread():
            return LinearModel(np.asarray(self.projection @ coef))
