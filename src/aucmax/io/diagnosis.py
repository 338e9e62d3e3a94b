# SPDX-License-Identifier: BSD-3-Clause
"""What is wrong with a file that could not be read, line by line."""

import csv
import math
from collections.abc import Iterator, Sequence
from typing import NoReturn

from aucmax.io.source import UNPACKING_ERRORS, Source

SHOWN = 40


def diagnose_libsvm(source: Source, n_features: int | None, multilabel: bool) -> None:
    """Raise ValueError with the first line that is not in LIBSVM's format."""
    n_rows = 0
    for number, line in _lines(source):
        tokens = line.partition("#")[0].split()
        if not tokens:
            continue
        n_rows += 1
        # With many labels there may also be none, and the line starts with a pair.
        label = "0" if multilabel and ":" in tokens[0] else tokens.pop(0)
        labels = label.split(",") if multilabel else [label]
        if not all(_is_number(each) for each in labels):
            _fail(
                source,
                number,
                f"{_short(label)} is not a label",
                "A line must start with a number, then have index:value pairs",
            )
        last = 0
        for token in tokens:
            if token.startswith("qid:"):
                continue
            last = _diagnose_pair(source, number, token, last, n_features)
    _fail_if_empty(source, n_rows)


def _diagnose_pair(
    source: Source, number: int, token: str, last: int, n_features: int | None
) -> int:
    """Return the index of a pair, or raise."""
    text, colon, value = token.partition(":")
    if not colon or not text.lstrip("+-").isdecimal():
        _fail(source, number, f"{_short(token)} is not an index:value pair", "Mend it")
    index = int(text)
    if index < 1:
        _fail(
            source,
            number,
            f"the index {index} is too small",
            "Indices start at 1; add 1 to each if they were counted from 0",
        )
    if index == last:
        _fail(source, number, f"index {index} occurs twice", "Leave one of them out")
    if index < last:
        _fail(
            source,
            number,
            f"index {index} comes after index {last}",
            "Sort the indices of each line",
        )
    if n_features is not None and index > n_features:
        _fail(
            source,
            number,
            f"the index {index} is beyond the {n_features} features asked for",
            "Raise n_features, or take the right file",
        )
    if index > 2**31 - 1:
        _fail(source, number, f"the index {index} is too large", "Number the features")
    if not _is_number(value):
        _fail(
            source,
            number,
            f"the value {_short(value)} of index {index} is not a finite number",
            "Mend it, or leave the line out",
        )
    return index


def diagnose_csv(
    source: Source,
    target: int | str,
    separator: str,
    header: bool,
    drop: Sequence[int | str],
) -> None:
    """Raise ValueError with the first line that does not fit the others."""
    names: list[str] = []
    label, skipped = -1, set[int]()
    n_rows = 0
    for number, line in _lines(source):
        if not line.strip():
            continue
        cells = _split(line, separator)
        if not names:
            names = cells if header else [str(k) for k in range(len(cells))]
            label, *others = (
                names.index(each) if isinstance(each, str) else each % len(names)
                for each in (target, *drop)
            )
            skipped = {label, *others}
            if header:
                continue
        n_rows += 1
        if len(cells) != len(names):
            _fail(
                source,
                number,
                f"{len(cells)} columns, where {len(names)} were expected",
                "Mend it, or give the right separator",
            )
        for k, cell in enumerate(cells):
            if k == label and not cell:
                _fail(source, number, "the label is missing", "Leave the line out")
            if k not in skipped and not _is_number(cell):
                _fail(
                    source,
                    number,
                    f"{_short(cell)} in column {names[k]!r} is not a finite number",
                    "Mend or encode it, or leave the column out with drop=",
                )
    _fail_if_empty(source, n_rows)


def diagnose_arff(source: Source) -> None:
    """Raise ValueError with the first line that is not as declared."""
    kinds: list[tuple[str, list[str] | None]] = []
    is_data = False
    n_rows = 0
    for number, line in _lines(source):
        text = line.strip()
        if not text or text.startswith("%"):
            continue
        word = text.split()[0].lower()
        if word == "@relation":
            continue
        if word == "@data":
            is_data = True
        elif word == "@attribute":
            kinds.append(_declared(source, number, text))
        elif not is_data:
            _fail(
                source,
                number,
                f"{_short(text)} is not a declaration",
                "Before @data there must be @relation and @attribute lines only",
            )
        else:
            n_rows += 1
            _diagnose_row(source, number, _split(text, ","), kinds)
    _fail_if_empty(source, n_rows)


def _declared(source: Source, number: int, text: str) -> tuple[str, list[str] | None]:
    """Return the name and, if nominal, the values of an attribute."""
    rest = text[len("@attribute") :].strip()
    if rest[:1] in ("'", '"'):
        name, _, kind = rest[1:].partition(rest[0])
    else:
        name, kind = [*rest.split(maxsplit=1), "", ""][:2]
    kind = kind.strip()
    if kind.startswith("{"):
        return name, _split(kind.strip("{}"), ",")
    if kind.lower() not in ("numeric", "real", "integer"):
        _fail(
            source,
            number,
            f"the type {_short(kind)} of {name!r} is not supported",
            "Only numeric, real, integer and {a, b, ...} are",
        )
    return name, None


def _diagnose_row(
    source: Source,
    number: int,
    cells: list[str],
    kinds: list[tuple[str, list[str] | None]],
) -> None:
    if len(cells) != len(kinds):
        _fail(
            source,
            number,
            f"{len(cells)} values for {len(kinds)} attributes",
            "Mend it, or leave the line out",
        )
    for cell, (name, values) in zip(cells, kinds, strict=True):
        if values is None and not _is_number(cell):
            _fail(
                source,
                number,
                f"{_short(cell)}, for {name!r}, is not a finite number",
                "Mend it, or leave the line out",
            )
        if values is not None and cell not in values:
            _fail(
                source,
                number,
                f"{_short(cell)}, for {name!r}, is not one of {', '.join(values)}",
                "Mend it, or declare it",
            )


def _lines(source: Source) -> Iterator[tuple[int, str]]:
    """Yield the lines of a file with their numbers, from 1."""
    number = 0
    try:
        with source.open() as stream:
            for number, line in enumerate(stream, start=1):
                yield number, line.decode("utf-8", errors="backslashreplace")
    except UNPACKING_ERRORS as error:
        raise ValueError(
            f"{source.name} is cut off or damaged after line {number}: {error}. Get it "
            "again."
        ) from error


def _split(line: str, separator: str) -> list[str]:
    if separator == " ":
        return line.split()
    cells = next(csv.reader([line.strip("\r\n")], delimiter=separator))
    return [cell.strip().strip("'") for cell in cells]


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def _short(text: str) -> str:
    return repr(text if len(text) <= SHOWN else text[:SHOWN] + "...")


def _fail(source: Source, number: int, problem: str, advice: str) -> NoReturn:
    raise ValueError(f"{source.name}, line {number}: {problem}. {advice}.")


def _fail_if_empty(source: Source, n_rows: int) -> None:
    if not n_rows:
        raise ValueError(f"{source.name} has no rows. Get it again.")
