# SPDX-License-Identifier: BSD-3-Clause
"""Files whose rows are prepared where they are read: on the workers."""

import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from aucmax._utils.optional import import_optional


def prepared(
    paths: Sequence[str | os.PathLike[str]],
    transform: Callable[[Any], tuple[Any, Any]],
    n_columns: int,
) -> tuple[Any, Any]:
    """Return the rows of Parquet files, and their labels, as the estimators take them.

    Nothing is read here.

    Parameters
    ----------
    paths : sequence of path-like
        The files; the workers must find them under these names.
    transform : callable
        Takes a pandas frame with some rows of a file, returns an array or CSR matrix of
        features, and labels. It goes to the workers.
    n_columns : int
        Number of features.

    Returns
    -------
    X : dask array of shape (n_samples, n_columns)
        The features.
    y : dask array of shape (n_samples,)
        The labels.
    """
    dask = import_optional("dask", "dask")
    array = import_optional("dask.array", "dask")
    frame = import_optional("dask.dataframe", "dask").read_parquet(
        [os.fspath(path) for path in paths]
    )
    split = dask.delayed(transform, nout=2)
    pairs = [split(part) for part in frame.to_delayed()]
    X = [array.from_delayed(X, (np.nan, n_columns), dtype=np.float64) for X, _ in pairs]
    y = [array.from_delayed(y, (np.nan,), dtype=bool) for _, y in pairs]
    return (
        array.concatenate(X, allow_unknown_chunksizes=True),
        array.concatenate(y, allow_unknown_chunksizes=True),
    )
