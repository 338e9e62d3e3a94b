# SPDX-License-Identifier: BSD-3-Clause
"""Which stored rows may be near: cheap bounds that never lose one.

|x - q|^2 = |x|^2 + |q|^2 - 2 x.q in float32. How far rounding can move this is part of
the stored norms and of the limits, see ``neighbors/_blocked.py``.
"""

import numpy as np
from numpy.typing import NDArray

from aucmax._kernels.jit import jit
from aucmax._utils.typing import FloatArray, IntArray

# Rows between two looks at whether any is near; few are.
STRIDE = 64
# Sparse rows multiplied before their products are written.
TOGETHER = 16


@jit
def shrink_rows(
    rows: FloatArray,
    centre: FloatArray,
    scale: float,
    factor: float,
    largest: float,
    low_rows: NDArray[np.float32],
    squares: FloatArray,
) -> None:
    """Write ``factor * scale * (rows - centre)`` in float32, and squared lengths.

    The length is that without the factor. Rows with a value above ``largest`` become
    zeros of length minus infinity.
    """
    for i in range(rows.shape[0]):
        total = 0.0
        for j in range(rows.shape[1]):
            value = (rows[i, j] - centre[j]) * scale
            if not abs(value) <= largest:
                total = -np.inf
                break
            low = np.float32(value)
            low_rows[i, j] = np.float32(factor) * low
            total += np.float64(low) * np.float64(low)
        if total == -np.inf:
            for j in range(rows.shape[1]):
                low_rows[i, j] = np.float32(0.0)
        squares[i] = total


@jit(reorder_sums=True)
def multiply_csr(
    row_ptr: IntArray,
    row_indices: NDArray[np.int32],
    row_data: FloatArray,
    norms: NDArray[np.float32],
    first: int,
    slots: NDArray[np.int32],
    columns: FloatArray,
    list_ptr: IntArray,
    list_queries: IntArray,
    list_values: FloatArray,
    products: NDArray[np.float32],
) -> None:
    """Write the products of sparse queries with stored rows from ``first`` on.

    Sums are in float64. Rows whose norm is minus infinity get zeros.

    Parameters
    ----------
    row_ptr, row_indices, row_data : ndarray
        Stored rows.
    norms : ndarray of shape (n_rows,)
        Their norms.
    first : int
        Row of the first column of ``products``.
    slots : ndarray of shape (n_features,)
        Row of ``columns`` for each feature that many queries have; -1 where all are
        zero; -2 - s for a feature that few queries have, those in list s.
    columns : ndarray of shape (n_slots, n_queries)
        Values of the queries, times whatever the products shall be multiplied by.
    list_ptr, list_queries, list_values : ndarray
        The lists, and where each begins.
    products : ndarray of shape (n_queries, n_rows)
        Receives the products.
    """
    n, m = columns.shape[1], products.shape[1]
    # Some rows at a time: the columns of products lie 4 kB apart, where the cache can
    # keep few of them.
    sums = np.empty((TOGETHER, n))
    for low in range(0, m, TOGETHER):
        high = min(low + TOGETHER, m)
        for c in range(high - low):
            r, total = first + low + c, sums[c]
            total[:] = 0.0
            if norms[r] == -np.inf:
                continue
            for p in range(row_ptr[r], row_ptr[r + 1]):
                slot = slots[row_indices[p]]
                if slot >= 0:
                    value, column = row_data[p], columns[slot]
                    for i in range(n):
                        total[i] += value * column[i]
                elif slot < -1:
                    value = row_data[p]
                    for q in range(list_ptr[-2 - slot], list_ptr[-1 - slot]):
                        total[list_queries[q]] += value * list_values[q]
        for i in range(n):
            part = products[i, low:high]
            for c in range(high - low):
                part[c] = np.float32(sums[c, i])


@jit(reorder_sums=True)
def pick(
    products: NDArray[np.float32],
    norms: NDArray[np.float32],
    row_slack: float,
    query_slack: NDArray[np.float32],
    first: int,
    heaps: NDArray[np.float32],
    limits: NDArray[np.float32],
    ids: IntArray,
    lows: NDArray[np.float32],
    counts: IntArray,
) -> int:
    """Add the rows of a tile that may be among the nearest to the lists of the queries.

    Parameters
    ----------
    products : ndarray of shape (n_queries, n_rows)
        Minus twice the products of queries and rows. With the norm of the row it is the
        least that the distance can be.
    norms : ndarray of shape (n_rows,)
        Squared lengths, what rounding may have added deducted.
    row_slack : float
        The most that the distance can be is this share of the norm more.
    query_slack : ndarray of shape (n_queries,)
        And this, which is the same for all rows.
    first : int
        Number of the first row.
    heaps : ndarray of shape (n_queries, k)
        Per query the k smallest upper bounds without ``query_slack``, the largest on
        top; infinity where there are none yet.
    limits : ndarray of shape (n_queries,)
        Rows above it cannot be among the nearest; falls as rows come.
    ids, lows : ndarray of shape (n_queries, capacity)
        The lists: rows and lower bounds, with room for all rows of the tile.
    counts : ndarray of shape (n_queries,)
        Their lengths.

    Returns
    -------
    longest : int
        The longest list.
    """
    m, k, longest = products.shape[1], heaps.shape[1], 0
    for i in range(products.shape[0]):
        limit, at, heap = limits[i], counts[i], heaps[i]
        for low in range(0, m, STRIDE):
            part, part_norms = (
                products[i, low : low + STRIDE],
                norms[low : low + STRIDE],
            )
            # A float, so that counting keeps all lanes of the comparison: 0.15 ns a
            # row, a tenth of what one row at a time takes.
            count = np.float32(0.0)
            for j in range(part.shape[0]):
                is_near = part[j] + part_norms[j] <= limit
                count += np.float32(1.0) if is_near else np.float32(0.0)
            if count == 0.0:
                continue
            for j in range(part.shape[0]):
                bound = part[j] + part_norms[j]
                if not bound <= limit:
                    continue
                ids[i, at] = first + low + j
                lows[i, at] = bound
                at += 1
                if bound == -np.inf:
                    continue
                upper = np.float32(bound + row_slack * part_norms[j])
                if not upper < heap[0]:
                    continue
                here = 0
                while 2 * here + 1 < k:
                    child = 2 * here + 1
                    if child + 1 < k and heap[child + 1] > heap[child]:
                        child += 1
                    if heap[child] <= upper:
                        break
                    heap[here] = heap[child]
                    here = child
                heap[here] = upper
                limit = min(limit, heap[0] + query_slack[i])
        limits[i], counts[i] = limit, at
        longest = max(longest, at)
    return longest


@jit
def prune(
    ids: IntArray,
    lows: NDArray[np.float32],
    counts: IntArray,
    limits: NDArray[np.float32],
) -> int:
    """Drop the rows above the limits from the lists; return the longest list."""
    longest = 0
    for i in range(counts.shape[0]):
        n = 0
        for p in range(counts[i]):
            if lows[i, p] <= limits[i]:
                ids[i, n] = ids[i, p]
                lows[i, n] = lows[i, p]
                n += 1
        counts[i] = n
        longest = max(longest, n)
    return longest
