# SPDX-License-Identifier: BSD-3-Clause
"""Tables of numbers in text files."""

import os
import warnings
from collections.abc import Sequence
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucmax._utils.optional import import_optional
from aucmax._utils.typing import FloatArray
from aucmax.io._errors import Refused
from aucmax.io._reading import (
    find_column,
    labels_of,
    numbers_of,
    read_or_diagnose,
)
from aucmax.io.diagnosis import diagnose_csv
from aucmax.io.header import refuse_one_cell
from aucmax.io.lines import open_text, text_lines
from aucmax.io.source import Source, from_path

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
        raise ValueError(f"separator must be one character; got {separator!r}.")
    pandas = import_optional("pandas", "data")
    source = from_path(path)

    def read() -> tuple[FloatArray, NDArray[Any]]:
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
        refuse_one_cell(source, names if header else list(frame.iloc[0]), separator)
        label = find_column(names, target, source)
        left_out = {label, *(find_column(names, column, source) for column in drop)}
        kept = [k for k in range(len(names)) if k not in left_out]
        if not kept:
            raise Refused(f"{source.name} has no column besides those left out.")
        X = np.empty((len(frame), len(kept)))
        for j, k in enumerate(kept):
            X[:, j] = numbers_of(frame.iloc[:, k].to_numpy(dtype=object))
        text = frame.iloc[:, label].fillna("").str.strip().to_numpy(dtype=object)
        if not len(text) or not text.all() or not np.isfinite(X).all():
            raise ValueError("no rows, or values that are missing or not finite")
        return X, labels_of(text)

    return read_or_diagnose(
        source, read, lambda: diagnose_csv(source, target, separator, header, drop)
    )


def _check_width(source: Source, separator: str) -> None:
    """Refuse more columns than pandas reads in a reasonable time."""
    lines = (line for line in text_lines(source, strict=False) if line.strip())
    cells = (line.count(separator) + 1 for line in lines)
    # Of the header and of the first row, by which pandas goes if it is longer.
    first = list(islice(cells, 2))
    n_columns = max(first, default=0)
    if n_columns > MOST_COLUMNS:
        raise Refused(
            f"{source.name} has {n_columns} columns, but a text table may have "
            f"{MOST_COLUMNS}. Write so many as Parquet or in LIBSVM's format."
        )
    if n_columns > MANY_COLUMNS:
        counts = [*first, *cells]
        # pandas fills short rows up. Separators in quoted cells may be in the header.
        if 2 * sum(counts) < n_columns * len(counts):
            raise ValueError("most rows are shorter than the header")
