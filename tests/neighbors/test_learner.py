# SPDX-License-Identifier: BSD-3-Clause
"""What the learner asks of an index."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from aucmax.neighbors.index import Neighbors
from aucmax.neighbors.learner import NeighborLearner


class Spy:
    """Finds all rows at distance zero, and keeps what it was asked."""

    def __init__(self):
        self.n_rows = 0
        self.asked = []

    def insert(self, X):
        if X.shape[0] == 3:
            raise MemoryError
        self.n_rows += X.shape[0]

    def map_neighbors(self, X, k, function):
        self.asked.append(X)
        n = X.shape[0]
        ids = np.tile(np.arange(self.n_rows), n)
        indptr = np.arange(n + 1) * self.n_rows
        return [function(Neighbors(indptr, ids, np.zeros(len(ids))))]

    def memory_usage(self):
        return 1000


def make(sparse_rows=False, ties="average", k=3):
    return NeighborLearner(
        Spy(),
        sparse_rows=sparse_rows,
        k=k,
        by_distance=False,
        ties=ties,
        rng=np.random.default_rng(0),
    )


def test_queries_have_the_form_of_the_rows():
    # Unsorted, with a duplicate.
    data, indices = [0.5, 2.0, 0.5], [1, 0, 1]
    query = sparse.csr_array((data, indices, [0, 3]), shape=(1, 2))
    dense = query.toarray()
    forms = [query, query.astype(np.float32), dense, np.repeat(dense, 2, 1)[:, ::2]]
    for sparse_rows in (False, True):
        model = make(sparse_rows)
        model.learn(np.zeros((2, 2)), np.array([True, False]))
        for form in forms:
            assert model.scores(form) == [0.5]
        for asked in model.index.asked:
            assert asked.dtype == np.float64
            if sparse_rows:
                assert asked.indices.dtype == asked.indptr.dtype == np.int32
                assert_array_equal(asked.indices, [0, 1])
                asked = asked.toarray()
            assert asked.flags.c_contiguous
            assert_array_equal(asked, [[2.0, 1.0]])
    # The user's rows stay as they are.
    assert_array_equal(query.indices, [1, 0, 1])
    assert_array_equal(query.data, data)


@pytest.mark.parametrize("ties", ["average", "random", "index"])
def test_rows_that_could_not_be_stored_are_not_there(ties):
    model = make(ties=ties, k=100)
    model.learn(np.zeros((4, 2)), np.array([True, False, False, False]))
    with pytest.raises(MemoryError):
        model.learn(np.zeros((3, 2)), np.ones(3, dtype=bool))
    assert model.share_pos == 0.25
    assert model.scores(np.zeros((1, 2))) == [0.25]
    model.learn(np.zeros((4, 2)), np.array([True, True, True, True]))
    assert model.share_pos == 0.625
    assert model.scores(np.zeros((1, 2))) == [0.625]
    assert model.memory_usage() >= 1000 + 8 * (9 if ties == "random" else 1)
    assert model.is_order_free == (ties == "average")
