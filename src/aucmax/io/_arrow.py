# SPDX-License-Identifier: BSD-3-Clause
"""Columns of a file as an Arrow table; the files that pyarrow reads."""

import re
from collections.abc import Callable, Collection, Sequence
from typing import IO, Any

from aucmax._utils.optional import import_optional
from aucmax.io._errors import naming
from aucmax.io._reading import read_or_diagnose
from aucmax.io.diagnosis import diagnose_json
from aucmax.io.header import check_names, diagnose_table, read_header
from aucmax.io.lines import LONGEST_LINE, open_text, text_lines
from aucmax.io.source import Source

# Bytes parsed at a time. A row must fit; if one does not, the second size is tried.
BLOCK_BYTES = (2**22, LONGEST_LINE)
# Bytes copied at a time.
COPIED_BYTES = 2**20
# A line of JSON that may hold a null outside of objects, which crashes pyarrow where it
# stands first, and is taken for a row elsewhere.
NOT_AN_OBJECT = re.compile(r"^\s*[^\s{]|\}\s*null")
NAMED = {"parquet": "a Parquet file", "arrow": "an Arrow or Feather file"}

# What picks columns: takes all names, returns those to read.
Pick = Callable[[Sequence[str]], list[str]]


def read_text(
    source: Source, pick: Pick, separator: str, text: Collection[str] = ()
) -> Any:
    """Read columns of a text file whose first line has their names.

    The columns ``text`` stay as they are written, whatever they look like.
    """
    wanted = pick(read_header(source, separator))

    def read() -> Any:
        arrow = import_optional("pyarrow", "io")
        reopen, n_quotes = _without_python(source, open_text(source))
        table = _in_blocks(lambda size: _parse(reopen(), wanted, separator, size, text))
        if n_quotes % 2:
            # One that is never closed would take all that follows for one cell.
            diagnose_table(source, separator)
        # So it calls text that is not UTF-8.
        if any(arrow.types.is_binary(field.type) for field in table.schema):
            raise ValueError("text that is not UTF-8")
        return table

    return read_or_diagnose(source, read, lambda: diagnose_table(source, separator))


def read_json_lines(source: Source, pick: Pick) -> Any:
    """Read columns of a text file with a JSON object in each line."""
    json = import_optional("pyarrow.json", "io")

    def read() -> Any:
        if any(NOT_AN_OBJECT.search(line) for line in text_lines(source)):
            diagnose_json(source)
        reopen, _ = _without_python(source, open_text(source))
        table = _in_blocks(
            lambda size: json.read_json(reopen(), json.ReadOptions(block_size=size))
        )
        return validated(table.select(pick(column_names(source, table.schema))))

    return read_or_diagnose(source, read, lambda: diagnose_json(source))


def _in_blocks(parse: Callable[[int], Any]) -> Any:
    """Return what is parsed in blocks of a size in which each row fits."""
    arrow = import_optional("pyarrow", "io")
    *sizes, last = BLOCK_BYTES
    for size in sizes:
        try:
            return parse(size)
        except arrow.ArrowInvalid as error:
            if "block" not in str(error):
                raise
    return parse(last)


def _without_python(source: Source, stream: IO[bytes]) -> tuple[Callable[[], Any], int]:
    """Return what opens the bytes for pyarrow, and how many quotes there are.

    pyarrow reads in threads of its own. They may let go of what they read only when the
    process ends; if that is an object of Python, which is gone by then, they abort it.
    So pyarrow opens the file itself, or gets a copy in its own memory.
    """
    arrow = import_optional("pyarrow", "io")
    path, n_quotes = source.plain_path, 0
    copy = None if path is not None else arrow.BufferOutputStream()
    with stream:
        while data := stream.read(COPIED_BYTES):
            n_quotes += data.count(b'"')
            if copy is not None:
                copy.write(data)
    if copy is None:
        return lambda: arrow.OSFile(str(path)), n_quotes
    content = copy.getvalue()
    return lambda: arrow.BufferReader(content), n_quotes


def _parse(
    file: Any, wanted: list[str], separator: str, size: int, text: Collection[str]
) -> Any:
    csv = import_optional("pyarrow.csv", "io")
    string = import_optional("pyarrow", "io").string()
    # Not closed here: after an error, a thread of pyarrow may be reading still.
    return csv.read_csv(
        file,
        read_options=csv.ReadOptions(block_size=size),
        parse_options=csv.ParseOptions(delimiter=separator, newlines_in_values=True),
        convert_options=csv.ConvertOptions(
            include_columns=wanted,
            column_types=dict.fromkeys(text, string),
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
        ),
    )


def read_parquet_columns(source: Source, pick: Pick) -> Any:
    """Read columns of a Parquet file."""
    parquet = import_optional("pyarrow.parquet", "io")

    def read(file: Any) -> Any:
        # Not read_table, which takes folders named a=1 for columns.
        with parquet.ParquetFile(file) as content:
            return validated(
                content.read(columns=pick(column_names(source, content.schema_arrow)))
            )

    return _read_binary(source, read, NAMED["parquet"])


def read_ipc_columns(source: Source, pick: Pick) -> Any:
    """Read columns of an Arrow file, Feather included, or of an Arrow stream."""
    arrow = import_optional("pyarrow", "io")
    ipc = import_optional("pyarrow.ipc", "io")

    def read(file: Any) -> Any:
        try:
            table = ipc.open_file(file).read_all()
        except arrow.ArrowInvalid:
            file.seek(0)
            table = ipc.open_stream(file).read_all()
        return validated(table.select(pick(column_names(source, table.schema))))

    return _read_binary(source, read, NAMED["arrow"])


def validated(content: Any) -> Any:
    """Return a table or record batch whose values are where they say they are.

    Nothing in an Arrow file keeps an offset or an index of a dictionary from pointing
    beyond its buffer, where whatever is in memory would be read, or the process killed.
    Parquet files are decoded by pyarrow, but it checks neither the indices of
    dictionaries nor that text is UTF-8. It costs little: numbers have nothing to check.
    """
    content.validate(full=True)
    return content


def column_names(source: Source, schema: Any) -> list[str]:
    """Return the names of the columns, without those that are labels of rows."""
    check_names(source, schema.names)
    # What pandas says of a table it wrote; an index of 0, 1, 2... is a dict there.
    metadata = schema.pandas_metadata
    index = metadata.get("index_columns") if isinstance(metadata, dict) else None
    index = index if isinstance(index, list) else []
    return [name for name in schema.names if name not in index]


def _read_binary(source: Source, read: Callable[[Any], Any], kind: str) -> Any:
    arrow = import_optional("pyarrow", "io")
    with naming(source.name, kind):
        if source.plain_path is not None:
            # Only the columns that are wanted are read from the disk.
            with arrow.OSFile(str(source.plain_path)) as file:
                return read(file)
        reopen, _ = _without_python(source, source.open())
        return read(reopen())
