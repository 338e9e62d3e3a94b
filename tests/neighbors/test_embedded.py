# SPDX-License-Identifier: BSD-3-Clause
"""Rows seen through a map that is learned while they come."""

import copy
import pickle

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.base import BaseEstimator

from aucmax.neighbors.auto import make_index
from aucmax.neighbors.embedded import EmbeddedIndex
from aucmax.neighbors.rows import density


class Widest(BaseEstimator):
    """Keeps the features with the largest squares so far, in falling order."""

    def __init__(self, n_components=2, sparse_output=False):
        self.n_components = n_components
        self.sparse_output = sparse_output

    def partial_fit(self, X, y=None):
        X = X.toarray() if sparse.issparse(X) else X
        squares = (X**2).sum(axis=0)
        self.squares_ = getattr(self, "squares_", 0) + squares
        self.n_calls_ = getattr(self, "n_calls_", 0) + 1
        return self

    def transform(self, X):
        kept = np.argsort(-self.squares_, kind="stable")[: self.n_components]
        out = X.toarray()[:, kept] if sparse.issparse(X) else X[:, kept]
        return sparse.csr_matrix(out) if self.sparse_output else out


def draw(rng, n, d=4):
    """Rows whose widest features change in the course of time."""
    X = rng.integers(-2, 3, (n, d)).astype(float)
    return X * (1 + np.arange(n)[:, None] * [0.0, 0.02, 0.1, 0.001])


def filled(X, size, mapping=None):
    plain = make_index(X.shape[1], backend="brute", density=density(X))
    index = EmbeddedIndex(mapping or Widest(), plain, "brute")
    for low in range(0, X.shape[0], size):
        index.insert(X[low : low + size])
    return index


def assert_same(first, second):
    for one, other in zip(first, second, strict=True):
        assert_array_equal(one, other)


@pytest.mark.parametrize("n", [10, 63, 64, 127, 128, 300])
@pytest.mark.parametrize("sparse_output", [False, True])
def test_all_rows_are_under_the_same_map(n, sparse_output, rng):
    X, queries = draw(rng, n), draw(rng, 12)
    index = filled(X, 17, Widest(sparse_output=sparse_output))
    assert index.n_rows == n
    rows = X
    n_mapped = 0 if n < 64 else 64 * 2 ** int(np.log2(n / 64))
    if n_mapped:
        mapping = Widest().partial_fit(X[:n_mapped])
        rows, queries_seen = mapping.transform(X), mapping.transform(queries)
    else:
        queries_seen = queries
    plain = make_index(rows.shape[1], backend="brute")
    plain.insert(rows)
    assert_same(index.query(queries, 5), plain.query(queries_seen, 5))


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_splits_of_the_rows_do_not_matter(form, rng):
    X, queries = draw(rng, 300), draw(rng, 12)
    X, queries = form(X), form(queries)
    whole = filled(X, 300)
    # 64, 128 and 256 rows: one call each, however the rows come.
    assert whole.mapping.n_calls_ == 3
    for size in (1, 7, 64):
        assert_same(filled(X, size).query(queries, 5), whole.query(queries, 5))


def test_copies_go_on_alike_and_apart(rng):
    X, queries = draw(rng, 200), draw(rng, 12)
    index = filled(X[:100], 30)
    before = index.query(queries, 5)
    for copied in (copy.deepcopy, lambda index: pickle.loads(pickle.dumps(index))):
        twin = copied(index)
        twin.insert(X[100:])
        assert_same(index.query(queries, 5), before)
        assert_same(twin.query(queries, 5), filled(X, 200).query(queries, 5))


def test_rows_given_may_change_later(rng):
    X, queries = draw(rng, 200), draw(rng, 12)
    expected = filled(X, 50).query(queries, 5)
    index = filled(X[:0], 50)
    for low in range(0, 200, 50):
        part = X[low : low + 50].copy()
        index.insert(part)
        part[:] = 1e9
    assert_same(index.query(queries, 5), expected)


def test_memory(rng):
    X = draw(rng, 100)
    assert filled(X, 30).memory_usage() >= X.nbytes + 100 * 2 * 8
    rows = sparse.csr_matrix(X)
    assert filled(rows, 100).memory_usage() > rows.data.nbytes + 100 * 2 * 8


class Broken(Widest):
    def transform(self, X):
        return super().transform(X) * (np.nan if self.n_calls_ > 1 else 1.0)


def test_an_error_in_the_map_changes_nothing(rng):
    X, queries = draw(rng, 200), draw(rng, 12)
    index = filled(X[:100], 100, Broken())
    before = index.query(queries, 5)
    with pytest.raises(ValueError, match=r"Broken\.transform returned NaN"):
        index.insert(X[100:128])
    assert index.n_rows == 100
    assert_same(index.query(queries, 5), before)
