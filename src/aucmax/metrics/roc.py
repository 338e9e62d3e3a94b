# SPDX-License-Identifier: BSD-3-Clause
"""The ROC curve."""

from typing import Any, NamedTuple

from numpy.typing import ArrayLike, NDArray

from aucmax._utils.typing import FloatArray
from aucmax.metrics._cuts import sweep_cuts


class ROCCurve(NamedTuple):
    """Vertices of an ROC curve, from (0, 0) to (1, 1)."""

    fpr: FloatArray
    tpr: FloatArray
    thresholds: NDArray[Any]


def roc_curve(
    y_true: ArrayLike, y_score: ArrayLike, *, sample_weight: ArrayLike | None = None
) -> ROCCurve:
    """ROC curve: the share of positives that pass against that of negatives.

    A row passes a threshold when its score is at least as high. Tied rows pass
    together, so straight lines between the vertices count ties one half, as
    :func:`roc_auc` does. Costs one argsort, O(n log n) time and O(n) memory.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels, of any two values; the larger one is positive.
    y_score : array-like of shape (n_samples,)
        Finite scores; higher means more positive.
    sample_weight : array-like of shape (n_samples,), default=None
        How often each row counts; a row of weight zero is absent.

    Returns
    -------
    curve : ROCCurve
        Named tuple ``fpr, tpr, thresholds``, one vertex for each score that occurs,
        after infinity, which nothing passes. These are the values of
        ``sklearn.metrics.roc_curve(..., drop_intermediate=False)``.

    See Also
    --------
    roc_band : How sure one can be of the curve.
    aucmax.plots.RocDisplay : Draws both.

    Examples
    --------
    >>> from aucmax.metrics import roc_curve
    >>> curve = roc_curve([0, 0, 1, 1], [0.1, 0.4, 0.4, 0.8])
    >>> curve.fpr.tolist()
    [0.0, 0.0, 0.5, 1.0]
    >>> curve.tpr.tolist()
    [0.0, 0.5, 1.0, 1.0]
    >>> curve.thresholds.tolist()
    [inf, 0.8, 0.4, 0.1]
    """
    cuts = sweep_cuts(y_true, y_score, sample_weight, name="roc_curve")
    return ROCCurve(
        cuts.false / cuts.false[-1], cuts.true / cuts.true[-1], cuts.thresholds
    )
