# SPDX-License-Identifier: BSD-3-Clause
"""Dask arrays, dask frames and files as lists of partitions."""

import os
from typing import Any, NamedTuple, TypeGuard

import numpy as np

from aucmax.distributed._cluster import dask
from aucmax.distributed._files import file_parts

HOW_TO_MAKE_ONE = (
    "Make one with dask.array.from_array(X, chunks=(rows, -1)) or "
    "dask.dataframe.from_pandas, or give the path of a file."
)


class Partition(NamedTuple):
    """Tasks of the rows, labels and weights of some neighbouring rows.

    Labels and weights may also be the name of a column of the rows.
    """

    rows: Any
    labels: Any
    weight: Any


def is_array(value: Any) -> bool:
    """Say whether a value is a dask array."""
    return bool(dask.is_dask_collection(value)) and hasattr(value, "chunks")


def is_frame(value: Any) -> bool:
    """Say whether a value is a dask frame or series."""
    return bool(dask.is_dask_collection(value)) and hasattr(value, "divisions")


def is_dask(value: Any) -> bool:
    """Say whether a value is a dask array, frame or series."""
    return is_array(value) or is_frame(value)


def partitions_of(
    X: Any, y: Any, sample_weight: Any = None, *, name: str, local: str
) -> list[Partition]:
    """Return the partitions of what a user has passed to ``fit``.

    ``local`` is the name of the class that takes rows in memory.
    """
    if is_path(X):
        if not isinstance(y, str):
            raise TypeError(
                "With paths y must be the name of the column with the labels, but it "
                f"is a {type(y).__name__}. Pass that name."
            )
        parts = file_parts(X, target=y, weight=sample_weight)
        has_weight = sample_weight is not None
        return [Partition(X, y, w if has_weight else None) for X, y, w in parts]
    if not is_dask(X):
        raise TypeError(
            f"{name} takes dask collections or paths of files, but X is a "
            f"{type(X).__name__}. Use {local} for rows in memory. {HOW_TO_MAKE_ONE}"
        )
    if X.ndim != 2:
        raise ValueError(
            f"X must have two axes, rows and features, but it has {X.ndim}. Reshape it."
        )
    if is_array(X) and X.numblocks[1] > 1:
        # A row must be on one worker.
        X = X.rechunk({1: -1})
    others = {"y": y}
    if sample_weight is not None:
        others["sample_weight"] = sample_weight
    aligned = {what: _aligned(X, value, what) for what, value in others.items()}
    rows, *columns = _tasks([X, *aligned.values()])
    if sample_weight is None:
        columns.append([None] * len(rows))
    return [Partition(*tasks) for tasks in zip(rows, *columns, strict=True)]


def vectors_of(
    y: Any, scores: Any, sample_weight: Any = None
) -> tuple[list[Any], list[Any], list[Any]]:
    """Return the tasks of labels, scores and weights, in the partitions of scores."""
    others = [_aligned(scores, y, "y_true")]
    if sample_weight is not None:
        others.append(_aligned(scores, sample_weight, "sample_weight"))
    given, labels, *weights = _tasks([scores, *others])
    return labels, given, weights[0] if weights else [None] * len(labels)


def is_path(X: Any) -> TypeGuard[Any]:
    """Say whether X is a path or several."""
    if isinstance(X, str | os.PathLike):
        return True
    return (
        isinstance(X, list | tuple)
        and len(X) > 0
        and all(isinstance(path, str | os.PathLike) for path in X)
    )


def _aligned(X: Any, other: Any, what: str) -> Any:
    """Return labels or weights in the same partitions as X, or the name of a column."""
    if isinstance(other, str):
        return _column(X, other, what)
    if not is_dask(other):
        raise TypeError(
            f"X is on Dask, but {what} is a {type(other).__name__}. Pass {what} as a "
            "dask array or series with the partitions of X, for example "
            f"dask.array.from_array({what}, chunks=X.chunks[0])."
        )
    if is_array(other) and other.ndim == 2 and other.shape[1] == 1:
        other = other[:, 0]
    if other.ndim != 1:
        raise ValueError(f"{what} must have one axis, but it has {other.ndim}.")
    if _are_sizes_known(X) and _are_sizes_known(other):
        n, n_other = sum(X.chunks[0]), sum(other.chunks[0])
        if n != n_other:
            raise ValueError(
                f"X has {n} rows, but {what} has {n_other}. Pass one value per row."
            )
        return other.rechunk((X.chunks[0],))
    if X.npartitions != other.npartitions:
        raise ValueError(
            f"X has {X.npartitions} partitions, but {what} has {other.npartitions}, "
            "and their sizes are unknown. Take both from one frame, or call "
            "compute_chunk_sizes() on both arrays."
        )
    return other


def _column(X: Any, column: str, what: str) -> str:
    if not is_frame(X):
        raise TypeError(
            f"{what}={column!r} names a column, but X is a dask array, which has no "
            f"names. Pass {what} as a dask array."
        )
    if column not in X.columns:
        shown = ", ".join(map(repr, list(X.columns)[:10]))
        raise ValueError(f"X has no column {column!r} for {what}; it has {shown}.")
    return column


def _are_sizes_known(value: Any) -> bool:
    return is_array(value) and not np.isnan(sum(value.chunks[0]))


def _tasks(collections: list[Any]) -> list[list[Any]]:
    """Return one task per partition of each; a name is the same for all."""
    arrays = [value for value in collections if is_array(value)]
    # Together, so that what they share is computed once.
    optimised = iter(dask.optimize(*arrays))
    tasks: list[Any] = []
    for value in collections:
        if is_array(value):
            graph = next(optimised).to_delayed(optimize_graph=False)
            tasks.append(list(graph.ravel()))
        elif is_frame(value):
            tasks.append(list(value.to_delayed()))
        else:
            tasks.append([value] * len(tasks[0]))
    return tasks
