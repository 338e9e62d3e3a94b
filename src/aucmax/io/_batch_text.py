# SPDX-License-Identifier: BSD-3-Clause
"""Columns of CSV and TSV files as record batches, a block of text at a time."""

import re
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from aucmax._utils.optional import import_optional
from aucmax.io._batch_readers import without_first
from aucmax.io._errors import Refused, damage_errors, damaged, short
from aucmax.io.header import diagnose_table, read_header
from aucmax.io.lines import LONGEST_LINE
from aucmax.io.source import Source

# Bytes parsed at a time. A row must fit; if one does not, the next size is tried.
BLOCK_BYTES = (2**20, 2**24, LONGEST_LINE)
CODECS = {".gz": "gzip", ".bz2": "bz2"}
# What pyarrow says of a value of another type; rows count from 1, the header included.
CONVERSION = re.compile(
    r"column #(\d+): (?:Row #(\d+): )?CSV conversion error to (\w+).*?: "
    r"invalid value '(.*)'",
    re.DOTALL,
)
KINDS = {"double": "a number", "int64": "a whole number", "bool": "true or false"}


@dataclass(frozen=True, slots=True)
class TextColumns:
    """Some columns of a text file.

    Attributes
    ----------
    source : Source
        The file.
    separator : str
        What is between two cells.
    columns : sequence of str
        The names of the columns.
    types : dict of str to DataType
        Types of Arrow; of the other columns, they are found in the first block.
    """

    source: Source
    separator: str
    columns: Sequence[str]
    types: Mapping[str, Any]

    def find_types(self) -> dict[str, Any] | None:
        """Return the types of all columns, or None if the file has no rows."""
        try:
            batch = next(_resized(self), None)
        except damage_errors() as error:
            _explain(self, 0, error)
        if batch is None:
            return None
        types = {name: batch.column(name).type for name in self.columns}
        # So it calls text that is not UTF-8.
        if import_optional("pyarrow", "io").binary() in types.values():
            diagnose_table(self.source, self.separator)
        return types

    def records(self) -> Generator[Any, None, None]:
        """Yield the columns, some rows at a time."""
        last_name = read_header(self.source, self.separator)[-1]
        # A quote that is never closed takes all that follows for one cell. That is in
        # the last column, as other rows are too short, and pyarrow refuses them.
        names = list(dict.fromkeys([*self.columns, last_name]))
        types = {last_name: import_optional("pyarrow", "io").string(), **self.types}
        checked = TextColumns(self.source, self.separator, names, types)
        done, last = 0, None
        try:
            for batch in _resized(checked):
                yield batch
                done, last = done + batch.num_rows, batch
        except damage_errors() as error:
            _explain(checked, done, error)
        if last is not None and _has_lines(last.column(last_name)[-1].as_py()):
            diagnose_table(self.source, self.separator)


def _has_lines(cell: Any) -> bool:
    return isinstance(cell, str) and ("\n" in cell or "\r" in cell)


def _resized(text: TextColumns, *, threads: bool = True) -> Iterator[Any]:
    """Yield record batches; begin again with larger blocks if a row does not fit."""
    arrow = import_optional("pyarrow", "io")
    done = 0
    for size in BLOCK_BYTES:
        try:
            for batch in without_first(_parsed(text, size, threads), done):
                done += batch.num_rows
                yield batch
            return
        except arrow.ArrowInvalid as error:
            if "block" not in str(error) or size == BLOCK_BYTES[-1]:
                raise


def _parsed(text: TextColumns, size: int, threads: bool) -> Any:
    csv = import_optional("pyarrow.csv", "io")
    return csv.open_csv(
        _opened(text.source),
        read_options=csv.ReadOptions(block_size=size, use_threads=threads),
        parse_options=csv.ParseOptions(
            delimiter=text.separator, newlines_in_values=True
        ),
        convert_options=csv.ConvertOptions(
            include_columns=list(text.columns),
            column_types=dict(text.types),
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
        ),
    )


def _opened(source: Source) -> Any:
    """Return a stream that is no object of Python, for the threads of pyarrow."""
    arrow = import_optional("pyarrow", "io")
    file = arrow.OSFile(source.name)
    if source.plain_path is not None:
        return file
    suffix = Path(source.name).suffix
    if suffix not in CODECS:
        raise Refused(
            f"{source.name} cannot be read in batches. Unpack it, or pack it as .gz."
        )
    return arrow.CompressedInputStream(file, CODECS[suffix])


def _explain(text: TextColumns, done: int, error: Exception) -> NoReturn:
    """Raise what is wrong with the file, after so many rows that were right."""
    if isinstance(error, Refused | FileNotFoundError | PermissionError):
        raise error
    name = text.source.name
    found = CONVERSION.search(str(error))
    # With lines in it, it is no wrong value, but all that follows an open quote.
    if found is None or _has_lines(found[4]):
        diagnose_table(text.source, text.separator)
        raise damaged(f"{name}, after row {done},", error) from error
    found = _with_row(text) or found
    place, row, kind, value = found.groups()
    name_of_column = read_header(text.source, text.separator)[int(place)]
    where = f"after row {done}" if row is None else f"row {int(row) - 2}"
    raise ValueError(
        f"{name}, {where}, counted from 0: {short(value)} in column "
        f"{short(name_of_column)} is not {KINDS.get(kind, f'of type {kind}')}, as "
        "types= or else the first rows say. Mend it, or give the right type, such as "
        f"types={{{name_of_column!r}: 'string'}}."
    ) from error


def _with_row(text: TextColumns) -> re.Match[str] | None:
    """Return the message about the first value that is wrong, with its row."""
    arrow = import_optional("pyarrow", "io")
    try:
        # Rows are counted only without threads.
        for _ in _resized(text, threads=False):
            pass
    except arrow.ArrowInvalid as error:
        return CONVERSION.search(str(error))
    return None
