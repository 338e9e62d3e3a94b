# SPDX-License-Identifier: BSD-3-Clause
"""Rows in the format of LIBSVM and svmlight."""

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_svmlight_file

from aucmax._utils.typing import Matrix
from aucmax.io._reading import read_or_diagnose, whole
from aucmax.io.diagnosis import diagnose_libsvm
from aucmax.io.source import Source, from_path


def read_libsvm(
    path: str | os.PathLike[str],
    n_features: int | None = None,
    *,
    multilabel: bool = False,
) -> tuple[Matrix, NDArray[Any]]:
    r"""Read a file in the format of LIBSVM and svmlight.

    A line is a label and ``index:value`` pairs; indices start at 1 and increase.

    Parameters
    ----------
    path : str or path
        The file; .bz2, .gz and .xz are unpacked on the way.
    n_features : int, default=None
        Number of columns; None: the highest index.
    multilabel : bool, default=False
        Whether a line may have any number of labels, whole numbers from 0 on with
        commas between them.

    Returns
    -------
    X : csr_matrix of shape (n_samples, n_features)
        Features, float64.
    y : ndarray of shape (n_samples,)
        Labels, integers if all are whole; with `multilabel`, a boolean table with a
        column per label.

    Raises
    ------
    ValueError
        If a line is not as above, a value is not finite, or the file is empty or cut
        off; the message has the number of the line.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from aucmax.io import read_libsvm
    >>> folder = tempfile.TemporaryDirectory()
    >>> file = pathlib.Path(folder.name, "rows.svm")
    >>> _ = file.write_text("1 1:0.5 3:2\n-1 2:1\n")
    >>> X, y = read_libsvm(file)
    >>> X.toarray()
    array([[0.5, 0. , 2. ],
           [0. , 1. , 0. ]])
    >>> y
    array([ 1, -1])
    >>> _ = file.write_text("1 1:0.5 3:2\n-1 2:1 1:4\n")
    >>> read_libsvm(file)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    ValueError: ...rows.svm, line 2: index 1 comes after index 2. Sort the indices ...
    >>> folder.cleanup()
    """
    return read_rows(from_path(path), n_features, multilabel=multilabel)


def read_rows(
    source: Source, n_features: int | None = None, *, multilabel: bool = False
) -> tuple[Matrix, NDArray[Any]]:
    """Read rows as `read_libsvm` does, from anywhere."""

    def read() -> tuple[Matrix, Any]:
        with source.open() as stream:
            X, y = load_svmlight_file(
                stream, n_features=n_features, zero_based=False, multilabel=multilabel
            )
        y = _indicators(y) if multilabel else whole(y)
        # scikit-learn takes these without a word.
        if not len(y) or not np.isfinite(X.data).all() or not np.isfinite(y).all():
            raise ValueError("no rows, or values that are not finite")
        return X, y

    return read_or_diagnose(
        source, read, lambda: diagnose_libsvm(source, n_features, multilabel)
    )


def _indicators(labels: Sequence[Sequence[float]]) -> NDArray[np.bool_]:
    """Return a table with a row per sample and a column per label."""
    rows = [np.asarray(row, dtype=np.int64) for row in labels]
    n_labels = max((int(row.max()) + 1 for row in rows if len(row)), default=0)
    table = np.zeros((len(rows), n_labels), dtype=bool)
    for k, row in enumerate(rows):
        table[k, row] = True
    return table
