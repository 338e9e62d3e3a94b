# SPDX-License-Identifier: BSD-3-Clause
"""Where to cut a ranking in two."""

import numpy as np

from aucmax import _kernels
from aucmax._utils.typing import BoolArray, FloatArray


def balanced_threshold(
    scores: FloatArray, is_pos: BoolArray, weight: FloatArray
) -> float:
    """Return the threshold with the best balanced accuracy; above it is positive.

    The middle of the gap between the two scores it separates, so that new scores fall
    on either side with the widest berth. One sort.
    """
    # A row without weight is absent: it must not bound the gap either.
    present = weight > 0.0
    if not present.all():
        scores, is_pos, weight = scores[present], is_pos[present], weight[present]
    scores = np.asarray(scores, dtype=np.float64)
    order = _kernels.order.argsort(scores)
    best = _kernels.counts.best_cut(scores, order, is_pos, weight)
    below, above = float(scores[order[best - 1]]), float(scores[order[best]])
    middle = below + 0.5 * (above - below)
    return middle if middle < above else below
