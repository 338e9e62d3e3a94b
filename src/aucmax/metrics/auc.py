# SPDX-License-Identifier: BSD-3-Clause
"""The area under the ROC curve."""

import numpy as np
from numpy.typing import ArrayLike

from aucmax import _kernels
from aucmax._utils.typing import FloatArray
from aucmax._utils.validation import check_weight, split_labels
from aucmax.metrics._inputs import check_scores, refuse_nonfinite, sort_by_class

# Below this, products of weights lose digits because they are close to underflow.
SMALLEST_TOTAL = 1e-290


def roc_auc(
    y_true: ArrayLike, y_score: ArrayLike, *, sample_weight: ArrayLike | None = None
) -> float:
    r"""Area under the ROC curve, exactly.

    .. math::
        \frac{\sum_{i+} \sum_{j-} w_i w_j
        \left([s_i > s_j] + \tfrac12 [s_i = s_j]\right)}
        {\sum_{i+} \sum_{j-} w_i w_j}

    over the pairs of one positive i and one negative j. Costs one sort by value,
    O(n log n) time and O(n) memory; with weights one argsort. Without weights the pairs
    are counted in integers that do not overflow, and the result is the float64 nearest
    to the true quotient.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels, of any two values; the larger one is positive.
    y_score : array-like of shape (n_samples,)
        Finite scores; higher means more positive. float32 is compared as float32.
    sample_weight : array-like of shape (n_samples,), default=None
        How often each row counts; a row of weight zero is absent.

    Returns
    -------
    auc : float
        Between 0 and 1; one half when all scores are equal.

    Examples
    --------
    >>> from aucmax.metrics import roc_auc
    >>> roc_auc([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    0.75
    >>> roc_auc([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], sample_weight=[3, 1, 1, 1])
    0.875
    >>> roc_auc(["ham", "spam", "spam"], [0.5, 0.5, 0.9])
    0.75
    """
    if sample_weight is not None:
        return _weighted_auc(y_true, y_score, sample_weight)
    return auc_of_sorted(*sort_by_class(y_true, y_score, name="roc_auc"))


def auc_of_sorted(pos: FloatArray, neg: FloatArray) -> float:
    """Return the AUC of the sorted scores of the two classes."""
    high, low = _kernels.counts.count_ordered(pos, neg)
    # Python's integers do not overflow, and their quotient is rounded once.
    auc: float = ((high << _kernels.counts.LOW_BITS) + low) / (
        2 * pos.shape[0] * neg.shape[0]
    )
    return auc


def auc_of_pairs(ordered: float, tied: float, misordered: float) -> float:
    """Return the AUC from the weight of the three kinds of pairs.

    With ``misordered`` counted as well, instead of taken from the product of the class
    masses, rounding can neither exceed one nor miss it when the classes are separated.
    """
    return (ordered + 0.5 * tied) / check_total(ordered + tied + misordered)


def check_total(total: float) -> float:
    """Return the weight of all pairs, unless the products of weights lost digits."""
    if not SMALLEST_TOTAL < total < np.inf:
        raise ValueError(
            f"The products of sample_weight underflow or overflow: all pairs together "
            f"weigh {total:g}. Divide the weights by their mean."
        )
    return total


def _weighted_auc(
    y_true: ArrayLike, y_score: ArrayLike, sample_weight: ArrayLike
) -> float:
    is_pos = split_labels(y_true, name="roc_auc")[1]
    weight = check_weight(sample_weight, is_pos)
    scores = check_scores(y_score, is_pos.shape[0]).astype(np.float64, copy=False)
    _kernels.counts.sign_weights(weight, is_pos)
    order = _kernels.order.argsort(scores)
    refuse_nonfinite(scores[order[0]], scores[order[-1]])
    return auc_of_pairs(*_kernels.counts.weigh_pairs(scores, weight, order))
