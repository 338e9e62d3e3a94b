# SPDX-License-Identifier: BSD-3-Clause
"""The gradient of OPAUC with a step size per feature, in a ball, sparse if wanted."""

import math

from aucmax import _kernels
from aucmax._utils.typing import BoolArray, Matrix
from aucmax.saved import saved_as
from aucmax.solvers.online.opauc import StepLearner


@saved_as("AdaptiveLearner")
class AdaptiveLearner(StepLearner):
    """One step per row, divided by ``offset`` plus the root of past squared gradients.

    The weights stay where the penalty alone is not above the loss at zero, in a ball of
    radius ``sqrt(2 / alpha)``.

    Parameters
    ----------
    n_features : int
        Number of features.
    alpha : float
        Penalty; the gradient has ``alpha / 2`` times the weights, because the papers
        halve the loss.
    l1 : float
        Weight of the sum of absolute weights beside the mean over pairs; each step
        moves the weights that far towards zero, in its metric, and keeps those that
        reach it there. The paper's theta is half of it.
    step_size : float or None
        A number is that of the paper. None takes one, and ``offset``, relative to the
        distance of rows from the mean of the other class, and averages the weights
        where ``averaged``.
    offset : float
        Added to the root of the squares.
    averaged : bool
        Whether the model is an average of the weights, later ones more; only without a
        ``step_size``.
    """

    def __init__(
        self,
        n_features: int,
        *,
        alpha: float,
        l1: float,
        step_size: float | None,
        offset: float,
        averaged: bool,
    ) -> None:
        rule = _kernels.opauc.AdaptiveRule(
            ridge=0.5 * float(alpha),
            step_size=float(step_size or 0.0),
            offset=float(offset),
            threshold=0.5 * float(l1),
            radius=math.sqrt(2.0 / float(alpha)),
        )
        super().__init__(n_features, rule, averaged=averaged and step_size is None)

    def _step(self, rows: Matrix, is_pos: BoolArray) -> int:
        return _kernels.opauc.adaptive_steps(
            rows, is_pos, self.moments, self.iterate, self.rule
        )

    def _rule_type(self) -> "type[_kernels.opauc.AdaptiveRule]":
        return _kernels.opauc.AdaptiveRule
