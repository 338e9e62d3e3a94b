# SPDX-License-Identifier: BSD-3-Clause
"""The pairwise square loss over all rows so far, solved when asked for."""

import numpy as np

from aucmax._utils.state import expect_number, expect_type
from aucmax._utils.threads import one_blas_thread
from aucmax._utils.typing import BoolArray, Matrix
from aucmax.saved import saved_as
from aucmax.solvers.closed_form import auto_alpha, solve_moments
from aucmax.solvers.online.base import LinearModel
from aucmax.solvers.online.opauc import refuse_too_many
from aucmax.summaries.streamed_moments import StreamedMoments


@saved_as("ExactLearner")
class ExactLearner:
    """Moments of both classes; the model is the minimiser for all rows so far.

    Parameters
    ----------
    n_features : int
        Number of features.
    alpha : float or None
        Strength of the penalty; None is that of `auto_alpha`.
    """

    is_order_free = True

    def __init__(self, n_features: int, *, alpha: float | None) -> None:
        refuse_too_many(n_features)
        self.alpha = alpha
        self.moments = StreamedMoments(n_features)

    @property
    def n_features(self) -> int:
        """Length of a row."""
        return self.moments.n_features

    def check_state(self) -> None:
        """Raise ValueError unless the arrays of a loaded object fit together."""
        expect_type(self, "moments", StreamedMoments)
        if self.alpha is not None:
            expect_number(self, "alpha")

    def learn(self, X: Matrix, is_pos: BoolArray) -> None:
        """Take in rows."""
        self.moments.add(X, is_pos)

    def model(self) -> LinearModel:
        """Return the minimiser; zero while one class is missing."""
        if self.moments.n_seen.min() == 0:
            return LinearModel(np.zeros(self.moments.n_features))
        # LAPACK rounds differently with a different number of threads.
        with one_blas_thread():
            neg, pos = (self.moments.of_class(own) for own in (0, 1))
            alpha = self.alpha
            if alpha is None:
                alpha = auto_alpha(pos, neg)
            return LinearModel(solve_moments(pos, neg, alpha=alpha).coef)
