# SPDX-License-Identifier: BSD-3-Clause
"""Files in parts, which the workers read as `aucmax.io` does."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from aucmax.distributed._cluster import dask, shared
from aucmax.io.tables.files import TableFiles, look_at
from aucmax.io.tables.source import check_readable, format_of, open_sources
from aucmax.io.tables.table import read_part

# Of a Parquet file's numbers, as Dask's own reader has it. Others are read as a whole.
PART_BYTES = 2**28


def file_parts(paths: Any, **options: Any) -> list[Any]:
    """Return a task per part of files: features, labels and weights.

    The options are those of `look_at`, which looks at the columns here.
    """
    sources = open_sources(paths)
    format = format_of(sources, None)
    check_readable(sources, format)
    # Workers may run in other folders.
    there = [replace(each, path=each.path and each.path.absolute()) for each in sources]
    tables = look_at(there, format, **options)
    tables = tables.with_floats(tables.whole)
    read = dask.delayed(read_part, pure=False, nout=3)
    return [read(shared(part), low, n_rows) for part, low, n_rows in _cut(tables)]


def _cut(tables: TableFiles) -> Iterator[tuple[TableFiles, int, int | None]]:
    """Yield each file, its first row, and how many; None stands for all of them."""
    most = max(PART_BYTES // (8 * len(tables.picked.all)), 1)
    for file in tables.files:
        alone = replace(tables, files=(file,), name=file.reader.source.name)
        if file.n_rows is None:
            yield alone, 0, None
            continue
        for low in range(0, file.n_rows, most):
            yield alone, low, min(most, file.n_rows - low)
