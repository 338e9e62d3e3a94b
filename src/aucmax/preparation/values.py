# SPDX-License-Identifier: BSD-3-Clause
"""What one column holds, and its values as floats or as texts."""

import datetime
import re
from decimal import Decimal
from numbers import Real
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from aucmax._utils.typing import FloatArray

# What a column may hold.
NUMBER, DATE, BOOLEAN, COMMA = "number", "date", "boolean", "decimal comma"
CATEGORY, EMPTY = "category", "empty"
KINDS = (NUMBER, DATE, BOOLEAN, COMMA, CATEGORY, EMPTY)
WORDS = ("false", "true"), ("no", "yes"), ("off", "on"), ("f", "t"), ("n", "y")
TRUTH = {word: float(own) for pair in WORDS for own, word in enumerate(pair)}
DECIMAL_COMMA = re.compile(r"[+-]?(\d+|\d{1,3}(\.\d{3})+)(,\d+)?([eE][+-]?\d+)?")
# The comma may be that of thousands as well.
THOUSANDS = re.compile(r"[+-]?\d{1,3}(,\d{3})+")
TEMPORAL = (nw.Date, nw.Datetime, nw.Duration)
DAY = np.timedelta64(1, "D")


def is_missing(value: Any) -> bool:
    """Say whether a value stands for no value."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return bool(isinstance(value, float | np.floating) and np.isnan(value))


def find_kind(column: nw.Series[Any]) -> str:
    """Return the kind of a column, by all of its values."""
    dtype = column.dtype
    if dtype in (nw.List, nw.Array, nw.Struct):
        raise ValueError(
            f"Column {column.name!r} holds {dtype}, not one value per row. Spread it "
            "over columns, or drop it."
        )
    if column.is_null().all():
        return EMPTY
    if dtype.is_numeric() or dtype == nw.Boolean:
        return NUMBER
    if dtype in TEMPORAL:
        return DATE
    if dtype == nw.String:
        return _kind_of_texts(column.drop_nulls().unique().to_list())
    if dtype in (nw.Object, nw.Unknown):
        values = [value for value in column.to_list() if not is_missing(value)]
        if all(isinstance(value, Real | Decimal) for value in values):
            return NUMBER
        if all(isinstance(value, datetime.date) for value in values):
            return DATE
    return CATEGORY


def _kind_of_texts(texts: list[str]) -> str:
    plain = {text.strip().lower() for text in texts}
    if any(plain.issubset(pair) for pair in WORDS):
        return BOOLEAN
    if all(map(DECIMAL_COMMA.fullmatch, plain)):
        with_comma = [text for text in plain if "," in text]
        if not all(map(THOUSANDS.fullmatch, with_comma)):
            return COMMA
    return CATEGORY


def to_floats(column: nw.Series[Any], kind: str) -> FloatArray:
    """Return the values of a column that was of this kind in ``fit``, NaN for none.

    Dates are days since 1970, in UTC.
    """
    dtype = column.dtype
    if kind == EMPTY or column.is_null().all():
        return np.full(len(column), np.nan)
    if kind == DATE and dtype in TEMPORAL:
        moments = column.to_numpy()
        if dtype != nw.Duration:
            # Not nanoseconds, of which 64 bits do not reach the year 9999.
            moments = moments.astype("M8[us]") - np.datetime64(0, "us")
        return np.asarray(moments / DAY, dtype=np.float64)
    if kind != DATE and (dtype.is_numeric() or dtype == nw.Boolean):
        values = column.to_numpy()
        if values.dtype.kind in "biuf":
            return values.astype(np.float64)
    floats = np.full(len(column), np.nan)
    for row, value in enumerate(column.to_list()):
        if is_missing(value):
            continue
        try:
            floats[row] = _to_float(value, kind)
        except (ValueError, TypeError):
            raise ValueError(
                f"Column {column.name!r} held {kind}s in fit, but now holds "
                f"{str(value)[:60]!r} in row {row}, counted from 0. Write it as before."
            ) from None
    return floats


def _to_float(value: Any, kind: str) -> float:
    if kind == DATE:
        if getattr(value, "tzinfo", None) is not None:
            value = value.astimezone(datetime.UTC).replace(tzinfo=None)
        if not isinstance(value, datetime.date | str):
            raise TypeError
        return float((np.datetime64(value, "us") - np.datetime64(0, "us")) / DAY)
    if isinstance(value, str):
        value = value.strip().lower()
        if kind == BOOLEAN:
            # What is new counts as missing, as in a column of categories.
            return TRUTH.get(value, np.nan)
        if kind == COMMA:
            if not DECIMAL_COMMA.fullmatch(value):
                raise ValueError
            value = value.replace(".", "").replace(",", ".")
    return float(value)


def to_texts(column: nw.Series[Any]) -> NDArray[Any]:
    """Return the values as texts in one column, NaN where they are missing."""
    values = column.to_list()
    texts = np.empty((len(values), 1), dtype=object)
    # A text itself needs no more looks.
    texts[:, 0] = [each if type(each) is str else _text(each) for each in values]
    return texts


def _text(value: Any) -> Any:
    if is_missing(value):
        return np.nan
    # 1.0 is the category 1: missing values make floats of whole numbers.
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)
