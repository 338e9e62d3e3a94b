# SPDX-License-Identifier: BSD-3-Clause
"""Files in the format of LIBSVM, read in batches of CSR."""

from collections.abc import Generator, Iterator
from dataclasses import dataclass
from io import BytesIO
from itertools import islice
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.datasets import load_svmlight_file

from aucmax._utils.typing import FloatArray, Matrix
from aucmax.io._batch_blocks import Block
from aucmax.io._batch_files import InputFile
from aucmax.io._batch_plan import some
from aucmax.io._errors import damage_errors, damaged
from aucmax.io._reading import TOO_LARGE
from aucmax.io.diagnosis import diagnose_libsvm
from aucmax.io.libsvm import CleanBytes
from aucmax.io.lines import UNFINISHED, open_text
from aucmax.io.source import Source

BLOCK_BYTES = 2**20
LARGEST = 2**31 - 1


@dataclass(frozen=True)
class SparsePlan:
    """Files in the format of LIBSVM.

    Attributes
    ----------
    files : tuple of InputFile
        The files.
    n_features : int
        Number of columns.
    dtype : dtype
        Precision of the values.
    labels : dtype
        Type of the labels.
    """

    files: tuple[InputFile, ...]
    n_features: int
    dtype: np.dtype[Any]
    labels: np.dtype[Any]
    names: tuple[str, ...] = ()
    title: str = "libsvm"

    def blocks(self, n_rows: int, first: int) -> Generator[Block, None, None]:
        """Yield CSR blocks of ``n_rows`` rows, without the first ones."""
        found = islice(_blocks(self._parts(), n_rows), first, None)
        return some(self, found, first)

    def records(self, skip: int) -> NoReturn:
        """Raise: there are none."""
        raise ValueError(
            f"{self.files[0].path} is in LIBSVM's format, which has no Arrow columns. "
            "Iterate over the batches, which are CSR."
        )

    def identity(self) -> dict[str, Any]:
        """Return all that the values of the blocks depend on but for the files."""
        return {
            "n_features": self.n_features,
            "dtype": str(self.dtype),
            "labels": str(self.labels),
        }

    def _parts(self) -> Iterator[tuple[Matrix, NDArray[Any]]]:
        for file in self.files:
            source = file.source()
            for text in _whole_lines(source):
                X, y = _parse(source, text, self.n_features, self.dtype)
                if self.labels.kind == "i" and (y != np.rint(y)).any():
                    raise ValueError(
                        f"{source.name} has the label {y[y != np.rint(y)][0]:g}, but "
                        "all before it were whole. Write the labels as whole numbers."
                    )
                yield X, y.astype(self.labels)


def plan_sparse(
    files: tuple[InputFile, ...], n_features: int | None, dtype: str
) -> SparsePlan:
    """Return how to read the files.

    Without ``n_features``, all files are read once to find the highest index.
    """
    precision = np.dtype(np.float64 if dtype == "auto" else dtype)
    labels: np.dtype[Any] = np.dtype(np.int64)
    for file in files:
        source = file.source()
        if text := next(_whole_lines(source), b""):
            _, y = _parse(source, text, n_features, precision)
            if len(y):
                is_whole = (y == np.rint(y)).all()
                labels = np.dtype(np.int64 if is_whole else np.float64)
                break
    if n_features is None:
        n_features = max(_highest_index(file.source()) for file in files)
    if not n_features:
        raise ValueError(
            f"{files[0].path} has no index:value pairs, so there is nothing to learn "
            f"from. {UNFINISHED}"
        )
    return SparsePlan(files, n_features, precision, labels)


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


def _joined(parts: list[tuple[Matrix, NDArray[Any]]]) -> Block:
    X = sparse.vstack([each for each, _ in parts], format="csr")
    # So it was in the file, or it would have been refused.
    X.has_canonical_format = True
    return X, np.concatenate([each for _, each in parts])


def _whole_lines(source: Source) -> Iterator[bytes]:
    r"""Yield lines that end with ``\n``, many at a time."""
    rest = b""
    try:
        with open_text(source) as stream:
            clean = CleanBytes(stream)
            while data := clean.read(BLOCK_BYTES):
                data = rest + data
                cut = data.rfind(b"\n") + 1
                rest = data[cut:]
                if cut:
                    yield data[:cut]
    except damage_errors() as error:
        _explain(source, None, error)
    if rest:
        yield rest + b"\n"


def _parse(
    source: Source, text: bytes, n_features: int | None, dtype: np.dtype[Any]
) -> tuple[Matrix, FloatArray]:
    try:
        # scikit-learn takes 1_0 for 10; in a comment, it means nothing.
        if b"_" in text and any(
            b"_" in line.partition(b"#")[0] for line in text.split(b"\n")
        ):
            raise ValueError("numbers that only Python takes for such")
        X, y = load_svmlight_file(
            BytesIO(text), n_features=n_features, dtype=dtype, zero_based=False
        )
        # scikit-learn takes these without a word.
        if not np.isfinite(X.data).all() or not (np.abs(y) < TOO_LARGE).all():
            raise ValueError(f"it has numbers that are too large for {dtype}")
    except damage_errors() as error:
        _explain(source, n_features, error)
    return X, y


def _explain(source: Source, n_features: int | None, error: Exception) -> NoReturn:
    """Raise ValueError with the first line that is wrong."""
    diagnose_libsvm(source, n_features, multilabel=False)
    raise damaged(source.name, error) from error


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
                _explain(source, None, error)
    if highest > LARGEST:
        _explain(source, None, ValueError("an index that is too large"))
    return highest
