# SPDX-License-Identifier: BSD-3-Clause
"""How sure one can be of an AUC: DeLong's variance, an interval and a paired test."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

from aucmax import _kernels
from aucmax._utils.typing import BoolArray, IntArray
from aucmax._utils.validation import split_labels
from aucmax.metrics._inputs import check_scores, refuse_nonfinite, sort_by_class
from aucmax.metrics.auc import auc_of_sorted
from aucmax.saved import saved_as


@saved_as("AUCInterval")
class AUCInterval(NamedTuple):
    """An AUC with its confidence interval."""

    auc: float
    low: float
    high: float
    std_error: float


class AUCTest(NamedTuple):
    """Two AUCs on the same rows and the test of their difference."""

    auc_1: float
    auc_2: float
    difference: float
    std_error: float
    statistic: float
    p_value: float


def roc_auc_interval(
    y_true: ArrayLike, y_score: ArrayLike, *, level: float = 0.95
) -> AUCInterval:
    r"""DeLong interval for the area under the ROC curve.

    .. math::
        A \pm z \sqrt{\frac{\mathrm{var}(V_+)}{n_+} + \frac{\mathrm{var}(V_-)}{n_-}}

    where the placement :math:`V_+` of a positive is the share of negatives below it,
    that of a negative the share of positives above it, ties one half. Costs one sort by
    value, O(n log n) time and O(n) memory. The interval is clipped to [0, 1].

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels, of any two values; the larger one is positive.
    y_score : array-like of shape (n_samples,)
        Finite scores; higher means more positive.
    level : float, default=0.95
        Coverage of the interval, in (0, 1).

    Returns
    -------
    interval : AUCInterval
        Named tuple ``auc, low, high, std_error``; ``std_error`` is not clipped.

    Notes
    -----
    A class of one row has no sample variance. It is given the largest one that
    placements in [0, 1] with mean A can have, A (1 - A), which errs on the wide side.

    The interval has no width when the classes are separated (A is 0 or 1): the normal
    approximation knows no other answer there.

    References
    ----------
    E. R. DeLong, D. M. DeLong and D. L. Clarke-Pearson, "Comparing the areas under two
    or more correlated receiver operating characteristic curves", Biometrics 44, 1988.

    Examples
    --------
    >>> from aucmax.metrics import roc_auc_interval
    >>> y_true, y_score = [0, 0, 0, 1, 1, 1], [0.1, 0.2, 0.6, 0.3, 0.7, 0.9]
    >>> interval = roc_auc_interval(y_true, y_score)
    >>> [round(value, 3) for value in interval]
    [0.889, 0.581, 1.0, 0.157]
    """
    if not 0 < level < 1:
        raise ValueError(
            f"level must be between 0 and 1, got {level!r}. "
            "Pass the coverage wanted, such as 0.95."
        )
    pos, neg = sort_by_class(y_true, y_score, name="roc_auc_interval")
    n_pos, n_neg = pos.shape[0], neg.shape[0]
    auc = auc_of_sorted(pos, neg)
    squares_pos, squares_neg = _kernels.counts.placement_squares(pos, neg, auc)
    largest = auc * (1 - auc)
    variance_pos = squares_pos / (n_pos - 1) if n_pos > 1 else largest
    variance_neg = squares_neg / (n_neg - 1) if n_neg > 1 else largest
    std_error = math.sqrt(variance_pos / n_pos + variance_neg / n_neg)
    reach = -float(ndtri((1 - level) / 2)) * std_error
    return AUCInterval(auc, max(0.0, auc - reach), min(1.0, auc + reach), std_error)


def roc_auc_test(
    y_true: ArrayLike, y_score_1: ArrayLike, y_score_2: ArrayLike
) -> AUCTest:
    r"""Paired DeLong test of whether two scores of the same rows have equal AUC.

    .. math::
        z = \frac{A_1 - A_2}{\sqrt{
        \mathrm{var}(V_{1+} - V_{2+}) / n_+ + \mathrm{var}(V_{1-} - V_{2-}) / n_-}}

    with the placements V of :func:`roc_auc_interval`; two-sided, normal. Costs one
    argsort per score, O(n log n) time and O(n) memory.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels, of any two values; the larger one is positive.
    y_score_1, y_score_2 : array-like of shape (n_samples,)
        Finite scores of the same rows; higher means more positive.

    Returns
    -------
    test : AUCTest
        Named tuple ``auc_1, auc_2, difference, std_error, statistic, p_value``. When
        the standard error is zero the p-value is 1 for equal AUCs and 0 otherwise.

    Notes
    -----
    A class of one row has no sample variance. It is given the largest one that the
    difference of two placements in [0, 1] with means A1 and A2 can have,
    ``min(A1 + A2, 2 - A1 - A2) - (A1 - A2) ** 2``, so the p-value errs on the high
    side.

    References
    ----------
    E. R. DeLong, D. M. DeLong and D. L. Clarke-Pearson, "Comparing the areas under two
    or more correlated receiver operating characteristic curves", Biometrics 44, 1988.

    Examples
    --------
    >>> from aucmax.metrics import roc_auc_test
    >>> y_true = [0, 0, 0, 1, 1, 1]
    >>> good, poor = [0.1, 0.2, 0.6, 0.3, 0.7, 0.9], [0.5, 0.4, 0.6, 0.3, 0.7, 0.2]
    >>> test = roc_auc_test(y_true, good, poor)
    >>> round(test.difference, 3), round(test.p_value, 3)
    (0.556, 0.077)
    """
    is_pos = split_labels(y_true, name="roc_auc_test")[1]
    count_1 = _placement_counts(is_pos, y_score_1, "y_score_1")
    count_2 = _placement_counts(is_pos, y_score_2, "y_score_2")
    pos_1, pos_2 = count_1[is_pos], count_2[is_pos]
    n_pos = pos_1.shape[0]
    n_neg = is_pos.shape[0] - n_pos
    n_pairs = 2 * n_pos * n_neg
    total_1, total_2 = _exact_sum(pos_1), _exact_sum(pos_2)
    auc_1, auc_2 = total_1 / n_pairs, total_2 / n_pairs
    difference = (total_1 - total_2) / n_pairs
    largest = min(auc_1 + auc_2, 2 - (auc_1 + auc_2)) - difference**2
    std_error = math.sqrt(
        _variance(pos_1 - pos_2, n_neg, largest) / n_pos
        + _variance((count_1 - count_2)[~is_pos], n_pos, largest) / n_neg
    )
    if std_error > 0:
        statistic = difference / std_error
    else:
        statistic = math.copysign(math.inf, difference) if difference else 0.0
    p_value = math.erfc(abs(statistic) / math.sqrt(2))
    return AUCTest(auc_1, auc_2, difference, std_error, statistic, p_value)


def _placement_counts(is_pos: BoolArray, y_score: ArrayLike, name: str) -> IntArray:
    scores = check_scores(y_score, is_pos.shape[0], name=name)
    scores = scores.astype(np.float64, copy=False)
    order = _kernels.order.argsort(scores)
    refuse_nonfinite(scores[order[0]], scores[order[-1]], name=name)
    counts = np.empty(order.shape[0], dtype=np.int64)
    n_pos = int(np.count_nonzero(is_pos))
    _kernels.counts.placement_counts(scores, order, is_pos, n_pos, counts)
    return counts


def _exact_sum(counts: IntArray) -> int:
    """Sum in two halves, because the count of all pairs may exceed 64 bits."""
    return (int((counts >> 32).sum()) << 32) + int((counts & 0xFFFFFFFF).sum())


def _variance(doubled: IntArray, n_other: int, largest: float) -> float:
    """Return the sample variance of ``doubled / (2 n_other)``, or ``largest``."""
    if doubled.shape[0] == 1:
        return max(0.0, largest)
    # Measured from the first one, differences that are all equal have variance zero.
    return float(np.var((doubled - doubled[0]) / (2 * n_other), ddof=1))
