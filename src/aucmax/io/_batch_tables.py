# SPDX-License-Identifier: BSD-3-Clause
"""Tables in several files, read in batches."""

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from itertools import groupby, islice
from typing import Any

from aucmax.io._batch_blocks import Block, Layout, Rows, Span, blocks, read_rows
from aucmax.io._batch_files import InputFile
from aucmax.io._batch_plan import some
from aucmax.io._batch_readers import Piece, read_pieces, read_records
from aucmax.io._batch_text import TextColumns
from aucmax.io._batch_thread import ahead


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

    def pieces(
        self, columns: Sequence[str], *, n_rows: int, itemsize: int, skip: int
    ) -> Generator[tuple[str, Piece], None, None]:
        """Yield pieces of Parquet files, as `read_pieces` does, each with its file."""
        for file, n in zip(self.files, self.n_rows, strict=True):
            # Parquet files say how many rows they have.
            if n is None or n <= skip:
                skip -= n or 0
                continue
            for piece in read_pieces(
                file.source(), columns, n_rows=n_rows, itemsize=itemsize, skip=skip
            ):
                yield str(file.path), piece
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
    in_threads : bool
        Whether some columns may be decoded while others are copied.
    """

    tables: TableFiles
    layout: Layout
    in_threads: bool

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
        # An error would keep the file open, and a thread.
        with closing(self._spans(held, skip)) as spans:
            every = blocks(self.layout, spans, n_rows, most)
            yield from some(self, islice(every, first * must_count, None), first)

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

    def _spans(self, n_rows: int, skip: int) -> Generator[Span, None, None]:
        layout, columns = self.layout, self._columns()
        features = {feature.name: feature for feature in layout.features}
        read = partial(read_rows, layout, features)
        # Which rows are left out is known when all columns are.
        if self.tables.kind != "parquet" or layout.rules.missing == "drop":
            for file, row, batch in self.tables.records(columns, skip):
                rows = read(file, row, batch)
                yield Span(rows.n, [(0, rows)])
            return
        itemsize = layout.rules.dtype.itemsize

        def pieces() -> Generator[tuple[str, Piece], None, None]:
            return self.tables.pieces(
                columns, n_rows=n_rows, itemsize=itemsize, skip=skip
            )

        with closing(ahead(pieces, int(self.in_threads), inner=True)) as found:
            for (_, _, n), group in groupby(found, key=_span_of):
                yield Span(n, _parts(read, group))


def _span_of(found: tuple[str, Piece]) -> tuple[str, int, int]:
    file, piece = found
    return file, piece.first, piece.n_rows


def _parts(
    read: Callable[[str, int, Any], Rows], pieces: Iterable[tuple[str, Piece]]
) -> Iterator[tuple[int, Rows]]:
    for file, piece in pieces:
        yield piece.row - piece.first, read(file, piece.row, piece.batch)
