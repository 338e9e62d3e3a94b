# SPDX-License-Identifier: BSD-3-Clause
"""Tables in Weka's ARFF format."""

import io
import os
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.io import arff

from aucmax._utils.typing import FloatArray
from aucmax.io._reading import find_column, labels_of, read_or_diagnose, whole
from aucmax.io.diagnosis import diagnose_arff
from aucmax.io.source import from_path


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
    >>> from aucmax.io import read_arff
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
    source = from_path(path)

    def read() -> tuple[FloatArray, NDArray[Any]]:
        with source.open() as stream:
            text = stream.read().decode("utf-8")
        rows, meta = arff.loadarff(io.StringIO(text))
        names = meta.names()
        # scipy takes rows that are too long, and drops the rest without a word.
        if text.lower().partition("@data")[2].count(",") > len(rows) * (len(names) - 1):
            diagnose_arff(source)
        label = names[find_column(names, -1 if target is None else target, source)]
        columns: list[NDArray[Any]] = []
        for name in names:
            kind, values = meta[name][0], meta[name][1] or ()
            if name == label:
                y = rows[name]
                if kind == "nominal":
                    y = labels_of(np.char.decode(y, "utf-8").astype(object))
            elif kind == "nominal":
                given = np.char.decode(rows[name], "utf-8")
                if not np.isin(given, values).all():
                    raise ValueError("missing value")
                columns += [given == value for value in values]
            else:
                columns.append(rows[name])
        X = np.column_stack([column.astype(np.float64) for column in columns])
        y = whole(y) if y.dtype.kind == "f" else y
        is_missing = y == "?" if y.dtype.kind in "OU" else ~np.isfinite(y)
        if not len(y) or not np.isfinite(X).all() or is_missing.any():
            raise ValueError("no rows, or values that are missing or not finite")
        return X, y

    return read_or_diagnose(source, read, lambda: diagnose_arff(source))
