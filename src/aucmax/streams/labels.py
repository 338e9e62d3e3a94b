# SPDX-License-Identifier: BSD-3-Clause
"""The two labels of a source, found while its batches are read."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucmax._utils.typing import BoolArray
from aucmax._utils.validation import find_labels, split_labels

# Labels in an error message.
N_SHOWN = 5


class LabelCodes:
    """The labels of all batches so far, one byte per row.

    Messages call the estimator ``name``.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._labels: list[Any] = []
        self._codes: list[NDArray[np.int8]] = []
        self._is_object = False

    def add(self, y: NDArray[Any]) -> NDArray[np.int8]:
        """Return the number of each label in the order in which they were met."""
        if _has_missing(y):
            raise ValueError(
                f"y contains NaN, None or infinity. {self.name} needs two distinct "
                "labels; leave out the rows whose label is missing."
            )
        values, which = find_labels(y)
        self._is_object |= y.dtype.kind == "O"
        known = self._labels
        if known and _is_text(values[0]) != _is_text(known[0]):
            raise ValueError(
                f"The labels are of another kind than before: {_shown(values[0])} "
                f"here, {_shown(known[0])} there. Write them alike in all batches."
            )
        known.extend(label for label in values if label not in known)
        if len(known) > 2:
            shown = ", ".join(map(_shown, known[:N_SHOWN]))
            raise ValueError(
                "Only binary classification is supported, but there are more than two "
                f"labels: {shown}. Choose two of them, or compare one with the rest."
            )
        codes = np.array([known.index(label) for label in values], dtype=np.int8)
        self._codes.append(codes[which])
        return self._codes[-1]

    def split(self) -> tuple[NDArray[Any], BoolArray]:
        """Return the two classes, and the mask of the positives among all rows."""
        labels = np.array(self._labels, dtype=object if self._is_object else None)
        classes, is_larger = split_labels(labels, name=self.name)
        return classes, is_larger[np.concatenate(self._codes)]


def _has_missing(y: NDArray[Any]) -> bool:
    """Say whether a label is NaN, infinite, None or NaT."""
    if y.dtype.kind == "f":
        return not np.isfinite(y).all()
    if y.dtype.kind in "mM":
        return bool(np.isnat(y).any())
    return y.dtype.kind == "O" and any(map(_is_missing, y))


def _is_missing(label: Any) -> bool:
    try:
        return label is None or bool(label != label)
    except TypeError:  # of pandas.NA, which is neither true nor false
        return True


def _is_text(label: Any) -> bool:
    return isinstance(label, str | bytes)


def _shown(label: Any) -> str:
    """Return a label as a user writes it, without numpy's name for its type."""
    return repr(label.item() if isinstance(label, np.generic) else label)
