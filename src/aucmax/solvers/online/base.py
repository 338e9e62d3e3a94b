# SPDX-License-Identifier: BSD-3-Clause
"""What the driver of the online estimators needs of a learner."""

from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from aucmax._utils.state import expect_finite
from aucmax._utils.typing import BoolArray, FloatArray, Matrix
from aucmax.saved import saved_as


class Model(Protocol):
    """What was learned so far; later rows do not change it."""

    def scores(self, X: Matrix) -> NDArray[Any]:
        """Return the score of each row, without a threshold."""
        ...


@saved_as("LinearModel")
class LinearModel(NamedTuple):
    """Scores are ``X @ coef``."""

    coef: FloatArray

    @property
    def n_features(self) -> int:
        """Length of a row."""
        return len(self.coef)

    def check_state(self) -> None:
        """Raise ValueError unless the arrays of a loaded object fit together."""
        expect_finite(self, "coef", (None,))

    def scores(self, X: Matrix) -> NDArray[Any]:
        """Return the score of each row."""
        return np.asarray(X @ self.coef)


class Diverged(ValueError, FloatingPointError):
    """A step would overflow.

    Attributes
    ----------
    n_learned : int
        How many of the rows given have been learned all the same.
    """

    def __init__(self, message: str, n_learned: int = 0) -> None:
        super().__init__(message)
        self.n_learned = n_learned


@runtime_checkable
class Learner(Protocol):
    """State of an online method.

    Attributes
    ----------
    is_order_free : bool
        Whether the order of the rows does not matter, so that none need be shuffled.
    """

    is_order_free: bool

    @property
    def n_features(self) -> int:
        """Length of a row."""
        ...

    def learn(self, X: Matrix, is_pos: BoolArray) -> None:
        """Take in rows one after the other, in the order given.

        One call for all rows, one for each, and anything between leave the same state,
        bit for bit. ``X`` is a C-ordered float64 array in all calls, or in all calls a
        CSR matrix of float64 with sorted int32 indices; no value is NaN, infinite or
        above 1e70.

        Raises
        ------
        Diverged
            When a step would overflow. The rows before it have been learned.
        """
        ...

    def model(self) -> Model:
        """Return what was learned so far."""
        ...
