# SPDX-License-Identifier: BSD-3-Clause
"""OPAUC with covariances of low rank."""

import numpy as np

from aucmax._utils.typing import BoolArray, Matrix
from aucmax.solvers.online._base import LinearModel


class LowRankGradient:
    """To be written."""

    is_order_free = False

    def __init__(
        self,
        n_features: int,
        *,
        rank: int,
        alpha: float,
        step_size: float | None,
        rng: np.random.Generator,
    ) -> None:
        raise NotImplementedError

    def learn(self, X: Matrix, is_pos: BoolArray) -> None:
        """Take in rows."""
        raise NotImplementedError

    def model(self) -> LinearModel:
        """Return the last weights."""
        raise NotImplementedError


class LowRankExact:
    """To be written."""

    is_order_free = False

    def __init__(
        self, n_features: int, *, rank: int, alpha: float, rng: np.random.Generator
    ) -> None:
        raise NotImplementedError

    def learn(self, X: Matrix, is_pos: BoolArray) -> None:
        """Take in rows."""
        raise NotImplementedError

    def model(self) -> LinearModel:
        """Return the minimiser."""
        raise NotImplementedError
