# SPDX-License-Identifier: BSD-3-Clause
"""Gradient steps on the pairwise square loss with class moments."""

from aucmax._utils.typing import BoolArray, Matrix
from aucmax.solvers.online._base import LinearModel


class GradientLearner:
    """To be written."""

    is_order_free = False

    def __init__(
        self, n_features: int, *, alpha: float, step_size: float | None
    ) -> None:
        raise NotImplementedError

    def learn(self, X: Matrix, is_pos: BoolArray) -> None:
        """Take in rows."""
        raise NotImplementedError

    def model(self) -> LinearModel:
        """Return the last weights."""
        raise NotImplementedError
