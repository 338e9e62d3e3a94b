# SPDX-License-Identifier: BSD-3-Clause
"""Any table as one matrix of numbers: categories as codes, missing values as NaN."""

import datetime
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from numbers import Real
from typing import Any

import narwhals as nw
import numpy as np
from narwhals.typing import IntoDataFrame
from numpy.typing import NDArray
from scipy import sparse
from sklearn.preprocessing import OrdinalEncoder
from sklearn.utils import check_array
from sklearn.utils.validation import validate_data

from aucmax._utils.state import expect, expect_array, expect_flag, expect_type
from aucmax._utils.typing import BoolArray, FloatArray, Matrix, is_sparse
from aucmax._utils.validation import _canonical as canonical
from aucmax._utils.validation import _refuse_text as refuse_text
from aucmax._utils.validation import explaining_values, ignoring_overflow, refuse_huge

# Boosting takes no more than 255 categories per column; rarer ones share a code.
MAX_CATEGORIES = 250
# Boosting adds two values to find what lies between them.
LARGEST = 1e307
# Sparse rows with no more columns and values become dense, so that all families can be
# tried; more columns are words, or the like.
DENSE_COLUMNS, DENSE_VALUES = 5000, 10**8
BLOCK_VALUES = 2 * 10**7
DAY = np.timedelta64(1, "D")


@dataclass(frozen=True, eq=False)
class Columns:
    """How the columns of a table become numbers.

    Attributes
    ----------
    is_categorical : ndarray of shape (n_features,)
        Which columns hold codes of categories.
    encoders : dict
        For each of those, by number, the encoder of its values.
    is_dense : bool
        Whether sparse rows become dense.
    """

    is_categorical: BoolArray
    encoders: dict[int, OrdinalEncoder]
    is_dense: bool

    def check_state(self) -> None:
        """Raise ValueError unless the arrays of a loaded object fit together."""
        expect_array(self, "is_categorical", (None,), np.bool_)
        encoders = expect_type(self, "encoders", dict).values()
        fits = all(isinstance(encoder, OrdinalEncoder) for encoder in encoders)
        expect(fits, self, "an encoder is none")
        expect_flag(self, "is_dense")


def learn_columns(estimator: Any, X: Any) -> tuple[Columns, Matrix]:
    """Record names and number of the columns on ``estimator``; return X as numbers."""
    frame = _as_frame(X)
    if frame is None:
        rows = _check_array(estimator, X, reset=True)
        n, d = rows.shape
        is_few = d <= DENSE_COLUMNS and n * d <= DENSE_VALUES
        is_dense = is_few or not is_sparse(rows)
        columns = Columns(np.zeros(rows.shape[1], dtype=bool), {}, is_dense)
        return columns, _dense_if(is_dense, rows)
    _check_frame(estimator, X, frame, reset=True)
    encoders: dict[int, OrdinalEncoder] = {}
    for number, column in enumerate(frame.iter_columns()):
        if _numbers(column) is None:
            # Codes follow the alphabet; a value that is new later counts as missing.
            encoders[number] = OrdinalEncoder(
                max_categories=MAX_CATEGORIES,
                handle_unknown="use_encoded_value",
                unknown_value=np.nan,
                encoded_missing_value=np.nan,
            ).fit(_texts(column))
    is_categorical = np.zeros(len(frame.columns), dtype=bool)
    is_categorical[list(encoders)] = True
    columns = Columns(is_categorical, encoders, True)
    return columns, _encode(columns, frame)


def read_rows(estimator: Any, columns: Columns, X: Any) -> Matrix:
    """Return rows to be scored as numbers, after checks against those of ``fit``."""
    frame = _as_frame(X)
    if frame is None:
        if columns.encoders:
            raise ValueError(
                f"{type(estimator).__name__} was fitted on a data frame with "
                f"{len(columns.encoders)} columns of categories, but X is a "
                f"{type(X).__name__}. Pass a data frame with the same columns."
            )
        return _dense_if(columns.is_dense, _check_array(estimator, X, reset=False))
    _check_frame(estimator, X, frame, reset=False)
    return _encode(columns, frame)


def read_blocks(estimator: Any, columns: Columns, X: Any) -> Iterator[Matrix]:
    """Yield the same rows, of sparse ones that become dense a few at a time."""
    if not (is_sparse(X) and columns.is_dense):
        yield read_rows(estimator, columns, X)
        return
    rows = _check_array(estimator, X, reset=False)
    size = max(1, BLOCK_VALUES // rows.shape[1])
    for low in range(0, rows.shape[0], size):
        yield rows[low : low + size].toarray()


def _as_frame(X: Any) -> nw.DataFrame[Any] | None:
    frame = nw.from_native(X, pass_through=True)
    if isinstance(frame, nw.LazyFrame):
        raise ValueError("X is a lazy frame. Read it first, with X.collect().")
    return frame if isinstance(frame, nw.DataFrame) else None


def _check_array(estimator: Any, X: Any, *, reset: bool) -> Matrix:
    refuse_text(X)
    with ignoring_overflow(), explaining_values():
        rows = validate_data(
            estimator,
            X,
            reset=reset,
            accept_sparse="csr",
            dtype=[np.float64, np.float32],
            # Zeros are what sparse rows leave out; there is no room for missing values.
            ensure_all_finite=True if is_sparse(X) else "allow-nan",
        )
    refuse_huge(rows, LARGEST)
    return canonical(rows)


def _check_frame(
    estimator: Any, X: IntoDataFrame, frame: nw.DataFrame[Any], *, reset: bool
) -> None:
    if not frame.columns or not len(frame):
        raise ValueError(
            f"Found array with 0 {'sample(s)' if frame.columns else 'feature(s)'} "
            f"(shape={frame.shape}) while a minimum of 1 is required by "
            f"{type(estimator).__name__}."
        )
    validate_data(estimator, X, reset=reset, skip_check_array=True)


def _dense_if(is_dense: bool, rows: Matrix) -> Matrix:
    if not is_sparse(rows):
        return rows
    if is_dense:
        return rows.toarray()
    # LightGBM does not know sparse arrays; a zero that is stored is still a zero.
    rows = sparse.csr_matrix(rows, copy=True)
    rows.eliminate_zeros()
    return rows


def _encode(columns: Columns, frame: nw.DataFrame[Any]) -> FloatArray:
    rows = np.empty(frame.shape)
    for number, column in enumerate(frame.iter_columns()):
        encoder = columns.encoders.get(number)
        if encoder is not None:
            rows[:, number] = encoder.transform(_texts(column))[:, 0]
            continue
        values = _numbers(column)
        if values is None:
            raise ValueError(
                f"Column {column.name!r} held numbers in fit, or nothing, but "
                f"now holds {column.dtype}. Convert it to numbers."
            )
        rows[:, number] = values
    with ignoring_overflow():
        checked: FloatArray = check_array(
            rows, ensure_all_finite="allow-nan", input_name="X", copy=False
        )
    refuse_huge(checked, LARGEST)
    return checked


def _numbers(column: nw.Series[Any]) -> FloatArray | None:
    """Return a column as floats, or None if it holds categories."""
    kind = column.dtype
    if kind in (nw.List, nw.Array, nw.Struct):
        raise ValueError(
            f"Column {column.name!r} holds {kind}, not one value per row. Spread it "
            "over columns, or drop it."
        )
    if column.is_null().all():
        return np.full(len(column), np.nan)
    if kind.is_numeric() or kind == nw.Boolean:
        values = column.to_numpy()
        if values.dtype.kind in "biuf":
            return values.astype(np.float64)
        return _floats(column.to_list())
    if kind in (nw.Datetime, nw.Date):
        return _days(column.to_numpy().astype("datetime64[us]"))
    if kind == nw.Duration:
        return _days(column.to_numpy().astype("timedelta64[us]"))
    if kind in (nw.Object, nw.Unknown):
        return _numbers_of_objects(column.to_list())
    return None


def _numbers_of_objects(values: list[Any]) -> FloatArray | None:
    kept = [value for value in values if not is_missing(value)]
    if all(isinstance(value, Real | Decimal) for value in kept):
        return _floats(values)
    if all(isinstance(value, datetime.date) for value in kept):
        moments = [None if is_missing(value) else value for value in values]
        return _days(np.array(moments, dtype="datetime64[us]"))
    return None


def _floats(values: list[Any]) -> FloatArray:
    listed = [np.nan if is_missing(value) else float(value) for value in values]
    return np.array(listed, dtype=np.float64)


def _days(moments: NDArray[Any]) -> FloatArray:
    if moments.dtype.kind == "M":
        moments = moments - np.datetime64(0, "us")
    # Not-a-time becomes NaN.
    return np.asarray(moments / DAY, dtype=np.float64)


def _texts(column: nw.Series[Any]) -> NDArray[Any]:
    """Return the values as text, one column, NaN where missing."""
    values = column.to_list()
    texts = np.empty((len(values), 1), dtype=object)
    texts[:, 0] = [np.nan if is_missing(value) else _text(value) for value in values]
    return texts


def _text(value: Any) -> str:
    # 1.0 is the category 1: missing values make floats of whole numbers.
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def is_missing(value: Any) -> bool:
    """Say whether a value stands for no value."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return bool(isinstance(value, float | np.floating) and np.isnan(value))
