# SPDX-License-Identifier: BSD-3-Clause
"""Mapped rows behave like the matrix they stand for, whatever the budget."""

from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from aucmax.design import MappedDesign, mixed_design
from aucmax.design.mapped import BLOCK_ROWS

N, D, V = 2 * BLOCK_ROWS + 77, 5, 24


def make(rng, *, rank, dtype="float64", memory_budget=2**40, container=np.asarray):
    X = rng.normal(size=(N, D))
    landmarks = rng.normal(size=(V, D))

    def row_map(rows, out=None):
        dense = rows.toarray() if sparse.issparse(rows) else rows
        values = np.cos(dense @ landmarks.T).astype(dtype)
        if out is None:
            return values
        out[...] = values
        return out

    mixing = None if rank is None else rng.normal(size=(V, rank))
    mapped = np.cos(X @ landmarks.T)
    expected = mapped if mixing is None else mapped @ mixing
    make_mapped = partial(
        MappedDesign, container(X), dtype=dtype, memory_budget=memory_budget
    )
    if mixing is None:
        return make_mapped(row_map, V), expected
    return mixed_design(make_mapped, row_map, mixing, dtype=dtype), expected


def cache_of(design):
    return getattr(design, "design", design).cache


@pytest.mark.parametrize("rank", [None, 5, 20], ids=["plain", "short", "long"])
@pytest.mark.parametrize("budget", [0, BLOCK_ROWS * V * 8, 2**40])
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
class TestAgainstTheMatrix:
    def test_products(self, rank, budget, container, rng):
        design, expected = make(
            rng, rank=rank, memory_budget=budget, container=container
        )
        assert design.shape == expected.shape
        coef, vector = rng.normal(size=expected.shape[1]), rng.normal(size=N)
        assert_allclose(design.scores(coef), expected @ coef, atol=1e-11)
        assert_allclose(design.adjoint(vector), expected.T @ vector, atol=1e-10)
        out = np.empty(N)
        assert design.scores(coef, out=out) is out

    def test_rows(self, rank, budget, container, rng):
        design, expected = make(
            rng, rank=rank, memory_budget=budget, container=container
        )
        index = rng.permutation(N)[: BLOCK_ROWS + 9]
        assert_allclose(design.rows(index), expected[index], atol=1e-11)
        columns = np.array([3, 1])
        assert_allclose(
            design.rows(index, columns), expected[index][:, columns], atol=1e-11
        )


def test_no_more_is_cached_than_the_budget_allows(rng):
    one_block = BLOCK_ROWS * V * 8
    for budget, blocks in ((0, 0), (one_block - 1, 0), (one_block, 1)):
        design, _ = make(rng, rank=20, memory_budget=budget)
        assert len(cache_of(design)) == blocks * BLOCK_ROWS
    assert len(cache_of(make(rng, rank=20)[0])) == N


def test_a_mixing_that_shortens_rows_is_cached_short(rng):
    assert cache_of(make(rng, rank=V // 3)[0]).shape == (N, V // 3)
    assert cache_of(make(rng, rank=V - 1)[0]).shape == (N, V)


@pytest.mark.parametrize("rank", [None, 5, 20])
def test_float32_rows_with_float64_sums(rank, rng):
    design, expected = make(rng, rank=rank, dtype="float32")
    assert cache_of(design).dtype == np.float32
    coef, vector = rng.normal(size=expected.shape[1]), rng.normal(size=N)
    assert_allclose(design.scores(coef), expected @ coef, atol=3e-4)
    assert_allclose(design.adjoint(vector), expected.T @ vector, atol=3e-3)
    # Given the rounded values, sums are exact: no budget changes anything.
    state = np.random.default_rng(0)
    every = make(state, rank=rank, dtype="float32")[0]
    state = np.random.default_rng(0)
    none = make(state, rank=rank, dtype="float32", memory_budget=0)[0]
    assert_array_equal(every.scores(coef), none.scores(coef))
    assert_array_equal(every.adjoint(vector), none.adjoint(vector))
    index = rng.permutation(N)[:300]
    assert_array_equal(every.rows(index), none.rows(index))


def test_threads_change_nothing(rng, monkeypatch):
    results = []
    for threads in (1, 3):
        monkeypatch.setattr("aucmax.design.mapped.n_threads", lambda t=threads: t)
        design, _ = make(np.random.default_rng(1), rank=20, dtype="float32")
        results.append((design.scores(np.ones(20)), design.adjoint(np.ones(N))))
    assert_array_equal(results[0][0], results[1][0])
    assert_array_equal(results[0][1], results[1][1])
