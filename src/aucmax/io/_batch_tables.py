# SPDX-License-Identifier: BSD-3-Clause
"""Tables in several files, read in batches."""

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any

from aucmax._utils.optional import import_optional
from aucmax.io._batch_blocks import Block, Layout, Rows, Span, blocks, read_rows
from aucmax.io._batch_files import InputFile
from aucmax.io._batch_plan import some
from aucmax.io._batch_readers import Band, read_bands, read_records
from aucmax.io._batch_text import TextColumns


@dataclass(frozen=True)
class TableFiles:
    """Files that have columns with names.

    Attributes
    ----------
    kind : str
        "parquet", "arrow", "csv" or "tsv".
    files : tuple of InputFile
        The files.
    n_rows : tuple of int or None
        Rows of each file, where that is written in it.
    separator : str or None
        What is between two cells, if the files are text.
    types : dict of str to DataType
        Types of the columns, if the files are text.
    """

    kind: str
    files: tuple[InputFile, ...]
    n_rows: tuple[int | None, ...]
    separator: str | None
    types: Mapping[str, Any]

    def most_rows(self, skip: int) -> int | None:
        """Return how many rows there are after the first, or None if unknown."""
        known = [n for n in self.n_rows if n is not None]
        is_known = len(known) == len(self.n_rows)
        return max(sum(known) - skip, 0) if is_known else None

    def records(
        self, columns: Sequence[str], skip: int = 0
    ) -> Iterator[tuple[str, int, Any]]:
        """Yield record batches, each with its file and the row where it begins."""
        for file, n in zip(self.files, self.n_rows, strict=True):
            if n is not None and n <= skip:
                skip -= n
                continue
            # Only if the rows are counted can they be left out unread.
            row = 0 if n is None else skip
            for batch in self._read(file, columns, row):
                left_out = max(skip - row, 0)
                if left_out < batch.num_rows:
                    yield str(file.path), row + left_out, batch.slice(left_out)
                row += batch.num_rows
            skip = max(skip - row, 0)

    def bands(
        self, columns: Sequence[str], skip: int, **options: int
    ) -> Iterator[tuple[str, Band]]:
        """Yield some rows of Parquet files at a time, as `read_bands` does."""
        for file, n in zip(self.files, self.n_rows, strict=True):
            # Parquet files say how many rows they have.
            if n is None or n <= skip:
                skip -= n or 0
                continue
            for band in read_bands(file.source(), columns, skip=skip, **options):
                yield str(file.path), band
            skip = 0

    def _read(
        self, file: InputFile, columns: Sequence[str], skip: int
    ) -> Iterator[Any]:
        source = file.source()
        if self.separator is None:
            return read_records(source, self.kind, columns, skip)
        types = {name: self.types[name] for name in columns}
        return TextColumns(source, self.separator, columns, types).records()


@dataclass(frozen=True)
class TablePlan:
    """Files that have columns, and where their values go.

    Attributes
    ----------
    tables : TableFiles
        The files.
    layout : Layout
        Where the values of a row go.
    """

    tables: TableFiles
    layout: Layout

    @property
    def files(self) -> tuple[InputFile, ...]:
        """The files, in order."""
        return self.tables.files

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the features."""
        return tuple(name for each in self.layout.features for name in each.names)

    @property
    def n_features(self) -> int:
        """Number of features."""
        return self.layout.width

    @property
    def title(self) -> str:
        """The format."""
        return self.tables.kind

    def blocks(self, n_rows: int, first: int) -> Generator[Block, None, None]:
        """Yield dense blocks of ``n_rows`` rows, without the first ones."""
        # If rows are dropped, they must be read to be counted.
        must_count = self.layout.rules.missing == "drop"
        skip = 0 if must_count else first * n_rows
        most = self.tables.most_rows(skip)
        held = n_rows if most is None else min(n_rows, most)
        n_threads = import_optional("pyarrow", "io").cpu_count()
        spans = self._spans(held, n_threads, skip)
        every = blocks(self.layout, spans, n_rows, n_threads, most)
        return some(self, islice(every, first * must_count, None), first)

    def records(self, skip: int) -> Generator[Any, None, None]:
        """Yield record batches of the columns, without the first rows."""
        if skip and self.layout.rules.missing == "drop":
            raise ValueError(
                "Record batches have all rows, but missing='drop' leaves some out, so "
                "it is not known how many to skip. Call record_batches before skip."
            )
        columns = self._columns()
        for _, _, batch in self.tables.records(columns, skip):
            yield batch.select(columns)

    def identity(self) -> dict[str, Any]:
        """Return all that the values of the blocks depend on but for the files."""
        target, labels, weight, features, rules = self.layout
        return {
            "target": target,
            "labels": str(labels),
            "weight": weight,
            "features": features,
            "dtype": str(rules.dtype),
            "missing": rules.missing,
            "separator": self.tables.separator,
            "types": {name: str(kind) for name, kind in self.tables.types.items()},
        }

    def _columns(self) -> list[str]:
        layout = self.layout
        names = [layout.target, *(feature.name for feature in layout.features)]
        return names if layout.weight is None else [*names, layout.weight]

    def _spans(self, n_rows: int, n_threads: int, skip: int) -> Iterator[Span]:
        layout = self.layout
        features = {feature.name: feature for feature in layout.features}
        read = partial(read_rows, layout, features)
        columns = self._columns()
        # Which rows are left out is known when all columns are.
        if self.tables.kind != "parquet" or layout.rules.missing == "drop":
            for file, row, batch in self.tables.records(columns, skip):
                rows = read(file, row, batch)
                yield Span(rows.n, [[(0, rows)]])
            return
        bands = self.tables.bands(
            columns,
            skip,
            n_rows=n_rows,
            itemsize=layout.rules.dtype.itemsize,
            n_threads=n_threads,
        )
        for file, band in bands:
            parts = [_parts(read, file, band.row, group) for group in band.groups]
            yield Span(band.n_rows, parts)


def _parts(
    read: Callable[[str, int, Any], Rows],
    file: str,
    first: int,
    group: Iterator[tuple[int, Any]],
) -> Iterator[tuple[int, Rows]]:
    for row, batch in group:
        yield row - first, read(file, row, batch)
