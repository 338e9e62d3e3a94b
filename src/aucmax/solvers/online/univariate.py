# SPDX-License-Identifier: BSD-3-Clause
"""Class-balanced losses of single rows, in O(nonzeros) per row."""

from typing import Literal, get_args

import numpy as np

from aucmax import _kernels
from aucmax._utils.state import expect_array, expect_constants, expect_flag
from aucmax._utils.typing import BoolArray, FloatArray, Matrix
from aucmax.solvers.online._base import Diverged, LinearModel

Loss = Literal["exponential", "square", "logistic"]
LOSSES = get_args(Loss)

# Steps of no setting, as a share of the largest stable one of the square loss: a half,
# and four times as much for the logistic loss, whose curvature is at most a quarter.
AUTO_RATES = {"exponential": 0.5, "square": 0.5, "logistic": 2.0}


class UnivariateLearner:
    """Stochastic gradient steps; the model is their average or the last.

    Parameters
    ----------
    n_features : int
        Number of features.
    sparse_rows : bool
        Whether rows are CSR.
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

    is_order_free = False

    def __init__(
        self,
        n_features: int,
        *,
        sparse_rows: bool,
        loss: Loss = "exponential",
        alpha: float,
        step_size: float | None = None,
        fit_intercept: bool = True,
        center: bool = True,
        max_class_weight: float = 100.0,
        average: bool = True,
    ) -> None:
        self.rates = _kernels.online_univariate.Rates(
            _code(loss),
            float(alpha),
            AUTO_RATES[loss] if step_size is None else float(step_size),
            float(max_class_weight),
            step_size is None,
            center,
            fit_intercept,
        )
        self.average = average
        self.sparse_rows = sparse_rows
        self.vectors = np.zeros((n_features, 3) if sparse_rows else (3, n_features))
        self.classes = np.zeros((2, 4))
        self.scalars = np.zeros(7)
        self.scalars[1] = 1.0

    @property
    def n_features(self) -> int:
        """Length of a row."""
        return self.vectors.shape[0 if self.sparse_rows else 1]

    def check_state(self) -> None:
        """Raise ValueError unless the arrays of a loaded object fit together."""
        expect_constants(self, "rates", _kernels.online_univariate.Rates)
        is_sparse = expect_flag(self, "sparse_rows")
        expect_array(self, "vectors", (None, 3) if is_sparse else (3, None))
        expect_array(self, "classes", (2, 4))
        expect_array(self, "scalars", (7,))
        expect_flag(self, "average")

    def learn(self, X: Matrix, is_pos: BoolArray) -> None:
        """Make one step per row."""
        state = self.rates, self.vectors, self.classes, self.scalars
        if self.sparse_rows:
            n = _kernels.online_univariate.sparse_rows(
                X.data, X.indices, X.indptr, is_pos, *state
            )
        else:
            n = _kernels.online_univariate.dense_rows(X, is_pos, *state)
        if n < len(is_pos):
            raise Diverged(
                "A step of OnlineUnivariate overflowed: "
                f"step_size={self.rates.rate:g} is too large for these rows. Lower it, "
                "set it to 'auto', or scale the features.",
                n,
            )

    @property
    def intercept(self) -> float:
        """The constant learned with the weights; scores of the model do not have it."""
        return float(self.scalars[0])

    @property
    def coef(self) -> FloatArray:
        """The weights after the last step, not averaged."""
        if not self.sparse_rows:
            return np.array(self.vectors[0])
        scale, shift = self.scalars[1:3]
        return np.asarray(scale * self.vectors[:, 0] + shift * self.vectors[:, 1])

    def model(self) -> LinearModel:
        """Return the average of the weights, or the last."""
        if not self.average:
            return LinearModel(self.coef)
        if not self.sparse_rows:
            return LinearModel(self.vectors[1].copy())
        mass, shift_mass = self.scalars[3:5]
        total = mass * self.vectors[:, 0] + shift_mass * self.vectors[:, 1]
        total += self.vectors[:, 2]
        return LinearModel(total / max(1.0, self.classes[:, 0].sum()))


def _code(loss: Loss) -> int:
    kernels = _kernels.online_univariate
    codes = {
        "exponential": kernels.EXPONENTIAL,
        "square": kernels.SQUARE,
        "logistic": kernels.LOGISTIC,
    }
    return codes[loss]
