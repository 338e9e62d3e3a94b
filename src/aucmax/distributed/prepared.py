# SPDX-License-Identifier: BSD-3-Clause
"""Files whose rows are prepared where they are read: on the workers."""

import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from aucmax._utils.optional import import_optional
from aucmax.distributed._cluster import dask
from aucmax.distributed._files import file_parts


def prepared(
    paths: Sequence[str | os.PathLike[str]],
    transform: Callable[[Any], tuple[Any, Any]],
    n_columns: int,
    *,
    columns: Sequence[str] | None = None,
) -> tuple[Any, Any]:
    """Return the rows of files, and their labels, as the estimators take them.

    Of the files, only what they say of their columns is read here.

    Parameters
    ----------
    paths : sequence of path-like
        The files, of any format that :func:`aucmax.io.read_batches` takes but LIBSVM's;
        the workers must find them under these names. A file of text is one part.
    transform : callable
        Takes a pandas frame with some rows of a file, returns an array or CSR matrix of
        features, and labels. It goes to the workers.
    n_columns : int
        Number of features.
    columns : sequence of str, default=None
        The columns of the frames; None: all.

    Returns
    -------
    X : dask array of shape (n_samples, n_columns)
        The features.
    y : dask array of shape (n_samples,)
        The labels.
    """
    array = import_optional("dask.array", "dask")
    split = dask.delayed(transform, nout=2)
    pairs = [split(X) for X, _, _ in file_parts(paths, columns=columns)]
    X = [array.from_delayed(X, (np.nan, n_columns), dtype=np.float64) for X, _ in pairs]
    y = [array.from_delayed(y, (np.nan,), dtype=bool) for _, y in pairs]
    return (
        array.concatenate(X, allow_unknown_chunksizes=True),
        array.concatenate(y, allow_unknown_chunksizes=True),
    )
