# SPDX-License-Identifier: BSD-3-Clause
"""Tables in Weka's ARFF format."""

import os
from collections.abc import Sequence
from io import StringIO
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucmax._utils.typing import FloatArray, IntArray
from aucmax.io._errors import Refused
from aucmax.io._reading import (
    find_column,
    labels_of,
    numbers_of,
    read_or_diagnose,
    whole,
)
from aucmax.io.arff_format import (
    Attribute,
    diagnose_arff,
    read_declarations,
    split_rows,
)
from aucmax.io.header import check_names
from aucmax.io.lines import text_lines
from aucmax.io.source import Source, from_path


def read_arff(
    path: str | os.PathLike[str], target: str | None = None
) -> tuple[FloatArray, NDArray[Any]]:
    """Read a table in Weka's ARFF format.

    A nominal attribute becomes one column of 0 and 1 for each of its declared values.
    Text, dates and sparse rows are not supported.

    Parameters
    ----------
    path : str or path
        The file; .bz2, .gz, .xz and .zip are unpacked on the way.
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
        too few, if a label is a number of 2^53 or more, if a line is longer than 32 MB,
        or the file is empty or cut off; the message has the number of the line.

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
        # None: whatever ends its lines.
        lines = StringIO("".join(text_lines(source)), newline=None)
        attributes = read_declarations(source, enumerate(lines, start=1))
        place = _find_target(source, attributes, target)
        rows = split_rows(lines.read())
        if set(map(len, rows)) != {len(attributes)}:
            raise ValueError("no rows, or rows of different lengths")
        columns = list(zip(*rows, strict=True))
        y = _labels(attributes[place], columns.pop(place))
        del attributes[place]
        X = np.column_stack(list(map(_features, attributes, columns)))
        if not np.isfinite(X).all():
            raise ValueError("values that are not finite")
        return X, y

    return read_or_diagnose(source, read, lambda: diagnose_arff(source, target))


def _find_target(
    source: Source, attributes: Sequence[Attribute], target: str | None
) -> int:
    names = [attribute.name for attribute in attributes]
    if not names:
        raise ValueError("no attributes")
    check_names(source, names)
    if len(names) == 1:
        raise Refused(f"{source.name} has no attribute besides the target.")
    return find_column(names, -1 if target is None else target, source)


def _features(attribute: Attribute, cells: Sequence[str]) -> FloatArray:
    if attribute.values is None:
        return numbers_of(np.array(cells, dtype=object))[:, np.newaxis]
    # A row of the unit matrix for each value.
    return np.eye(len(attribute.values))[_codes(attribute.values, cells)]


def _labels(attribute: Attribute, cells: Sequence[str]) -> NDArray[Any]:
    if attribute.values is None:
        return whole(numbers_of(np.array(cells, dtype=object)))
    values = np.array(attribute.values, dtype=object)
    text: NDArray[Any] = values[_codes(attribute.values, cells)]
    try:
        return labels_of(text)
    except ValueError:
        # Declared, so nan is a name like any other.
        return text


def _codes(values: Sequence[str], cells: Sequence[str]) -> IntArray:
    """Return which of the declared values each cell is; KeyError if it is none."""
    codes = {value: k for k, value in enumerate(values)}
    try:
        return np.fromiter(map(codes.__getitem__, cells), np.int64, len(cells))
    except KeyError:
        stripped = map(str.strip, cells)
        return np.fromiter(map(codes.__getitem__, stripped), np.int64, len(cells))
