# SPDX-License-Identifier: BSD-3-Clause
"""What is wrong with a file in LIBSVM's format, line by line."""

import math
import re

from aucmax.io._errors import short
from aucmax.io.tables.errors import Option, TableError
from aucmax.io.tables.lines import UNFINISHED, Line, text_lines
from aucmax.io.tables.source import Source
from aucmax.io.tables.values import TOO_LARGE

# Of several labels in a line: each has a column.
MOST_LABELS = 10**6
# Digits; Python itself refuses to convert some thousands.
LONGEST_INDEX = 40
NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")
INDEX = re.compile("[+-]?[0-9]+")
# Other spaces, such as those that do not break, separate nothing.
SPACES = " \t\r\n\v\f"
TOKEN = re.compile(f"[^{SPACES}]+")


def is_number(text: str) -> bool:
    """Say whether a text is a finite number as files have it.

    Python reads more, such as ``1_0`` for 10 and digits of other scripts.
    """
    return NUMBER.fullmatch(text) is not None and math.isfinite(float(text))


def diagnose_libsvm(source: Source, n_features: int | None, multilabel: bool) -> None:
    """Raise what is wrong with the first line that is not in LIBSVM's format."""
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
        place = Line(source.name, number)
        # With many labels there may also be none, and the line starts with a pair.
        if not multilabel:
            _diagnose_label(place, token)
            token = next(tokens, None)
        elif ":" not in token:
            _diagnose_labels(place, token)
            token = next(tokens, None)
        if token is not None and token.startswith("qid:"):
            token = next(tokens, None)
        last = 0
        while token is not None:
            last = _diagnose_pair(place, token, last, n_features)
            token = next(tokens, None)
    if not n_rows:
        raise TableError("has no rows", UNFINISHED, file=source.name)


def _diagnose_label(place: Line, label: str) -> None:
    if not is_number(label):
        advice = ["a line must start with a number, then have index:value pairs"]
        several = [Option("multilabel")] * all(map(is_number, label.split(",")))
        place.fail(f"{short(label)} is not a label", *advice, *several)
    if abs(float(label)) >= TOO_LARGE:
        place.fail(
            f"the label {short(label)} is too large to be told from the next number",
            "number the classes from 0",
        )


def _diagnose_labels(place: Line, labels: str) -> None:
    """Raise if one of several labels is none."""
    for label in labels.split(","):
        if not is_number(label) or float(label) < 0 or float(label) % 1:
            place.fail(
                f"{short(labels)} is not a label",
                "labels are whole numbers from 0 on, with commas and no spaces between "
                "them",
            )
        if float(label) >= MOST_LABELS:
            place.fail(
                f"the label {short(label)} is too large",
                "number the labels from 0: each has a column",
            )


def _diagnose_pair(place: Line, token: str, last: int, n_features: int | None) -> int:
    """Return the index of a pair, or raise."""
    text, colon, value = token.partition(":")
    if not colon or not INDEX.fullmatch(text):
        place.fail(f"{short(token)} is not an index:value pair", "mend it")
    if len(text) > LONGEST_INDEX:
        place.fail(f"the index {short(text)} is too large", "renumber them")
    index = int(text)
    if index < 1:
        place.fail(
            f"the index {index} is too small",
            "indices start at 1; add 1 to each if they were counted from 0",
        )
    if index == last:
        place.fail(f"index {index} occurs twice", "leave one of them out")
    if index < last:
        place.fail(
            f"index {index} comes after index {last}",
            "sort the indices of each line",
        )
    if n_features is not None and index > n_features:
        place.fail(
            f"the index {index} is beyond the {n_features} features asked for",
            Option("n_features"),
            "take the right file",
        )
    if index > 2**31 - 1:
        place.fail(f"the index {index} is too large", "number the features")
    if not is_number(value):
        place.fail(
            f"the value {short(value)} of index {index} is not a finite number",
            "mend it, or leave the line out",
        )
    return index
