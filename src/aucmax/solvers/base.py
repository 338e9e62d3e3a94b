# SPDX-License-Identifier: BSD-3-Clause
"""What every solver takes and returns."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from aucmax import _kernels
from aucmax._utils.checkpoint import Offer, State
from aucmax._utils.typing import BoolArray, FloatArray
from aucmax.design import Design
from aucmax.losses import PairLoss, Terms
from aucmax.saved import saved_as


@saved_as("SolverStep")
class Step(NamedTuple):
    """One entry of a solver's history.

    Attributes
    ----------
    value : float
        Objective after the step.
    gap : float
        The solver's estimate or certificate of how far the objective was above its
        minimum, relative to ``value``.
    n_passes : float
        Trips over the rows so far: a product with X or with its transpose is one.
    """

    value: float
    gap: float
    n_passes: float


@dataclass(frozen=True, slots=True)
class Result:
    """Outcome of a solver."""

    coef: FloatArray
    value: float
    n_iter: int
    converged: bool
    message: str
    history: list[Step] = field(repr=False)


OnStep = Callable[[Step], None]


@dataclass(frozen=True, slots=True)
class Problem:
    """Rows, their classes and weights, and the loss of their scores.

    Where a solver cannot draw rows from all, because their classes, weights and scores
    are not in memory, ``sample`` is a problem of some of them that are.
    """

    design: Design
    loss: PairLoss
    is_pos: BoolArray
    weight: FloatArray
    sample: "Problem | None" = None

    def evaluate(self, scores: FloatArray) -> Terms:
        """Return the loss at ``scores``, and its derivatives."""
        return self.loss.evaluate(scores, self.is_pos, self.weight)


class Checkpointing(NamedTuple):
    """The state to go on from, if there is one, and who takes new ones, if any."""

    saved: State | None = None
    offer: Offer | None = None


def check_finite(value: float, vector: FloatArray) -> None:
    """Raise when a value, or the square of a vector, has left the range of float64."""
    square = _kernels.products.dot(vector, vector)
    if not (math.isfinite(value) and math.isfinite(square)):
        raise ValueError(
            "The scores or the gradient overflowed: X holds values too large to "
            "multiply. Scale the features first, for example with "
            "sklearn.preprocessing.StandardScaler."
        )
