# SPDX-License-Identifier: BSD-3-Clause
"""From record batches to blocks of numbers: what is asked for, and where it goes."""

import json
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from itertools import groupby, islice
from typing import Any, Protocol

import numpy as np

from aucmax._utils.optional import import_optional
from aucmax.io._errors import short
from aucmax.io.tables.ahead import ahead
from aucmax.io.tables.blocks import (
    Block,
    Feature,
    Layout,
    Rows,
    Span,
    blocks,
    read_rows,
)
from aucmax.io.tables.columnar import Piece
from aucmax.io.tables.errors import Option, TableError
from aucmax.io.tables.files import PARSED, TableFiles
from aucmax.io.tables.schema import DATE, TEXT, feature_dtype
from aucmax.io.tables.source import Source
from aucmax.io.tables.text import SEPARATORS
from aucmax.io.tables.values import Rules

# Each becomes a column of a dense block.
MOST_LEVELS = 1000
ERROR, DROP, ONE_HOT = "error", "drop", "one-hot"


class Plan(Protocol):
    """How files are read; it holds no open file and can be pickled."""

    @property
    def sources(self) -> tuple[Source, ...]:
        """The files, in order."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the features; empty if they have none."""

    @property
    def n_features(self) -> int:
        """Number of features."""

    @property
    def title(self) -> str:
        """What it is, in a word or two."""

    def blocks(self, n_rows: int, first: int) -> Generator[Block, None, None]:
        """Yield blocks of ``n_rows`` rows, without the first ones."""

    def records(self, skip: int) -> Generator[Any, None, None]:
        """Yield Arrow record batches without the first rows, if there are such."""

    def identity(self) -> dict[str, Any]:
        """Return all that the values of the blocks depend on but for the files."""


def fingerprint(plan: Plan) -> str:
    """Return a text that is the same where blocks have the same rows."""
    files = [
        [str(each.path and each.path.absolute()), *each.state] for each in plan.sources
    ]
    text = json.dumps([plan.title, files, plan.identity()], sort_keys=True)
    return sha256(text.encode()).hexdigest()


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
    def sources(self) -> tuple[Source, ...]:
        """The files, in order."""
        return self.tables.sources

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
        return self.tables.format

    def blocks(self, n_rows: int, first: int) -> Generator[Block, None, None]:
        """Yield dense blocks of ``n_rows`` rows, without the first ones."""
        # If rows are dropped, they must be read to be counted.
        must_count = self.layout.rules.missing == DROP
        skip = 0 if must_count else first * n_rows
        most = self.tables.n_rows
        most = None if most is None else max(most - skip, 0)
        held = n_rows if most is None else min(n_rows, most)
        # An error would keep the file open, and a thread.
        with closing(self._spans(held, skip)) as spans:
            found = islice(
                blocks(self.layout, spans, n_rows, most), first * must_count, None
            )
            block = next(found, None)
            if block is None and not first:
                self._refuse_no_rows()
            while block is not None:
                yield block
                # Not kept while the next one is made.
                block = None
                block = next(found, None)

    def _refuse_no_rows(self) -> None:
        if self.layout.rules.missing != DROP:
            raise self.tables.refuse_no_rows()
        raise TableError(
            "has no rows, or all have been dropped because a value is missing",
            "give files that have rows, or a number as missing=",
            file=self.tables.name,
        )

    def records(self, skip: int) -> Generator[Any, None, None]:
        """Yield record batches of the columns, without the first rows."""
        if skip and self.layout.rules.missing == DROP:
            raise TableError(
                "Record batches have all rows, but missing='drop' leaves some out, so "
                "it is not known how many to skip",
                "call record_batches before skip",
            )
        for _, _, batch in self.tables.batches(self._columns, skip):
            yield batch.select(self._columns)

    def identity(self) -> dict[str, Any]:
        """Return all that the values of the blocks depend on but for the files."""
        layout, first = self.layout, self.tables.files[0]
        types = first.schema if self.tables.format in SEPARATORS else {}
        return layout._asdict() | {
            "labels": str(layout.labels),
            "rules": [str(layout.rules.dtype), layout.rules.missing],
            "separator": getattr(first.reader, "separator", None),
            "types": {name: str(types[name]) for name in self._columns if types},
        }

    @property
    def _columns(self) -> list[str]:
        layout = self.layout
        names = [layout.target, *(feature.name for feature in layout.features)]
        return names if layout.weight is None else [*names, layout.weight]

    def _spans(self, n_rows: int, skip: int) -> Generator[Span, None, None]:
        layout, columns = self.layout, self._columns
        features = {feature.name: feature for feature in layout.features}
        read = partial(read_rows, layout, features)
        # Which rows are left out is known when all columns are.
        if self.tables.format != "parquet" or layout.rules.missing == DROP:
            for file, row, batch in self.tables.batches(columns, skip):
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


def plan_tables(
    tables: TableFiles,
    *,
    dtype: str,
    missing: str | float,
    categories: str | Mapping[str, Sequence[str]],
    in_threads: bool,
) -> TablePlan:
    """Return how to turn columns into numbers as asked for, or raise why not."""
    picked, file = tables.picked, tables.sources[0].name
    if picked.target is None:
        raise TableError("has labels in some column", "name it: target=...", file=file)
    for name, kind in tables.kinds.items():
        if kind == DATE:
            raise TableError(
                f"holds dates or times ({tables.types(name)[0]})",
                "turn it into numbers, such as days since some day",
                Option("columns"),
                file=file,
                column=name,
            )
    levels = _choose_levels(tables, categories)
    features: list[Feature] = []
    first = 0
    for name, kind in tables.kinds.items():
        if kind == TEXT and name not in levels:
            continue
        features.append(Feature(name, first, levels.get(name)))
        first += features[-1].width
    if not features:
        raise TableError(
            "has no columns to learn from besides the target and those left out",
            "choose columns=, or pass categories='one-hot'",
            file=file,
        )
    _check_new_names(file, features)
    kinds = [kind for each in features for kind in tables.types(each.name)]
    rules = Rules(feature_dtype(kinds, dtype), missing, tables.whole)
    if not isinstance(missing, str):
        with np.errstate(over="ignore"):
            is_finite = np.isfinite(rules.dtype.type(missing))
        if not is_finite:
            raise TableError(
                f"missing must be a number that {rules.dtype} holds; got {missing!r}"
            )
    layout = Layout(
        picked.target,
        tables.labels,
        picked.weight,
        tuple(features),
        rules,
        tables.format in PARSED,
    )
    return TablePlan(tables.with_floats(tables.whole), layout, in_threads)


def _check_new_names(file: str, features: Sequence[Feature]) -> None:
    names = [name for each in features for name in each.names]
    twice, count = Counter(names).most_common(1)[0]
    if count > 1:
        raise TableError(
            f"has two features that would be named {short(twice)} when categories are "
            "turned into columns",
            "rename a column",
            file=file,
        )


def _choose_levels(
    tables: TableFiles, categories: str | Mapping[str, Sequence[str]]
) -> dict[str, tuple[str, ...]]:
    """Return the levels of the columns of text that are not to be left out."""
    texts = [name for name, kind in tables.kinds.items() if kind == TEXT]
    levels: dict[str, tuple[str, ...]] = {}
    if isinstance(categories, Mapping):
        levels = {
            name: _given_levels(tables, name, values, texts)
            for name, values in categories.items()
        }
    elif categories not in (ERROR, DROP, ONE_HOT):
        raise TableError(
            f"categories must be '{ERROR}', '{DROP}', '{ONE_HOT}' or a dict of columns "
            f"and lists of texts; got {categories!r}"
        )
    if categories == ONE_HOT and texts:
        return _find_levels(tables, texts)
    left = [name for name in texts if name not in levels]
    if left and categories != DROP:
        file = tables.sources[0].name
        raise TableError("holds text", Option("categories"), file=file, column=left[0])
    return levels


def _given_levels(
    tables: TableFiles, name: str, values: Sequence[str], texts: Sequence[str]
) -> tuple[str, ...]:
    if name not in texts:
        what = "holds no text" if name in tables.kinds else "is no feature"
        raise TableError(
            f"categories has {name!r}, which {what} in {tables.sources[0].name}",
            "leave it out of categories",
        )
    if isinstance(values, str) or not values:
        raise TableError(
            f"categories[{name!r}] must be a list of texts; got {values!r}"
        )
    levels = tuple(map(str, values))
    if len(set(levels)) < len(levels):
        raise TableError(
            f"categories[{name!r}] has a text twice", "leave one of them out"
        )
    return levels


def _find_levels(
    tables: TableFiles, texts: Sequence[str]
) -> dict[str, tuple[str, ...]]:
    """Return the texts of each column, sorted, by one pass over these columns."""
    string = import_optional("pyarrow", "io").string()
    found: dict[str, set[str]] = {name: set() for name in texts}
    for file, _, batch in tables.batches(texts):
        for name in texts:
            values = batch.column(name).cast(string).unique().to_pylist()
            found[name].update(value for value in values if value is not None)
            if len(found[name]) > MOST_LEVELS:
                raise TableError(
                    f"has more than {MOST_LEVELS} different texts, too many for a "
                    "column each",
                    Option("columns"),
                    "give the texts with categories={...}",
                    file=file,
                    column=name,
                )
    return {name: tuple(sorted(values)) for name, values in found.items()}
