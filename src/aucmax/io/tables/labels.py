# SPDX-License-Identifier: BSD-3-Clause
"""The two classes of a table, as they are written in the file."""

from collections.abc import Sequence
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from aucmax._utils.typing import BoolArray
from aucmax.io._errors import short
from aucmax.io.tables.errors import Option, TableError

# Names and values shown in a message, and letters of each.
SHOWN, LONGEST = 8, 60
# With more whole numbers than this, a target is taken for a quantity.
MOST_CLASSES = 20


class Labels(NamedTuple):
    """The two classes, as they are written in the file."""

    negative: str
    positive: str
    # Whether every label but the positive one is negative.
    is_rest: bool = False

    def are_positive(self, y: NDArray[Any]) -> BoolArray:
        """Return which labels are the positive one."""
        values, codes = np.unique(y, return_inverse=True)
        is_pos = np.array([label_text(value) == self.positive for value in values])
        return is_pos[codes] if len(y) else np.zeros(0, dtype=bool)


class LabelColumn(NamedTuple):
    """A file with labels, and their column if it has a name."""

    file: str
    column: str | None

    def __str__(self) -> str:
        of = "the label" if self.column is None else short(self.column)
        return f"{of} of {self.file}"

    def fail(self, problem: str, *remedies: str | Option) -> NoReturn:
        """Raise what is wrong with the labels."""
        file = self.file if self.column else f"The label of {self.file}"
        raise TableError(problem, *remedies, file=file, column=self.column)


def find_labels(
    y: NDArray[Any], positive: str | None, place: LabelColumn
) -> tuple[Labels, BoolArray, NDArray[Any]]:
    """Return the classes, which rows are positive, and labels to train with.

    These are those of the file if the larger one is positive, else booleans.
    """
    values = np.unique(y)
    texts = [label_text(value) for value in values]
    if len(values) == 1:
        place.fail(
            f"is {brief(texts[0])} in all rows", "rows of two classes are needed"
        )
    if positive is None and len(values) > 2 and _looks_continuous(values):
        place.fail(
            f"looks continuous: it has {len(values):,} values, from {texts[0]} to "
            f"{texts[-1]}, where two classes are needed",
            Option("two classes"),
            Option("positive"),
        )
    if positive is None and len(values) > 2:
        place.fail(
            f"has {len(values)} values, {shown(texts)}, where two are needed",
            Option("positive"),
        )
    if positive is None:
        positive = texts[-1]
    if positive not in texts:
        place.fail(
            f"has no value {short(positive)} to be positive", f"it has {shown(texts)}"
        )
    is_pos = np.asarray(y == values[texts.index(positive)])
    is_rest = len(values) > 2
    others = [text for text in texts if text != positive]
    labels = Labels(f"not {positive}" if is_rest else others[0], positive, is_rest)
    is_larger = not is_rest and texts[-1] == positive
    return labels, is_pos, y if is_larger else is_pos


def match_labels(y: NDArray[Any], labels: Labels, place: LabelColumn) -> BoolArray:
    """Return which rows are positive, of labels that a model has learned."""
    texts = [label_text(value) for value in np.unique(y)]
    known = {labels.negative, labels.positive}
    unknown = [] if labels.is_rest else [text for text in texts if text not in known]
    both = brief(labels.negative), brief(labels.positive)
    if unknown:
        place.fail(
            f"holds {shown(unknown)}, but the model knows {both[0]} and {both[1]} only",
            "leave these rows out",
            "name another column",
        )
    is_pos = labels.are_positive(y)
    if is_pos.all() or not is_pos.any():
        place.fail(
            f"is {shown(texts)} in all rows",
            f"for an AUC, rows of both {both[0]} and {both[1]} are needed",
        )
    return is_pos


def label_text(value: Any) -> str:
    """Return a label as files have it.

    Examples
    --------
    >>> from aucmax.io.tables.labels import label_text
    >>> label_text(1.0), label_text(True), label_text("yes"), label_text(0.5)
    ('1', 'true', 'yes', '0.5')
    """
    if isinstance(value, bool | np.bool_):
        return str(value).lower()
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    return str(value)


def shown(names: Sequence[Any]) -> str:
    """Return the first of some names or labels, and how many more there are."""
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(map(brief, names[:SHOWN])) + more


def brief(value: Any) -> str:
    """Return a name or a label as it is; of a long one the beginning, in quotes."""
    text = str(value)
    return text if len(text) <= LONGEST else short(text)


def _looks_continuous(values: NDArray[Any]) -> bool:
    """Say whether labels seem to be quantities rather than classes."""
    if values.dtype.kind not in "iuf":
        return False
    is_whole = values.dtype.kind != "f" or (values == np.rint(values)).all()
    return len(values) > MOST_CLASSES or not is_whole
