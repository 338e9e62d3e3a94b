# SPDX-License-Identifier: BSD-3-Clause
"""Columns of Parquet and Arrow files as record batches, a few rows at a time."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import ceil
from typing import Any, NamedTuple

from aucmax._utils.optional import import_optional
from aucmax.io.tables.errors import naming
from aucmax.io.tables.source import Source
from aucmax.io.tables.text import Schema, check_header

# Without a buffer, all of a column in a row group would be read at once.
BUFFER_BYTES = 2**16
# Decoded before they must be copied, of all columns. pyarrow takes some microseconds to
# turn to a column, so that few rows at a time are slow.
DECODED_BYTES = 2**26
# Decoded and copied before the next columns are, while they are still in the cache.
COPIED_BYTES = 2**23
LEAST_ROWS, MOST_ROWS = 2**10, 2**16
# Where all rows are kept: with 2**16, reading 400,000 rows takes 1.4 times as long.
WHOLE_ROWS = 2**20


class Piece(NamedTuple):
    """Some columns of some rows.

    Attributes
    ----------
    first : int
        Where the rows begin, in the file, that are read together.
    n_rows : int
        How many these are.
    row : int
        Where the record batch begins, in the file; it has some of these rows, or all.
    batch : RecordBatch
        The columns.
    """

    first: int
    n_rows: int
    row: int
    batch: Any


@dataclass(frozen=True)
class ParquetReader:
    """A Parquet file.

    Attributes
    ----------
    source : Source
        The file.
    """

    source: Source

    def schema(self) -> tuple[Schema, int]:
        """Return the types of the columns by name, and how many rows there are."""
        with self._opened() as content:
            schema = types_of(self.source, content.schema_arrow)
            return schema, content.metadata.num_rows

    def batches(
        self, columns: Sequence[str], skip: int = 0, *, whole: bool = False
    ) -> Iterator[Any]:
        """Yield columns, some rows at a time, without the first rows."""
        with self._opened() as content:
            kept, row = _without_groups(content.metadata, skip)
            rows = WHOLE_ROWS if whole else _rows_at_once(8 * len(columns))
            batches = content.iter_batches(rows, row_groups=kept, columns=list(columns))
            skip -= row
            for batch in map(validated, batches):
                if skip < batch.num_rows:
                    yield batch.slice(skip)
                skip = max(skip - batch.num_rows, 0)

    def pieces(
        self, columns: Sequence[str], *, n_rows: int, itemsize: int, skip: int
    ) -> Iterator[Piece]:
        """Yield the file, some rows at a time, and of these some columns at a time.

        Parameters
        ----------
        columns : sequence of str
            The names of the columns.
        n_rows : int
            Rows that will be held together; a quarter of them may be decoded at a time.
        itemsize : int
            Bytes of a value.
        skip : int
            The first rows to be left out.
        """
        rows = _rows_at_once(itemsize * len(columns), n_rows)
        width = max(COPIED_BYTES // (itemsize * rows), 1)
        with self._opened() as content:
            kept, row = _without_groups(content.metadata, skip)
            # All of them stop at the same rows.
            readers = [
                map(
                    validated,
                    content.iter_batches(
                        rows, row_groups=kept, columns=list(columns[k : k + width])
                    ),
                )
                for k in range(0, len(columns), width)
            ]
            end = content.metadata.num_rows
            for low in range(row, end, rows):
                high = min(low + rows, end)
                for reader in readers:
                    yield from _taken(reader, low, high, max(low, skip))

    @contextmanager
    def _opened(self) -> Iterator[Any]:
        parquet = import_optional("pyarrow.parquet", "io")
        with (
            naming(self.source.name, "a Parquet file"),
            self.source.open_arrow(seekable=True) as file,
            # With pre_buffer, row groups would be read as a whole and kept to the end.
            parquet.ParquetFile(
                file, buffer_size=BUFFER_BYTES, pre_buffer=False
            ) as content,
        ):
            yield content


@dataclass(frozen=True)
class ArrowReader:
    """An Arrow file, Feather included, or an Arrow stream.

    Attributes
    ----------
    source : Source
        The file.
    """

    source: Source

    def schema(self) -> tuple[Schema, None]:
        """Return the types of the columns by name."""
        with self._opened() as file:
            return types_of(self.source, _ipc(file).schema), None

    def batches(
        self, columns: Sequence[str], skip: int = 0, *, whole: bool = False
    ) -> Iterator[Any]:
        """Yield columns, some rows at a time."""
        rows = _rows_at_once(8 * len(columns))
        with self._opened() as file:
            schema = _ipc(file).schema
            file.seek(0)
            content = _ipc(file, [schema.get_field_index(name) for name in columns])
            batches = (
                map(content.get_batch, range(content.num_record_batches))
                if hasattr(content, "get_batch")
                else content
            )
            for batch in map(validated, batches):
                for low in range(0, batch.num_rows, rows):
                    yield batch.slice(low, rows)

    @contextmanager
    def _opened(self) -> Iterator[Any]:
        with (
            naming(self.source.name, "an Arrow or Feather file"),
            self.source.open_arrow(seekable=True) as file,
        ):
            yield file


def validated(content: Any) -> Any:
    """Return a table or record batch whose values are where they say they are.

    Nothing in an Arrow file keeps an offset or an index of a dictionary from pointing
    beyond its buffer, where whatever is in memory would be read, or the process killed.
    Parquet files are decoded by pyarrow, but it checks neither the indices of
    dictionaries nor that text is UTF-8. It costs little: numbers have nothing to check.
    """
    content.validate(full=True)
    return content


def types_of(source: Source, schema: Any) -> Schema:
    """Return types of columns by name, without those that are labels of rows."""
    check_header(source, schema.names)
    # What pandas says of a table it wrote; an index of 0, 1, 2... is a dict there.
    metadata = schema.pandas_metadata
    index = metadata.get("index_columns") if isinstance(metadata, dict) else None
    index = index if isinstance(index, list) else []
    return {
        name: kind
        for name, kind in zip(schema.names, schema.types, strict=True)
        if name not in index
    }


def _rows_at_once(row_bytes: int, n_rows: int = 0) -> int:
    rows = max(DECODED_BYTES // max(row_bytes, 1), n_rows // 4)
    rows = min(max(rows, LEAST_ROWS), MOST_ROWS)
    # As many in each part of a block.
    return rows if rows >= n_rows else ceil(n_rows / ceil(n_rows / rows))


def _without_groups(metadata: Any, skip: int) -> tuple[range, int]:
    """Return the row groups after the first rows, and the row where they begin."""
    row = 0
    for k in range(metadata.num_row_groups):
        n = metadata.row_group(k).num_rows
        if skip < row + n:
            return range(k, metadata.num_row_groups), row
        row += n
    return range(0), row


def _taken(reader: Iterator[Any], low: int, high: int, first: int) -> Iterator[Piece]:
    """Yield the rows that a reader has next, from ``low`` to ``high``.

    Those before the first are left out. There is more than one record batch where a
    dictionary changes.
    """
    while low < high:
        batch = next(reader, None)
        if batch is None or low + batch.num_rows > high:
            raise ValueError("a column has too few rows, or too many")
        left_out = max(first - low, 0)
        if left_out < batch.num_rows:
            row = low + left_out
            yield Piece(first, high - first, row, batch.slice(left_out))
        low += batch.num_rows


def _ipc(file: Any, fields: Sequence[int] | None = None) -> Any:
    """Return what reads an Arrow file, or else an Arrow stream."""
    arrow = import_optional("pyarrow", "io")
    ipc = import_optional("pyarrow.ipc", "io")
    options = ipc.IpcReadOptions(included_fields=fields or [])
    try:
        return ipc.open_file(file, options=options)
    except arrow.ArrowInvalid:
        file.seek(0)
        return ipc.open_stream(file, options=options)
