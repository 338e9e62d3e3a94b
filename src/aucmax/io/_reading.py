# SPDX-License-Identifier: BSD-3-Clause
"""What all readers of text share: the fast way, the slow way, columns and labels."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from aucmax._utils.typing import FloatArray
from aucmax.io.source import Source

Result = TypeVar("Result")


class Refused(ValueError):
    """Bad arguments rather than a bad file, so there is no line to look for."""


def read_or_diagnose(
    source: Source, read: Callable[[], Result], diagnose: Callable[[], None]
) -> Result:
    """Read fast; if that fails, look for the line that is wrong, slowly."""
    try:
        return read()
    except Refused as error:
        raise ValueError(str(error)) from None
    # Each library fails in its own ways: EOFError, OverflowError, StopIteration...
    except Exception as error:
        diagnose()
        raise ValueError(f"{source.name} cannot be read: {error}.") from error


def find_column(names: Sequence[Any], column: int | str, source: Source) -> int:
    """Return where a column is, given its name or position."""
    if isinstance(column, str):
        if column in names:
            return list(names).index(column)
    elif -len(names) <= column < len(names):
        return column % len(names)
    raise Refused(
        f"{source.name} has no column {column!r}. It has {len(names)} columns: "
        f"{', '.join(str(name) for name in names[:20])}."
    )


def whole(y: FloatArray) -> NDArray[Any]:
    """Return labels as integers if they are whole, else as they are."""
    if np.isfinite(y).all() and (y == np.rint(y)).all():
        return y.astype(np.int64)
    return y


def labels_of(text: NDArray[Any]) -> NDArray[Any]:
    """Return labels as numbers if all are numbers, else as text."""
    try:
        return whole(text.astype(np.float64))
    except ValueError:
        return text
