# SPDX-License-Identifier: BSD-3-Clause
"""The columns of files, looked at once, and read as record batches."""

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol

import numpy as np

from aucmax._utils.optional import import_optional
from aucmax.io.tables.columnar import ArrowReader, ParquetReader, Piece
from aucmax.io.tables.columns import (
    Columns,
    Picked,
    check_same_columns,
    find_name,
    pick_columns,
)
from aucmax.io.tables.errors import TableError
from aucmax.io.tables.json_lines import JsonReader
from aucmax.io.tables.lines import UNFINISHED
from aucmax.io.tables.schema import (
    ColumnKinds,
    find_kinds,
    given_types,
    label_dtype,
)
from aucmax.io.tables.source import Source, name_all
from aucmax.io.tables.text import EMPTY, SEPARATORS, Schema, TextReader

# Formats whose numbers are written as text.
PARSED = (*SEPARATORS, "jsonl")
READERS: dict[str, Any] = {
    "parquet": ParquetReader,
    "arrow": ArrowReader,
    "jsonl": JsonReader,
}


class Reader(Protocol):
    """What reads the files of one format."""

    @property
    def source(self) -> Source:
        """The file."""

    def schema(self) -> tuple[Schema, int | None]:
        """Return the types of all columns, and how many rows there are if known."""

    def batches(
        self, columns: Sequence[str], skip: int = 0, *, whole: bool = False
    ) -> Iterator[Any]:
        """Yield record batches, large ones if the whole file is kept anyway.

        Rows can be skipped if they are counted.
        """


class TableFile(NamedTuple):
    """A file, and what a look at it has found."""

    reader: Any
    schema: Schema
    n_rows: int | None

    def typed(self, types: Schema) -> "TableFile":
        """Return the same text file, to be read with these types."""
        schema = self.schema | types
        return TableFile(replace(self.reader, types=schema), schema, self.n_rows)


@dataclass(frozen=True)
class TableFiles:
    """Files that have columns with names.

    Attributes
    ----------
    format : str
        "csv", "tsv", "jsonl", "parquet" or "arrow".
    files : tuple of TableFile
        The files.
    picked : Picked
        The columns that are asked for.
    kinds : dict of str to str
        What the features hold: "number", "date" or "text".
    labels : dtype
        Type of the labels.
    whole : frozenset of str
        Features of text files that look like whole numbers.
    name : str
        What to call all files in a message.
    """

    format: str
    files: tuple[TableFile, ...]
    picked: Picked
    kinds: ColumnKinds
    labels: np.dtype[Any]
    whole: frozenset[str]
    name: str

    @property
    def sources(self) -> tuple[Source, ...]:
        """The files, in order."""
        return tuple(file.reader.source for file in self.files)

    @property
    def n_rows(self) -> int | None:
        """How many rows there are, or None if unknown."""
        known = [file.n_rows for file in self.files if file.n_rows is not None]
        return sum(known) if len(known) == len(self.files) else None

    def types(self, name: str) -> list[Any]:
        """Return the types of a column in the files."""
        return [file.schema[name] for file in self.files]

    def batches(
        self,
        columns: Sequence[str] | None = None,
        skip: int = 0,
        *,
        whole: bool = False,
    ) -> Generator[tuple[str, int, Any], None, None]:
        """Yield record batches, each with its file and the row where it begins."""
        columns = self.picked.all if columns is None else columns
        for reader, _, n_rows in self.files:
            if n_rows is not None and n_rows <= skip:
                skip -= n_rows
                continue
            reader.source.check_unchanged()
            # Only if the rows are counted can they be left out unread.
            row = 0 if n_rows is None else skip
            for batch in reader.batches(columns, row, whole=whole):
                left_out = max(skip - row, 0)
                if left_out < batch.num_rows:
                    yield reader.source.name, row + left_out, batch.slice(left_out)
                row += batch.num_rows
            skip = max(skip - row, 0)

    def pieces(
        self, columns: Sequence[str], *, n_rows: int, itemsize: int, skip: int
    ) -> Generator[tuple[str, Piece], None, None]:
        """Yield pieces of Parquet files, as `ParquetReader` does, with their files."""
        for reader, _, n in self.files:
            if n is None or n <= skip:
                skip -= n or 0
                continue
            reader.source.check_unchanged()
            for piece in reader.pieces(
                columns, n_rows=n_rows, itemsize=itemsize, skip=skip
            ):
                yield reader.source.name, piece
            skip = 0

    def with_floats(self, names: Iterable[str]) -> "TableFiles":
        """Return the same files, where numbers with a point may follow whole ones."""
        double = import_optional("pyarrow", "io").float64()
        types = dict.fromkeys(self.whole.intersection(names), double)
        if not types:
            return self
        return replace(self, files=tuple(file.typed(types) for file in self.files))

    def refuse_no_rows(self) -> TableError:
        """Return the error that there are none."""
        below = " below the names of its columns" if self.format in SEPARATORS else ""
        return TableError(f"has no rows{below}", UNFINISHED, file=self.name)


def look_at(
    sources: Sequence[Source],
    format: str,
    *,
    target: str | int | None = None,
    columns: Columns | None = None,
    weight: str | int | None = None,
    types: Mapping[str, str] | None = None,
    separator: str | None = None,
) -> TableFiles:
    """Look at the columns of files, and choose; raise if they cannot be read so.

    Types of text are found in the first block of the first file that has rows.
    """
    # First, as everything else needs it.
    arrow = import_optional("pyarrow", "io")
    files = []
    for source in sources:
        if source.path is not None and not source.state[0]:
            raise TableError(EMPTY, UNFINISHED, file=source.name)
        reader: Any
        if format in SEPARATORS:
            reader = TextReader(source, separator or SEPARATORS[format])
        else:
            reader = READERS[format](source)
        files.append(TableFile(reader, *reader.schema()))
    names = [source.name for source in sources]
    header = list(files[0].schema)
    picked = pick_columns(names[0], header, target, columns, weight)
    if len(files) > 1:
        headers = [list(file.schema) for file in files]
        check_same_columns(names, headers, picked, takes_all=columns is None)
    whole = frozenset[str]()
    if format in SEPARATORS:
        given: Schema = {}
        if types:
            given = given_types(types)
            for name in given:
                find_name(names[0], header, name)
        null = arrow.null()
        has_rows = (file for file in files if set(file.schema.values()) != {null})
        found = next(has_rows, files[0]).schema
        chosen = {name: given.get(name, found[name]) for name in picked.all}
        for name, kind in chosen.items():
            if kind == null:
                is_target = name == picked.target
                chosen[name] = arrow.string() if is_target else arrow.float64()
        whole = frozenset(
            name
            for name in picked.features
            if chosen[name] == arrow.int64() and name not in given
        )
        files = [file.typed(chosen) for file in files]
    schemas = [file.schema for file in files]
    kinds = find_kinds(picked.all, names, schemas, picked.target, picked.weight)
    labels = label_dtype([s[picked.target] for s in schemas if picked.target])
    name = names[0] if len(names) == 1 else name_all(sources)
    return TableFiles(format, tuple(files), picked, kinds, labels, whole, name)
