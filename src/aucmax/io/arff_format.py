# SPDX-License-Identifier: BSD-3-Clause
"""Weka's ARFF format: declarations, rows, and the first line that is not as declared.

https://waikato.github.io/weka-wiki/formats_and_processing/arff_stable/
"""

import csv
import re
from collections.abc import Iterator
from contextlib import suppress
from io import StringIO
from typing import NamedTuple

from aucmax.io._errors import listed, short
from aucmax.io._reading import TOO_LARGE, is_number
from aucmax.io.lines import fail, fail_if_empty, text_lines
from aucmax.io.source import Source

QUOTED = r"""'(?P<one>(?:[^'\\]|\\.)*)'|"(?P<two>(?:[^"\\]|\\.)*)\""""
NAME = re.compile(rf"{QUOTED}|(?P<bare>[^\s{{]+)")
NUMERIC = re.compile("(numeric|real|integer|int)\\b", re.IGNORECASE)
ESCAPE = re.compile(r"\\(.)")
# By separator: a cell, and the separator after it or nothing at the end.
CELLS = {
    mark: re.compile(
        rf"{space}*+(?:(?:{QUOTED}){space}*+|(?P<bare>(?!['\"])[^{mark}]*+))(?P<end>{mark}|$)"
    )
    for mark, space in {",": "[ \t]", "\t": "[ ]"}.items()
}


class Attribute(NamedTuple):
    """What a column holds: one of these values, or numbers if None."""

    name: str
    values: tuple[str, ...] | None


def read_declarations(
    source: Source, lines: Iterator[tuple[int, str]]
) -> list[Attribute]:
    """Return the attributes; the lines are used up to the one that says @data."""
    attributes: list[Attribute] = []
    for number, line in lines:
        text = line.strip()
        word = text.split(maxsplit=1)[0].lower() if text else ""
        if word == "@data":
            return attributes
        if word == "@attribute":
            attributes.append(_declared(source, number, text))
        elif text and word != "@relation" and not text.startswith("%"):
            fail(
                source,
                number,
                f"{short(text)} is not a declaration",
                "Before @data there must be @relation and @attribute lines only",
            )
    return attributes


def _declared(source: Source, number: int, text: str) -> Attribute:
    rest = text[len("@attribute") :].strip()
    found = NAME.match(rest)
    name = _unquoted(found) if found else ""
    kind = rest[found.end() :].strip() if found else rest
    try:
        if kind.startswith("{") and "}" in kind:
            inside = kind[1 : kind.rindex("}")]
            return Attribute(name, tuple(split_row(inside.strip())))
    except ValueError as error:
        fail(source, number, f"{error} in {short(kind)}", "Mend it")
    if not NUMERIC.match(kind):
        fail(
            source,
            number,
            f"the type {short(kind)} of {short(name)} is not supported",
            "Only numeric, real, integer and {a, b, ...} are",
        )
    return Attribute(name, None)


def split_row(line: str, separator: str = ",") -> list[str]:
    r"""Return the cells of a row; raise ValueError if a quote is not closed.

    Examples
    --------
    >>> from aucmax.io.arff_format import split_row
    >>> split_row(r"1, 'a, b', 'it\'s', c d , ?")
    ['1', 'a, b', "it's", 'c d', '?']
    """
    cells, place = [], 0
    while found := CELLS[separator].match(line, place):
        cells.append(_unquoted(found))
        if not found["end"]:
            return cells
        place = found.end()
    raise ValueError("a quote that is not closed, or goes on after it")


def _unquoted(found: re.Match[str]) -> str:
    if found["bare"] is not None:
        return found["bare"].rstrip(" \t")
    quoted = found["two"] if found["one"] is None else found["one"]
    return ESCAPE.sub(r"\1", quoted)


def split_rows(text: str) -> list[list[str]]:
    """Return the cells of all rows; raise ValueError if a quote is not closed."""
    lines = list(filter(is_row if "%" in text else str.strip, StringIO(text)))
    separator = find_separator(lines[0]) if lines else ","
    quotes = [quote for quote in "'\"" if quote in text]
    # The quick reader knows one kind of quotes, and fails at spaces after them.
    if len(quotes) < 2 and "\\" not in text:
        with suppress(csv.Error):
            return list(
                csv.reader(
                    lines,
                    delimiter=separator,
                    quotechar=quotes[0] if quotes else "'",
                    doublequote=False,
                    skipinitialspace=True,
                    strict=True,
                )
            )
    return [split_row(line.strip(), separator) for line in lines]


def find_separator(row: str) -> str:
    """Return what is between the cells: a comma, or else a tab."""
    return "\t" if "\t" in row and "," not in row else ","


def is_row(line: str) -> bool:
    """Say whether there is more than a comment."""
    text = line.strip()
    return bool(text) and not text.startswith("%")


def diagnose_arff(source: Source, target: str | None) -> None:
    """Raise ValueError with the first line that is not as declared."""
    lines = enumerate(text_lines(source), start=1)
    attributes = read_declarations(source, lines)
    n_rows, separator = 0, ""
    for number, line in lines:
        if is_row(line):
            n_rows += 1
            separator = separator or find_separator(line)
            cells = _diagnose_row(source, number, line.strip(), separator, attributes)
            _diagnose_label(source, number, cells, attributes, target)
    fail_if_empty(source, n_rows)


def _diagnose_row(
    source: Source, number: int, row: str, separator: str, attributes: list[Attribute]
) -> list[str]:
    """Return the cells of a row, or raise."""
    advice = "Mend it, or leave the line out"
    if row.startswith("{"):
        fail(
            source,
            number,
            f"{short(row)} is a row in ARFF's sparse form, which is not supported",
            "Write all values, for example with Weka's filter SparseToNonSparse",
        )
    try:
        cells = split_row(row, separator)
    except ValueError as error:
        fail(source, number, f"{error} in {short(row)}", advice)
    if len(cells) != len(attributes):
        problem = f"{len(cells)} values for {len(attributes)} attributes"
        fail(source, number, problem, advice)
    for cell, (name, values) in zip(cells, attributes, strict=True):
        if values is None and not is_number(cell):
            problem = f"{short(cell)}, for {short(name)}, is not a finite number"
            fail(source, number, problem, advice)
        if values is not None and cell not in values:
            problem = (
                f"{short(cell)}, for {short(name)}, is not one of {listed(values)}"
            )
            fail(source, number, problem, "Mend it, or declare it")
    return cells


def _diagnose_label(
    source: Source,
    number: int,
    cells: list[str],
    attributes: list[Attribute],
    target: str | None,
) -> None:
    names = [attribute.name for attribute in attributes]
    place = -1 if target is None else names.index(target)
    if attributes[place].values is None and abs(float(cells[place])) >= TOO_LARGE:
        fail(
            source,
            number,
            f"the label {short(cells[place])} is too large to be told from the next "
            "number",
            "Number the classes from 0",
        )
