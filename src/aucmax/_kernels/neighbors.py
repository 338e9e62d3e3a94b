# SPDX-License-Identifier: BSD-3-Clause
"""The k nearest of candidates, and all that tie with the k-th.

Candidates of query i are ``ids[starts[i]:stops[i]]``. They come in the order of their
ids, also from call to call. Per query there is a heap of the k first by (distance, id)
and a chain of those that tie with the last of them. As ids ascend, a new tie belongs at
the end of the chain and one that drops out of the heap at its beginning: nothing is
ever sorted or searched. Chains share one pool of links, so memory follows the number of
ties there are.
"""

import numpy as np
from numpy.typing import NDArray

from aucmax._kernels.jit import jit
from aucmax._utils.typing import FloatArray, IntArray

# Features between two looks at whether a row is already too far.
STRIDE = 16


@jit
def exact_distances(
    rows: FloatArray,
    queries: FloatArray,
    starts: IntArray,
    stops: IntArray,
    ids: IntArray,
    limits: FloatArray,
    out: FloatArray,
) -> None:
    """Write squared distances by definition; some above the limit are too small.

    A sum of squares never falls, rounded or not, so it may stop above the limit.
    """
    d = rows.shape[1]
    for i in range(starts.shape[0]):
        limit, query = limits[i], queries[i]
        # Four rows at a time: one alone would wait for each of its additions.
        whole = stops[i] - (stops[i] - starts[i]) % 4
        for p in range(starts[i], whole, 4):
            first, second = rows[ids[p]], rows[ids[p + 1]]
            third, fourth = rows[ids[p + 2]], rows[ids[p + 3]]
            a = b = c = e = 0.0
            for low in range(0, d, STRIDE):
                for j in range(low, min(low + STRIDE, d)):
                    value = query[j]
                    a += (first[j] - value) ** 2
                    b += (second[j] - value) ** 2
                    c += (third[j] - value) ** 2
                    e += (fourth[j] - value) ** 2
                if min(min(a, b), min(c, e)) > limit:
                    break
            out[p], out[p + 1], out[p + 2], out[p + 3] = a, b, c, e
        for p in range(whole, stops[i]):
            first = rows[ids[p]]
            a = 0.0
            for low in range(0, d, STRIDE):
                for j in range(low, min(low + STRIDE, d)):
                    a += (first[j] - query[j]) ** 2
                if a > limit:
                    break
            out[p] = a


@jit
def exact_distances_csr(
    row_ptr: IntArray,
    row_indices: NDArray[np.int32],
    row_data: FloatArray,
    query_ptr: IntArray,
    query_indices: NDArray[np.int32],
    query_data: FloatArray,
    starts: IntArray,
    stops: IntArray,
    ids: IntArray,
    limits: FloatArray,
    out: FloatArray,
) -> None:
    """Write squared distances of sparse rows: the very sums of the dense rows.

    Features that are zero in both add nothing, and the others come in their order.
    """
    for i in range(starts.shape[0]):
        limit = limits[i]
        for p in range(starts[i], stops[i]):
            a, a_stop = row_ptr[ids[p]], row_ptr[ids[p] + 1]
            b, b_stop = query_ptr[i], query_ptr[i + 1]
            total = 0.0
            while a < a_stop and b < b_stop:
                difference = 0.0
                left, right = row_indices[a], query_indices[b]
                if left <= right:
                    difference = row_data[a]
                    a += 1
                if right <= left:
                    difference -= query_data[b]
                    b += 1
                total += difference * difference
                if total > limit:
                    break
            while a < a_stop and total <= limit:
                total += row_data[a] * row_data[a]
                a += 1
            while b < b_stop and total <= limit:
                total += query_data[b] * query_data[b]
                b += 1
            out[p] = total


@jit
def offer(
    starts: IntArray,
    stops: IntArray,
    ids: IntArray,
    distances: FloatArray,
    heap_distances: FloatArray,
    heap_ids: IntArray,
    sizes: IntArray,
    limits: FloatArray,
    n_ties: IntArray,
    heads: IntArray,
    tails: IntArray,
    pool_ids: IntArray,
    pool_next: IntArray,
    free: IntArray,
) -> None:
    """Let the nearest of each query know of more rows.

    Parameters
    ----------
    starts, stops : ndarray of shape (n_queries,)
        Where the candidates of each query are.
    ids, distances : ndarray of shape (n_candidates,)
        Their numbers, ascending for each query, and squared distances.
    heap_distances, heap_ids : ndarray of shape (n_queries, k)
        Heaps with the last by (distance, id) on top.
    sizes : ndarray of shape (n_queries,)
        Rows in each heap.
    limits : ndarray of shape (n_queries,)
        Distance of the k-th; infinity while there are fewer.
    n_ties, heads, tails : ndarray of shape (n_queries,)
        Length, first and last link of each chain of ties; -1 for none.
    pool_ids, pool_next : ndarray of shape (n_links,)
        The links, at least as many of them free as there are candidates.
    free : ndarray of shape (2,)
        The first free link, and how many there are.
    """
    k = heap_distances.shape[1]
    for i in range(starts.shape[0]):
        for p in range(starts[i], stops[i]):
            distance, new = distances[p], ids[p]
            if sizes[i] < k:
                # Up from the bottom: no id in the heap is above the new one.
                at = sizes[i]
                while at > 0 and heap_distances[i, (at - 1) // 2] <= distance:
                    parent = (at - 1) // 2
                    heap_distances[i, at] = heap_distances[i, parent]
                    heap_ids[i, at] = heap_ids[i, parent]
                    at = parent
                heap_distances[i, at] = distance
                heap_ids[i, at] = new
                sizes[i] += 1
                if sizes[i] == k:
                    limits[i] = heap_distances[i, 0]
                continue
            limit = limits[i]
            if distance > limit:
                continue
            if distance < limit:
                dropped = heap_ids[i, 0]
                # Down from the top.
                at = 0
                while 2 * at + 1 < k:
                    child = 2 * at + 1
                    if child + 1 < k and (
                        heap_distances[i, child + 1] > heap_distances[i, child]
                        or (
                            heap_distances[i, child + 1] == heap_distances[i, child]
                            and heap_ids[i, child + 1] > heap_ids[i, child]
                        )
                    ):
                        child += 1
                    if heap_distances[i, child] <= distance:
                        break
                    heap_distances[i, at] = heap_distances[i, child]
                    heap_ids[i, at] = heap_ids[i, child]
                    at = child
                heap_distances[i, at] = distance
                heap_ids[i, at] = new
                limits[i] = heap_distances[i, 0]
                if limits[i] < limit:
                    if n_ties[i] > 0:
                        pool_next[tails[i]] = free[0]
                        free[0] = heads[i]
                        free[1] += n_ties[i]
                        n_ties[i] = 0
                    continue
                link = free[0]
                free[0] = pool_next[link]
                pool_ids[link] = dropped
                pool_next[link] = heads[i] if n_ties[i] > 0 else -1
                if n_ties[i] == 0:
                    tails[i] = link
                heads[i] = link
            else:
                link = free[0]
                free[0] = pool_next[link]
                pool_ids[link] = new
                pool_next[link] = -1
                if n_ties[i] == 0:
                    heads[i] = link
                else:
                    pool_next[tails[i]] = link
                tails[i] = link
            n_ties[i] += 1
            free[1] -= 1


@jit
def emit(
    heap_distances: FloatArray,
    heap_ids: IntArray,
    sizes: IntArray,
    n_ties: IntArray,
    heads: IntArray,
    pool_ids: IntArray,
    pool_next: IntArray,
    indptr: IntArray,
    ids: IntArray,
    distances: FloatArray,
) -> None:
    """Write what was found by (distance, id); the heaps are used up."""
    for i in range(sizes.shape[0]):
        at_out = indptr[i] + sizes[i]
        if n_ties[i] > 0:
            link = heads[i]
            for p in range(at_out, at_out + n_ties[i]):
                ids[p] = pool_ids[link]
                distances[p] = heap_distances[i, 0]
                link = pool_next[link]
        for size in range(sizes[i] - 1, -1, -1):
            at_out -= 1
            ids[at_out] = heap_ids[i, 0]
            distances[at_out] = heap_distances[i, 0]
            # The last of the heap moves to the top and down from there.
            distance, moved = heap_distances[i, size], heap_ids[i, size]
            at = 0
            while 2 * at + 1 < size:
                child = 2 * at + 1
                if child + 1 < size and (
                    heap_distances[i, child + 1] > heap_distances[i, child]
                    or (
                        heap_distances[i, child + 1] == heap_distances[i, child]
                        and heap_ids[i, child + 1] > heap_ids[i, child]
                    )
                ):
                    child += 1
                if heap_distances[i, child] < distance or (
                    heap_distances[i, child] == distance and heap_ids[i, child] < moved
                ):
                    break
                heap_distances[i, at] = heap_distances[i, child]
                heap_ids[i, at] = heap_ids[i, child]
                at = child
            heap_distances[i, at] = distance
            heap_ids[i, at] = moved
