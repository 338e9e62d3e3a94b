# SPDX-License-Identifier: BSD-3-Clause
"""Where to cut a ranking in two."""

import numpy as np

from aucmax._kernels.order import argsort
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
    order = argsort(scores)
    ordered = np.asarray(scores, dtype=np.float64)[order]
    share = weight / np.where(is_pos, weight[is_pos].sum(), -weight[~is_pos].sum())
    # Entry k: true minus false positive rate when everything from k on is positive.
    advantage = np.cumsum(share[order][::-1])[::-1]
    cuts = np.flatnonzero(ordered[1:] > ordered[:-1]) + 1
    if len(cuts) == 0:
        return float(ordered[0])
    best = cuts[np.argmax(advantage[cuts])]
    below, above = float(ordered[best - 1]), float(ordered[best])
    middle = below + 0.5 * (above - below)
    return middle if middle < above else below
