# SPDX-License-Identifier: BSD-3-Clause
"""Made-up rows whose best possible AUC is known."""

from collections.abc import Iterator

import numpy as np
from sklearn.utils import check_random_state

from aucmax._utils.typing import FloatArray, IntArray

DRIFTS = ("none", "sudden", "gradual", "recurring")
# A recurring drift goes there and back this many times.
N_RETURNS = 2


def make_imbalanced(
    n_rows: int = 1000,
    n_features: int = 10,
    *,
    positive_share: float = 0.01,
    separation: float = 2.0,
    random_state: int | np.random.RandomState | None = None,
) -> tuple[FloatArray, IntArray]:
    """Draw rows with few positives, from two round normal clouds.

    No scorer has an AUC above Phi(`separation` / sqrt(2)) on new rows, Phi being the
    normal distribution function; a linear one can have that.

    Parameters
    ----------
    n_rows : int, default=1000
        Number of rows.
    n_features : int, default=10
        Number of columns.
    positive_share : float, default=0.01
        Share of positives, above 0 and below 1; there is at least one row of each
        class.
    separation : float, default=2.0
        Distance between the centres of the clouds, in standard deviations.
    random_state : int, RandomState or None, default=None
        Seed.

    Returns
    -------
    X : ndarray of shape (n_rows, n_features)
        Features.
    y : ndarray of shape (n_rows,)
        Labels, 0 and 1, in random order.

    Examples
    --------
    >>> from aucmax import LeastSquaresAUC
    >>> from aucmax.datasets import make_imbalanced
    >>> X, y = make_imbalanced(20_000, separation=2.0, random_state=0)
    >>> int(y.sum())
    200
    >>> model = LeastSquaresAUC().fit(X[:10_000], y[:10_000])
    >>> round(model.score(X[10_000:], y[10_000:]), 1)  # 0.92 is the best possible
    0.9
    """
    _check(n_rows, n_features, positive_share, 2)
    rng = check_random_state(random_state)
    n_pos = min(max(round(n_rows * positive_share), 1), n_rows - 1)
    y = np.zeros(n_rows, dtype=np.int64)
    y[rng.permutation(n_rows)[:n_pos]] = 1
    return _draw(rng, y, separation * _directions(rng, n_features)[0]), y


def drifting_stream(
    n_batches: int = 100,
    batch_rows: int = 100,
    n_features: int = 10,
    positive_share: float = 0.2,
    drift: str = "sudden",
    *,
    separation: float = 2.0,
    random_state: int | np.random.RandomState | None = None,
) -> Iterator[tuple[FloatArray, IntArray]]:
    """Yield batches of a stream in which what marks a positive changes.

    The rows of each batch are those of `make_imbalanced`, but the positives lie in a
    direction that turns round, so that at last what spoke for a positive speaks against
    it. At any time the best possible AUC is the same: Phi(`separation` / sqrt(2)).

    Parameters
    ----------
    n_batches : int, default=100
        Number of batches.
    batch_rows : int, default=100
        Rows per batch.
    n_features : int, default=10
        Number of columns; at least 2.
    positive_share : float, default=0.2
        Probability that a row is positive; a small batch may have no positives.
    drift : {"none", "sudden", "gradual", "recurring"}, default="sudden"
        Sudden: at once, half way. Gradual: turning all the time. Recurring: at once, at
        each quarter, there and back again.
    separation : float, default=2.0
        Distance between the centres of the classes, in standard deviations.
    random_state : int, RandomState or None, default=None
        Seed; an int gives the same stream at every call.

    Returns
    -------
    batches : iterator of (X, y)
        Features of shape (batch_rows, n_features), and labels 0 and 1.

    Examples
    --------
    >>> from aucmax.datasets import drifting_stream
    >>> for X, y in drifting_stream(4, 10_000, drift="sudden", random_state=0):
    ...     towards_positives = X[y == 1].mean(axis=0) - X[y == 0].mean(axis=0)
    ...     print(towards_positives[:3].round())
    [-1. -1. -1.]
    [-1. -1. -1.]
    [1. 1. 1.]
    [1. 1. 1.]
    """
    _check(batch_rows, n_features, positive_share, 1)
    if n_features < 2:
        raise ValueError(f"n_features must be at least 2 to turn in; got {n_features}.")
    if n_batches < 1:
        raise ValueError(f"n_batches must be at least 1; got {n_batches}.")
    if drift not in DRIFTS:
        raise ValueError(f"drift must be one of {', '.join(DRIFTS)}; got {drift!r}.")
    rng = check_random_state(random_state)
    return _batches(
        rng, n_batches, batch_rows, n_features, positive_share, drift, separation
    )


def _batches(
    rng: np.random.RandomState,
    n_batches: int,
    batch_rows: int,
    n_features: int,
    positive_share: float,
    drift: str,
    separation: float,
) -> Iterator[tuple[FloatArray, IntArray]]:
    first, second = separation * _directions(rng, n_features)
    for k in range(n_batches):
        angle = np.pi * _turned(drift, k, n_batches)
        y = (rng.uniform(size=batch_rows) < positive_share).astype(np.int64)
        yield _draw(rng, y, np.cos(angle) * first + np.sin(angle) * second), y


def _turned(drift: str, k: int, n_batches: int) -> float:
    """Return how far the direction has turned by batch k; 1 is half a turn."""
    if drift == "sudden":
        return float(2 * k >= n_batches)
    if drift == "gradual":
        return k / max(n_batches - 1, 1)
    if drift == "recurring":
        return float(2 * N_RETURNS * k // n_batches % 2)
    return 0.0


def _draw(rng: np.random.RandomState, y: IntArray, shift: FloatArray) -> FloatArray:
    X: FloatArray = rng.normal(size=(len(y), len(shift)))
    X[y == 1] += shift
    return X


def _directions(rng: np.random.RandomState, n_features: int) -> FloatArray:
    """Return two unit vectors at right angles (one if there is no room for two)."""
    columns = rng.normal(size=(n_features, min(n_features, 2)))
    directions: FloatArray = np.linalg.qr(columns)[0].T
    return directions


def _check(
    n_rows: int, n_features: int, positive_share: float, least_rows: int
) -> None:
    if n_rows < least_rows:
        raise ValueError(f"There must be at least {least_rows} rows; got {n_rows}.")
    if n_features < 1:
        raise ValueError(f"n_features must be at least 1; got {n_features}.")
    if not 0 < positive_share < 1:
        raise ValueError(
            f"positive_share must lie between 0 and 1; got {positive_share}."
        )
