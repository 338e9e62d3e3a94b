# SPDX-License-Identifier: BSD-3-Clause
"""The area under the ROC curve of scores on a cluster."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucmax._utils.validation import split_labels
from aucmax.distributed._checks import N_LABELS, check_labels
from aucmax.distributed._cluster import fetch, keep, later, merged, shared
from aucmax.distributed._partitions import is_dask, vectors_of
from aucmax.metrics import StreamingAUC


def roc_auc(
    y_true: Any,
    y_score: Any,
    *,
    sample_weight: Any = None,
    bins_per_octave: int | None = None,
    classes: Any = None,
) -> float:
    """Area under the ROC curve of labels and scores that are dask collections.

    Each block becomes a :class:`~aucmax.metrics.StreamingAUC`; these are merged a few
    at a time on the workers, and one comes back.

    Parameters
    ----------
    y_true : dask array or series of shape (n_samples,)
        Labels, of any two values; the larger one is positive.
    y_score : dask array or series of shape (n_samples,)
        Finite scores; higher means more positive.
    sample_weight : dask array or series of shape (n_samples,), default=None
        How often each row counts; a row of weight zero is absent.
    bins_per_octave : int, default=None
        None is exact, and the last worker to merge holds 24 bytes per distinct score. A
        power of two, such as 1024, bounds that by the number of bins, and the error by
        half the share of pairs in one bin.
    classes : array-like of shape (2,), default=None
        The labels that must be found, negative first; by default any two.

    Returns
    -------
    auc : float
        As :func:`aucmax.metrics.roc_auc` would give, to rounding; the same float below
        about 10^15 pairs without weights.

    Examples
    --------
    >>> import dask.array as da
    >>> from aucmax.distributed import roc_auc
    >>> y, scores = da.array([0, 0, 1, 1]), da.array([0.1, 0.4, 0.35, 0.8])
    >>> roc_auc(y.rechunk(2), scores.rechunk(2))
    0.75
    """
    for what, value in (("y_true", y_true), ("y_score", y_score)):
        if not is_dask(value):
            raise TypeError(
                f"{what} must be a dask array or series, but it is a "
                f"{type(value).__name__}. Use aucmax.metrics.roc_auc for scores in "
                "memory."
            )
    labels, scores, weights = vectors_of(y_true, y_score, sample_weight)
    labels = keep(labels)
    found = fetch([later(_distinct, y) for y in labels])
    # An empty block may be of another type.
    found = [some for some in found if len(some)] or found[:1]
    known, _ = split_labels(np.concatenate(found), name="roc_auc")
    if classes is not None and not np.array_equal(known, classes):
        raise ValueError(
            f"y holds the labels {known.tolist()}, but the classes are "
            f"{np.asarray(classes).tolist()}. Pass labels of those two classes."
        )
    settings = shared((bins_per_octave, tuple(known.tolist())))
    parts = [
        later(_summary, settings, *rows)
        for rows in zip(labels, scores, weights, strict=True)
    ]
    summary: StreamingAUC = fetch([merged(parts, StreamingAUC.merge)])[0]
    return summary.auc


def _distinct(y: Any) -> NDArray[Any]:
    return np.unique(check_labels(y))[:N_LABELS]


def _summary(settings: tuple[Any, Any], y: Any, scores: Any, weight: Any) -> Any:
    bins_per_octave, classes = settings
    summary = StreamingAUC(bins_per_octave=bins_per_octave, classes=classes)
    return summary.update(check_labels(y), np.asarray(scores), sample_weight=weight)
