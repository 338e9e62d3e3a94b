# SPDX-License-Identifier: BSD-3-Clause
"""Tables for the commands: which columns are read, and what is noted of them."""

import difflib
import shlex
from collections.abc import Sequence
from typing import Any, NamedTuple

import click
import numpy as np
from numpy.typing import NDArray

from aucmax._utils.typing import BoolArray
from aucmax.cli._base import count, tell
from aucmax.io._errors import short
from aucmax.io.tables.labels import (
    SHOWN,
    LabelColumn,
    Labels,
    brief,
    find_labels,
    shown,
)
from aucmax.io.tables.schema import ColumnKinds, conform
from aucmax.io.tables.source import FORMATS, Source, format_of, open_sources
from aucmax.io.tables.table import read_sources


class TableInput(NamedTuple):
    """Files that have been looked for, and how they are read."""

    sources: tuple[Source, ...]
    format: str
    separator: str | None
    target: str | None

    @property
    def name(self) -> str:
        """What to call the first file."""
        return self.sources[0].name

    @property
    def labels(self) -> LabelColumn:
        """Where the labels are from."""
        return LabelColumn(self.name, self.target)


class Problem(NamedTuple):
    """A table to learn from or to test with."""

    X: Any
    # To train with: labels of the file if the larger one is positive, else booleans.
    y: NDArray[Any]
    is_pos: BoolArray
    labels: Labels
    # What the columns hold, by name; empty for sparse rows, which have no names.
    kinds: ColumnKinds
    place: LabelColumn

    @property
    def source(self) -> str:
        """The name of the file."""
        return self.place.file

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.y)

    @property
    def n_pos(self) -> int:
        """Number of positives."""
        return int(self.is_pos.sum())

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return int(self.X.shape[1])


def open_input(
    data: str,
    format: str | None,
    separator: str | None,
    target: str | None,
    *,
    needs_target: bool = True,
) -> TableInput:
    """Look for files; end the command if they need a target and have none."""
    sources = open_sources(data)
    kind = format_of(sources, format, separator)
    if kind == "libsvm" and target is not None:
        raise click.UsageError(
            f"{data} is in LIBSVM's format, which has the labels first. Leave out "
            "--target."
        )
    if kind != "libsvm" and target is None and needs_target:
        raise click.UsageError("Name the column with the labels: --target NAME.")
    return TableInput(sources, kind, separator, target)


def open_alike(
    test: str, format: str | None, separator: str | None, like: TableInput
) -> TableInput:
    """Look for test rows, which are what their name says, or else like those."""
    suffix = open_sources(test)[0].suffix.lower().lstrip(".")
    is_named = suffix in FORMATS or suffix in ("ndjson", "txt")
    kind = format_of(open_sources(test), None if is_named else format or like.format)
    if (kind == "libsvm") != (like.format == "libsvm"):
        raise click.UsageError(
            f"One of {like.name} and {test} is in LIBSVM's format, whose columns have "
            "no names, and the other is not. Give both in the same format."
        )
    separator = separator if kind == like.format else None
    return open_input(test, kind, separator, like.target)


class Chooser:
    """What chooses among the columns of a file, and says what it leaves out."""

    def __init__(self, rows: TableInput) -> None:
        self.rows = rows

    def __call__(self, names: Sequence[str]) -> list[str]:
        """Return the names of the columns to read, in order."""
        # Before all else, so that a column that nobody wants costs and breaks nothing.
        if "" in names:
            place = names.index("") + 1
            tell(
                f"Note: column {place} of {self.rows.name} has no name; it is left out."
            )
        return self.choose(
            [name for name in names if name not in ("", self.rows.target)]
        )

    def choose(self, names: Sequence[str]) -> list[str]:
        """Return those of the names that are read."""
        return list(names)

    def need(self, name: str, names: Sequence[str], purpose: str) -> None:
        """Raise if there is no such column."""
        if name in names:
            return
        near = difflib.get_close_matches(name, names, SHOWN, 0.5)
        has = f"The nearest names: {shown(near)}" if near else f"It has: {shown(names)}"
        raise ValueError(
            f"{self.rows.name} has no column {short(name)} {purpose}. {has}."
        )


class AllBut(Chooser):
    """All columns but these."""

    def __init__(self, rows: TableInput, drop: Sequence[str]) -> None:
        super().__init__(rows)
        self.drop = drop

    def choose(self, names: Sequence[str]) -> list[str]:
        """Return those of the names that are read."""
        for name in self.drop:
            self.need(name, names, "to drop")
        return [name for name in names if name not in self.drop]


def read_problem(
    rows: TableInput, drop: Sequence[str], positive: str | None
) -> Problem:
    """Read a table to learn from."""
    table = read_sources(
        rows.sources,
        rows.format,
        target=rows.target,
        columns=None if rows.format == "libsvm" else AllBut(rows, drop),
        separator=rows.separator,
    )
    place = rows.labels
    labels, is_pos, y = find_labels(np.asarray(table.y), positive, place)
    if positive is None:
        _note_positive(y, is_pos, labels, place)
    X = conform(table.X, table.kinds, table.kinds, table.source)
    return Problem(X, y, is_pos, labels, table.kinds, place)


def _note_positive(
    y: NDArray[Any], is_pos: BoolArray, labels: Labels, place: LabelColumn
) -> None:
    """Say which label is positive if it may well be the wrong one."""
    n_pos = int(is_pos.sum())
    # Numbers and true and false have a customary order, and text has none.
    if y.dtype.kind in "biuf" or 2 * n_pos <= len(y):
        return
    tell(
        f"Note: the positive label of {place} is "
        f"{brief(labels.positive)}, the last one in the alphabet, which {n_pos:,} of "
        f"{count(len(y), 'row')} have. If {brief(labels.negative)} shall be ranked "
        f"high, add --positive {shlex.quote(labels.negative)}."
    )
