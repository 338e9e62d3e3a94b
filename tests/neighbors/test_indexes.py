# SPDX-License-Identifier: BSD-3-Clause
import copy
import pickle
import tracemalloc

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule
from neighbors.nearest_oracle import assert_same, nearest
from scipy import sparse

from aucmax.neighbors import auto, brute, trees
from aucmax.neighbors import index as index_module
from aucmax.neighbors.brute import DenseBruteIndex, SparseBruteIndex
from aucmax.neighbors.trees import TreeIndex

EXACT = [("brute", False), ("brute", True), ("tree", False), ("tree", True)]


@pytest.fixture
def small_blocks(monkeypatch):
    """Blocks so small that a few rows make many of them."""
    monkeypatch.setattr(index_module, "BLOCK_QUERIES", 3)
    monkeypatch.setattr(brute, "TILE_SIZE", 24)
    monkeypatch.setattr(brute, "MAX_CANDIDATES", 60)
    monkeypatch.setattr(trees, "SMALLEST_TREE", 8)
    monkeypatch.setattr(trees, "MAX_CANDIDATES", 60)


def make_index(d, *, backend, sparse_rows):
    return auto.make_index(d, backend=backend, density=0.1 if sparse_rows else None)


def as_form(X, sparse_rows):
    return sparse.csr_matrix(X) if sparse_rows else X


def draw_rows(rng, kind, n, d):
    """Rows with and without ties."""
    if kind == "normal":
        return rng.normal(size=(n, d)) + 3.0
    if kind == "integers":
        return rng.integers(-1, 2, size=(n, d)).astype(float)
    if kind == "constant":
        return np.full((n, d), 0.1)
    if kind == "sparse":
        return rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.15)
    # From rows that are nothing beside others to rows that float32 cannot hold.
    return rng.normal(size=(n, d)) * 10.0 ** rng.uniform(-200, 69, size=(n, 1))


KINDS = ["normal", "integers", "constant", "sparse", "scales"]


class Interleaved(RuleBasedStateMachine):
    """Rows and queries in any order, all indexes side by side."""

    @initialize(d=st.integers(1, 20), seed=st.integers(0, 2**32 - 1))
    def start(self, d, seed):
        self.rng = np.random.default_rng(seed)
        self.d = d
        self.rows = np.empty((0, d))
        self.indexes = [
            (make_index(d, backend=name, sparse_rows=form), form)
            for name, form in EXACT
        ]

    @rule(kind=st.sampled_from(KINDS), n=st.integers(0, 40))
    def insert(self, kind, n):
        self.insert_rows(draw_rows(self.rng, kind, n, self.d))

    @rule(n=st.integers(1, 20))
    def insert_again(self, n):
        if len(self.rows):
            self.insert_rows(self.rows[self.rng.integers(0, len(self.rows), n)])

    def insert_rows(self, X):
        self.rows = np.concatenate([self.rows, X])
        for index, form in self.indexes:
            index.insert(as_form(X, form))
            assert index.n_rows == len(self.rows)

    @rule(
        kind=st.sampled_from([*KINDS, "stored", "moved"]),
        n=st.integers(0, 9),
        k=st.integers(1, 60),
    )
    def query(self, kind, n, k):
        if kind in ("stored", "moved"):
            n = min(n, len(self.rows))
            X = self.rows[self.rng.integers(0, max(1, len(self.rows)), n)]
            X = X + (0.5 if kind == "moved" else 0.0)
        else:
            X = draw_rows(self.rng, kind, n, self.d)
        expected = nearest(self.rows, X, k)
        for index, form in self.indexes:
            assert_same(index.query(as_form(X, form), k), expected)

    @rule()
    def copy(self):
        self.indexes = [
            (pickle.loads(pickle.dumps(index)), form) for index, form in self.indexes
        ]


@pytest.mark.usefixtures("small_blocks")
class TestInterleaved(Interleaved.TestCase):
    settings = settings(
        max_examples=25, stateful_step_count=12, deadline=None, derandomize=True
    )


@pytest.mark.parametrize(("backend", "sparse_rows"), EXACT)
class TestExact:
    @pytest.mark.parametrize("kind", KINDS)
    def test_blocks_of_full_size(self, rng, backend, sparse_rows, kind):
        X = draw_rows(rng, kind, 2600, 7)
        queries = np.concatenate([X[::20], draw_rows(rng, kind, 140, 7)])
        index = make_index(7, backend=backend, sparse_rows=sparse_rows)
        index.insert(as_form(X, sparse_rows))
        found = index.query(as_form(queries, sparse_rows), 23)
        assert_same(found, nearest(X, queries, 23))

    def test_differences_that_float32_cannot_hold(self, rng, backend, sparse_rows):
        # All rows but a few are within rounding of each other, far from zero and mean.
        X = 1e4 + 1e-7 * rng.normal(size=(1500, 3))
        X[::100] = 0.0
        queries = X[:200] + 1e-8
        index = make_index(3, backend=backend, sparse_rows=sparse_rows)
        index.insert(as_form(X, sparse_rows))
        found = index.query(as_form(queries, sparse_rows), 9)
        assert_same(found, nearest(X, queries, 9))

    def test_squares_below_the_smallest_number(self, rng, backend, sparse_rows):
        X = 1e-162 * rng.normal(size=(1100, 2))
        index = make_index(2, backend=backend, sparse_rows=sparse_rows)
        index.insert(as_form(X, sparse_rows))
        found = index.query(as_form(X[:20], sparse_rows), 5)
        assert_same(found, nearest(X, X[:20], 5))

    def test_nothing_stored(self, backend, sparse_rows):
        index = make_index(3, backend=backend, sparse_rows=sparse_rows)
        queries = as_form(np.ones((4, 3)), sparse_rows)
        for _ in range(2):
            found = index.query(queries, 2)
            assert_same(
                found,
                nearest(np.empty((0, 3)), np.empty((0, 3)), 2)._replace(
                    indptr=np.zeros(5, dtype=np.int64)
                ),
            )
            index.insert(queries[:0])
        assert index.n_rows == 0
        index.insert(queries)
        assert index.query(queries[:0], 1).indptr.tolist() == [0]

    def test_inserts_in_parts(self, rng, small_blocks, backend, sparse_rows):
        X = draw_rows(rng, "integers", 90, 3)
        queries = as_form(X[:40], sparse_rows)
        for size in (1, 7, 90):
            index = make_index(3, backend=backend, sparse_rows=sparse_rows)
            for low in range(0, 90, size):
                index.insert(as_form(X[low : low + size], sparse_rows))
            assert_same(index.query(queries, 6), nearest(X, X[:40], 6))

    def test_threads(self, rng, monkeypatch, backend, sparse_rows):
        X = draw_rows(rng, "integers", 1300, 5)
        index = make_index(5, backend=backend, sparse_rows=sparse_rows)
        index.insert(as_form(X, sparse_rows))
        queries = as_form(X[:301], sparse_rows)
        expected = nearest(X, X[:301], 4)
        for threads in (1, 2, 3):
            monkeypatch.setattr(
                index_module, "n_threads", lambda threads=threads: threads
            )
            assert_same(index.query(queries, 4), expected)

    def test_copies_go_their_own_way(self, rng, backend, sparse_rows):
        X = rng.normal(size=(2100, 4))
        index = make_index(4, backend=backend, sparse_rows=sparse_rows)
        index.insert(as_form(X, sparse_rows))
        copies = [copy.deepcopy(index), pickle.loads(pickle.dumps(index))]
        index.insert(as_form(X[:500], sparse_rows))
        rows = np.concatenate([X, X[1000:]])
        for other in copies:
            other.insert(as_form(X[1000:], sparse_rows))
            found = other.query(as_form(X[:9], sparse_rows), 3)
            assert_same(found, nearest(rows, X[:9], 3))

    def test_rows_are_copied(self, rng, backend, sparse_rows):
        X = rng.normal(size=(50, 3))
        given = as_form(X.copy(), sparse_rows)
        index = make_index(3, backend=backend, sparse_rows=sparse_rows)
        index.insert(given)
        if sparse_rows:
            given.data[:] = 0.0
        else:
            given[:] = 0.0
        found = index.query(as_form(X, sparse_rows), 1)
        assert found.ids.tolist() == list(range(50))

    def test_float32(self, rng, backend, sparse_rows):
        X = rng.normal(size=(400, 6)).astype(np.float32)
        index = make_index(6, backend=backend, sparse_rows=sparse_rows)
        index.insert(as_form(X, sparse_rows))
        found = index.query(as_form(X[:50], sparse_rows), 5)
        assert_same(found, nearest(X.astype(float), X[:50].astype(float), 5))

    def test_ties_take_no_more_memory_than_there_are(self, backend, sparse_rows):
        X = np.full((10_000, 3), 0.1)
        index = make_index(3, backend=backend, sparse_rows=sparse_rows)
        index.insert(as_form(X, sparse_rows))
        queries = as_form(X[:60] + 1.0, sparse_rows)
        index.query(queries[:1], 2)
        tracemalloc.start()
        found = index.query(queries, 2)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert len(found.ids) == 600_000
        assert np.array_equal(found.ids, np.tile(np.arange(10_000), 60))
        assert peak < 6 * (found.ids.nbytes + found.distances.nbytes)

    def test_bad_arguments(self, backend, sparse_rows):
        index = make_index(3, backend=backend, sparse_rows=sparse_rows)
        index.insert(as_form(np.eye(3), sparse_rows))
        with pytest.raises(ValueError, match="k must be at least 1, got 0"):
            index.query(as_form(np.eye(3), sparse_rows), 0)
        with pytest.raises(ValueError, match=r"3 features, but got .* \(2, 4\)"):
            index.query(as_form(np.ones((2, 4)), sparse_rows), 1)
        with pytest.raises(ValueError, match=r"3 features, but got .* \(2, 4\)"):
            index.insert(as_form(np.ones((2, 4)), sparse_rows))
        assert index.n_rows == 3

    def test_memory_usage(self, backend, sparse_rows):
        index = make_index(10, backend=backend, sparse_rows=sparse_rows)
        index.insert(as_form(np.ones((1000, 10)), sparse_rows))
        assert 8 * 10_000 <= index.memory_usage() < 30 * 10_000
        index.insert(as_form(np.ones((3000, 10)), sparse_rows))
        assert 4 * 8 * 10_000 <= index.memory_usage() < 4 * 30 * 10_000


def test_many_sparse_features(rng):
    shape, entries = (700, 62_061), rng.integers(0, 700 * 62_061, size=5000)
    values = rng.integers(1, 4, size=5000).astype(float)
    X = sparse.csr_matrix((values, np.unravel_index(entries, shape)), shape=shape)
    queries = sparse.vstack([X[:20], sparse.csr_matrix((1, 62_061))], "csr")
    index = make_index(62_061, backend="auto", sparse_rows=True)
    index.insert(X)
    assert index.memory_usage() < 2 * 12 * X.nnz
    # Features that are zero in all rows add nothing.
    used = np.unique(X.indices)
    expected = nearest(X[:, used].toarray(), queries[:, used].toarray(), 7)
    assert_same(index.query(queries, 7), expected)


@pytest.mark.parametrize("kind", [DenseBruteIndex, SparseBruteIndex])
def test_products_that_float32_loses(rng, kind):
    # Beside rows of length one, squares from 1e-48 to 1e-36, where float32 has few
    # digits or none.
    long = rng.normal(size=(300, 3))
    short = 10.0 ** rng.uniform(-24, -18, size=(300, 1)) * rng.normal(size=(300, 3))
    X = np.concatenate([long, short])
    index = kind(3)
    index.insert(as_form(X, kind is SparseBruteIndex))
    queries = short[:60] * 1.01
    found = index.query(as_form(queries, kind is SparseBruteIndex), 5)
    assert_same(found, nearest(X, queries, 5))


def test_margin_grows_with_the_features():
    # Rounding in a product of d terms is bounded by d units, whatever their order.
    assert DenseBruteIndex(1000)._margin >= 1009 * 2.0**-24
    assert SparseBruteIndex(1000)._margin >= 10 * 2.0**-24


def test_indices_of_any_kind(rng):
    X = draw_rows(rng, "sparse", 60, 8)
    index = make_index(8, backend="brute", sparse_rows=True)
    rows = sparse.csc_array(X)
    index.insert(rows)
    queries = sparse.csr_matrix(X)
    queries.indices = queries.indices.astype(np.int64)
    queries.indptr = queries.indptr.astype(np.int64)
    index.insert(queries)
    twice = sparse.csr_matrix(
        (
            np.repeat(queries.data / 2, 2),
            np.repeat(queries.indices, 2),
            queries.indptr * 2,
        ),
        shape=queries.shape,
    )
    expected = nearest(np.concatenate([X, X]), X, 5)
    for form in (queries, twice, rows, X):
        assert_same(index.query(form, 5), expected)


class TestTrees:
    def test_trees_are_the_digits_of_the_number_of_rows(self, rng, small_blocks):
        index = TreeIndex(2)
        for n in range(1, 90):
            index.insert(rng.normal(size=(1, 2)))
            sizes = [part.stop - part.start for part in index._trees]
            assert sizes == [8 << i for i in (3, 2, 1, 0) if n // 8 >> i & 1]
            assert [part.start for part in index._trees] == [
                sum(sizes[:i]) for i in range(len(sizes))
            ]

    def test_trees_that_stay_are_not_built_again(self, rng, small_blocks):
        index = TreeIndex(2)
        index.insert(rng.normal(size=(64, 2)))
        tree = index._trees[0].tree
        for _ in range(60):
            index.insert(rng.normal(size=(1, 2)))
        assert index._trees[0].tree is tree
        assert len(index._trees) == 4


@pytest.mark.parametrize(
    ("d", "density", "kind"),
    [
        (2, None, TreeIndex),
        (10, None, DenseBruteIndex),
        (2, 0.9, TreeIndex),
        (100, 0.5, DenseBruteIndex),
        (100, 0.05, SparseBruteIndex),
    ],
)
def test_automatic_choice(d, density, kind):
    assert type(auto.make_index(d, density=density)) is kind


def test_more_candidates_than_fit(rng, small_blocks):
    # Each row is nearer than those before: all are candidates for a while.
    X = np.linspace(9.0, 0.0, 400)[:, None] * np.ones(5)
    for sparse_rows in (False, True):
        index = make_index(5, backend="brute", sparse_rows=sparse_rows)
        index.insert(as_form(X, sparse_rows))
        queries = np.zeros((7, 5))
        assert_same(
            index.query(as_form(queries, sparse_rows), 6), nearest(X, queries, 6)
        )
