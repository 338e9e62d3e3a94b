# SPDX-License-Identifier: BSD-3-Clause
"""One function for every table: features, labels and names, whatever the file."""

import os
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from aucmax._utils.optional import import_optional
from aucmax._utils.typing import Matrix
from aucmax.io._arrow import (
    read_ipc_columns,
    read_json_lines,
    read_parquet_columns,
    read_text,
)
from aucmax.io._errors import Refused, naming, short
from aucmax.io._reading import TOO_LARGE
from aucmax.io.columns import Columns, pick_columns
from aucmax.io.formats import LIBSVM as LIBSVM
from aucmax.io.formats import TEXT, check_format, check_separator, kind_of
from aucmax.io.header import NO_ROWS
from aucmax.io.libsvm import read_rows
from aucmax.io.source import STDIN, Source, from_anything

READERS: dict[str, Any] = {
    "csv": partial(read_text, separator=","),
    "tsv": partial(read_text, separator="\t"),
    "jsonl": read_json_lines,
    "parquet": read_parquet_columns,
    "arrow": read_ipc_columns,
    "feather": read_ipc_columns,
    "ipc": read_ipc_columns,
}


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
    """

    X: Matrix = field(repr=False)
    y: NDArray[Any] | None = field(repr=False)
    names: tuple[str, ...]
    source: str


def read_table(
    path_or_file: str | os.PathLike[str] | IO[bytes],
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
    path_or_file : str, path or binary file
        The file; ``"-"`` is the standard input. It may be packed as .gz, .bz2 or .xz,
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
    ValueError
        If the file is empty, damaged or not of this format, if its rows have different
        lengths, a line of text is longer than 32 MB or is not UTF-8 (the message has
        the number of the line), if
        columns have the same name or none, if there is no such column, or a label is
        missing or not finite, or a number in text of 2^53 or more with a point or too
        many digits.

    Notes
    -----
    In text, an empty cell and one with NA, NaN, null or the like are missing; inside
    quotes they are text. Types are found from all rows: whole numbers, numbers, true
    and false, dates, else text. Row labels that pandas put into a file are left out.

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
    ValueError: ...loans.csv has no column 'defualt'. The nearest names: 'default'.
    >>> folder.cleanup()
    """
    check_format(format)
    source = from_anything(path_or_file)
    kind = kind_of(source, format, is_stream=not _is_path(path_or_file))
    check_separator(source, kind, separator)
    try:
        if kind in LIBSVM:
            _refuse_columns(source, target, columns)
            return Table(*read_rows(source), (), source.name)
        more = {"text": text} if kind in TEXT else {}
        if separator is not None:
            more["separator"] = separator
        return _read(source, kind, target, columns, more)
    except Refused as error:
        raise ValueError(str(error)) from None


def _read(
    source: Source,
    kind: str,
    target: str | int | None,
    columns: Columns | None,
    more: dict[str, Any],
) -> Table:
    # Without it, a table could be parsed but not returned.
    import_optional("pandas", "io")
    picked: list[str] = []

    def pick(names: Sequence[str]) -> list[str]:
        picked.extend(pick_columns(source, names, target, columns))
        return list(picked)

    content = READERS[kind](source, pick, **more).select(picked)
    if not content.num_rows:
        raise Refused(NO_ROWS.format(source.name))
    y: NDArray[Any] | None = None
    if target is not None:
        y = _labels(source, content.column(0), picked[0])
        _check_labels(source, y, picked[0], is_text=kind in {*TEXT, "jsonl"})
        content = content.select(picked[1:])
    if not content.num_columns:
        raise Refused(f"{source.name} has no column besides the target.")
    schema = _plain_schema(source, content.schema)
    with naming(source.name):
        content = content.cast(schema)
        # Column by column, each freed when it has been converted.
        X = content.to_pandas(
            split_blocks=True, self_destruct=True, date_as_object=False
        )
    return Table(X, y, tuple(schema.names), source.name)


def _is_path(given: Any) -> bool:
    return isinstance(given, str | os.PathLike) and given != STDIN


def _refuse_columns(source: Source, target: Any, columns: Any) -> None:
    if target is not None or columns is not None:
        raise ValueError(
            f"{source.name} is in LIBSVM's format, whose columns have no names and "
            "whose labels come first. Leave out target and columns."
        )


def _labels(source: Source, column: Any, name: str) -> NDArray[Any]:
    kind = column.type
    types = import_optional("pyarrow", "io").types
    _refuse_kind(source, name, kind)
    if types.is_dictionary(kind) and any(
        chunk.dictionary.null_count for chunk in column.chunks
    ):
        # A gap may also be one of the values that are pointed to.
        column, kind = column.cast(kind.value_type), kind.value_type
    if column.null_count:
        row = column.is_null().index(True).as_py()
        raise ValueError(
            f"{source.name} lacks {column.null_count} of {len(column)} labels in "
            f"{short(name)}, the first in row {row}, counted from 0. Leave these rows "
            "out."
        )
    labels: NDArray[Any]
    if types.is_primitive(kind):
        labels = column.to_numpy()
        return labels
    # Few labels in many rows: each text is there once.
    if not types.is_dictionary(kind):
        column = column.dictionary_encode()
    codes = column.unify_dictionaries().combine_chunks()
    labels = codes.dictionary.to_numpy(zero_copy_only=False)[codes.indices.to_numpy()]
    return labels


def _check_labels(source: Source, y: NDArray[Any], name: str, *, is_text: bool) -> None:
    """Raise if a label is not finite, or a number that was rounded when it was read."""
    if y.dtype.kind != "f":
        return
    bad = ~np.isfinite(y)
    problem, advice = "is not a finite number", "Leave this row out"
    if is_text and not bad.any():
        bad = np.abs(y) >= TOO_LARGE
        problem = "is too large to be told from the next number"
        advice = "Number the classes from 0"
    if bad.any():
        row = int(bad.argmax())
        raise ValueError(
            f"The label {y[row]:g} in row {row} of {short(name)} in {source.name}, "
            f"counted from 0, {problem}. {advice}."
        )


def _plain_schema(source: Source, schema: Any) -> Any:
    """Return columns of kinds that scikit-learn knows; no row labels of pandas."""
    arrow = import_optional("pyarrow", "io")
    fields = []
    for each in schema:
        kind = each.type
        _refuse_kind(source, each.name, kind)
        if arrow.types.is_null(kind) or arrow.types.is_decimal(kind):
            kind = arrow.float64()
        fields.append(arrow.field(each.name, kind))
    return arrow.schema(fields)


def _refuse_kind(source: Source, name: str, kind: Any) -> None:
    """Raise if values are no numbers, no text and no dates."""
    arrow = import_optional("pyarrow", "io")
    held = kind.value_type if arrow.types.is_dictionary(kind) else kind
    if (
        arrow.types.is_nested(held)
        # Of any width, or a view.
        or "binary" in str(held)
        or isinstance(held, arrow.BaseExtensionType)
    ):
        raise ValueError(
            f"Column {short(name)} of {source.name} holds {kind} values. Leave it out "
            "with columns=, or turn it into columns of numbers or text."
        )
