# SPDX-License-Identifier: BSD-3-Clause
"""The square loss over all pairs: no sort, class means and variances say it all."""

from dataclasses import dataclass

import numpy as np

from aucmax import _kernels
from aucmax._utils.typing import BoolArray, FloatArray
from aucmax.losses._base import Terms, row_by_row


@dataclass(frozen=True, slots=True)
class Square:
    """Mean over pairs of ``(margin - (s_pos - s_neg)) ** 2``.

    Equals ``var(s_pos) + var(s_neg) + (margin - (mean(s_pos) - mean(s_neg))) ** 2``;
    everything is O(n).
    """

    margin: float = 1.0

    def evaluate(
        self, scores: FloatArray, is_pos: BoolArray, weight: FloatArray
    ) -> Terms:
        """Return value, gradient and curvature at ``scores``."""
        # Each row's share of its class, so that sums over a class are means.
        share = weight / np.where(is_pos, weight[is_pos].sum(), weight[~is_pos].sum())

        def centre(vector: FloatArray) -> tuple[FloatArray, float]:
            """Return ``vector`` less its class means, and the gap between these."""
            vector = vector - vector[0]
            weighted = share * vector
            mean_pos = float(weighted[is_pos].sum())
            mean_neg = float(weighted.sum()) - mean_pos
            return vector - np.where(is_pos, mean_pos, mean_neg), mean_pos - mean_neg

        def hess_dot(vector: FloatArray, out: FloatArray | None = None) -> FloatArray:
            centred, gap = centre(vector)
            centred += np.where(is_pos, gap, -gap)
            centred *= 2.0
            product: FloatArray = np.multiply(share, centred, out=out)
            return product

        centred, gap = centre(scores)
        missing = self.margin - gap
        value = _kernels.products.dot(share * centred, centred) + missing * missing
        grad = 2.0 * share * (centred - np.where(is_pos, missing, -missing))
        return Terms(value, grad, row_by_row(hess_dot), lambda: 2.0 * share)
