# SPDX-License-Identifier: BSD-3-Clause
"""Columns of Parquet and Arrow files as record batches, a few rows at a time."""

from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from aucmax._utils.optional import import_optional
from aucmax.io._arrow import _names as column_names
from aucmax.io._reading import Refused
from aucmax.io.source import Source

# Without a buffer, all of a column in a row group would be read at once.
BUFFER_BYTES = 2**16
# Decoded at a time, so that the values are still in the cache when they are copied.
DECODED_BYTES = 2**25
LEAST_ROWS, MOST_ROWS = 2**10, 2**16
NAMED = {"parquet": "a Parquet file", "arrow": "an Arrow or Feather file"}

# Names with their types.
Schema = dict[str, Any]
RecordBatches = Generator[Any, None, None]


def read_schema(source: Source, kind: str) -> tuple[Schema, int | None]:
    """Return the types of a file's columns, and its rows if that is written there."""
    with _explained(source, kind), _opened(source) as file:
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
    rows = DECODED_BYTES // (8 * len(columns))
    rows = min(max(rows, LEAST_ROWS), MOST_ROWS)
    with _explained(source, kind), _opened(source) as file:
        if kind == "parquet":
            yield from _parquet_records(file, columns, rows, skip)
        else:
            yield from _ipc_records(file, columns, rows)


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
        first, n_groups = 0, content.num_row_groups
        while first < n_groups:
            n = content.metadata.row_group(first).num_rows
            if skip < n:
                break
            first, skip = first + 1, skip - n
        batches = content.iter_batches(
            rows, row_groups=range(first, n_groups), columns=list(columns)
        )
        yield from without_first(batches, skip)


def _ipc_records(file: Any, columns: Sequence[str], rows: int) -> Iterator[Any]:
    schema = _ipc(file).schema
    file.seek(0)
    content = _ipc(file, [schema.get_field_index(name) for name in columns])
    batches = (
        map(content.get_batch, range(content.num_record_batches))
        if hasattr(content, "get_batch")
        else content
    )
    for batch in batches:
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


@contextmanager
def _explained(source: Source, kind: str) -> Iterator[None]:
    try:
        yield
    except (Refused, FileNotFoundError, PermissionError, ImportError, MemoryError):
        raise
    # Damage shows in many ways: ArrowInvalid, OSError, EOFError, OverflowError...
    except Exception as error:
        raise ValueError(
            f"{source.name} is not {NAMED[kind]}, or it is damaged or not written to "
            f"its end ({error}). Get it again, or pass the right format."
        ) from error
