# SPDX-License-Identifier: BSD-3-Clause
"""What all readers of text share: the fast way, the slow way, columns and labels."""

import math
import re
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from aucmax._utils.typing import FloatArray
from aucmax.io._errors import Refused, damage_errors, damaged, listed
from aucmax.io.source import Source

Result = TypeVar("Result")
NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")
# From here on a float64 no longer tells a whole number from the next one.
TOO_LARGE = 2.0**53


def read_or_diagnose(
    source: Source, read: Callable[[], Result], diagnose: Callable[[], None]
) -> Result:
    """Read fast; if that fails, look for the line that is wrong, slowly."""
    try:
        try:
            return read()
        except (Refused, FileNotFoundError, PermissionError):
            raise
        except damage_errors() as error:
            diagnose()
            raise damaged(source.name, error) from error
    except Refused as error:
        raise ValueError(str(error)) from None


def find_column(names: Sequence[Any], column: int | str, source: Source) -> int:
    """Return where a column is, given its name or position."""
    if isinstance(column, str):
        if column in names:
            return list(names).index(column)
    elif -len(names) <= column < len(names):
        return column % len(names)
    raise Refused(
        f"{source.name} has no column {column!r}. It has {len(names)} columns: "
        f"{listed([str(name) for name in names])}."
    )


def is_number(text: str) -> bool:
    """Say whether a text is a finite number as files have it.

    Python reads more, such as ``1_0`` for 10 and digits of other scripts.
    """
    return NUMBER.fullmatch(text) is not None and math.isfinite(float(text))


def numbers_of(cells: NDArray[Any]) -> FloatArray:
    """Return texts as numbers; raise ValueError if one is none, as in `is_number`."""
    together = "".join(cells)
    if "_" in together or not together.isascii():
        raise ValueError("numbers that only Python takes for such")
    return cells.astype(np.float64)


def whole(y: FloatArray) -> NDArray[Any]:
    """Return labels as integers if they are whole, else as they are.

    Raise ValueError if they are not finite, or so large that they have been rounded.
    """
    if not np.isfinite(y).all() or (np.abs(y) >= TOO_LARGE).any():
        raise ValueError("labels that are not finite, or too large")
    return y.astype(np.int64) if (y == np.rint(y)).all() else y


def labels_of(text: NDArray[Any]) -> NDArray[Any]:
    """Return labels as numbers if all are numbers, else as text.

    Raise ValueError if all are numbers, but not all finite.
    """
    try:
        numbers = numbers_of(text)
    except ValueError:
        return text
    if not (np.abs(numbers) >= TOO_LARGE).any() or not np.isfinite(numbers).all():
        return whole(numbers)
    try:
        return text.astype(np.int64)
    except (ValueError, OverflowError):
        return text
