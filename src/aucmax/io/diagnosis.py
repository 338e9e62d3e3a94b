# SPDX-License-Identifier: BSD-3-Clause
"""What is wrong with a file that could not be read, line by line."""

import json
import re
from collections.abc import Iterator, Sequence

from aucmax.io._errors import short
from aucmax.io._reading import NUMBER, TOO_LARGE, find_column, is_number
from aucmax.io.header import records, refuse_one_cell
from aucmax.io.lines import fail, fail_if_empty, text_lines
from aucmax.io.source import Source

# Of several labels in a line: each has a column.
MOST_LABELS = 10**6
# Digits; Python itself refuses to convert some thousands.
LONGEST_INDEX = 40
JSON_KINDS = {bool: "flag", int: "number", float: "number", str: "text"}
INDEX = re.compile("[+-]?[0-9]+")
# Other spaces, such as those that do not break, separate nothing.
SPACES = " \t\r\n\v\f"
TOKEN = re.compile(f"[^{SPACES}]+")


def diagnose_libsvm(source: Source, n_features: int | None, multilabel: bool) -> None:
    """Raise ValueError with the first line that is not in LIBSVM's format."""
    n_rows = 0
    # Comments may be in any encoding.
    for number, line in enumerate(text_lines(source, strict=False), start=1):
        # Files of millions of blank lines should not take minutes.
        if line.isspace():
            continue
        # One by one: a line may have millions.
        tokens = (found[0] for found in TOKEN.finditer(line.partition("#")[0]))
        token = next(tokens, None)
        if token is None:
            continue
        n_rows += 1
        # With many labels there may also be none, and the line starts with a pair.
        if not multilabel:
            _diagnose_label(source, number, token)
            token = next(tokens, None)
        elif ":" not in token:
            _diagnose_labels(source, number, token)
            token = next(tokens, None)
        if token is not None and token.startswith("qid:"):
            token = next(tokens, None)
        last = 0
        while token is not None:
            last = _diagnose_pair(source, number, token, last, n_features)
            token = next(tokens, None)
    fail_if_empty(source, n_rows)


def _diagnose_label(source: Source, number: int, label: str) -> None:
    if not is_number(label):
        advice = "A line must start with a number, then have index:value pairs"
        if all(map(is_number, label.split(","))):
            advice += "; with several labels, read it with multilabel=True"
        fail(source, number, f"{short(label)} is not a label", advice)
    if abs(float(label)) >= TOO_LARGE:
        fail(
            source,
            number,
            f"the label {short(label)} is too large to be told from the next number",
            "Number the classes from 0",
        )


def _diagnose_labels(source: Source, number: int, labels: str) -> None:
    """Raise if one of several labels is none."""
    for label in labels.split(","):
        if not is_number(label) or float(label) < 0 or float(label) % 1:
            fail(
                source,
                number,
                f"{short(labels)} is not a label",
                "Labels are whole numbers from 0 on, with commas and no spaces between "
                "them",
            )
        if float(label) >= MOST_LABELS:
            fail(
                source,
                number,
                f"the label {short(label)} is too large",
                "Number the labels from 0: each has a column",
            )


def _diagnose_pair(
    source: Source, number: int, token: str, last: int, n_features: int | None
) -> int:
    """Return the index of a pair, or raise."""
    text, colon, value = token.partition(":")
    if not colon or not INDEX.fullmatch(text):
        fail(source, number, f"{short(token)} is not an index:value pair", "Mend it")
    if len(text) > LONGEST_INDEX:
        fail(source, number, f"the index {short(text)} is too large", "Renumber them")
    index = int(text)
    if index < 1:
        fail(
            source,
            number,
            f"the index {index} is too small",
            "Indices start at 1; add 1 to each if they were counted from 0",
        )
    if index == last:
        fail(source, number, f"index {index} occurs twice", "Leave one of them out")
    if index < last:
        fail(
            source,
            number,
            f"index {index} comes after index {last}",
            "Sort the indices of each line",
        )
    if n_features is not None and index > n_features:
        fail(
            source,
            number,
            f"the index {index} is beyond the {n_features} features asked for",
            "Raise n_features, or take the right file",
        )
    if index > 2**31 - 1:
        fail(source, number, f"the index {index} is too large", "Number the features")
    if not is_number(value):
        fail(
            source,
            number,
            f"the value {short(value)} of index {index} is not a finite number",
            "Mend it, or leave the line out",
        )
    return index


def diagnose_json(source: Source) -> None:
    """Raise ValueError with the first line that is no JSON object, or unlike others."""
    n_rows, kinds = 0, dict[str, str]()
    for number, line in enumerate(text_lines(source), start=1):
        if not line.strip():
            continue
        n_rows += 1
        try:
            row = json.loads(line)
        # Also of too many digits or brackets.
        except (ValueError, RecursionError):
            row = None
        if not isinstance(row, dict):
            fail(
                source,
                number,
                f"{short(line.strip())} is not a JSON object",
                'Each line must be one, such as {"age": 41, "y": 1}',
            )
        for name, value in row.items():
            kind = JSON_KINDS.get(type(value))
            if kind is not None and kinds.setdefault(name, kind) != kind:
                fail(
                    source,
                    number,
                    f"{short(name)} is a {kind}, but a {kinds[name]} before",
                    "Write it alike in all lines, and null where it is missing",
                )
    fail_if_empty(source, n_rows)


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
    labels: dict[int, str] = {}
    for number, cells in _rows(source, separator):
        if not names:
            refuse_one_cell(source, cells, separator)
            names = cells if header else [str(k) for k in range(len(cells))]
            label, *others = (
                find_column(names, each, source) for each in (target, *drop)
            )
            skipped = {label, *others}
            if header:
                continue
        if len(cells) != len(names):
            fail(
                source,
                number,
                f"{len(cells)} column{'' if len(cells) == 1 else 's'}, where "
                f"{len(names)} were expected",
                "Mend it, or give the right separator",
            )
        labels[number] = cells[label]
        for k, cell in enumerate(cells):
            if k == label and not cell.strip():
                fail(source, number, "the label is missing", "Leave the line out")
            if k not in skipped and not is_number(cell):
                fail(
                    source,
                    number,
                    f"{short(cell)} in column {short(names[k])} is not a finite number",
                    "Mend or encode it, or leave the column out with drop=",
                )
    fail_if_empty(source, len(labels))
    _diagnose_infinite(source, labels)


def _rows(source: Source, separator: str) -> Iterator[tuple[int, list[str]]]:
    """Yield rows of cells with the numbers of their lines; no empty ones."""
    if separator == " ":
        for number, line in enumerate(text_lines(source), start=1):
            if cells := TOKEN.findall(line):
                yield number, cells
        return
    for number, cells in records(source, separator, strict=True, skip_spaces=True):
        stripped = [cell.strip(SPACES) for cell in cells]
        if stripped != [""]:
            yield number, stripped


def _diagnose_infinite(source: Source, labels: dict[int, str]) -> None:
    """Raise if all labels are numbers, but not all finite."""
    if not all(map(_is_any_number, labels.values())):
        return
    for number, label in labels.items():
        if not is_number(label):
            fail(
                source,
                number,
                f"the label {short(label)} is not a finite number",
                "Leave the line out, or name all classes",
            )


def _is_any_number(text: str) -> bool:
    if NUMBER.fullmatch(text):
        return True
    return text.lower().lstrip("+-") in ("nan", "inf", "infinity")
