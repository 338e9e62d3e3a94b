# SPDX-License-Identifier: BSD-3-Clause
"""Tables for the commands: which columns are read, and what is noted of them."""

import difflib
import shlex
from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple, NoReturn

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
    # What to call the first file, and its labels.
    name: str
    labels: LabelColumn


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
    name = sources[0].name
    return TableInput(sources, kind, separator, target, name, LabelColumn(name, target))


def open_alike(
    test: str, format: str | None, separator: str | None, like: TableInput
) -> TableInput:
    """Look for test rows, which are what their name says, or else like those."""
    if test == "-" and like.sources[0].path is None:
        raise click.UsageError(
            "The standard input can be read only once. Give DATA or --test as a file."
        )
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


def all_but(rows: TableInput, drop: Sequence[str], names: Sequence[str]) -> list[str]:
    """Return all columns but these, which must be there, and the target."""
    if "" in names:
        note_no_name(rows, names)
    names = [name for name in names if name not in ("", rows.target)]
    for name in drop:
        if name not in names:
            refuse_name(rows, name, names, "to drop")
    return [name for name in names if name not in drop]


def note_no_name(rows: TableInput, names: Sequence[str]) -> None:
    """Say that a column is left out, so that it costs and breaks nothing."""
    place = f"column {names.index('') + 1} of {rows.name}"
    tell(f"Note: {place} has no name; it is left out.")


def refuse_name(
    rows: TableInput, name: str, names: Sequence[str], purpose: str
) -> NoReturn:
    """Raise because there is no such column."""
    near = difflib.get_close_matches(name, names, SHOWN, 0.5)
    has = f"The nearest names: {shown(near)}" if near else f"It has: {shown(names)}"
    raise ValueError(f"{rows.name} has no column {short(name)} {purpose}. {has}.")


def read_problem(
    rows: TableInput, drop: Sequence[str], positive: str | None
) -> Problem:
    """Read a table to learn from."""
    table = read_sources(
        rows.sources,
        rows.format,
        target=rows.target,
        columns=None if rows.format == "libsvm" else partial(all_but, rows, drop),
        separator=rows.separator,
    )
    labels, is_pos, y = find_labels(np.asarray(table.y), positive, rows.labels)
    # Numbers and true and false have a customary order, and text has none.
    if positive is None and y.dtype.kind == "O" and 2 * is_pos.sum() > len(y):
        tell(
            f"Note: the positive label of {rows.labels} is {brief(labels.positive)}, "
            f"the last one in the alphabet, which {int(is_pos.sum()):,} of "
            f"{count(len(y), 'row')} have. If {brief(labels.negative)} shall be ranked "
            f"high, add --positive {shlex.quote(labels.negative)}."
        )
    X = conform(table.X, table.kinds, table.kinds, table.source)
    return Problem(X, y, is_pos, labels, table.kinds, rows.labels)
