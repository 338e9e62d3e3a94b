# SPDX-License-Identifier: BSD-3-Clause
"""Gradient steps on the pairwise square loss with class moments.

The step for a row averages the loss over all earlier rows of the other class, of which
count, mean and covariance are all that matters.
"""

from typing import Any

import numpy as np

from aucmax import _kernels
from aucmax._utils.state import (
    expect_array,
    expect_constants,
    expect_counts,
    expect_flag,
    expect_type,
)
from aucmax._utils.typing import BoolArray, Matrix, as_plain, is_sparse, to_dense
from aucmax.saved import saved_as
from aucmax.solvers.online.base import Diverged, LinearModel

# Two matrices of more bytes than this are refused.
LARGEST_BYTES = 8 * 10**9
# Values of sparse rows made dense at a time: 2 MB.
DENSE_VALUES = 2**18


class StepLearner:
    """One step per row, from moments to which the row is then added.

    Parameters
    ----------
    n_features : int
        Number of features.
    rule : NamedTuple
        Constants of the steps.
    averaged : bool
        Whether the model is the average of all weights, later ones more, or the last.
    """

    is_order_free = False

    def __init__(self, n_features: int, rule: Any, *, averaged: bool) -> None:
        refuse_too_many(n_features)
        self.rule = rule
        self.averaged = averaged
        self.moments = _kernels.opauc.Moments(
            n_seen=np.zeros(2, dtype=np.int64),
            mean=np.zeros((2, n_features)),
            spread=np.zeros(2),
            scatter=np.zeros((2, n_features, n_features)),
        )
        self.iterate = _kernels.opauc.Iterate(
            coef=np.zeros(n_features),
            average=np.zeros(n_features),
            squares=np.zeros(n_features),
            progress=np.zeros(2),
        )

    @property
    def n_features(self) -> int:
        """Length of a row."""
        return len(self.iterate.coef)

    def check_state(self) -> None:
        """Raise ValueError unless the arrays of a loaded object fit together."""
        expect_constants(self, "rule", self._rule_type())
        expect_flag(self, "averaged")
        iterate = expect_type(self, "iterate", _kernels.opauc.Iterate)
        d = expect_array(iterate, "coef", (None,)).shape[0]
        expect_array(iterate, "average", (d,))
        expect_array(iterate, "squares", (d,))
        expect_array(iterate, "progress", (2,))
        moments = expect_type(self, "moments", _kernels.opauc.Moments)
        expect_counts(moments, "n_seen", (2,))
        expect_array(moments, "mean", (2, d))
        expect_array(moments, "spread", (2,))
        expect_array(moments, "scatter", (2, d, d))

    def learn(self, X: Matrix, is_pos: BoolArray) -> None:
        """Take in rows; sparse ones are made dense, a few at a time."""
        n = X.shape[0]
        size = max(1, DENSE_VALUES // self.n_features if is_sparse(X) else n)
        for low in range(0, n, size):
            rows = as_plain(to_dense(X[low : low + size]))
            n_learned = self._step(rows, is_pos[low : low + size])
            if n_learned < len(rows):
                raise self._diverged(low + n_learned)

    def model(self) -> LinearModel:
        """Return the weights so far."""
        coef = self.iterate.average if self.averaged else self.iterate.coef
        return LinearModel(coef.copy())

    def _step(self, rows: Matrix, is_pos: BoolArray) -> int:
        """Return how many rows were learned before a step would overflow."""
        raise NotImplementedError

    def _rule_type(self) -> type:
        raise NotImplementedError

    def _diverged(self, n_learned: int) -> Diverged:
        size = self.rule.step_size
        cause = f"step_size={size:g} or X is" if size else "The values of X are"
        return Diverged(
            f"{cause} too large: the weights diverge. Lower step_size, or scale "
            "the features, for example with StandardScaler.",
            n_learned,
        )


@saved_as("GradientLearner")
class GradientLearner(StepLearner):
    """Plain steps.

    Parameters
    ----------
    n_features : int
        Number of features.
    alpha : float
        Penalty. The gradient has ``alpha / 2`` times the weights, because it is that of
        half the loss, as in the paper.
    step_size : float or None
        A number is that of the paper: all steps have it, and the last weights are the
        model. None divides each gradient by the mean curvature of the loss so far, or
        that of the row if it is far larger, so that no rows make the steps diverge, and
        averages the weights, later ones more.
    """

    def __init__(
        self, n_features: int, *, alpha: float, step_size: float | None
    ) -> None:
        refuse_turning_around(step_size, alpha)
        rule = self._rule_type()(0.5 * float(alpha), float(step_size or 0.0))
        super().__init__(n_features, rule, averaged=step_size is None)

    def _step(self, rows: Matrix, is_pos: BoolArray) -> int:
        return _kernels.opauc.gradient_steps(
            rows, is_pos, self.moments, self.iterate, self.rule
        )

    def _rule_type(self) -> "type[_kernels.opauc.GradientRule]":
        return _kernels.opauc.GradientRule


def refuse_turning_around(step_size: float | None, alpha: float) -> None:
    """Raise where the penalty alone would make the weights larger at each step."""
    if step_size is not None and step_size * alpha >= 2.0:
        raise ValueError(
            f"step_size={step_size:g} times alpha={alpha:g} must be below 2: the "
            "penalty alone would turn the weights around. Lower step_size."
        )


def refuse_too_many(n_features: int) -> None:
    """Raise where covariances of both classes would not fit into memory."""
    n_bytes = 2 * 8 * n_features**2
    if n_bytes > LARGEST_BYTES:
        raise ValueError(
            f"The covariances of {n_features} features in both classes take "
            f"{n_bytes} bytes, more than {LARGEST_BYTES}. Use OPAUC(rank=50), "
            "which keeps sketches of them, or OPAUC(reduce='projection'), which "
            "works on fewer features."
        )
