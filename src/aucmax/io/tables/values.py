# SPDX-License-Identifier: BSD-3-Clause
"""Values of one column of a record batch, by the rules for those that are missing."""

from collections.abc import Sequence
from functools import cache
from math import isfinite
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from aucmax._utils.optional import import_optional
from aucmax._utils.typing import BoolArray, FloatArray, IntArray
from aucmax.io._errors import short
from aucmax.io.tables.errors import Option, TableError

MISSING, UNKNOWN = -1, -2
# From here on a float64 no longer tells a whole number from the next one.
TOO_LARGE = 2.0**53
LARGEST = int(TOO_LARGE)


class Place(NamedTuple):
    """Where a column of a record batch is from: its file, and its first row there."""

    file: str
    row: int
    name: str

    def fail(self, row: int, problem: str, *remedies: str | Option) -> NoReturn:
        """Raise what is wrong in one row of the batch."""
        raise TableError(
            f"{problem} in column {short(self.name)}",
            *remedies,
            file=self.file,
            row=self.row + row,
            column=self.name,
        )


class Rules(NamedTuple):
    """What becomes of values.

    Attributes
    ----------
    dtype : dtype
        Precision of the features.
    missing : "error", "drop" or float
        What to do where a value is missing; a number takes its place.
    whole : frozenset of str
        Columns that hold whole numbers, though they have been parsed as others.
    """

    dtype: np.dtype[Any]
    missing: str | float
    whole: frozenset[str] = frozenset()


def read_numbers(
    column: Any, place: Place, rules: Rules
) -> tuple[NDArray[Any], BoolArray | None]:
    """Return the numbers of a column, and where rows have to be dropped, if any.

    They are where Arrow has them, not copied, if they are numbers without gaps.
    """
    values = _numbers(column, place)
    if values.dtype.kind != "f":
        return values, None
    if place.name in rules.whole:
        _refuse_large(values, np.abs(values) >= TOO_LARGE, place)
    if values.dtype.itemsize > rules.dtype.itemsize:
        values = values.astype(rules.dtype)
    # One trip over values that are in the cache; a sum may overflow for other reasons.
    if isfinite(np.add.reduce(values)):
        return values, None
    gone = np.isnan(values)
    infinite = np.isinf(values)
    if infinite.any():
        place.fail(
            int(infinite.argmax()),
            f"a value that is infinite, or too large for {rules.dtype},",
            "mend it",
            Option("columns"),
        )
    if not gone.any():
        return values, None
    gone_rows = _refuse_missing(gone, place, rules)
    if gone_rows is None:
        return np.where(gone, rules.dtype.type(rules.missing), values), None
    return values, gone_rows


def _refuse_missing(gone: BoolArray, place: Place, rules: Rules) -> BoolArray | None:
    """Return the rows to drop, or None if a number takes the place of the values."""
    if rules.missing == "error":
        place.fail(
            int(gone.argmax()),
            "a value is missing",
            Option("missing"),
        )
    return gone if rules.missing == "drop" else None


def _numbers(column: Any, place: Place) -> NDArray[Any]:
    """Return numbers of any type, NaN where they are missing."""
    dtype = _dtypes().get(column.type.id)
    if dtype is None or column.null_count:
        return _converted(column, place)
    values = view(column)
    if dtype.kind != "f" and dtype.itemsize == 8 and len(values):
        _refuse_rounded(values, place)
    return values


def _converted(column: Any, place: Place) -> NDArray[Any]:
    arrow = import_optional("pyarrow", "io")
    kind = column.type
    if arrow.types.is_boolean(kind) and not column.null_count:
        return view(column.cast(arrow.uint8()))
    if arrow.types.is_integer(kind):
        _refuse_rounded(view(column.fill_null(0)), place)
    wide = arrow.float32() if kind == arrow.float16() else arrow.float64()
    return view(column.cast(wide, safe=False).fill_null(float("nan")))


def _refuse_rounded(values: NDArray[Any], place: Place) -> None:
    # Integers are compared with integers, as floats would be rounded for it. The least
    # of 64 bits has no absolute value.
    low, high = int(values.min()), int(values.max())
    if high > LARGEST or low < -LARGEST:
        large = values > LARGEST
        _refuse_large(values, large if low >= 0 else large | (values < -LARGEST), place)


def _refuse_large(values: NDArray[Any], large: BoolArray, place: Place) -> None:
    if large.any():
        row = int(large.argmax())
        place.fail(
            row,
            f"the whole number {int(values[row])} is beyond 2^53 and would be rounded",
            Option("columns"),
            "write it as text, or with a point if it is a measurement",
        )


def read_codes(
    column: Any, levels: Sequence[str], place: Place, rules: Rules
) -> tuple[IntArray, BoolArray | None]:
    """Return the positions of texts among the levels, and where to drop rows, if any.

    The position is negative where there is no text and a number takes its place.
    """
    codes = _codes(column, levels)
    if not len(codes) or codes.min() >= 0:
        return codes, None
    unknown = codes == UNKNOWN
    if unknown.any():
        row = int(unknown.argmax())
        place.fail(
            row,
            f"{short(str(column[row].as_py()))} is none of the categories given",
            Option("category", place.name),
        )
    return codes, _refuse_missing(codes == MISSING, place, rules)


def _codes(column: Any, levels: Sequence[str]) -> IntArray:
    arrow = import_optional("pyarrow", "io")
    compute = import_optional("pyarrow.compute", "io")
    is_dictionary = arrow.types.is_dictionary(column.type)
    encoded = column if is_dictionary else column.dictionary_encode()
    texts = encoded.dictionary.cast(arrow.string())
    found = compute.index_in(texts, value_set=arrow.array(levels, arrow.string()))
    lookup = np.array(
        [
            code if code is not None else MISSING if text is None else UNKNOWN
            for text, code in zip(texts.to_pylist(), found.to_pylist(), strict=True)
        ]
        # Where a gap points to.
        + [MISSING],
        dtype=np.int64,
    )
    codes: IntArray = lookup[view(encoded.indices.cast(arrow.int64()).fill_null(-1))]
    return codes


def read_labels(
    column: Any, place: Place, dtype: np.dtype[Any], *, parsed: bool
) -> NDArray[Any]:
    """Return labels; none may be missing, nor be rounded when it is ``parsed``."""
    arrow = import_optional("pyarrow", "io")
    is_dictionary = arrow.types.is_dictionary(column.type)
    if is_dictionary and (column.dictionary.null_count or dtype.kind != "O"):
        column, is_dictionary = column.dictionary_decode(), False
    if column.null_count:
        _refuse_label(place, column.is_null().index(True).as_py(), "is missing")
    if dtype.kind != "O":
        if arrow.types.is_boolean(column.type):
            column = column.cast(arrow.uint8())
        elif arrow.types.is_decimal(column.type):
            column = column.cast(arrow.float64())
        labels = view(column).astype(dtype, copy=False)
        bad = ~np.isfinite(labels)
        if bad.any():
            row = int(bad.argmax())
            _refuse_label(place, row, f"{labels[row]:g} is not a finite number")
        if parsed and dtype.kind == "f" and (bad := np.abs(labels) >= TOO_LARGE).any():
            row = int(bad.argmax())
            problem = "is too large to be told from the next number,"
            place.fail(
                row, f"the label {labels[row]:g} {problem}", "number the classes from 0"
            )
        return labels
    # Few labels in many rows: each text is there once.
    encoded = column if is_dictionary else column.dictionary_encode()
    texts = encoded.dictionary
    if texts.type != arrow.string():
        texts = texts.cast(arrow.string())
    levels = np.empty(len(texts), dtype=object)
    levels[:] = texts.to_pylist()
    chosen: NDArray[Any] = levels[view(encoded.indices)]
    return chosen


def _refuse_label(place: Place, row: int, problem: str) -> NoReturn:
    place.fail(row, f"the label {problem}", "leave the row out")


def read_weights(column: Any, place: Place) -> FloatArray:
    """Return weights; none may be missing, negative or infinite."""
    weights = _numbers(column, place).astype(np.float64)
    bad = ~(np.isfinite(weights) & (weights >= 0.0))
    if bad.any():
        row = int(bad.argmax())
        shown = "missing" if np.isnan(weights[row]) else f"{weights[row]:g}"
        place.fail(
            row,
            f"the weight is {shown}",
            "a weight is a number from 0 on; leave the row out",
        )
    return weights


def view(array: Any) -> NDArray[Any]:
    """Return the values of an array of numbers without gaps, where they are."""
    # Not to_numpy, which imports pandas.
    dtype = np.dtype(array.type.to_pandas_dtype())
    if not len(array):
        return np.empty(0, dtype)
    start = array.offset * dtype.itemsize
    return np.frombuffer(array.buffers()[1], dtype, len(array), start)


@cache
def _dtypes() -> dict[int, np.dtype[Any]]:
    """Return types of numpy by the numbers of those of Arrow with the same bytes."""
    arrow = import_optional("pyarrow", "io")
    names = [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]
    names += ["float32", "float64"]
    return {getattr(arrow, name)().id: np.dtype(name) for name in names}
