# SPDX-License-Identifier: BSD-3-Clause
"""Gradient steps on the pairwise square loss with class moments.

The step for a row averages the loss over all earlier rows of the other class, of which
count, mean and covariance are all that matters.
"""

from aucmax import _kernels
from aucmax._utils.state import expect_array, expect_constants, expect_type
from aucmax._utils.typing import BoolArray, Matrix
from aucmax.solvers.online._base import Diverged, LinearModel
from aucmax.summaries.streamed_moments import StreamedMoments, padded, start_at_zero


class StepLearner:
    """One step per row, as ``rule`` says, from moments that each row then enters."""

    is_order_free = False

    def __init__(self, n_features: int, rule: "_kernels.opauc.Rule") -> None:
        self.rule = rule
        self.moments = StreamedMoments(n_features, block_rows(n_features))
        self.iterate = start_at_zero(n_features)

    @property
    def n_features(self) -> int:
        """Length of a row."""
        return self.moments.n_features

    def check_state(self) -> None:
        """Raise ValueError unless the arrays of a loaded object fit together."""
        expect_constants(self, "rule", _kernels.opauc.Rule)
        moments = expect_type(self, "moments", StreamedMoments)
        iterate = expect_type(self, "iterate", _kernels.opauc.Iterate)
        for name in ("coef", "average", "squares"):
            expect_array(iterate, name, (padded(moments.n_features),))
        expect_array(iterate, "progress", (2,))

    def learn(self, X: Matrix, is_pos: BoolArray) -> None:
        """Take in rows."""
        n_learned = self.moments.learn(X, is_pos, self.rule, self.iterate)
        if n_learned is not None:
            size = self.rule.step_size
            cause = f"step_size={size:g} or X is" if size else "The values of X are"
            raise Diverged(
                f"{cause} too large: the weights diverge. Lower step_size, or scale "
                "the features, for example with StandardScaler.",
                n_learned,
            )

    def model(self) -> LinearModel:
        """Return the weights so far."""
        coef = self.iterate.average if self.rule.averaged else self.iterate.coef
        return LinearModel(coef[: self.moments.n_features].copy())


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
        rule = _kernels.opauc.Rule(
            kind=_kernels.opauc.GRADIENT,
            ridge=0.5 * float(alpha),
            step_size=0.0 if step_size is None else float(step_size),
            offset=0.0,
            threshold=0.0,
            radius=0.0,
            averaged=step_size is None,
        )
        super().__init__(n_features, rule)


def refuse_turning_around(step_size: float | None, alpha: float) -> None:
    """Raise where the penalty alone would make the weights larger at each step."""
    if step_size is not None and step_size * alpha >= 2.0:
        raise ValueError(
            f"step_size={step_size:g} times alpha={alpha:g} must be below 2: the "
            "penalty alone would turn the weights around. Lower step_size."
        )


def block_rows(n_features: int) -> int:
    """Return how many rows should wait before they enter the scatter.

    Each step multiplies with those that wait, half of them on average, which counts
    where the scatter is small. Measured at 54, 123, 300 and 800 features.
    """
    if n_features <= _kernels.opauc.SHORT:
        return _kernels.opauc.EIGHT
    return 32 if n_features < 500 else 64
