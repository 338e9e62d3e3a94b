# SPDX-License-Identifier: BSD-3-Clause
"""Columns of a table, chosen by name or position; all files must have them."""

import difflib
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

from aucmax.io._errors import listed, short
from aucmax.io.tables.errors import Option, TableError

N_NEAREST = 5
# Names or positions, or what chooses among all names.
Columns: TypeAlias = Sequence[str | int] | Callable[[Sequence[str]], Sequence[str]]


class Picked(NamedTuple):
    """Names of columns; all of them begin with the target, and end with the weight."""

    target: str | None
    features: list[str]
    weight: str | None
    all: list[str]


def pick_columns(
    file: str,
    names: Sequence[str],
    target: str | int | None,
    columns: Columns | None,
    weight: str | int | None = None,
) -> Picked:
    """Return the columns that are asked for, of a file with these names."""
    columns = columns(names) if callable(columns) else columns
    if isinstance(columns, str):
        raise TableError(f"columns must be a list of names; got the text {columns!r}")
    known: set[Any] = {None, *names}
    if target not in known:
        target = find_name(file, names, target)
    if weight not in known:
        weight = find_name(file, names, weight)
    if columns is None:
        features = [name for name in names if name not in (target, weight)]
    else:
        features = [
            name if name in known else find_name(file, names, name)  # type: ignore[misc]
            for name in columns
        ]
    roles = [target, *features, weight]
    every = [str(name) for name in roles if name is not None]
    picked = Picked(target, features, weight, every)  # type: ignore[arg-type]
    if "" in picked.all:
        raise TableError(
            f"has no name for its column {names.index('')}, counted from 0",
            "name it, or leave it out; pandas writes one for its row numbers unless it "
            "is told index=False",
            file=file,
        )
    name, count = Counter(picked.all).most_common(1)[0] if picked.all else ("", 0)
    if count > 1:
        raise TableError(
            "is asked for twice",
            "a feature is named once, and the target is none",
            file=file,
            column=name,
        )
    return picked


def find_name(file: str, names: Sequence[str], column: Any) -> str:
    """Return the name of a column given by name or position."""
    if isinstance(column, str):
        if column in names:
            return column
        lower = {name.lower(): name for name in names}
        near = difflib.get_close_matches(column.lower(), lower, N_NEAREST, 0.5)
        shown = [lower[name] for name in near] or list(names[:N_NEAREST])
        raise TableError(
            f"has no column {short(column)}",
            f"{'the nearest names' if near else 'its first columns'}: {listed(shown)}",
            file=file,
        )
    if isinstance(column, bool) or not isinstance(column, int):
        raise TableError(
            f"A column is given by its name or position; got {column!r}, a "
            f"{type(column).__name__}"
        )
    if not -len(names) <= column < len(names):
        raise TableError(
            f"has no column {column}: it has {len(names)}, counted from 0", file=file
        )
    return names[column]


def check_same_columns(
    files: Sequence[str],
    names: Sequence[Sequence[str]],
    picked: Picked,
    *,
    takes_all: bool,
) -> None:
    """Raise if a file lacks a column, or has a new one where all are to be read."""
    known = set(names[0])
    for file, here in zip(files[1:], names[1:], strict=True):
        there = set(here)
        for name in picked.all:
            if name not in there:
                what = ", the target" if name == picked.target else ""
                raise TableError(
                    f"has no column {short(name)}{what}, but {files[0]} has",
                    "give files with the same columns",
                    Option("columns"),
                    file=file,
                )
        if takes_all and (new := there - known):
            raise TableError(
                f"has a column {short(min(new))}, but {files[0]} has none",
                "give files with the same columns",
                Option("columns"),
                file=file,
            )
