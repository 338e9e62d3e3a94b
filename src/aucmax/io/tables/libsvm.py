# SPDX-License-Identifier: BSD-3-Clause
"""Rows in the format of LIBSVM and svmlight, whole or in batches of CSR."""

import os
from codecs import BOM_UTF8
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO
from itertools import chain
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.datasets import load_svmlight_file

from aucmax._utils.typing import Matrix
from aucmax.io._errors import damage_errors
from aucmax.io.tables.blocks import Block
from aucmax.io.tables.errors import TableError, damaged
from aucmax.io.tables.libsvm_errors import MOST_LABELS, diagnose_libsvm
from aucmax.io.tables.lines import UNFINISHED, open_text, text_lines
from aucmax.io.tables.source import Source, name_all, open_path
from aucmax.io.tables.values import TOO_LARGE

BLOCK_BYTES = 2**20
LARGEST = 2**31 - 1


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
    aucmax...TableError: ...rows.svm, line 2: index 1 comes after index 2. Sort ...
    >>> folder.cleanup()
    """
    return read_rows((open_path(path),), n_features, multilabel=multilabel)


def read_rows(
    sources: Sequence[Source],
    n_features: int | None = None,
    *,
    multilabel: bool = False,
) -> tuple[Matrix, NDArray[Any]]:
    """Read all rows of files in the format of LIBSVM."""
    parts = list(_parts(sources, n_features, np.dtype(np.float64), multilabel))
    if not parts:
        raise TableError("has no rows", UNFINISHED, file=sources[0].name)
    width = n_features or max(X.shape[1] for X, _ in parts)
    for X, _ in parts:
        X.resize((X.shape[0], width))
    X, y = parts[0] if len(parts) == 1 else _joined(parts)
    return X, _indicators(y) if multilabel else y


@dataclass(frozen=True)
class SparsePlan:
    """Files in the format of LIBSVM, to be read in batches of CSR.

    Attributes
    ----------
    sources : tuple of Source
        The files.
    n_features : int
        Number of columns.
    dtype : dtype
        Precision of the values.
    """

    sources: tuple[Source, ...]
    n_features: int
    dtype: np.dtype[Any]
    names: tuple[str, ...] = ()
    title: str = "libsvm"

    def blocks(self, n_rows: int, first: int) -> Generator[Block, None, None]:
        """Yield CSR blocks of ``n_rows`` rows, without the first ones."""
        parts = _parts(self.sources, self.n_features, self.dtype)
        number = -1
        for number, block in enumerate(_blocks(parts, n_rows)):
            if number >= first:
                yield block
        if number < 0:
            raise TableError("has no rows", UNFINISHED, file=name_all(self.sources))

    def records(self, skip: int) -> NoReturn:
        """Raise: there are none."""
        raise TableError(
            "is in LIBSVM's format, which has no Arrow columns",
            "iterate over the batches, which are CSR",
            file=self.sources[0].name,
        )

    def identity(self) -> dict[str, Any]:
        """Return all that the values of the blocks depend on but for the files."""
        return {"n_features": self.n_features, "dtype": str(self.dtype)}


def plan_sparse(
    sources: tuple[Source, ...], n_features: int | None, dtype: str
) -> SparsePlan:
    """Return how to read the files.

    Without ``n_features``, all files are read once to find the highest index.
    """
    precision = np.dtype(np.float64 if dtype == "auto" else dtype)
    # What is wrong with the first rows is told now.
    first = next(_parts(sources, n_features, precision), None)
    if n_features is None:
        if first is None:
            raise TableError("has no rows", UNFINISHED, file=name_all(sources))
        n_features = max(map(_highest_index, sources))
        if not n_features:
            raise TableError(
                "has no index:value pairs, so there is nothing to learn from",
                UNFINISHED,
                file=sources[0].name,
            )
    return SparsePlan(sources, n_features, precision)


def _blocks(
    parts: Iterator[tuple[Matrix, NDArray[Any]]], n_rows: int
) -> Iterator[Block]:
    kept: list[tuple[Matrix, NDArray[Any]]] = []
    n = 0
    for X, y in parts:
        while n + len(y) >= n_rows:
            cut = n_rows - n
            kept.append((X[:cut], y[:cut]))
            yield _joined(kept)
            X, y = X[cut:], y[cut:]
            kept, n = [], 0
        if len(y):
            kept.append((X, y))
            n += len(y)
    if kept:
        yield _joined(kept)


def _joined(parts: Sequence[tuple[Matrix, Any]]) -> tuple[Matrix, Any]:
    X = sparse.vstack([each for each, _ in parts], format="csr")
    # So it was in the file, or it would have been refused.
    X.has_canonical_format = True
    labels = [each for _, each in parts]
    if isinstance(labels[0], list):
        return X, list(chain.from_iterable(labels))
    return X, np.concatenate(labels)


def _parts(
    sources: Sequence[Source],
    n_features: int | None,
    dtype: np.dtype[Any],
    multilabel: bool = False,
) -> Iterator[tuple[Matrix, Any]]:
    """Yield rows and labels, some at a time; labels are whole if the first ones are."""
    labels: Any = None
    for source in sources:
        source.check_unchanged()
        for text in _whole_lines(source):
            try:
                X, y = _parse(text, n_features, dtype, multilabel)
            except damage_errors() as error:
                diagnose_libsvm(source, n_features, multilabel)
                raise damaged(source.name, error) from error
            if multilabel or not len(y):
                yield from [(X, y)] * bool(len(y))
                continue
            fractions = y[y != np.rint(y)]
            if labels is None:
                labels = np.float64 if len(fractions) else np.int64
            if labels is np.int64 and len(fractions):
                raise TableError(
                    f"has the label {fractions[0]:g}, but all before it were whole",
                    "write the labels as whole numbers",
                    file=source.name,
                )
            yield X, y.astype(labels)


def _whole_lines(source: Source) -> Iterator[bytes]:
    r"""Yield lines that end with ``\n``, many at a time, without a byte order mark."""
    rest = b""
    try:
        with open_text(source) as stream:
            while data := stream.read(BLOCK_BYTES):
                # Two line ends for one do no harm: empty lines mean nothing.
                data = rest + data.replace(b"\r", b"\n")
                cut = data.rfind(b"\n") + 1
                rest = data[cut:]
                if cut:
                    yield data[:cut].removeprefix(BOM_UTF8)
    except damage_errors() as error:
        for _ in text_lines(source, strict=False):
            pass  # raises where it is cut off, or where a line is too long
        raise damaged(source.name, error) from error
    if rest:
        yield rest.removeprefix(BOM_UTF8) + b"\n"


def _parse(
    text: bytes, n_features: int | None, dtype: np.dtype[Any], multilabel: bool
) -> tuple[Matrix, Any]:
    # scikit-learn takes 1_0 for 10; in a comment, it means nothing.
    if b"_" in text and any(
        b"_" in line.partition(b"#")[0] for line in text.split(b"\n")
    ):
        raise ValueError("numbers that only Python takes for such")
    X, y = load_svmlight_file(
        BytesIO(text),
        n_features=n_features,
        dtype=dtype,
        zero_based=False,
        multilabel=multilabel,
    )
    # scikit-learn takes these without a word.
    if not np.isfinite(X.data).all():
        raise ValueError(f"it has numbers that are too large for {dtype}")
    if multilabel:
        _check_labels(y)
    elif not (np.abs(y) < TOO_LARGE).all():
        raise ValueError("labels that are not finite, or too large")
    return X, y


def _check_labels(labels: Sequence[Sequence[float]]) -> None:
    given = np.fromiter(chain.from_iterable(labels), np.float64)
    # Comparisons with NaN are false.
    if not ((given >= 0) & (given < MOST_LABELS) & (given == np.rint(given))).all():
        raise ValueError("labels that are not whole numbers from 0 on")


def _indicators(labels: Sequence[Sequence[float]]) -> NDArray[np.bool_]:
    """Return a table with a row per sample and a column per label."""
    counts = np.fromiter(map(len, labels), np.int64, len(labels))
    given = np.fromiter(chain.from_iterable(labels), np.float64, int(counts.sum()))
    table = np.zeros((len(labels), int(given.max(initial=-1.0)) + 1), dtype=bool)
    table[np.repeat(np.arange(len(labels)), counts), given.astype(np.int64)] = True
    return table


def _highest_index(source: Source) -> int:
    """Return the highest index, which is that of some last pair in a line."""
    highest = 0
    for text in _whole_lines(source):
        for line in text.split(b"\n"):
            if b"#" in line:
                line = line.partition(b"#")[0]
            before, colon, _ = line.rpartition(b":")
            # From the last space on; a line may have no pairs, or only qid:3.
            index = before.rsplit(None, 1)[-1:] if colon else []
            if not index or index[0] == b"qid":
                continue
            try:
                highest = max(highest, int(index[0]))
            except ValueError as error:
                diagnose_libsvm(source, None, multilabel=False)
                raise damaged(source.name, error) from error
    if highest > LARGEST:
        diagnose_libsvm(source, None, multilabel=False)
    return highest
