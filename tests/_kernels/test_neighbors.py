# SPDX-License-Identifier: BSD-3-Clause
"""Corners of the compiled loops; whole searches are compared in tests/neighbors."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from neighbors.nearest_oracle import distances_to
from numpy.testing import assert_array_equal
from scipy import sparse

from aucmax._kernels.neighbors import (
    Candidates,
    CSRRows,
    centre_rows,
    collect,
    exact_distances,
    exact_distances_csr,
    prune,
    sparse_products,
)
from aucmax.neighbors.index import nearest_of


def as_rows(X):
    rows = sparse.csr_matrix(X)
    return CSRRows(rows.indptr.astype(np.int64), rows.indices, rows.data)


@pytest.mark.parametrize("n", [1, 9])
@pytest.mark.parametrize("d", [1, 50])
def test_exact_distances_are_sums_in_the_order_of_the_features(rng, n, d):
    X = rng.normal(size=(n, d)) * 10.0 ** rng.uniform(-8, 8, size=(n, d))
    X[rng.random((n, d)) < 0.4] = 0.0
    queries = np.concatenate([X[:1], rng.normal(size=(1, d))])
    queries[1, rng.random(d) < 0.4] = 0.0
    ids = np.stack([np.arange(n)[::-1], np.arange(n)])
    ids[0, 0] = -1
    expected = np.stack([distances_to(X, query) for query in queries])
    expected[0] = expected[0, ::-1]
    expected[0, 0] = np.nan
    out, out_csr = np.full((2, *ids.shape), np.nan)
    exact_distances(X, queries, ids, out)
    assert_array_equal(out, expected)
    exact_distances_csr(as_rows(X), as_rows(queries), ids, out_csr)
    assert_array_equal(out_csr, expected)


@given(
    distances=st.lists(st.sampled_from([0.0, 1.0, 2.0, np.inf]), min_size=1),
    k=st.integers(1, 12),
)
@settings(deadline=None, max_examples=100, derandomize=True)
def test_nearest_of_candidates(distances, k):
    distances = np.array(distances)
    n, k = len(distances), min(k, len(distances))
    ids = np.arange(n) * 3
    padded = np.stack([np.append(distances, np.nan), np.zeros(n + 1)])
    found = nearest_of(np.stack([np.append(ids, -1), np.arange(n + 1)]), padded, k)
    order = np.lexsort((ids, distances))
    order = order[distances[order] <= distances[order[k - 1]]]
    assert_array_equal(found.indptr, [0, len(order), len(order) + n + 1])
    assert_array_equal(found.ids[: len(order)], ids[order])
    assert_array_equal(found.distances[: len(order)], distances[order])


def test_sparse_products(rng):
    X = sparse.random(45, 9, density=0.3, format="csr", random_state=2).toarray()
    queries = rng.normal(size=(4, 9)) * (rng.random((4, 9)) < 0.6)
    out = np.empty((40, 4))
    sparse_products(as_rows(X), 5, as_rows(queries.T), out)
    np.testing.assert_allclose(out, X[5:] @ queries.T, rtol=1e-14, atol=1e-15)


def test_centred_rows():
    rows = np.array([[1.0, 3.0], [1e70, 0.0], [2.0, 1.0]])
    out, squares = np.ones((3, 2), dtype=np.float32), np.empty(3)
    centre_rows(rows, np.array([1.0, 1.0]), 1e15, out, squares)
    assert_array_equal(out, [[0.0, 2.0], [0.0, 0.0], [1.0, 0.0]])
    assert_array_equal(squares, [4.0, -np.inf, 1.0])


class TestCollect:
    def run(self, products, norms, k, *, row_slack=0.0, query_slack=0.0):
        products = np.asarray(products, dtype=np.float32)
        n, m = products.shape
        found = Candidates(
            ids=np.empty((n, m), dtype=np.int64),
            lower=np.empty((n, m), dtype=np.float32),
            counts=np.zeros(n, dtype=np.int64),
            upper=np.full((n, k), np.inf, dtype=np.float32),
            limits=np.full(n, np.inf, dtype=np.float32),
        )
        norms = np.asarray(norms, dtype=np.float32)
        slack = np.full(n, query_slack, dtype=np.float32)
        longest = collect(products, norms, 100, row_slack, slack, found)
        assert longest == found.counts.max()
        assert prune(found) == found.counts.max()
        return [
            set(row[:count] - 100)
            for row, count in zip(found.ids, found.counts, strict=True)
        ]

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
        assert self.run([[5.0, np.inf, 1.0]], [0.0, -np.inf, 0.0], 1) == [{1, 2}]

    def test_fewer_than_k(self):
        assert self.run([[3.0, 5.0]], [0.0, 0.0], 4) == [{0, 1}]
