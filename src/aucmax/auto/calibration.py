# SPDX-License-Identifier: BSD-3-Clause
"""Probabilities that keep the ranking: isotonic regression blended with a beta map."""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, log_expit, log_ndtr
from sklearn.isotonic import IsotonicRegression

from aucmax._utils.state import FLOATS, expect, expect_array, expect_number
from aucmax._utils.typing import BoolArray, FloatArray
from aucmax.saved import saved_as

# With so many positives both parts count the same.
EVEN_POSITIVES = 100
# Keeps the map increasing where scores say nothing.
LEAST_SLOPE = 1e-3
# Share of a slow increase: probabilities near one would be rounded to ties without it.
RISE = 1e-6


@saved_as("Calibration")
@dataclass(frozen=True, eq=False)
class Calibration:
    """A strictly increasing map from normal scores to probabilities.

    ``share * isotonic + (1 - share) * beta``: the first follows any shape but has flat
    parts, which would make ties; the second is smooth and strictly increasing, though
    far above all scores of ``fit`` neighbours may be rounded to the same number.
    ``odds`` are those of the positive class among all rows, divided by those among the
    rows the map was learned from.
    """

    share: float
    knots: FloatArray
    steps: FloatArray
    beta: FloatArray
    odds: float = 1.0

    @classmethod
    def of_scores(
        cls, scores: FloatArray, is_pos: BoolArray, odds: float = 1.0
    ) -> "Calibration":
        """Learn the map from scores of rows left out of training."""
        n_pos = int(np.count_nonzero(is_pos))
        n_neg = len(is_pos) - n_pos
        # Platt's targets: as if each class had one row more, of either label.
        targets = np.where(is_pos, (n_pos + 1) / (n_pos + 2), 1 / (n_neg + 2))
        isotonic = IsotonicRegression(out_of_bounds="clip").fit(scores, targets)
        return cls(
            n_pos / (n_pos + EVEN_POSITIVES),
            isotonic.X_thresholds_,
            isotonic.y_thresholds_,
            _fit_beta(scores, targets),
            odds,
        )

    def check_state(self) -> None:
        """Raise ValueError unless the arrays of a loaded object fit together."""
        n_knots = len(expect_array(self, "knots", (None,), FLOATS))
        expect(n_knots > 0, self, "it has no knots")
        expect_array(self, "steps", (n_knots,), FLOATS)
        expect_array(self, "beta", (3,))
        expect_number(self, "share")
        expect_number(self, "odds")

    def __call__(self, scores: FloatArray) -> FloatArray:
        """Return the probability of the positive class for each score."""
        steps = np.interp(scores, self.knots, self.steps)
        smooth = expit(_beta_terms(scores) @ self.beta)
        blend = self.share * steps + (1.0 - self.share) * smooth
        blend = (1.0 - RISE) * blend + RISE * expit(0.5 * scores)
        return np.asarray(self.odds * blend / (self.odds * blend + 1.0 - blend))


def _beta_terms(scores: FloatArray) -> FloatArray:
    """Return ``log p``, ``-log(1 - p)`` and one, for p the normal share below."""
    return np.column_stack([log_ndtr(scores), -log_ndtr(-scores), np.ones(len(scores))])


def _fit_beta(scores: FloatArray, targets: FloatArray) -> FloatArray:
    """Return two slopes, not negative, and an intercept of largest likelihood."""
    terms = _beta_terms(scores)

    def loss(beta: FloatArray) -> tuple[float, FloatArray]:
        logits = terms @ beta
        value = -np.mean(
            targets * log_expit(logits) + (1 - targets) * log_expit(-logits)
        )
        grad = terms.T @ (expit(logits) - targets) / len(targets)
        return float(value), grad

    mean = targets.mean()
    start = np.array([1.0, 1.0, np.log(mean / (1.0 - mean))])
    bounds = [(LEAST_SLOPE, None), (LEAST_SLOPE, None), (None, None)]
    result = minimize(loss, start, jac=True, bounds=bounds, method="L-BFGS-B")
    return np.asarray(result.x)
