# SPDX-License-Identifier: BSD-3-Clause
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import sparse

from aucmax.summaries import ClassMoments
from aucmax.summaries.streamed_moments import StreamedMoments


def added(X, is_pos, n_block=8, cuts=()):
    moments = StreamedMoments(X.shape[1], n_block)
    parts = np.split(np.arange(X.shape[0]), cuts)
    for part in parts:
        moments.add(X[part], is_pos[part])
    return moments


def assert_same(left, right):
    for one, other in zip(left.state, right.state, strict=True):
        assert np.array_equal(one, other)


@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(1, 60),
    d=st.integers(1, 6),
    n_block=st.sampled_from([8, 12]),
    cuts=st.lists(st.integers(0, 60), max_size=5).map(sorted),
)
@settings(max_examples=100, deadline=None)
def test_equals_numpy_for_any_split(seed, n, d, n_block, cuts):
    rng = np.random.default_rng(seed)
    X, is_pos = rng.normal(size=(n, d)) * 3 + 10, rng.random(n) < 0.5
    moments = added(X, is_pos, n_block)
    assert_same(moments, added(X, is_pos, n_block, [c for c in cuts if c < n]))
    for own in (0, 1):
        rows, of_class = X[is_pos == own], moments.of_class(own)
        assert of_class.mass == len(rows)
        if len(rows) == 0:
            assert not of_class.scatter.any()
            continue
        centred = rows - rows.mean(axis=0)
        assert_allclose(of_class.mean, rows.mean(axis=0), rtol=1e-13)
        assert_allclose(of_class.scatter, centred.T @ centred, rtol=1e-9, atol=1e-11)
        spread = moments.state.spread[own]
        assert_allclose(spread, np.trace(of_class.scatter), rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize(("shift", "tol"), [(1e2, 1e-12), (1e6, 1e-8)])
def test_no_digits_lost_far_from_zero(rng, shift, tol):
    # Multiples of 2^-20, so that adding the shift does not round them.
    X = np.round(rng.normal(size=(500, 3)) * 2**20) / 2**20
    is_pos = rng.random(500) < 0.3
    near, far = added(X, is_pos), added(X + shift, is_pos)
    for own in (0, 1):
        scatter = near.of_class(own).scatter
        assert_allclose(
            far.of_class(own).scatter, scatter, rtol=tol, atol=tol * scatter.max()
        )


def test_positive_semidefinite_however_skewed(rng):
    X = rng.normal(size=(200, 1)) @ rng.normal(size=(1, 5)) + 1e4
    scatter = added(X, np.ones(200, dtype=bool), 4).of_class(1).scatter
    assert np.array_equal(scatter, scatter.T)
    assert np.linalg.eigvalsh(scatter)[0] > -1e-12 * scatter.max()


def test_sparse_rows_equal_dense(rng, monkeypatch):
    X = rng.normal(size=(70, 5)) * (rng.random((70, 5)) < 0.4)
    is_pos = rng.random(70) < 0.5
    monkeypatch.setattr("aucmax.summaries.streamed_moments.DENSE_VALUES", 15)
    assert_same(added(X, is_pos), added(sparse.csr_matrix(X), is_pos))


def test_goes_on_after_pickling(rng):
    X, is_pos = rng.normal(size=(90, 3)), rng.random(90) < 0.5
    moments = added(X[:33], is_pos[:33])
    moments = pickle.loads(pickle.dumps(moments))
    moments.add(X[33:], is_pos[33:])
    assert_same(moments, added(X, is_pos))


def test_merges_as_moments_of_a_class(rng):
    X, is_pos = rng.normal(size=(90, 3)) + 5, rng.random(90) < 0.5
    parts = [added(X[s], is_pos[s]).of_class(1) for s in (slice(40), slice(40, 90))]
    merged, whole = parts[0].merge(parts[1]), added(X, is_pos).of_class(1)
    assert isinstance(merged, ClassMoments)
    assert_allclose(merged.scatter, whole.scatter, rtol=1e-12)


def test_refuses_what_does_not_fit():
    with pytest.raises(ValueError, match=r"14400000000 bytes.*rank=50.*reduce"):
        StreamedMoments(30_000)
