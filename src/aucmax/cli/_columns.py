# SPDX-License-Identifier: BSD-3-Clause
"""Columns of numbers, dates and text as models want them: numbers only."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    OneHotEncoder,
    StandardScaler,
)

from aucmax._utils.typing import FloatArray

# Values of one column of text that get a column each; rarer ones share one.
MOST_CATEGORIES = 100
SECONDS_PER_DAY = 86_400


class FillEmpty(TransformerMixin, BaseEstimator):
    """Columns without any value are zero; others keep their missing values.

    For boosted trees of scikit-learn, which cannot be fitted to such columns.
    """

    def fit(self, X: Any, y: Any = None) -> "FillEmpty":
        """Find the columns without values."""
        self.is_empty_ = np.isnan(np.asarray(X, dtype=np.float64)).all(axis=0)
        return self

    def transform(self, X: Any) -> FloatArray:
        """Return an array in which they are zero."""
        return np.where(self.is_empty_, 0.0, np.asarray(X, dtype=np.float64))


def make_preparation(kinds: Mapping[str, str], *, scale: bool) -> Any:
    """Return a transformer for columns of these kinds, or for sparse rows without any.

    Text becomes one column per value. Numbers, and dates as days, are completed by
    their median, with a column that says where, and scaled; or, for trees, which split
    anywhere and take missing values, neither.
    """
    if not kinds:
        return MaxAbsScaler() if scale else "passthrough"
    text = OneHotEncoder(
        handle_unknown="infrequent_if_exist", max_categories=MOST_CATEGORIES
    )
    parts = {
        "number": make_pipeline(*_numbers(scale)),
        "date": make_pipeline(FunctionTransformer(to_days), *_numbers(scale)),
        "text": text,
    }
    columns = {kind: [n for n, k in kinds.items() if k == kind] for kind in parts}
    return ColumnTransformer(
        [(kind, parts[kind], names) for kind, names in columns.items() if names],
        # Boosted trees of scikit-learn take dense tables only.
        sparse_threshold=0.3 if scale else 0.0,
    )


def _numbers(scale: bool) -> list[Any]:
    if not scale:
        return [FillEmpty()]
    filled = SimpleImputer(
        strategy="median", add_indicator=True, keep_empty_features=True
    )
    return [filled, StandardScaler()]


def to_days(X: Any) -> FloatArray:
    """Return dates as days since 1970, missing ones as NaN.

    Examples
    --------
    >>> import pandas
    >>> from aucmax.cli._columns import to_days
    >>> days = pandas.to_datetime(["1970-01-02 12:00", None])
    >>> to_days(pandas.DataFrame({"when": days})).tolist()
    [[1.5], [nan]]
    """
    return np.column_stack([_days(X[name]) for name in X.columns])


def _days(column: Any) -> FloatArray:
    if getattr(column.dtype, "tz", None) is not None:
        column = column.dt.tz_convert("UTC").dt.tz_localize(None)
    fine = column.to_numpy()
    # In two parts: nanoseconds since 1970 have more digits than a float64.
    whole = fine.astype(f"{column.dtype.kind}8[s]")
    seconds = whole.astype(np.float64)
    seconds += (fine - whole) / np.timedelta64(1, "s")
    seconds[np.isnat(fine)] = np.nan
    return np.asarray(seconds / SECONDS_PER_DAY)
