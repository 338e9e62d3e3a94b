# SPDX-License-Identifier: BSD-3-Clause
"""The first line of a text file, and the first line that does not fit to it."""

import csv
from collections import Counter
from collections.abc import Iterator, Sequence

from aucmax.io._errors import Refused, listed, short
from aucmax.io.lines import UNFINISHED, text_lines
from aucmax.io.source import Source

NO_ROWS = "{} has no rows below the names of its columns. " + UNFINISHED
EMPTY = "{} is empty: it has no header and no rows. " + UNFINISHED
NAMED = {",": "a comma", "\t": "a tab"}
FORMATS = {",": "csv", "\t": "tsv"}


def read_header(source: Source, separator: str) -> list[str]:
    """Return the names in the first line, or raise what is wrong with them."""
    names = next((cells for _, cells in records(source, separator, strict=False)), None)
    if names is None:
        raise Refused(EMPTY.format(source.name))
    _check_separator(source, names, separator)
    if all(_is_number(name) for name in names):
        shown = short(", ".join(names))
        raise Refused(
            f"The first line of {source.name} has numbers only, {shown}, where "
            "the names of the columns are expected. Add a line with a name for each "
            "column, or read it with aucmax.io.read_csv(..., header=False), which "
            "needs no names."
        )
    check_names(source, names)
    return names


def check_names(source: Source, names: Sequence[str]) -> None:
    """Raise if two columns have the same name."""
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        raise Refused(
            f"{source.name} has more than one column named "
            f"{listed(repeated)}. Rename all but one."
        )


def diagnose_table(source: Source, separator: str) -> None:
    """Raise ValueError with the first line that is not like the first one."""
    expected = n_records = 0
    for number, cells in records(source, separator, strict=True):
        expected = expected or len(cells)
        n_records += 1
        if len(cells) != expected:
            has = f"{len(cells)} column{'' if len(cells) == 1 else 's'}"
            raise ValueError(
                f"{source.name}, line {number}: {has}, where {expected} were expected. "
                "Mend it; a cell that holds the separator needs quotes."
            )
    if n_records == 1:
        raise ValueError(NO_ROWS.format(source.name))


def records(
    source: Source, separator: str, *, strict: bool, skip_spaces: bool = False
) -> Iterator[tuple[int, list[str]]]:
    """Yield rows of cells with the number of their last line, from 1; no empty ones."""
    rows = csv.reader(
        text_lines(source),
        delimiter=separator,
        strict=strict,
        skipinitialspace=skip_spaces,
    )
    while True:
        try:
            cells = next(rows, None)
        except csv.Error as error:
            raise ValueError(
                f"{source.name}, line {rows.line_num}: {error}. Mend it; a quote "
                "that is opened must be closed, and one inside quotes is doubled."
            ) from error
        if cells is None:
            return
        if cells:
            yield rows.line_num, cells


def refuse_one_cell(source: Source, first: Sequence[str], separator: str) -> None:
    """Raise if the first line is one cell, for the readers that take a separator."""
    if len(first) > 1:
        return
    other = _other_separator(first[0], separator, ";\t,| ")
    if other is None:
        raise Refused(f"{source.name} has no column besides the target.")
    raise Refused(
        f"{_one_cell(source, first, other)} rather than by {separator!r}. Pass "
        f"separator={other!r}."
    )


def _check_separator(source: Source, names: list[str], separator: str) -> None:
    """Raise if all cells were taken for one."""
    other = _other_separator(names[0], separator, ";\t,|")
    if len(names) > 1 or other is None:
        return
    # One of the two separators that have a format, where the other was expected.
    if separator in FORMATS and other in FORMATS:
        advice = f"Pass format={FORMATS[other]!r}."
    else:
        advice = f"Pass separator={other!r}."
    expected = NAMED.get(separator, repr(separator))
    raise Refused(
        f"{_one_cell(source, names, other)} rather than by {expected}. {advice}"
    )


def _other_separator(cell: str, separator: str, marks: str) -> str | None:
    return next((mark for mark in marks if mark in cell and mark != separator), None)


def _one_cell(source: Source, cells: Sequence[str], other: str) -> str:
    return (
        f"The first line of {source.name} is one cell, {short(cells[0])}: it seems to "
        f"be separated by {other!r}"
    )


def _is_number(text: str) -> bool:
    """Say whether it is a number or a word for none, such as nan; not 1_0."""
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text
