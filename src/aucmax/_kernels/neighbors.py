# SPDX-License-Identifier: BSD-3-Clause
"""Nearest neighbours: candidates by bounds in float32, then exact distances.

|x - q|^2 = |x|^2 + |q|^2 - 2 x.q in float32. How far rounding can move this is part of
the stored norms and of the slacks, see ``neighbors/brute.py``.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from aucmax._kernels.jit import jit
from aucmax._utils.typing import FloatArray, IntArray


class CSRRows(NamedTuple):
    """Sparse rows: row i has ``data[indptr[i]:indptr[i + 1]]`` at ``indices``."""

    indptr: IntArray
    indices: NDArray[np.int32]
    data: FloatArray


class Candidates(NamedTuple):
    """Rows that may be among the k nearest of each query.

    Attributes
    ----------
    ids, lower : ndarray of shape (n_queries, capacity)
        The rows, ascending, and lower bounds of their distances, less a constant.
    counts : ndarray of shape (n_queries,)
        How many there are.
    upper : ndarray of shape (n_queries, k)
        A heap of the k smallest upper bounds, the largest on top; infinity where there
        are none yet.
    limits : ndarray of shape (n_queries,)
        Rows whose lower bound is above cannot be among the k nearest.
    """

    ids: IntArray
    lower: NDArray[np.float32]
    counts: IntArray
    upper: NDArray[np.float32]
    limits: NDArray[np.float32]


@jit
def centre_rows(
    rows: FloatArray,
    centre: FloatArray,
    largest: float,
    out: NDArray[np.float32],
    squares: FloatArray,
) -> None:
    """Write the rows less the centre, in float32, and their squared lengths.

    Rows longer than ``largest`` become zeros of length minus infinity.
    """
    for i in range(rows.shape[0]):
        squares[i] = 0.0
        for j in range(rows.shape[1]):
            difference = rows[i, j] - centre[j]
            out[i, j] = difference
            squares[i] += difference * difference
        if squares[i] > largest * largest:
            out[i] = 0.0
            squares[i] = -np.inf


@jit
def sparse_products(
    rows: CSRRows, first: int, queries: CSRRows, out: FloatArray
) -> None:
    """Write the products of the stored rows from ``first`` on with all queries.

    ``queries`` are transposed, so that its rows are features.
    """
    out[:] = 0.0
    for i in range(out.shape[0]):
        for p in range(rows.indptr[first + i], rows.indptr[first + i + 1]):
            feature, value = rows.indices[p], rows.data[p]
            for q in range(queries.indptr[feature], queries.indptr[feature + 1]):
                out[i, queries.indices[q]] += value * queries.data[q]


@jit
def collect(
    products: NDArray[np.float32],
    norms: NDArray[np.float32],
    first: int,
    row_slack: float,
    query_slack: NDArray[np.float32],
    candidates: Candidates,
) -> int:
    """Add the rows of a tile that may be among the nearest to the candidates.

    ``products`` of queries and rows, which are numbered from ``first`` on, are times
    minus two. With the norm of the row, less what rounding may have added, they are the
    lower bound. The upper bound is ``row_slack`` of the norm and the ``query_slack``
    more. Rows whose norm is minus infinity always are candidates.

    Returns the largest number of candidates of a query.
    """
    for i in range(products.shape[0]):
        for j in range(products.shape[1]):
            lower = products[i, j] + norms[j]
            if lower > candidates.limits[i]:
                continue
            at = candidates.counts[i]
            candidates.ids[i, at] = first + j
            candidates.lower[i, at] = lower
            candidates.counts[i] += 1
            upper = np.float32(lower + row_slack * norms[j])
            if lower > -np.inf and upper < candidates.upper[i, 0]:
                replace_largest(candidates.upper[i], upper)
                limit = candidates.upper[i, 0] + query_slack[i]
                candidates.limits[i] = min(candidates.limits[i], limit)
    return int(candidates.counts.max())


@jit
def replace_largest(heap: NDArray[np.float32], value: np.float32) -> None:
    """Put a smaller value in the place of the largest, which is on top of the heap."""
    at, size = 0, heap.shape[0]
    while 2 * at + 1 < size:
        child = 2 * at + 1
        if child + 1 < size and heap[child + 1] > heap[child]:
            child += 1
        if heap[child] <= value:
            break
        heap[at] = heap[child]
        at = child
    heap[at] = value


@jit
def prune(candidates: Candidates) -> int:
    """Drop candidates above the limits; return the largest number that is left."""
    for i in range(candidates.counts.shape[0]):
        n = 0
        for p in range(candidates.counts[i]):
            if not candidates.lower[i, p] > candidates.limits[i]:
                candidates.ids[i, n] = candidates.ids[i, p]
                candidates.lower[i, n] = candidates.lower[i, p]
                n += 1
        candidates.counts[i] = n
    return int(candidates.counts.max())


@jit
def exact_distances(
    rows: FloatArray, queries: FloatArray, ids: IntArray, out: FloatArray
) -> None:
    """Write squared distances by definition: sums in the order of the features.

    The candidates of query i are ``ids[i]``; negative ones are left out.
    """
    for i in range(ids.shape[0]):
        for p in range(ids.shape[1]):
            if ids[i, p] < 0:
                continue
            row, total = rows[ids[i, p]], 0.0
            for j in range(rows.shape[1]):
                total += (row[j] - queries[i, j]) ** 2
            out[i, p] = total


@jit
def exact_distances_csr(
    rows: CSRRows, queries: CSRRows, ids: IntArray, out: FloatArray
) -> None:
    """Write squared distances of sparse rows: the very sums of the dense rows."""
    for i in range(ids.shape[0]):
        for p in range(ids.shape[1]):
            if ids[i, p] >= 0:
                out[i, p] = squared_distance_csr(rows, ids[i, p], queries, i)


@jit
def squared_distance_csr(rows: CSRRows, r: int, queries: CSRRows, q: int) -> float:
    """Return the sum of squared differences in the order of the features.

    Features that are zero in both rows add nothing.
    """
    a, a_stop = rows.indptr[r], rows.indptr[r + 1]
    b, b_stop = queries.indptr[q], queries.indptr[q + 1]
    total = 0.0
    while a < a_stop or b < b_stop:
        difference = 0.0
        is_left = b == b_stop or (a < a_stop and rows.indices[a] <= queries.indices[b])
        is_right = a == a_stop or (b < b_stop and queries.indices[b] <= rows.indices[a])
        if is_left:
            difference = rows.data[a]
            a += 1
        if is_right:
            difference -= queries.data[b]
            b += 1
        total += difference * difference
    return total
