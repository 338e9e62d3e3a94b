# SPDX-License-Identifier: BSD-3-Clause
import copy
import pickle
import sys

import numpy as np
import pytest
from neighbors.nearest_oracle import assert_same, nearest
from scipy import sparse

from aucmax.neighbors.auto import make_index


def test_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "usearch", None)
    monkeypatch.delitem(sys.modules, "usearch.index", raising=False)
    with pytest.raises(ImportError, match=r"usearch .* pip install \"aucmax\[ann\]\""):
        make_index(2, backend="approximate")


@pytest.fixture
def index():
    return make_index(4, backend="approximate")


def test_finds_most(rng, index):
    X = rng.normal(size=(2000, 4))
    index.insert(X)
    assert index.n_rows == 2000
    assert index.recall(X[:100], 10) > 0.95
    found, exact = index.query(X[:100], 10), nearest(X, X[:100], 10)
    shared = set(zip(np.repeat(np.arange(100), 10), found.ids, strict=True)) & set(
        zip(np.repeat(np.arange(100), 10), exact.ids, strict=True)
    )
    assert len(shared) == round(index.recall(X[:100], 10) * 1000)
    assert index.memory_usage() > X.nbytes


def test_few_rows_are_all_found(rng, index):
    X = rng.integers(0, 3, size=(50, 4)).astype(float)
    assert index.query(X, 3).indptr.tolist() == [0] * 51
    index.insert(X[:0])
    index.insert(X)
    for k in (1, 7, 60):
        assert_same(index.query(X, k), nearest(X, X, k))
    assert_same(index.query(sparse.csr_matrix(X), 7), nearest(X, X, 7))


def test_parts_and_copies(rng, index):
    X = rng.normal(size=(1500, 4))
    parts = make_index(4, backend="approximate", density=0.5)
    index.insert(X)
    parts.insert(X[:1])
    for low in range(1, 1500, 90):
        parts.insert(X[low : low + 90])
    expected = index.query(X[:50], 5)
    for other in (copy.deepcopy(index), pickle.loads(pickle.dumps(index))):
        assert_same(other.query(X[:50], 5), expected)
        other.insert(X[:10])
        assert other.n_rows == 1510
    assert_same(parts.query(X[:50], 5), expected)


def test_equal_rows(index):
    X = np.ones((3000, 4))
    index.insert(X)
    found = index.query(X[:5] + 1e-3, 4)
    assert np.all(np.diff(found.indptr) >= 4)
    assert len(set(found.distances)) == 1
