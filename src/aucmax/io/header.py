# SPDX-License-Identifier: BSD-3-Clause
"""The first line of a text file, and the first line that does not fit to it."""

import csv
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from io import TextIOWrapper
from typing import IO

from aucmax.io._reading import Refused
from aucmax.io.source import UNPACKING_ERRORS, Source

# How UTF-16 begins, whichever end is first.
UTF_16 = (b"\xff\xfe", b"\xfe\xff")
# What a byte that is not UTF-8 becomes.
ESCAPED = re.compile("[\udc80-\udcff]")
SHOWN = 60
NO_ROWS = "{} has no rows below the names of its columns. Get it again."
NAMED = {",": "a comma", "\t": "a tab"}


def read_header(source: Source, separator: str) -> list[str]:
    """Return the names in the first line, or raise what is wrong with them."""
    names = next((cells for _, cells in records(source, separator, strict=False)), None)
    if names is None:
        raise Refused(f"{source.name} is empty. Get it again.")
    _check_separator(source, names, separator)
    if all(_is_number(name) for name in names):
        raise Refused(
            f"The first line of {source.name} has numbers only, {_short(names)}, where "
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
            f"{', '.join(map(repr, repeated))}. Rename all but one."
        )


def diagnose_table(source: Source, separator: str) -> None:
    """Raise ValueError with the first line that is not like the first one."""
    expected = n_records = 0
    for number, cells in records(source, separator, strict=True):
        expected = expected or len(cells)
        n_records += 1
        if len(cells) != expected:
            raise ValueError(
                f"{source.name}, line {number}: {len(cells)} columns, where {expected} "
                "were expected. Mend it; a cell that holds the separator needs quotes."
            )
    if n_records == 1:
        raise ValueError(NO_ROWS.format(source.name))


def records(
    source: Source, separator: str, *, strict: bool
) -> Iterator[tuple[int, list[str]]]:
    """Yield rows of cells with the number of their last line, from 1; no empty ones."""
    with _open_text(source) as text:
        rows = csv.reader(_lines(source, text), delimiter=separator, strict=strict)
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


def _open_text(source: Source) -> IO[str]:
    with source.open() as stream, suppress(*UNPACKING_ERRORS):
        if stream.read(2) in UTF_16:
            raise ValueError(
                f"{source.name} is in UTF-16. Save it in UTF-8, for example with "
                "iconv -f UTF-16 -t UTF-8."
            )
    return TextIOWrapper(
        source.open(), encoding="utf-8-sig", errors="surrogateescape", newline=""
    )


def _lines(source: Source, text: IO[str]) -> Iterator[str]:
    number = 0
    try:
        for number, line in enumerate(text, start=1):
            bad = ESCAPED.search(line)
            if bad is not None:
                byte = ord(bad[0]) - 0xDC00
                raise ValueError(
                    f"{source.name}, line {number}: the byte {byte:#x} is "
                    "not UTF-8. Save the file in UTF-8, for example with "
                    "iconv -f LATIN1 -t UTF-8."
                )
            yield line
    except UNPACKING_ERRORS as error:
        raise ValueError(
            f"{source.name} is cut off or damaged after line {number}: {error}. Get it "
            "again."
        ) from error


def _check_separator(source: Source, names: list[str], separator: str) -> None:
    """Raise if all cells were taken for one."""
    other = next((mark for mark in ";\t,|" if mark in names[0]), None)
    if len(names) > 1 or other is None or other == separator:
        return
    advice = {",": "Pass format='csv'.", "\t": "Pass format='tsv'."}.get(
        other,
        "Separate it by commas, or read it with "
        f"aucmax.io.read_csv(..., separator={other!r}).",
    )
    raise Refused(
        f"The first line of {source.name} is one cell, {_short(names)}: it seems to be "
        f"separated by {other!r} rather than by {NAMED[separator]}. {advice}"
    )


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _short(cells: Sequence[str]) -> str:
    text = ", ".join(cells)
    return repr(text if len(text) <= SHOWN else text[:SHOWN] + "...")
