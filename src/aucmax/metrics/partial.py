# SPDX-License-Identifier: BSD-3-Clause
"""The area under a part of the ROC curve."""

import numpy as np
from numpy.typing import ArrayLike

from aucmax._utils.typing import FloatArray
from aucmax.metrics._cuts import sweep_cuts


def partial_auc(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    max_fpr: float | None = None,
    min_tpr: float | None = None,
    standardize: bool = False,
    sample_weight: ArrayLike | None = None,
) -> float:
    r"""Area under the ROC curve where few negatives pass, or most positives do.

    .. math::
        A = \int_0^{f} \max\left(\mathrm{TPR}(x) - t,\; 0\right) dx,
        \qquad f = \mathtt{max\_fpr},\; t = \mathtt{min\_tpr}

    the area between the curve and the line TPR = t, left of FPR = f. Tied scores are
    joined by a straight line. Costs one argsort, O(n log n) time and O(n) memory.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels, of any two values; the larger one is positive.
    y_score : array-like of shape (n_samples,)
        Finite scores; higher means more positive.
    max_fpr : float, default=None
        Largest false positive rate of interest, in (0, 1]; None means 1.
    min_tpr : float, default=None
        Smallest true positive rate of interest, in [0, 1); None means 0.
    standardize : bool, default=False
        Map the area so that a perfect curve scores 1 and the diagonal one half, after
        McClish: ``(1 + (A - diagonal) / (region - diagonal)) / 2``, where ``region`` is
        ``f (1 - t)`` and ``diagonal`` is ``max(f - t, 0) ** 2 / 2``. With ``max_fpr``
        alone this is ``sklearn.metrics.roc_auc_score(..., max_fpr=)``.
    sample_weight : array-like of shape (n_samples,), default=None
        How often each row counts; a row of weight zero is absent.

    Returns
    -------
    area : float
        Between 0 and ``f (1 - t)``, or up to 1 when standardized. The AUC, if neither
        bound is given.

    References
    ----------
    D. K. McClish, "Analyzing a portion of the ROC curve", Medical Decision Making 9(3),
    1989.

    Examples
    --------
    >>> from aucmax.metrics import partial_auc
    >>> y_true, y_score = [0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]
    >>> partial_auc(y_true, y_score)
    0.75
    >>> partial_auc(y_true, y_score, max_fpr=0.5)
    0.25
    >>> partial_auc(y_true, y_score, max_fpr=0.5, standardize=True)
    0.6666666666666666
    >>> partial_auc(y_true, y_score, min_tpr=0.75)
    0.125
    """
    max_fpr = 1.0 if max_fpr is None else float(max_fpr)
    min_tpr = 0.0 if min_tpr is None else float(min_tpr)
    if not 0 < max_fpr <= 1:
        raise ValueError(
            f"max_fpr must be above 0 and at most 1, got {max_fpr:g}. "
            "Pass the largest false positive rate of interest, such as 0.1."
        )
    if not 0 <= min_tpr < 1:
        raise ValueError(
            f"min_tpr must be at least 0 and below 1, got {min_tpr:g}. "
            "Pass the smallest true positive rate of interest, such as 0.9."
        )
    cuts = sweep_cuts(y_true, y_score, sample_weight, name="partial_auc")
    fpr, tpr = cuts.false / cuts.false[-1], cuts.true / cuts.true[-1]
    area = _area(fpr, tpr, max_fpr, min_tpr)
    if not standardize:
        return area
    region = max_fpr * (1 - min_tpr)
    diagonal = max(max_fpr - min_tpr, 0) ** 2 / 2
    return 0.5 * (1 + (area - diagonal) / (region - diagonal))


def _area(fpr: FloatArray, tpr: FloatArray, max_fpr: float, min_tpr: float) -> float:
    """Integrate the curve, cut at ``max_fpr``, above the line ``min_tpr``."""
    stop = np.searchsorted(fpr, max_fpr, side="right")
    tpr = np.append(tpr[:stop], np.interp(max_fpr, fpr, tpr))
    fpr = np.append(fpr[:stop], max_fpr)
    start = np.searchsorted(tpr, min_tpr, side="right")
    fpr = np.append(np.interp(min_tpr, tpr, fpr), fpr[start:])
    height = np.append(0.0, tpr[start:] - min_tpr)
    return float(0.5 * np.diff(fpr) @ (height[1:] + height[:-1]))
