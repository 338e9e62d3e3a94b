# SPDX-License-Identifier: BSD-3-Clause
"""What the metrics share: checked labels and scores, sorted by class."""

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aucmax import _kernels
from aucmax._utils.typing import FloatArray
from aucmax._utils.validation import split_labels

# float64 holds every integer up to here; beyond, neighbours would become ties.
LARGEST_INTEGER = 2**53


def sort_by_class(
    y_true: ArrayLike, y_score: ArrayLike, *, name: str
) -> tuple[FloatArray, FloatArray]:
    """Return the sorted scores of the positives and of the negatives."""
    is_pos = split_labels(y_true, name=name)[1]
    scores = check_scores(y_score, is_pos.shape[0])
    both = np.empty_like(scores)
    n_pos = _kernels.counts.split_by_class(scores, is_pos, both)
    pos, neg = both[:n_pos], both[n_pos:]
    _kernels.order.sort(pos)
    _kernels.order.sort(neg)
    refuse_nonfinite(pos[0], neg[0], pos[-1], neg[-1])
    return pos, neg


def check_scores(y_score: ArrayLike, n: int, *, name: str = "y_score") -> FloatArray:
    """Return scores as a contiguous float64 or float32 vector of length ``n``.

    Whether they are finite is not checked: after sorting, the two ends tell.
    """
    scores = as_vector(y_score, name=name)
    if scores.shape[0] != n:
        raise ValueError(
            f"{name} holds {scores.shape[0]} scores for {n} labels. "
            "Pass one score per label."
        )
    is_new = isinstance(y_score, list | tuple) and scores.dtype == np.float64
    if is_new and np.any(np.abs(scores) > LARGEST_INTEGER):
        # NumPy makes floats of integers that stand beside floats or have both signs.
        scores = as_vector(np.array(y_score, dtype=object), name=name)
    if scores.dtype not in (np.float64, np.float32):
        scores = _as_float(scores, name)
    # numba compiles once more for strided and for read-only arrays; a copy is cheaper.
    if not (scores.flags.c_contiguous and scores.flags.writeable):
        scores = scores.copy()
    return scores


def as_vector(values: ArrayLike, *, name: str) -> NDArray[Any]:
    """Return an array of one dimension; a single column counts as one."""
    vector = np.asarray(values)
    if vector.ndim == 2 and vector.shape[1] == 1:
        return vector[:, 0]
    if vector.ndim == 2 and vector.shape[1] == 2 and name.startswith("y_score"):
        raise ValueError(
            f"{name} has shape {vector.shape}, but one score per row is needed. "
            "Pass the column of the positive class, as in predict_proba(X)[:, 1]."
        )
    if vector.ndim != 1:
        raise ValueError(
            f"{name} has shape {vector.shape}, but one value per row is needed. "
            "Pass an array of one dimension."
        )
    return vector


def refuse_nonfinite(*extremes: float, name: str = "y_score") -> None:
    """Raise unless the ends of the sorted scores, and so all of them, are finite."""
    for extreme in extremes:
        if not math.isfinite(extreme):
            raise ValueError(
                f"{name} contains {'NaN' if math.isnan(extreme) else 'infinity'}. "
                "Scores must be finite; drop or replace those rows."
            )


def _as_float(scores: NDArray[Any], name: str) -> FloatArray:
    if (
        scores.dtype.kind in "iu"
        and scores.size
        and max(-int(scores.min()), int(scores.max())) > LARGEST_INTEGER
    ):
        raise ValueError(
            f"{name} holds integers beyond 2**53, which float64 cannot tell apart. "
            "Subtract a constant from all scores, or pass their ranks."
        )
    if scores.dtype.kind not in "biufO":
        raise ValueError(
            f"{name} must hold real numbers, got {scores.dtype}. "
            "Pass the output of decision_function or predict_proba(X)[:, 1]."
        )
    try:
        with np.errstate(over="ignore"):
            floats = scores.astype(np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"{name} must hold real numbers: {error}") from None
    if scores.dtype.kind == "O" or scores.dtype.itemsize > floats.dtype.itemsize:
        _refuse_new_ties(scores, floats, name)
    return floats


def _refuse_new_ties(scores: NDArray[Any], floats: FloatArray, name: str) -> None:
    """Raise if scores that differ have become equal in float64."""
    order = np.argsort(floats)
    values, rounded = scores[order], floats[order]
    is_new = (rounded[1:] == rounded[:-1]) & (values[1:] != values[:-1])
    if is_new.any():
        first = values[int(np.argmax(is_new))]
        raise ValueError(
            f"{name} holds scores near {first} that differ, but not in float64. "
            "Subtract a constant from all scores, or pass their ranks."
        )
