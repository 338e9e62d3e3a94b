# SPDX-License-Identifier: BSD-3-Clause
"""Tables from files; a bad file is refused with the line that is wrong."""

import io
import os
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.io import arff
from sklearn.datasets import load_svmlight_file

from aucmax._utils.optional import import_optional
from aucmax._utils.typing import FloatArray, Matrix
from aucmax.datasets.checks import open_binary
from aucmax.datasets.diagnosis import diagnose_arff, diagnose_csv, diagnose_libsvm

Result = TypeVar("Result")


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
    >>> from aucmax.datasets import read_libsvm
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
    file = Path(path)

    def read() -> tuple[Matrix, Any]:
        with open_binary(file) as stream:
            X, y = load_svmlight_file(
                stream, n_features=n_features, zero_based=False, multilabel=multilabel
            )
        y = _indicators(y) if multilabel else _whole(y)
        # scikit-learn takes these without a word.
        if not len(y) or not np.isfinite(X.data).all() or not np.isfinite(y).all():
            raise ValueError("no rows, or values that are not finite")
        return X, y

    return _read(file, read, lambda: diagnose_libsvm(file, n_features, multilabel))


def read_csv(
    path: str | os.PathLike[str],
    target: int | str = -1,
    *,
    separator: str = ",",
    header: bool = True,
    drop: Sequence[int | str] = (),
) -> tuple[FloatArray, NDArray[Any]]:
    r"""Read a table of numbers with a column of labels; needs pandas.

    Parameters
    ----------
    path : str or path
        The file; .bz2, .gz and .xz are unpacked on the way.
    target : int or str, default=-1
        The column with the labels, by position from 0 (negative: from the end) or name.
    separator : str, default=","
        What is between the columns; ``" "`` stands for any white space.
    header : bool, default=True
        Whether the first line has the names of the columns.
    drop : sequence of int or str, default=()
        Columns to leave out, by position or name.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
        The other columns, float64.
    y : ndarray of shape (n_samples,)
        Labels: integers if all are whole numbers, else numbers or text.

    Raises
    ------
    ValueError
        If a feature is missing, not finite or not a number, if lines have different
        lengths, or the file is empty or cut off; the message has the number of the
        line.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from aucmax.datasets import read_csv
    >>> folder = tempfile.TemporaryDirectory()
    >>> file = pathlib.Path(folder.name, "rows.csv")
    >>> _ = file.write_text("width,height,kind\n1,2.5,good\n3,4,bad\n")
    >>> X, y = read_csv(file, target="kind")
    >>> X
    array([[1. , 2.5],
           [3. , 4. ]])
    >>> y.tolist()
    ['good', 'bad']
    >>> folder.cleanup()
    """
    pandas = import_optional("pandas", "data")
    file = Path(path)

    def read() -> tuple[FloatArray, NDArray[Any]]:
        # Unpacked by us, so that a file that is cut off fails alike for every suffix.
        with open_binary(file) as stream, warnings.catch_warnings():
            # pandas only warns of lines that are longer than the header.
            warnings.simplefilter("error")
            frame = pandas.read_csv(
                stream,
                sep=r"\s+" if separator == " " else separator,
                header=0 if header else None,
                index_col=False,
                # As text first: "NA" may well be a label.
                dtype=str,
                keep_default_na=False,
                skipinitialspace=True,
                on_bad_lines="error",
            )
        names = list(frame.columns)
        label = _position(names, target, file)
        left_out = {label, *(_position(names, column, file) for column in drop)}
        kept = [k for k in range(len(names)) if k not in left_out]
        X = frame.iloc[:, kept].to_numpy(dtype=np.float64)
        text = frame.iloc[:, label].fillna("").str.strip().to_numpy(dtype=object)
        if not len(text) or not text.all() or not np.isfinite(X).all():
            raise ValueError("no rows, or values that are missing or not finite")
        y = _labels(text)
        return X, y

    return _read(
        file, read, lambda: diagnose_csv(file, target, separator, header, drop)
    )


def read_arff(
    path: str | os.PathLike[str], target: str | None = None
) -> tuple[FloatArray, NDArray[Any]]:
    """Read a table in Weka's ARFF format.

    A nominal attribute becomes one column of 0 and 1 for each of its declared values.

    Parameters
    ----------
    path : str or path
        The file; .bz2, .gz and .xz are unpacked on the way.
    target : str, default=None
        The attribute with the labels; None: the last one.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
        The other attributes in their order, float64.
    y : ndarray of shape (n_samples,)
        Labels: integers if all are whole numbers, else numbers or text.

    Raises
    ------
    ValueError
        If a value is missing, not finite, or not as declared, if a row has too many or
        too few, or the file is empty or cut off; the message has the number of the
        line.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from aucmax.datasets import read_arff
    >>> folder = tempfile.TemporaryDirectory()
    >>> file = pathlib.Path(folder.name, "rows.arff")
    >>> _ = file.write_text('''@relation fruit
    ... @attribute weight numeric
    ... @attribute colour {red, green}
    ... @attribute ripe {no, yes}
    ... @data
    ... 80.5,red,yes
    ... 77,green,no
    ... ''')
    >>> X, y = read_arff(file)
    >>> X
    array([[80.5,  1. ,  0. ],
           [77. ,  0. ,  1. ]])
    >>> y.tolist()
    ['yes', 'no']
    >>> folder.cleanup()
    """
    file = Path(path)

    def read() -> tuple[FloatArray, NDArray[Any]]:
        with open_binary(file) as stream:
            text = stream.read().decode("utf-8")
        rows, meta = arff.loadarff(io.StringIO(text))
        names = meta.names()
        # scipy takes rows that are too long, and drops the rest without a word.
        if text.lower().partition("@data")[2].count(",") > len(rows) * (len(names) - 1):
            diagnose_arff(file)
        label = names[_position(names, -1 if target is None else target, file)]
        columns: list[NDArray[Any]] = []
        for name in names:
            kind, values = meta[name][0], meta[name][1] or ()
            if name == label:
                y = rows[name]
                if kind == "nominal":
                    y = _labels(np.char.decode(y, "utf-8").astype(object))
            elif kind == "nominal":
                given = np.char.decode(rows[name], "utf-8")
                if not np.isin(given, values).all():
                    raise ValueError("missing value")
                columns += [given == value for value in values]
            else:
                columns.append(rows[name])
        X = np.column_stack([column.astype(np.float64) for column in columns])
        y = _whole(y) if y.dtype.kind == "f" else y
        is_missing = y == "?" if y.dtype.kind in "OU" else ~np.isfinite(y)
        if not len(y) or not np.isfinite(X).all() or is_missing.any():
            raise ValueError("no rows, or values that are missing or not finite")
        return X, y

    return _read(file, read, lambda: diagnose_arff(file))


def _read(
    file: Path, read: Callable[[], Result], diagnose: Callable[[], None]
) -> Result:
    """Read fast; if that fails, look for the line that is wrong, slowly."""
    if not file.is_file():
        raise FileNotFoundError(f"There is no file {file}.")
    try:
        return read()
    except _Refused:
        raise
    # Each library fails in its own ways: EOFError, OverflowError, StopIteration...
    except Exception as error:
        diagnose()
        raise ValueError(f"{file} cannot be read: {error}.") from error


class _Refused(ValueError):
    """Bad arguments rather than a bad file, so there is no line to look for."""


def _position(names: Sequence[Any], column: int | str, file: Path) -> int:
    if isinstance(column, str):
        if column in names:
            return list(names).index(column)
    elif -len(names) <= column < len(names):
        return column % len(names)
    raise _Refused(
        f"{file} has no column {column!r}. It has {len(names)} columns: "
        f"{', '.join(str(name) for name in names[:20])}."
    )


def _whole(y: FloatArray) -> NDArray[Any]:
    """Return labels as integers if they are whole, else as they are."""
    if np.isfinite(y).all() and (y == np.rint(y)).all():
        return y.astype(np.int64)
    return y


def _labels(text: NDArray[Any]) -> NDArray[Any]:
    """Return labels as numbers if all are numbers, else as text."""
    try:
        return _whole(text.astype(np.float64))
    except ValueError:
        return text


def _indicators(labels: Sequence[Sequence[float]]) -> NDArray[np.bool_]:
    """Return a table with a row per sample and a column per label."""
    whole = [np.asarray(row, dtype=np.int64) for row in labels]
    n_labels = max((int(row.max()) + 1 for row in whole if len(row)), default=0)
    table = np.zeros((len(whole), n_labels), dtype=bool)
    for k, row in enumerate(whole):
        table[k, row] = True
    return table
