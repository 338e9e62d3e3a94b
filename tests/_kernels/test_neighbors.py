# SPDX-License-Identifier: BSD-3-Clause
"""Corners of the compiled loops; whole searches are compared in tests/neighbors."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from neighbors.nearest_oracle import distances_to
from numpy.testing import assert_array_equal
from scipy import sparse

from aucmax._kernels.neighbors import exact_distances, exact_distances_csr
from aucmax._kernels.neighbors_filter import multiply_csr, pick, prune, shrink_rows
from aucmax.neighbors._nearest import Nearest


def ints(*values):
    return np.array(values, dtype=np.int64)


class TestExactDistances:
    # With and without a rest after groups of four rows and of 16 features.
    @pytest.mark.parametrize("n", [1, 3, 4, 9])
    @pytest.mark.parametrize("d", [1, 15, 16, 50])
    def test_sum_in_the_order_of_the_features(self, rng, n, d):
        X = rng.normal(size=(n, d)) * 10.0 ** rng.uniform(-8, 8, size=(n, d))
        X[rng.random((n, d)) < 0.4] = 0.0
        queries = np.concatenate([X[:1], rng.normal(size=(1, d))])
        queries[1, rng.random(d) < 0.4] = 0.0
        ids = np.concatenate([np.arange(n)[::-1], np.arange(n)])
        place = (ints(0, n), ints(n, 2 * n), ids, np.full(2, np.inf))
        out, out_csr = np.empty((2, 2 * n))
        exact_distances(X, queries, *place, out)
        expected = [distances_to(X, query) for query in queries]
        assert_array_equal(out, np.concatenate([expected[0][::-1], expected[1]]))

        rows, asked = sparse.csr_matrix(X), sparse.csr_matrix(queries)
        exact_distances_csr(
            rows.indptr.astype(np.int64),
            rows.indices,
            rows.data,
            asked.indptr.astype(np.int64),
            asked.indices,
            asked.data,
            *place,
            out_csr,
        )
        assert_array_equal(out_csr, out)

    def test_above_the_limit_it_may_stop(self, rng):
        X = rng.normal(size=(30, 40))
        query = rng.normal(size=(1, 40))
        expected = distances_to(X, query[0])
        limit = np.sort(expected)[5:6]
        out = np.empty(30)
        exact_distances(X, query, ints(0), ints(30), np.arange(30), limit, out)
        assert_array_equal(out <= limit, expected <= limit)
        assert_array_equal(out[out <= limit], expected[expected <= limit])


@given(
    distances=st.lists(st.integers(0, 4), min_size=1, max_size=40),
    k=st.integers(1, 12),
    cut=st.integers(0, 40),
)
@settings(deadline=None, max_examples=200, derandomize=True)
def test_heap_and_ties(distances, k, cut):
    distances = np.array(distances, dtype=float)
    n = len(distances)
    k, cut = min(k, n), min(cut, n)
    ids = np.arange(n) * 3
    # The second query is offered nothing but the first row, and starts again.
    nearest = Nearest(2, k)
    first = (np.append(ids[:cut], 0), np.append(distances[:cut], 7.0))
    nearest.offer(ints(0, cut), ints(cut, cut + 1), *first)
    nearest.restart(ints(1))
    nearest.offer(ints(cut, 0), ints(n, 0), ids, distances)
    found = nearest.finish()
    order = np.lexsort((ids, distances))
    order = order[distances[order] <= distances[order[k - 1]]]
    assert_array_equal(found.indptr, [0, len(order), len(order)])
    assert_array_equal(found.ids, ids[order])
    assert_array_equal(found.distances, distances[order])


def test_multiply_csr(rng):
    X = sparse.random(45, 9, density=0.3, format="csr", random_state=2)
    queries = rng.normal(size=(4, 9))
    queries[:, 3] = 0.0
    queries[1:, 5] = 0.0
    slots = np.array([0, 1, 2, -1, 3, -2, 4, 5, 6], dtype=np.int32)
    columns = np.ascontiguousarray(queries[:, slots >= 0].T)
    lists = (ints(0, 1), ints(0), queries[:1, 5].copy())
    norms = np.ones(45, dtype=np.float32)
    norms[20] = -np.inf
    out = np.empty((4, 40), dtype=np.float32)
    indptr = X.indptr.astype(np.int64)
    multiply_csr(indptr, X.indices, X.data, norms, 5, slots, columns, *lists, out)
    expected = queries @ X.toarray()[5:].T
    expected[:, 15] = 0.0
    np.testing.assert_allclose(out, expected, rtol=1e-6, atol=1e-7)


def test_shrunk_rows():
    rows = np.array([[1.0, 3.0], [1e20, 0.0], [2.0, 1.0]])
    low, squares = np.ones((3, 2), dtype=np.float32), np.empty(3)
    shrink_rows(rows, np.array([1.0, 1.0]), 4.0, -2.0, 1e15, low, squares)
    assert_array_equal(low, [[0.0, -16.0], [0.0, 0.0], [-8.0, 0.0]])
    assert_array_equal(squares, [64.0, -np.inf, 16.0])


class TestPick:
    def run(self, products, norms, k, *, row_slack=0.0, query_slack=0.0):
        products = np.asarray(products, dtype=np.float32)
        n, m = products.shape
        heaps = np.full((n, k), np.inf, dtype=np.float32)
        limits = np.full(n, np.inf, dtype=np.float32)
        ids, lows = np.empty((n, m), np.int64), np.empty((n, m), np.float32)
        counts = np.zeros(n, dtype=np.int64)
        slack = np.full(n, query_slack, dtype=np.float32)
        longest = pick(
            products,
            np.asarray(norms, dtype=np.float32),
            row_slack,
            slack,
            100,
            heaps,
            limits,
            ids,
            lows,
            counts,
        )
        assert longest == counts.max()
        assert prune(ids, lows, counts, limits) == counts.max()
        return [set(row[:count] - 100) for row, count in zip(ids, counts, strict=True)]

    @pytest.mark.parametrize("k", [1, 5, 64])
    def test_the_smallest_and_ties(self, rng, k):
        products = rng.integers(-50, 50, size=(3, 150))
        norms = rng.integers(0, 50, size=150)
        for row, found in zip(products, self.run(products, norms, k), strict=True):
            bounds = row + norms
            expected = np.flatnonzero(bounds <= np.sort(bounds)[k - 1])
            assert found == set(expected)

    def test_slack(self):
        products, norms = [[0.0, 0.0, 0.0, 0.0]], [8.0, 10.0, 11.0, 12.5]
        assert self.run(products, norms, 1) == [{0}]
        assert self.run(products, norms, 1, row_slack=0.25) == [{0, 1}]
        assert self.run(products, norms, 1, row_slack=0.25, query_slack=1.0) == [
            {0, 1, 2}
        ]

    def test_rows_without_bounds_are_always_near(self):
        assert self.run([[0.0, 5.0, 1.0]], [-np.inf, 0.0, 0.0], 1) == [{0, 2}]

    def test_fewer_than_k(self):
        assert self.run([[3.0, 5.0]], [0.0, 0.0], 4) == [{0, 1}]
