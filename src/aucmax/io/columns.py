# SPDX-License-Identifier: BSD-3-Clause
"""Columns of a table, chosen by name or position."""

import difflib
from collections import Counter
from collections.abc import Callable, Sequence

from aucmax.io._errors import Refused, listed, short
from aucmax.io.source import Source

N_NEAREST = 5
# Names or positions, or what chooses among all names.
Columns = Sequence[str | int] | Callable[[Sequence[str]], Sequence[str]]


def pick_columns(
    source: Source,
    names: Sequence[str],
    target: str | int | None,
    columns: Columns | None,
) -> list[str]:
    """Return the target, if any, then the features."""
    known = set(names)
    label = [] if target is None else [find_name(source, names, known, target)]
    if callable(columns):
        try:
            columns = columns(names)
        except ValueError as error:
            raise Refused(str(error)) from error
    if isinstance(columns, str):
        raise Refused(f"columns must be a list of names; got the text {columns!r}.")
    if columns is None:
        columns = [name for name in names if name not in label]
    picked = label + [find_name(source, names, known, column) for column in columns]
    if "" in picked:
        raise Refused(
            f"Column {names.index('')} of {source.name}, counted from 0, has no name. "
            "Name it, or leave it out with columns=; pandas writes one for its row "
            "numbers unless it is told index=False."
        )
    twice = [name for name, count in Counter(picked).items() if count > 1]
    if twice:
        raise Refused(
            f"Column {short(twice[0])} of {source.name} is asked for twice. A feature "
            "is named once, and the target is none."
        )
    return picked


def find_name(
    source: Source, names: Sequence[str], known: set[str], column: str | int
) -> str:
    """Return the name of a column given by name or position."""
    if isinstance(column, str):
        if column in known:
            return column
        lower = {name.lower(): name for name in names}
        near = difflib.get_close_matches(column.lower(), lower, N_NEAREST, 0.5)
        shown = [lower[name] for name in near] or list(names[:N_NEAREST])
        raise Refused(
            f"{source.name} has no column {short(column)}. "
            f"{'The nearest names' if near else 'Its first columns'}: "
            f"{listed(shown)}."
        )
    if isinstance(column, bool) or not isinstance(column, int):
        raise Refused(
            f"A column is given by its name or position; got {column!r}, a "
            f"{type(column).__name__}."
        )
    if not -len(names) <= column < len(names):
        raise Refused(
            f"{source.name} has no column {column}: it has {len(names)}, counted from "
            "0."
        )
    return names[column]
