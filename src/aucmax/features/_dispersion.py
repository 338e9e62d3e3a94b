# SPDX-License-Identifier: BSD-3-Clause
"""The mean of the rows, and how far from it they are: what widths are relative to.

Sums run in float64 over all rows that have weight, a block at a time.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucmax._utils.typing import FloatArray, Matrix, is_sparse

# Rows whose differences from the mean are in memory at once.
BLOCK_ROWS = 1024
# Shares of the weight, and spreads of CSR columns relative to their mean, that are
# smaller come from rounding: sums of a million terms are off by 1e-13 or so.
ROUNDING = 1e-11


def mean_square_distance(X: Matrix, weight: FloatArray | None = None) -> float:
    """Return the mean squared distance of the rows to their mean (khalid2018's b).

    One where the rows are all equal.
    """
    return _mean_power(X, weight, power=2) or 1.0


def mean_absolute_distance(X: Matrix, weight: FloatArray | None = None) -> float:
    """Return the mean L1 distance of the rows to their mean; one where it is zero."""
    return _mean_power(X, weight, power=1) or 1.0


def mean_row(X: Matrix, weight: FloatArray | None = None) -> FloatArray:
    """Return the mean of the rows."""
    mass = _mass(X, weight)
    if is_sparse(X):
        return np.asarray(X.T @ mass, dtype=np.float64).ravel()
    # Seen from one of the rows, a common offset, however large, costs no digits.
    origin: FloatArray = X[int(np.argmax(mass > 0.0))].astype(np.float64)
    mean = origin
    for rows, share in _used_blocks(X, mass):
        mean = mean + share @ (rows - origin)
    return mean


def _mean_power(X: Matrix, weight: FloatArray | None, power: int) -> float:
    mass = _mass(X, weight)
    with np.errstate(over="ignore", invalid="ignore"):
        mean = mean_row(X, weight)
        if is_sparse(X):
            return _sparse_power(X, mass, mean, power)
        spread = 0.0
        for rows, share in _used_blocks(X, mass):
            spread += float(share @ (np.abs(rows - mean) ** power).sum(axis=1))
    # Infinities may have cancelled on the way.
    return float("inf") if np.isnan(spread) else spread


def _mass(X: Matrix, weight: FloatArray | None) -> FloatArray:
    """Return the share of each row in the total weight."""
    n = X.shape[0]
    if weight is None or not np.any(weight):
        return np.full(n, 1.0 / n)
    return np.asarray(weight / weight.sum(), dtype=np.float64)


def _used_blocks(
    X: NDArray[Any], mass: FloatArray
) -> Iterator[tuple[NDArray[Any], FloatArray]]:
    for low in range(0, X.shape[0], BLOCK_ROWS):
        share = mass[low : low + BLOCK_ROWS]
        used = share > 0.0
        yield X[low : low + BLOCK_ROWS][used], share[used]


def _sparse_power(X: Matrix, mass: FloatArray, mean: FloatArray, power: int) -> float:
    share = np.repeat(mass, np.diff(X.indptr))
    used = share > 0.0
    share, column = share[used], X.indices[used]
    distance = np.abs(X.data[used] - mean[column]) ** power
    # Entries that are not stored are zeros, as far from the mean as it is from zero.
    stored = np.bincount(column, weights=share, minlength=X.shape[1])
    missing = np.where(1.0 - stored > ROUNDING, 1.0 - stored, 0.0)
    spread = float(share @ distance + missing @ np.abs(mean) ** power)
    noise = float(np.sum(np.abs(ROUNDING * mean) ** power))
    return spread if spread > noise else 0.0
