# SPDX-License-Identifier: BSD-3-Clause
"""Validation of partitions, on the workers that hold them."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aucmax._utils.typing import FloatArray, IntArray, Matrix, is_sparse
from aucmax._utils.validation import (
    check_features,
    check_row_weight,
    check_rows,
)
from aucmax.distributed._partitions import Partition

# Labels that a partition reports; there must be no more than two in all.
N_LABELS = 6


class Expected(NamedTuple):
    """What the rows of a partition must be like.

    ``n_features`` and ``names`` are those of an earlier fit that goes on; None else.
    """

    estimator: type
    n_features: int | None = None
    names: NDArray[Any] | None = None


class Checked(NamedTuple):
    """A partition in the form the solvers need, or what is wrong with it."""

    rows: Matrix
    labels: NDArray[Any]
    weight: FloatArray | None
    names: NDArray[Any] | None
    error: str | None


class Summary(NamedTuple):
    """What the driver needs to know of a partition.

    ``labels`` are the distinct ones, some of them if many, ``counts`` how many rows
    have each, and ``masses`` what these weigh.
    """

    n_rows: int
    n_features: int
    names: NDArray[Any] | None
    dtype: str
    is_sparse: bool
    labels: NDArray[Any]
    counts: IntArray
    masses: FloatArray
    error: str | None


def check_partition(expected: Expected, rows: Any, labels: Any, weight: Any) -> Checked:
    """Validate a partition; what is wrong is returned, for the driver to raise."""
    try:
        return _check(expected, Partition(rows, labels, weight))
    except (TypeError, ValueError) as error:
        nothing = np.empty(0)
        return Checked(nothing, nothing, None, None, f"{error}")


def _check(expected: Expected, partition: Partition) -> Checked:
    rows, labels, weight = _take_columns(*partition)
    labels = check_labels(labels)
    n = rows.shape[0]
    if len(labels) != n:
        raise ValueError(f"it has {n} rows, but {len(labels)} labels. Give one per row")
    if weight is not None:
        weight = np.asarray(weight)
        if n:
            # For its errors: very small weights must be scaled together or not at all.
            check_row_weight(weight, n)
        weight = weight.astype(np.float64)
    if n == 0:
        # Nothing to look at; it may not even have the right columns.
        return Checked(np.empty((0, rows.shape[1])), labels, weight, None, None)
    estimator = expected.estimator()
    if expected.n_features is None:
        rows = check_rows(estimator, rows)[0]
    else:
        estimator.n_features_in_ = expected.n_features
        if expected.names is not None:
            estimator.feature_names_in_ = expected.names
        rows = check_features(estimator, rows)
    if isinstance(rows, np.ndarray):
        # Loops would be compiled once more for rows that may not be written.
        rows = np.require(rows, requirements=["C", "W"])
    names = getattr(estimator, "feature_names_in_", None)
    return Checked(rows, labels, weight, names, None)


def summarise(checked: Checked) -> Summary:
    """Return what the driver needs to know of a partition."""
    rows, labels, weight, names, error = checked
    if error is not None:
        none = np.zeros(0)
        return Summary(0, 0, None, "", False, labels, none.astype(int), none, error)
    distinct, which = np.unique(labels, return_inverse=True)
    counts = np.bincount(which, minlength=len(distinct))
    masses = np.bincount(which, weights=weight, minlength=len(distinct))
    return Summary(
        rows.shape[0],
        rows.shape[1],
        names,
        rows.dtype.name,
        is_sparse(rows),
        distinct[:N_LABELS],
        counts[:N_LABELS],
        masses[:N_LABELS].astype(np.float64),
        None,
    )


def check_labels(y: Any) -> NDArray[Any]:
    """Return the labels of a partition as a vector, without missing ones."""
    if hasattr(y, "isna") and bool(y.isna().any()):
        raise ValueError("y has missing labels. Leave out the rows without one")
    labels = np.asarray(y)
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        raise ValueError(
            "y contains NaN or infinity. Leave out the rows whose label is missing"
        )
    if labels.dtype.kind == "O":
        if any(v is None or v != v for v in labels):
            raise ValueError("y has missing labels. Leave out the rows without one")
        kinds = sorted({type(v).__name__ for v in labels})
        if len(kinds) > 1:
            raise ValueError(
                f"y mixes labels of the types {', '.join(kinds)}. Convert them to one"
            )
    return labels


def _take_columns(rows: Any, labels: Any, weight: Any) -> tuple[Any, Any, Any]:
    """Take labels and weights out of the rows, where they are columns of them."""
    named = [what for what in (labels, weight) if isinstance(what, str)]
    labels = rows[labels] if isinstance(labels, str) else labels
    weight = rows[weight] if isinstance(weight, str) else weight
    return rows.drop(columns=named) if named else rows, labels, weight
