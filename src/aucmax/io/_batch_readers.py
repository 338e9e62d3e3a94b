# SPDX-License-Identifier: BSD-3-Clause
"""Columns of Parquet and Arrow files as record batches, a few rows at a time."""

from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from math import ceil
from typing import Any, NamedTuple

from aucmax._utils.optional import import_optional
from aucmax.io._arrow import NAMED, column_names, validated
from aucmax.io._errors import naming
from aucmax.io.source import Source

# Without a buffer, all of a column in a row group would be read at once.
BUFFER_BYTES = 2**16
# Decoded before they must be copied, of all columns. pyarrow takes some microseconds to
# turn to a column, so that few rows at a time are slow.
DECODED_BYTES = 2**26
# Decoded and copied before the next columns are, while they are still in the cache.
COPIED_BYTES = 2**23
LEAST_ROWS, MOST_ROWS = 2**10, 2**16

# Names with their types.
Schema = dict[str, Any]
RecordBatches = Generator[Any, None, None]


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


def read_schema(source: Source, kind: str) -> tuple[Schema, int | None]:
    """Return the types of a file's columns, and its rows if that is written there."""
    with naming(source.name, NAMED[kind]), _opened(source) as file:
        if kind == "parquet":
            with _parquet(file) as content:
                schema, n_rows = content.schema_arrow, content.metadata.num_rows
        else:
            schema, n_rows = _ipc(file).schema, None
        names = column_names(source, schema)
    return {name: schema.field(name).type for name in names}, n_rows


def read_records(
    source: Source, kind: str, columns: Sequence[str], skip: int = 0
) -> RecordBatches:
    """Yield columns of a file, some rows at a time.

    The first ``skip`` rows of a Parquet file can be left out.
    """
    rows = _rows_at_once(8 * len(columns))
    with naming(source.name, NAMED[kind]), _opened(source) as file:
        if kind == "parquet":
            yield from _parquet_records(file, columns, rows, skip)
        else:
            yield from _ipc_records(file, columns, rows)


def read_pieces(
    source: Source, columns: Sequence[str], *, n_rows: int, itemsize: int, skip: int
) -> Iterator[Piece]:
    """Yield a Parquet file, some rows at a time, and of these some columns at a time.

    Parameters
    ----------
    source : Source
        The file.
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
    with (
        naming(source.name, NAMED["parquet"]),
        _opened(source) as file,
        _parquet(file) as content,
    ):
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


def _rows_at_once(row_bytes: int, n_rows: int = 0) -> int:
    rows = max(DECODED_BYTES // row_bytes, n_rows // 4)
    rows = min(max(rows, LEAST_ROWS), MOST_ROWS)
    # As many in each part of a block.
    return rows if rows >= n_rows else ceil(n_rows / ceil(n_rows / rows))


def without_first(batches: Iterable[Any], skip: int) -> Iterator[Any]:
    """Yield record batches without the first rows of all."""
    for batch in batches:
        if skip < batch.num_rows:
            yield batch.slice(skip) if skip else batch
        skip = max(skip - batch.num_rows, 0)


def _parquet_records(
    file: Any, columns: Sequence[str], rows: int, skip: int
) -> Iterator[Any]:
    with _parquet(file) as content:
        kept, row = _without_groups(content.metadata, skip)
        batches = content.iter_batches(rows, row_groups=kept, columns=list(columns))
        yield from without_first(map(validated, batches), skip - row)


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


def _ipc_records(file: Any, columns: Sequence[str], rows: int) -> Iterator[Any]:
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


def _parquet(file: Any) -> Any:
    parquet = import_optional("pyarrow.parquet", "io")
    # With pre_buffer, row groups would be read as a whole and kept to the end.
    return parquet.ParquetFile(file, buffer_size=BUFFER_BYTES, pre_buffer=False)


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


@contextmanager
def _opened(source: Source) -> Iterator[Any]:
    arrow = import_optional("pyarrow", "io")
    # Not a memory map: what was read of it would stay resident.
    with arrow.OSFile(str(source.plain_path)) as file:
        yield file
