# SPDX-License-Identifier: BSD-3-Clause
"""Rows in the format of LIBSVM and svmlight."""

import os
from codecs import BOM_UTF8
from collections.abc import Sequence
from io import BufferedReader, RawIOBase
from itertools import chain
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_svmlight_file

from aucmax._utils.typing import Matrix
from aucmax.io._reading import read_or_diagnose, whole
from aucmax.io.diagnosis import MOST_LABELS, diagnose_libsvm
from aucmax.io.lines import open_text
from aucmax.io.source import Source, from_path

BLOCK_BYTES = 2**18


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
        The file; .bz2, .gz, .xz and .zip are unpacked on the way.
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
        If a line is not as above or longer than 32 MB, a value is not finite, a label
        is 2^53 or more, or the file is empty or cut off; the message has the number of
        the line.

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

    def diagnose() -> None:
        diagnose_libsvm(source, n_features, multilabel)

    def read() -> tuple[Matrix, Any]:
        with open_text(source) as stream:
            clean = CleanBytes(stream)
            X, y = load_svmlight_file(
                BufferedReader(clean, BLOCK_BYTES),
                n_features=n_features,
                zero_based=False,
                multilabel=multilabel,
            )
        if clean.has_underscore:
            # scikit-learn takes 1_0 for 10; in a comment, it means nothing.
            diagnose()
        y = _indicators(y) if multilabel else whole(y)
        # scikit-learn takes these without a word.
        if not len(y) or not np.isfinite(X.data).all():
            raise ValueError("no rows, or values that are not finite")
        return X, y

    return read_or_diagnose(source, read, diagnose)


class CleanBytes(RawIOBase):
    r"""Bytes without a byte order mark, and with ``\n`` at the end of each line."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._is_start = True
        self.has_underscore = False

    def readable(self) -> bool:
        """Say that it can be read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read into a buffer; return how many bytes."""
        data = self._stream.read(len(buffer))
        if self._is_start and data.startswith(BOM_UTF8):
            data = b" " * len(BOM_UTF8) + data[len(BOM_UTF8) :]
        self._is_start = False
        # Two line ends for one do no harm: empty lines mean nothing.
        data = data.replace(b"\r", b"\n")
        self.has_underscore = self.has_underscore or b"_" in data
        buffer[: len(data)] = data
        return len(data)


def _indicators(labels: Sequence[Sequence[float]]) -> NDArray[np.bool_]:
    """Return a table with a row per sample and a column per label."""
    counts = np.fromiter(map(len, labels), np.int64, len(labels))
    given = np.fromiter(chain.from_iterable(labels), np.float64, int(counts.sum()))
    # Comparisons with NaN are false.
    if not ((given >= 0) & (given < MOST_LABELS) & (given == np.rint(given))).all():
        raise ValueError("labels that are not whole numbers from 0 on")
    table = np.zeros((len(labels), int(given.max(initial=-1.0)) + 1), dtype=bool)
    table[np.repeat(np.arange(len(labels)), counts), given.astype(np.int64)] = True
    return table
