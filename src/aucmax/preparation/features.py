# SPDX-License-Identifier: BSD-3-Clause
"""Rows as models want them: complete, of one scale, one-hot."""

from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.impute import MissingIndicator, SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    Normalizer,
    OneHotEncoder,
    QuantileTransformer,
    StandardScaler,
)

from aucmax._utils.typing import BoolArray, FloatArray, Matrix, is_sparse
from aucmax.saved import saved_as

# A value this many standard deviations away says no more than "far away".
LIMIT = 20.0
# Larger values are seen as this, so that their squares stay finite.
HUGE = 1e100
N_QUANTILES = 1000


def make_features(
    X: Matrix, is_categorical: BoolArray, *, scale: str, seed: int = 0
) -> Any:
    """Return a transformer for rows like ``X``, yet to be fitted.

    Numbers are completed by their median, with a column that says where, and
    standardised (``scale="standard"``) or made normal by their ranks (``"normal"``);
    ``"none"``, for trees, leaves them as they are. Columns of zeros and ones and the
    one-hot columns of categories are never scaled: that would blow up the rare ones.

    Sparse rows keep their zeros. Their columns are divided by the largest value
    (``"standard"``), or the rows by their lengths (``"length"``), for ``"tf-idf"``
    after columns that are seldom zero have been given less weight.
    """
    if is_sparse(X):
        return _sparse_features(X, scale)
    is_number, is_missing = ~is_categorical, np.isnan(X)
    category = OneHotEncoder(handle_unknown="ignore", min_frequency=2)
    if scale == "none":
        # Boosted trees of scikit-learn take neither sparse rows nor empty columns.
        is_empty = is_number & is_missing.all(axis=0)
        steps = [
            ("number", "passthrough", is_number & ~is_empty),
            ("empty", _completion("constant"), is_empty),
            ("category", category, is_categorical),
        ]
    else:
        is_binary = is_number & ((X == 0) | (X == 1) | is_missing).all(axis=0)
        steps = [
            ("number", _scaling(scale, len(X), seed), is_number & ~is_binary),
            ("binary", _completion("most_frequent"), is_binary),
            (
                "missing",
                MissingIndicator(features="all"),
                is_number & is_missing.any(axis=0),
            ),
            ("category", category, is_categorical),
        ]
    return ColumnTransformer(
        [
            (name, step, np.flatnonzero(mask))
            for name, step, mask in steps
            if mask.any()
        ],
        sparse_threshold=0.0 if scale == "none" else 0.3,
        verbose_feature_names_out=False,
    )


def _sparse_features(X: Matrix, scale: str) -> Any:
    if scale in ("none", "standard"):
        return _of_values(None) if scale == "none" else MaxAbsScaler()
    if scale == "length":
        return Normalizer()
    if not X.nnz or float(X.data.min()) < 1.0:
        return TfidfTransformer()
    # The tenth time a word comes says less than the first: of counts, logarithms.
    return make_pipeline(_of_values(raise_to_one), TfidfTransformer(sublinear_tf=True))


def _scaling(scale: str, n: int, seed: int) -> Any:
    if scale == "normal":
        scaler = QuantileTransformer(
            n_quantiles=min(n, N_QUANTILES),
            output_distribution="normal",
            random_state=seed,
        )
    else:
        scaler = StandardScaler()
    return make_pipeline(
        _of_values(clip_huge), _completion("median"), scaler, _of_values(clip_far)
    )


def _completion(strategy: str) -> SimpleImputer:
    return SimpleImputer(strategy=strategy, keep_empty_features=True)


def _of_values(function: Any) -> FunctionTransformer:
    return FunctionTransformer(function, feature_names_out="one-to-one")


@saved_as("clip_huge")
def clip_huge(X: FloatArray) -> FloatArray:
    """Return values whose squares are finite in their precision."""
    limit = min(HUGE, 1e-3 * float(np.sqrt(np.finfo(X.dtype).max)))
    return np.clip(X, -limit, limit)


@saved_as("clip_far")
def clip_far(X: FloatArray) -> FloatArray:
    """Return standardised values, those far away as the limit."""
    return np.clip(X, -LIMIT, LIMIT)


@saved_as("raise_to_one")
def raise_to_one(X: Matrix) -> Matrix:
    """Return sparse rows with ones in place of values below; zeros stay zeros."""
    if X.nnz and X.data.min() < 1.0:
        X = X.copy()
        np.maximum(X.data, 1.0, out=X.data)
    return X
