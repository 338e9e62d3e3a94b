# SPDX-License-Identifier: BSD-3-Clause
"""What passes each threshold, for all thresholds in one sort."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aucmax import _kernels
from aucmax._utils.typing import FloatArray
from aucmax._utils.validation import check_weight, split_labels
from aucmax.metrics._inputs import check_scores, refuse_nonfinite


class Cuts(NamedTuple):
    """Rows with ``score >= threshold``, from none of them to all of them."""

    # Infinity, then each score that occurs, from high to low, in the scores' precision.
    thresholds: NDArray[Any]
    # Weight of the negatives and of the positives that pass; the last is all of them.
    false: FloatArray
    true: FloatArray


def sweep_cuts(
    y_true: ArrayLike, y_score: ArrayLike, sample_weight: ArrayLike | None, *, name: str
) -> Cuts:
    """Return what passes at each score. Without weights the counts are exact."""
    is_pos = split_labels(y_true, name=name)[1]
    weight = check_weight(sample_weight, is_pos)
    scores = check_scores(y_score, is_pos.shape[0])
    # A row without weight is absent: its score is no threshold either.
    present = weight > 0.0
    if not present.all():
        scores, is_pos, weight = scores[present], is_pos[present], weight[present]
    order = _kernels.order.argsort(scores)[::-1]
    scores, is_pos, weight = scores[order], is_pos[order], weight[order]
    refuse_nonfinite(scores[0], scores[-1])
    # Tied rows pass together, so only the last of them is a cut.
    is_last = np.append(scores[1:] != scores[:-1], True)
    none = np.zeros(1)
    return Cuts(
        np.append(np.array([np.inf], dtype=scores.dtype), scores[is_last]),
        np.append(none, np.cumsum(weight * ~is_pos)[is_last]),
        np.append(none, np.cumsum(weight * is_pos)[is_last]),
    )
