# SPDX-License-Identifier: BSD-3-Clause
"""Tables of numbers in text files, which need not name their columns."""

import os
import warnings
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucmax._utils.optional import import_optional
from aucmax._utils.typing import FloatArray
from aucmax.io._errors import damage_errors, listed, short
from aucmax.io.tables.errors import TableError, damaged
from aucmax.io.tables.libsvm_errors import NUMBER, SPACES, TOKEN, is_number
from aucmax.io.tables.lines import UNFINISHED, Line, open_text, text_lines
from aucmax.io.tables.source import Source, open_path
from aucmax.io.tables.text import records, refuse_one_cell
from aucmax.io.tables.values import TOO_LARGE

# pandas takes some 50 us for one, whatever the number of rows.
MOST_COLUMNS = 10**5
# Columns from which rows shorter than the header make a small file a huge table.
MANY_COLUMNS = 10**3


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
        The file; .bz2, .gz, .xz and .zip are unpacked on the way.
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
        If a feature is missing, not finite or not a number, a label is missing, or not
        finite where all are numbers, if lines have different lengths or one is longer
        than 32 MB, or the file is empty or cut off; the message has the number of the
        line.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from aucmax.io import read_csv
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
    if len(separator) != 1:
        raise TableError(f"separator must be one character; got {separator!r}")
    source = open_path(path)
    try:
        return _read(source, target, separator, header, drop)
    except (TableError, FileNotFoundError, PermissionError):
        raise
    except damage_errors() as error:
        _diagnose(source, target, separator, header, drop)
        raise damaged(source.name, error) from error


def _read(
    source: Source,
    target: int | str,
    separator: str,
    header: bool,
    drop: Sequence[int | str],
) -> tuple[FloatArray, NDArray[Any]]:
    """Read it with pandas, which knows no lines; ValueError if something is wrong."""
    pandas = import_optional("pandas", "data")
    _check_width(source, separator)
    # Unpacked by us, so that a file that is cut off fails alike for every suffix.
    with open_text(source) as stream, warnings.catch_warnings():
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
    _refuse_one_cell(source, names if header else list(frame.iloc[0]), separator)
    label = _find_column(names, target, source)
    left_out = {label, *(_find_column(names, column, source) for column in drop)}
    kept = [k for k in range(len(names)) if k not in left_out]
    if not kept:
        raise TableError("has no column besides those left out", file=source.name)
    X = np.empty((len(frame), len(kept)))
    for j, k in enumerate(kept):
        X[:, j] = _numbers_of(frame.iloc[:, k].to_numpy(dtype=object))
    text = frame.iloc[:, label].fillna("").str.strip().to_numpy(dtype=object)
    if not len(text) or not text.all() or not np.isfinite(X).all():
        raise ValueError("no rows, or values that are missing or not finite")
    return X, _labels_of(text)


def _check_width(source: Source, separator: str) -> None:
    """Refuse more columns than pandas reads in a reasonable time."""
    lines = (line for line in text_lines(source, strict=False) if line.strip())
    cells = (line.count(separator) + 1 for line in lines)
    # Of the header and of the first row, by which pandas goes if it is longer.
    first = list(islice(cells, 2))
    n_columns = max(first, default=0)
    if n_columns > MOST_COLUMNS:
        raise TableError(
            f"has {n_columns} columns, but a text table may have {MOST_COLUMNS}",
            "write so many as Parquet or in LIBSVM's format",
            file=source.name,
        )
    if n_columns > MANY_COLUMNS:
        counts = [*first, *cells]
        # pandas fills short rows up. Separators in quoted cells may be in the header.
        if 2 * sum(counts) < n_columns * len(counts):
            raise ValueError("most rows are shorter than the header")


def _find_column(names: Sequence[Any], column: int | str, source: Source) -> int:
    """Return where a column is, given its name or position."""
    if isinstance(column, str):
        if column in names:
            return list(names).index(column)
    elif -len(names) <= column < len(names):
        return column % len(names)
    raise TableError(
        f"has no column {column!r}",
        f"it has {len(names)} columns: {listed([str(name) for name in names])}",
        file=source.name,
    )


def _numbers_of(cells: NDArray[Any]) -> FloatArray:
    """Return texts as numbers; raise ValueError if one is none, as in `is_number`."""
    together = "".join(cells)
    if "_" in together or not together.isascii():
        raise ValueError("numbers that only Python takes for such")
    return cells.astype(np.float64)


def _labels_of(text: NDArray[Any]) -> NDArray[Any]:
    """Return labels as numbers if all are numbers, whole ones as such, else as text.

    Raise ValueError if all are numbers, but not all finite.
    """
    try:
        y = _numbers_of(text)
    except ValueError:
        return text
    if not np.isfinite(y).all():
        raise ValueError("labels that are not finite")
    if (np.abs(y) < TOO_LARGE).all():
        return y.astype(np.int64) if (y == np.rint(y)).all() else y
    try:
        return text.astype(np.int64)
    except (ValueError, OverflowError):
        return text


def _refuse_one_cell(source: Source, first: Sequence[str], separator: str) -> None:
    if len(first) == 1:
        refuse_one_cell(source, str(first[0]), separator, ";\t,| ")
        raise TableError("has no column besides the target", file=source.name)


def _diagnose(
    source: Source,
    target: int | str,
    separator: str,
    header: bool,
    drop: Sequence[int | str],
) -> None:
    """Raise what is wrong with the first line that does not fit the others."""
    names: list[str] = []
    label, skipped = -1, set[int]()
    labels: dict[int, str] = {}
    for number, cells in _rows(source, separator):
        if not names:
            _refuse_one_cell(source, cells, separator)
            names = cells if header else [str(k) for k in range(len(cells))]
            label, *others = (
                _find_column(names, each, source) for each in (target, *drop)
            )
            skipped = {label, *others}
            if header:
                continue
        if len(cells) != len(names):
            Line(source.name, number).fail(
                f"{len(cells)} column{'' if len(cells) == 1 else 's'}, where "
                f"{len(names)} were expected",
                "mend it",
                "give the right separator",
            )
        labels[number] = cells[label]
        for k, cell in enumerate(cells):
            if k == label and not cell.strip():
                Line(source.name, number).fail(
                    "the label is missing", "leave the line out"
                )
            if k not in skipped and not is_number(cell):
                Line(source.name, number).fail(
                    f"{short(cell)} in column {short(names[k])} is not a finite number",
                    "mend or encode it",
                    "leave the column out with drop=",
                )
    if not labels:
        raise TableError("has no rows", UNFINISHED, file=source.name)
    _diagnose_infinite(source, labels)


def _rows(source: Source, separator: str) -> Iterator[tuple[int, list[str]]]:
    """Yield rows of cells with the numbers of their lines; no empty ones."""
    if separator == " ":
        for number, line in enumerate(text_lines(source), start=1):
            if cells := TOKEN.findall(line):
                yield number, cells
        return
    for number, cells in records(source, separator, skip_spaces=True):
        stripped = [cell.strip(SPACES) for cell in cells]
        if stripped != [""]:
            yield number, stripped


def _diagnose_infinite(source: Source, labels: dict[int, str]) -> None:
    """Raise if all labels are numbers, but not all finite."""
    if not all(map(_is_any_number, labels.values())):
        return
    for number, label in labels.items():
        if not is_number(label):
            Line(source.name, number).fail(
                f"the label {short(label)} is not a finite number",
                "leave the line out",
                "name all classes",
            )


def _is_any_number(text: str) -> bool:
    if NUMBER.fullmatch(text):
        return True
    return text.lower().lstrip("+-") in ("nan", "inf", "infinity")
