# SPDX-License-Identifier: BSD-3-Clause
"""Scores of different models on one scale: normal scores."""

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri
from scipy.stats import rankdata

from aucmax._utils.state import (
    FLOATS,
    expect,
    expect_array,
    expect_type,
    is_plain_number,
)
from aucmax._utils.typing import FloatArray
from aucmax.saved import saved_as

N_KNOTS = 512
# The slope beyond the ends is that between the end and this share of the rows.
TAIL = 0.05


def normal_scores(scores: FloatArray) -> FloatArray:
    """Return the Gaussian quantiles of the ranks of a column; ties share one."""
    ranks = rankdata(scores)
    result: FloatArray = ndtri((ranks - 0.5) / len(scores))
    return result


@saved_as("ScoreScale")
@dataclass(frozen=True, eq=False)
class Scale:
    """A strictly increasing map from raw scores to normal scores.

    Linear between knots, which are quantiles of scores left out of training, and beyond
    them: new scores above all others stay in their order.
    """

    knots: FloatArray
    values: FloatArray
    slopes: tuple[float, float]

    @classmethod
    def of_scores(cls, scores: FloatArray) -> "Scale":
        """Learn the map from raw scores."""
        knots, inverse = np.unique(scores, return_inverse=True)
        count = np.bincount(inverse)
        # Equal scores share the middle of their ranks.
        share = (np.cumsum(count) - 0.5 * count) / len(scores)
        values = ndtri(share)
        if len(knots) > N_KNOTS:
            wanted = np.linspace(values[0], values[-1], N_KNOTS)
            kept = np.unique(np.searchsorted(values, wanted))
            knots, values, share = knots[kept], values[kept], share[kept]
        return cls(knots, values, _tail_slopes(knots, values, share))

    def check_state(self) -> None:
        """Raise ValueError unless the arrays of a loaded object fit together."""
        n_knots = len(expect_array(self, "knots", (None,), FLOATS))
        expect_array(self, "values", (n_knots,), FLOATS)
        below, above = expect_type(self, "slopes", tuple)
        fits = is_plain_number(below) and is_plain_number(above)
        expect(fits and n_knots > 0, self, "it has no slopes or knots")

    def __call__(self, scores: FloatArray) -> FloatArray:
        """Return the normal scores of raw scores."""
        result = np.interp(scores, self.knots, self.values)
        below = np.minimum(scores - self.knots[0], 0.0)
        above = np.maximum(scores - self.knots[-1], 0.0)
        return np.asarray(result + self.slopes[0] * below + self.slopes[1] * above)


def _tail_slopes(
    knots: FloatArray, values: FloatArray, share: FloatArray
) -> tuple[float, float]:
    if len(knots) == 1:
        return 1.0, 1.0
    low = min(max(1, int(np.searchsorted(share, TAIL))), len(knots) - 1)
    high = max(min(len(knots) - 2, int(np.searchsorted(share, 1.0 - TAIL))), 0)
    return (
        float((values[low] - values[0]) / (knots[low] - knots[0])),
        float((values[-1] - values[high]) / (knots[-1] - knots[high])),
    )
