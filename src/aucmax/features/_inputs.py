# SPDX-License-Identifier: BSD-3-Clause
"""Checks that the feature maps share: rows without labels, and their weights."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import validate_data

from aucmax._utils.typing import FloatArray, Matrix
from aucmax._utils.validation import DTYPES, _canonical, _refuse_text


class RowInputs(NamedTuple):
    """Validated rows to fit a map to."""

    X: Matrix
    weight: FloatArray


def check_rows(
    estimator: Any, X: Any, sample_weight: ArrayLike | None = None
) -> RowInputs:
    """Validate the arguments of ``fit`` and record the feature names on ``estimator``.

    float64 and float32 arrays and CSR matrices are not copied.
    """
    _refuse_text(X)
    X = validate_data(estimator, X, accept_sparse="csr", dtype=DTYPES)
    return RowInputs(_canonical(X), _check_weight(sample_weight, X.shape[0]))


def output_dtype(dtype: str | None, X: Matrix) -> np.dtype[Any]:
    """Return the precision asked for; None stands for that of ``X``."""
    return np.dtype(X.dtype if dtype is None else dtype)


def _check_weight(sample_weight: ArrayLike | None, n: int) -> FloatArray:
    if sample_weight is None:
        return np.ones(n)
    try:
        weight = np.asarray(sample_weight, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"sample_weight must hold numbers: {error}") from None
    if weight.ndim == 0:
        weight = np.full(n, float(weight))
    if weight.ndim != 1:
        raise ValueError(
            f"Sample weights must be 1D array or scalar, got {weight.ndim}D array. "
            "Pass one weight per row."
        )
    if weight.shape[0] != n:
        raise ValueError(
            f"sample_weight.shape == {weight.shape}, expected {(n,)}! "
            "Pass one weight per row."
        )
    low, high = weight.min(), weight.max()
    if not (np.isfinite(low) and np.isfinite(high)):
        raise ValueError(
            "sample_weight contains NaN or infinity. Give rows to be left out weight 0."
        )
    if low < 0:
        raise ValueError(
            f"Negative values in data passed to `sample_weight`: {low:g}. A weight "
            "counts repetitions of a row, so it cannot be below zero."
        )
    if high == 0:
        raise ValueError(
            "All sample_weight are zero: no row is left. Give some rows a positive "
            "weight."
        )
    return weight
