# SPDX-License-Identifier: BSD-3-Clause
"""One function for every table: features, labels and names, whatever the file."""

import os
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from aucmax._utils.optional import import_optional
from aucmax._utils.typing import Matrix
from aucmax.io.tables.columns import Columns
from aucmax.io.tables.errors import Option, TableError, naming
from aucmax.io.tables.files import PARSED, TableFiles, look_at
from aucmax.io.tables.libsvm import read_rows
from aucmax.io.tables.schema import ColumnKinds, to_frame
from aucmax.io.tables.source import Source, format_of, name_all, open_sources
from aucmax.io.tables.text import SEPARATORS
from aucmax.io.tables.values import Place, read_labels, read_weights


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Rows of a file.

    Attributes
    ----------
    X : DataFrame or csr_matrix of shape (n_samples, n_features)
        Features; CSR if the file is in LIBSVM's format.
    y : ndarray of shape (n_samples,) or None
        Labels as they are in the file; None if no target was asked for.
    names : tuple of str
        Names of the features; empty if the file has none.
    source : str
        The file, as messages call it.
    kinds : dict of str to str
        What each feature holds: "number", "date" or "text"; empty if the file has no
        names.
    """

    X: Matrix = field(repr=False)
    y: NDArray[Any] | None = field(repr=False)
    names: tuple[str, ...]
    source: str
    kinds: ColumnKinds = field(default_factory=dict)


def read_table(
    path_or_file: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] | IO[bytes],
    *,
    target: str | int | None = None,
    format: str | None = None,
    columns: Columns | None = None,
    text: Collection[str] = (),
    separator: str | None = None,
) -> Table:
    r"""Read a table: CSV, TSV, lines of JSON, Parquet, Arrow, Feather or LIBSVM.

    All but LIBSVM's format need pandas and pyarrow.

    Parameters
    ----------
    path_or_file : str, path, list of paths, or binary file
        The file, or files, a folder or a pattern, as in `read_batches`; ``"-"`` is the
        standard input. It may be packed as .gz, .bz2 or .xz,
        or be the only file in a .zip archive. The first line of a CSV or TSV file has
        the names of the columns. Each line of a .jsonl or .ndjson file is a JSON object
        with a value for each column; one that is left out is missing.
    target : str or int, default=None
        The column with the labels, by name, or by position from 0 (negative: from the
        end). None: all columns are features. LIBSVM's format has labels of its own.
    format : str, default=None
        "csv", "tsv", "jsonl", "parquet", "arrow", "feather", "ipc", "libsvm", "svm" or
        "svmlight"; None: what the name ends with, and CSV for .txt and for a stream
        that has no name.
    columns : sequence of str or int, or callable, default=None
        The features to read, by name or position, in this order, or a function that
        takes the names of all columns and returns those; None: all columns but the
        target. Others are not read from a Parquet file at all.
    text : collection of str, default=()
        Columns of a CSV or TSV file that stay text even if all their values look like
        numbers or dates, such as codes with leading zeros.
    separator : str, default=None
        The character between the columns of a CSV or TSV file; None: a comma in CSV,
        a tab in TSV.

    Returns
    -------
    table : Table
        Features ``X``, labels ``y``, ``names``, and ``source``.

    Raises
    ------
    TableError
        If the file is empty, damaged or not of this format, if its rows have different
        lengths, a line of text is longer than 32 MB or is not UTF-8 (the message has
        the number of the line), if
        columns have the same name or none, if there is no such column, or a label is
        missing or not finite, or a number in text of 2^53 or more with a point or too
        many digits.

    Notes
    -----
    In text, an empty cell and one with NA, NaN, null or the like are missing; inside
    quotes they are text. Types are found in the first megabyte of a text, as
    `read_batches` does: whole numbers, numbers, true and false, dates, else text.
    Numbers with a point may follow whole ones; another value of another type later on
    is an error. Row labels that pandas put into a file are left out.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from aucmax.io import read_table
    >>> folder = tempfile.TemporaryDirectory()
    >>> file = pathlib.Path(folder.name, "loans.csv")
    >>> _ = file.write_text("income,town,default\n3.5,Graz,no\n,Linz,yes\n2,Graz,no\n")
    >>> table = read_table(file, target="default")
    >>> table.X
       income  town
    0     3.5  Graz
    1     NaN  Linz
    2     2.0  Graz
    >>> table.y.tolist(), table.names
    (['no', 'yes', 'no'], ('income', 'town'))
    >>> read_table(file, target="defualt")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    aucmax...TableError: ...loans.csv has no column 'defualt'. The nearest ...
    >>> folder.cleanup()
    """
    sources = open_sources(path_or_file)
    return read_sources(
        sources,
        format_of(sources, format, separator),
        target=target,
        columns=columns,
        text=text,
        separator=separator,
    )


def read_sources(
    sources: Sequence[Source],
    kind: str,
    *,
    target: str | int | None = None,
    columns: Columns | None = None,
    text: Collection[str] = (),
    separator: str | None = None,
) -> Table:
    """Read files of one format that have been looked for, as `read_table` does."""
    if kind == "libsvm":
        if target is not None or columns is not None:
            raise TableError(
                "is in LIBSVM's format, whose columns have no names and whose labels "
                "come first",
                Option("leave out", "target and columns"),
                file=sources[0].name,
            )
        return Table(*read_rows(sources), (), name_all(sources))
    types = dict.fromkeys(text, "string") if kind in SEPARATORS else None
    tables = look_at(
        sources,
        kind,
        target=target,
        columns=columns,
        types=types,
        separator=separator,
    )
    if not tables.picked.features:
        raise TableError("has no column besides the target", file=tables.name)
    widened: list[str] = []
    while True:
        try:
            return _read(tables)
        except TableError as error:
            if error.column in widened or error.column not in tables.whole:
                raise
            # Numbers with a point may have followed whole ones.
            widened.append(error.column)
            tables = tables.with_floats(widened)


def _read(tables: TableFiles) -> Table:
    X, y, _ = read_part(tables)
    if not len(X):
        raise tables.refuse_no_rows()
    return Table(X, y, tuple(tables.kinds), tables.name, tables.kinds)


def read_part(
    tables: TableFiles, skip: int = 0, most: int | None = None
) -> tuple[Any, NDArray[Any] | None, NDArray[Any] | None]:
    """Put together what is read in batches: features in pandas, labels and weights."""
    arrow = import_optional("pyarrow", "io")
    target, features, weight, _ = tables.picked
    parts: list[Any] = []
    labels: list[NDArray[Any]] = []
    weights: list[NDArray[Any]] = []
    for file, row, batch in tables.batches(skip=skip, whole=True):
        n_left = batch.num_rows if most is None else skip + most - row
        if n_left <= 0:
            break
        part = batch.slice(0, n_left)
        if target is not None:
            place, parsed = Place(file, row, target), tables.format in PARSED
            column = part[target]
            labels.append(read_labels(column, place, tables.labels, parsed=parsed))
        if weight is not None:
            weights.append(read_weights(part[weight], Place(file, row, weight)))
        parts.append(arrow.Table.from_batches([part.select(features)]))
        # Not kept while the next one is read.
        del batch, part
    if not parts:
        types = tables.files[0].schema
        schema = arrow.schema([(name, types[name]) for name in features])
        parts.append(schema.empty_table())
        labels, weights = [np.empty(0, tables.labels)], [np.empty(0)]
    with naming(tables.name):
        content = arrow.concat_tables(parts, promote_options="permissive")
        del parts
        X = to_frame(content.unify_dictionaries())
    # Of one array, a copy would be a waste.
    y, mass = (
        None
        if not arrays
        else arrays[0]
        if len(arrays) == 1
        else np.concatenate(arrays)
        for arrays in (labels, weights)
    )
    return X, y, mass


def read_frames(tables: TableFiles, most_rows: int) -> Iterator[tuple[Any, Any]]:
    """Yield the same features in pandas, and labels, at most so many rows at a time."""
    arrow = import_optional("pyarrow", "io")
    target, features, *_ = tables.picked
    n_rows = 0
    for file, row, batch in tables.batches():
        for low in range(0, batch.num_rows, most_rows):
            part = batch.slice(low, most_rows)
            y = None
            if target is not None:
                place, parsed = Place(file, row + low, target), tables.format in PARSED
                y = read_labels(part[target], place, tables.labels, parsed=parsed)
            with naming(file):
                X = to_frame(arrow.Table.from_batches([part.select(features)]))
            n_rows += part.num_rows
            yield X, y
    if not n_rows:
        raise tables.refuse_no_rows()
