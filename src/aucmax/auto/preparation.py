# SPDX-License-Identifier: BSD-3-Clause
"""Rows as linear and kernel models want them: complete, of one scale, one-hot."""

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.impute import MissingIndicator, SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    Normalizer,
    OneHotEncoder,
    QuantileTransformer,
    StandardScaler,
)

from aucmax._utils.typing import BoolArray, FloatArray, Matrix, is_sparse

# A value this many standard deviations away says no more than "far away".
LIMIT = 20.0
# Larger values are seen as this, so that their squares stay finite.
HUGE = 1e100
N_QUANTILES = 1000


class Clip(TransformerMixin, BaseEstimator):
    """Values outside ``[-limit, limit]`` become its ends."""

    def __init__(self, limit: float = LIMIT) -> None:
        self.limit = limit

    def fit(self, X: FloatArray, y: Any = None) -> "Clip":
        """Do nothing: there is nothing to learn."""
        return self

    def transform(self, X: FloatArray) -> FloatArray:
        """Return the clipped rows; their squares are finite in their precision."""
        limit = min(self.limit, 1e-3 * float(np.sqrt(np.finfo(X.dtype).max)))
        return np.clip(X, -limit, limit)

    def __sklearn_is_fitted__(self) -> bool:
        return True


class Floor(TransformerMixin, BaseEstimator):
    """Entries of sparse rows below ``least`` become it; other zeros stay zeros."""

    def __init__(self, least: float = 0.0) -> None:
        self.least = least

    def fit(self, X: Matrix, y: Any = None) -> "Floor":
        """Do nothing: there is nothing to learn."""
        return self

    def transform(self, X: Matrix) -> Matrix:
        """Return the rows with their least values raised."""
        if X.nnz and X.data.min() < self.least:
            X = X.copy()
            np.maximum(X.data, self.least, out=X.data)
        return X

    def __sklearn_is_fitted__(self) -> bool:
        return True


def make_preparation(
    X: Matrix, is_categorical: BoolArray, *, scale: str, seed: int
) -> Any:
    """Return a transformer for rows like ``X``, yet to be fitted.

    Numbers are completed by their median, with a column that says where, and
    standardised (``scale="standard"``) or made normal by their ranks (``"normal"``).
    Columns of zeros and ones and the one-hot columns of categories stay as they are:
    scaling would blow up the rare ones. Sparse rows are divided by their lengths, for
    ``scale="tf-idf"`` after columns that are seldom zero have been given less weight.
    """
    if is_sparse(X):
        if scale != "tf-idf":
            return Normalizer()
        # The tenth time a word comes says less than the first: of counts, logarithms.
        is_count = bool(X.nnz) and float(X.data.min()) >= 1.0
        floor = 1.0 if is_count else 0.0
        return make_pipeline(Floor(floor), TfidfTransformer(sublinear_tf=is_count))
    is_binary = ~is_categorical & _is_zero_or_one(X)
    is_number = ~is_categorical & ~is_binary
    has_missing = ~is_categorical & np.isnan(X).any(axis=0)
    parts = [
        ("number", _scaling(scale, len(X), seed), np.flatnonzero(is_number)),
        ("binary", _completion("most_frequent"), np.flatnonzero(is_binary)),
        (
            "missing",
            MissingIndicator(features="all"),
            np.flatnonzero(has_missing),
        ),
        (
            "category",
            OneHotEncoder(handle_unknown="ignore", min_frequency=2),
            np.flatnonzero(is_categorical),
        ),
    ]
    return ColumnTransformer([part for part in parts if len(part[2])])


def _scaling(scale: str, n: int, seed: int) -> Any:
    if scale == "normal":
        n_quantiles = min(n, N_QUANTILES)
        scaler = QuantileTransformer(
            n_quantiles=n_quantiles, output_distribution="normal", random_state=seed
        )
    else:
        scaler = StandardScaler()
    return make_pipeline(Clip(HUGE), _completion("median"), scaler, Clip())


def _completion(strategy: str) -> SimpleImputer:
    return SimpleImputer(strategy=strategy, keep_empty_features=True)


def _is_zero_or_one(X: FloatArray) -> BoolArray:
    """Say which columns hold nothing else, or nothing at all."""
    answer: BoolArray = ((X == 0) | (X == 1) | np.isnan(X)).all(axis=0)
    return answer


def total_variance(Z: Matrix) -> float:
    """Return the mean squared distance of the rows to their mean."""
    if is_sparse(Z):
        mean = np.asarray(Z.mean(axis=0)).ravel()
        square = float(Z.multiply(Z).sum()) / Z.shape[0]
        return float(max(square - mean @ mean, 0.0))
    return float(Z.var(axis=0).sum())
