# SPDX-License-Identifier: BSD-3-Clause
"""Any table as one matrix of numbers: categories as codes, missing values as NaN."""

from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
from sklearn.preprocessing import OrdinalEncoder
from sklearn.utils import check_array
from sklearn.utils.validation import validate_data

from aucmax._utils.state import expect, expect_type
from aucmax._utils.typing import BoolArray, FloatArray, Matrix, is_sparse
from aucmax._utils.validation import _canonical as canonical
from aucmax._utils.validation import _refuse_text as refuse_text
from aucmax._utils.validation import explaining_values, ignoring_overflow, refuse_huge
from aucmax.preparation.values import (
    CATEGORY,
    KINDS,
    NUMBER,
    find_kind,
    to_floats,
    to_texts,
)
from aucmax.saved import saved_as

# Boosting adds two values to find what lies between them.
LARGEST = 1e307


@saved_as("TableColumns")
@dataclass(frozen=True, eq=False)
class Columns:
    """How the columns of a table become numbers.

    Attributes
    ----------
    kinds : list of str
        What each column of a data frame holds; empty for arrays.
    encoders : dict
        For each column of categories, by number, the encoder of its texts.
    """

    kinds: list[str]
    encoders: dict[int, OrdinalEncoder]

    def check_state(self) -> None:
        """Raise ValueError unless the parts of a loaded object fit together."""
        kinds = expect_type(self, "kinds", list)
        encoders = expect_type(self, "encoders", dict)
        expect(set(kinds) <= set(KINDS), self, "a kind is none")
        coded = [k for k, kind in enumerate(kinds) if kind == CATEGORY]
        fits = all(isinstance(each, OrdinalEncoder) for each in encoders.values())
        expect(fits and list(encoders) == coded, self, "its encoders are of others")

    def is_categorical(self, n_features: int) -> BoolArray:
        """Say of each column whether it holds codes of categories."""
        mask = np.zeros(n_features, dtype=bool)
        mask[list(self.encoders)] = True
        return mask

    def categories(self, number: int) -> list[str]:
        """Return what the codes of a column stand for, in their order."""
        encoder = self.encoders[number]
        texts, rare = encoder.categories_[0], encoder.infrequent_categories_[0]
        if rare is None:
            return [str(text) for text in texts]
        return [str(text) for text in texts if text not in set(rare)] + ["rare"]


def learn_columns(
    estimator: Any, X: Any, max_categories: int
) -> tuple[Columns, Matrix]:
    """Record names and number of the columns on ``estimator``; return X as numbers.

    Of more categories in a column, the rarer ones share a code.
    """
    frame = _as_frame(X)
    if frame is None:
        return Columns([], {}), _check_array(estimator, X, reset=True)
    validate_data(estimator, X, reset=True, skip_check_array=True)
    columns = Columns([find_kind(column) for column in frame.iter_columns()], {})
    for number, column in enumerate(frame.iter_columns()):
        if columns.kinds[number] == CATEGORY:
            # Codes follow the alphabet; a value that is new later counts as missing.
            columns.encoders[number] = OrdinalEncoder(
                max_categories=max_categories,
                handle_unknown="use_encoded_value",
                unknown_value=np.nan,
                encoded_missing_value=np.nan,
            ).fit(to_texts(column))
    return columns, _encode(estimator, columns, frame)


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
        return _check_array(estimator, X, reset=False)
    names = set(getattr(estimator, "feature_names_in_", ()))
    if names and names.issubset(frame.columns):
        # Others, such as the target, do no harm.
        frame = frame.select([name for name in frame.columns if name in names])
    validate_data(estimator, frame.to_native(), reset=False, skip_check_array=True)
    return _encode(estimator, columns, frame)


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


def _encode(estimator: Any, columns: Columns, frame: nw.DataFrame[Any]) -> FloatArray:
    rows = np.empty(frame.shape)
    kinds = columns.kinds or [NUMBER] * len(frame.columns)
    types = zip(frame.schema.values(), kinds, strict=True)
    is_plain = [kind == NUMBER and each.is_numeric() for each, kind in types]
    rest = list(range(len(kinds)))
    if any(is_plain):
        # All at once: a look at a column takes as long as copying thousands of values.
        values = frame[:, np.flatnonzero(is_plain).tolist()].to_numpy()
        if values.dtype.kind in "iuf":
            rows[:, is_plain] = values
            rest = [number for number in rest if not is_plain[number]]
    for number in rest:
        column = frame[:, number]
        encoder = columns.encoders.get(number)
        if encoder is None:
            rows[:, number] = to_floats(column, kinds[number])
        else:
            rows[:, number] = encoder.transform(to_texts(column))[:, 0]
    with ignoring_overflow():
        checked: FloatArray = check_array(
            rows,
            ensure_all_finite="allow-nan",
            input_name="X",
            copy=False,
            estimator=estimator,
        )
    refuse_huge(checked, LARGEST)
    return checked
