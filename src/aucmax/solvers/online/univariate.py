# SPDX-License-Identifier: BSD-3-Clause
"""Class-balanced losses of single rows, in O(nonzeros) per row."""

from typing import Literal, get_args

from aucmax import _kernels
from aucmax._utils.state import expect_flag
from aucmax._utils.typing import Matrix
from aucmax.saved import saved_as
from aucmax.solvers.online._averaged import AveragedLearner
from aucmax.solvers.online.base import LinearModel

Loss = Literal["exponential", "square", "logistic"]
LOSSES = get_args(Loss)

# Steps of no setting, as a share of the largest stable one of the square loss: a half,
# and four times as much for the logistic loss, whose curvature is at most a quarter.
AUTO_RATES = {"exponential": 0.5, "square": 0.5, "logistic": 2.0}


@saved_as("UnivariateLearner")
class UnivariateLearner(AveragedLearner):
    """Stochastic gradient steps; the model is their average or the last.

    Parameters
    ----------
    rows : array or CSR matrix
        Rows like those to learn from.
    loss : {"exponential", "square", "logistic"}
        Of a signed score.
    alpha : float
        Strength of the penalty, relative to the balanced mean over rows.
    step_size : float or None
        None for one from the sizes of the rows.
    fit_intercept : bool
        Whether a constant is added to the scores while learning.
    center : bool
        Whether the mean of the rows so far is subtracted from them.
    max_class_weight : float
        Largest weight of a row.
    average : bool
        Whether the model is the average of the weights after each row.
    """

    module = "online_univariate"

    def __init__(
        self,
        rows: Matrix,
        *,
        loss: Loss = "exponential",
        alpha: float,
        step_size: float | None = None,
        fit_intercept: bool = True,
        center: bool = True,
        max_class_weight: float = 100.0,
        average: bool = True,
    ) -> None:
        rates = _kernels.online_univariate.Rates(
            getattr(_kernels.online_univariate, loss.upper()),
            float(alpha),
            AUTO_RATES[loss] if step_size is None else float(step_size),
            float(max_class_weight),
            step_size is None,
            center,
            fit_intercept,
        )
        super().__init__(rows, rates, is_centred=center)
        self.average = average

    def check_state(self) -> None:
        """Raise ValueError unless the arrays of a loaded object fit together."""
        super().check_state()
        expect_flag(self, "average")

    @property
    def intercept(self) -> float:
        """The constant learned with the weights; scores of the model do not have it."""
        return float(self.state.scalars["intercept"][0])

    def model(self) -> LinearModel:
        """Return the average of the weights, or the last."""
        return super().model() if self.average else LinearModel(self.coef)

    def _advice(self) -> str:
        return (
            f"A step of OnlineUnivariate overflowed: step_size={self.rates.rate:g} is "
            "too large for these rows. Lower it, set it to 'auto', or scale the "
            "features."
        )
