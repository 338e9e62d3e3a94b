# SPDX-License-Identifier: BSD-3-Clause
"""Choosing the rows that a Nystroem map is spanned by.

Rows are first put in the order of a random projection, and equal ones taken together.
What is drawn then depends neither on the order of the rows nor on whether a row is
given twice or with weight two.
"""

import warnings
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_array, check_random_state

from aucmax import _kernels
from aucmax._utils.typing import (
    BoolArray,
    FloatArray,
    IntArray,
    Matrix,
    is_sparse,
    to_dense,
)

# Rows that k-means sees, and its iterations: 20 instead of 5 gain 0.05 points of AUC.
KMEANS_ROWS = 20_000
KMEANS_ITERATIONS = 5
# Rows projected or hashed at a time.
BLOCK_ROWS = 8192


def choose_landmarks(
    X: Matrix,
    n_landmarks: int,
    *,
    method: str | ArrayLike,
    is_pos: BoolArray | None = None,
    weight: FloatArray | None = None,
    random_state: int | np.random.RandomState | None = None,
) -> NDArray[Any]:
    """Return at most ``n_landmarks`` rows, dense, in the precision of ``X``.

    Parameters
    ----------
    X : ndarray or CSR of shape (n_samples, n_features)
        Validated rows.
    n_landmarks : int
        How many. All distinct rows, where there are no more.
    method : {"uniform", "stratified", "kmeans"} or array-like
        Rows drawn in proportion to their weight; the same with half of them from each
        class; centres of clusters of at most 20,000 rows; or the landmarks themselves.
    is_pos : ndarray of shape (n_samples,), optional
        Mask of the positive class, for "stratified".
    weight : ndarray of shape (n_samples,), optional
        Repetitions of each row; rows of weight zero are never chosen.
    random_state : int, RandomState instance or None
        Draws the projection and the rows.

    Returns
    -------
    landmarks : ndarray of shape (n_chosen, n_features)
        Distinct, except that "stratified" may choose one row for each class.

    Examples
    --------
    >>> import numpy as np
    >>> from aucmax.features.landmarks import choose_landmarks
    >>> X = np.array([[0.0], [2.0], [0.0], [5.0]])
    >>> np.sort(choose_landmarks(X, 3, method="uniform", random_state=0), axis=0)
    array([[0.],
           [2.],
           [5.]])
    """
    if not isinstance(method, str):
        return _check_landmarks(method, X)
    rng = check_random_state(random_state)
    weight = np.ones(X.shape[0]) if weight is None else weight
    direction, start = rng.normal(size=X.shape[1]), rng.uniform()
    if is_sparse(X) and not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    if method == "stratified":
        if is_pos is None:
            raise ValueError('landmarks="stratified" needs the labels y. Pass them.')
        pos = _distinct_rows(X, np.where(is_pos, weight, 0.0), direction)
        neg = _distinct_rows(X, np.where(is_pos, 0.0, weight), direction)
        size_pos, size_neg = _share(n_landmarks, len(pos.positions), len(neg.positions))
        chosen = [_draw(pos, size_pos, start), _draw(neg, size_neg, start)]
        return _dense_rows(X, np.concatenate([part.positions for part in chosen]))
    distinct = _distinct_rows(X, weight, direction)
    if method == "uniform" or len(distinct.positions) <= n_landmarks:
        return _dense_rows(X, _draw(distinct, n_landmarks, start).positions)
    sample = _draw(distinct, max(KMEANS_ROWS, n_landmarks), start)
    return _centres(X[sample.positions], sample.mass, n_landmarks, rng)


class _Rows(NamedTuple):
    """Distinct rows in the order of their projections, and how often each is there."""

    positions: IntArray
    mass: FloatArray


def _distinct_rows(X: Matrix, weight: FloatArray, direction: FloatArray) -> _Rows:
    index = np.flatnonzero(weight > 0.0)
    hashes = _hash_rows(X)[index]
    # Beside a column of size 1e17, one of size 1 does not count in a projection.
    order = np.lexsort((hashes, _project(X, direction)[index]))
    index, hashes = index[order], hashes[order]
    is_first = np.ones(len(index), dtype=bool)
    is_first[1:] = hashes[1:] != hashes[:-1]
    group = np.cumsum(is_first) - 1
    mass = np.bincount(group, weights=weight[index]).astype(np.float64)
    return _Rows(index[is_first], mass)


def _project(X: Matrix, direction: FloatArray) -> FloatArray:
    """Return ``X @ direction`` in float64, the same to the last bit for equal rows."""
    if is_sparse(X):
        return np.asarray(X @ direction)
    projection = np.empty(X.shape[0])
    for rows in _blocks(X):
        _kernels.products.row_scores(
            np.ascontiguousarray(X[rows]), direction, projection[rows]
        )
    return projection


def _hash_rows(X: Matrix) -> NDArray[np.uint64]:
    """Return one number per row; equal rows have equal ones, other rows have not."""
    rng = np.random.default_rng(0)
    factors = rng.integers(2**64, size=X.shape[1], dtype=np.uint64)
    if is_sparse(X):
        parts = (_mix_bits(X.data), X.indices, X.indptr)
        return np.asarray(type(X)(parts, shape=X.shape) @ factors)
    return np.concatenate([_mix_bits(X[rows]) @ factors for rows in _blocks(X)])


def _mix_bits(values: NDArray[Any]) -> NDArray[np.uint64]:
    """Return a hash of each value; zero, of either sign, has zero."""
    bits = (values + 0.0).astype(np.float64).view(np.uint64)
    for factor in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53):  # of MurmurHash3
        bits ^= bits >> np.uint64(33)
        bits *= np.uint64(factor)
    return bits ^ (bits >> np.uint64(33))


def _blocks(X: Matrix) -> list[slice]:
    n = X.shape[0]
    return [slice(low, low + BLOCK_ROWS) for low in range(0, n, BLOCK_ROWS)]


def _draw(rows: _Rows, size: int, start: float) -> _Rows:
    """Draw ``size`` rows systematically, each with chance ``min(1, c * mass)``.

    The mass returned is divided by the chance: it stands for all rows.
    """
    mass = rows.mass
    if len(mass) <= size:
        return rows
    certain = np.zeros(len(mass), dtype=bool)
    chance = mass * (size / mass.sum())
    while np.any(chance[~certain] >= 1.0):
        certain |= chance >= 1.0
        left = size - np.count_nonzero(certain)
        chance = mass * (left / mass[~certain].sum())
    chance[certain] = 1.0
    marks = np.searchsorted(np.cumsum(chance), start + np.arange(size))
    drawn = np.unique(np.minimum(marks, len(mass) - 1))
    return _Rows(rows.positions[drawn], mass[drawn] / chance[drawn])


def _share(size: int, n_pos: int, n_neg: int) -> tuple[int, int]:
    """Halve, and let one class have the room that the other does not need."""
    size_pos = min(n_pos, max(size // 2, size - n_neg))
    return size_pos, min(n_neg, size - size_pos)


def _centres(
    rows: Matrix, mass: FloatArray, size: int, rng: np.random.RandomState
) -> NDArray[Any]:
    model = KMeans(
        size,
        init="random",
        n_init=1,
        max_iter=KMEANS_ITERATIONS,
        algorithm="lloyd",
        random_state=rng,
    )
    with warnings.catch_warnings():
        # Rows that differ by rounding only share a centre; we leave out the others.
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(rows, sample_weight=mass)
    centres: NDArray[Any] = model.cluster_centers_[np.unique(model.labels_)]
    return centres


def _dense_rows(X: Matrix, index: IntArray) -> NDArray[Any]:
    return np.ascontiguousarray(to_dense(X[index]))


def _check_landmarks(landmarks: ArrayLike, X: Matrix) -> NDArray[Any]:
    checked: NDArray[Any] = check_array(
        landmarks, dtype=X.dtype, order="C", copy=True, input_name="landmarks"
    )
    if checked.shape[1] != X.shape[1]:
        raise ValueError(
            f"landmarks has {checked.shape[1]} features, but X has {X.shape[1]}. Pass "
            "landmarks with one column per feature of X."
        )
    return checked
