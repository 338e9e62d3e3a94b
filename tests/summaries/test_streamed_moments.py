# SPDX-License-Identifier: BSD-3-Clause
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from aucmax.summaries import ClassMoments
from aucmax.summaries.streamed_moments import BLOCK_ROWS, StreamedMoments


def added(X, is_pos, cuts=()):
    moments = StreamedMoments(X.shape[1])
    for part in np.split(np.arange(X.shape[0]), cuts):
        moments.add(X[part], is_pos[part])
    return moments


def assert_same(left, right):
    for name, value in vars(left).items():
        assert_array_equal(value, getattr(right, name), strict=True)


@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.sampled_from([1, 5, BLOCK_ROWS, 2 * BLOCK_ROWS + 1, 5 * BLOCK_ROWS]),
    d=st.integers(1, 6),
    shares=st.lists(st.floats(0, 1), max_size=5).map(sorted),
    is_csr=st.booleans(),
)
@settings(max_examples=100, deadline=None)
def test_equals_numpy_for_any_split(seed, n, d, shares, is_csr):
    rng = np.random.default_rng(seed)
    X, is_pos = rng.normal(size=(n, d)) * 3 + 10, rng.random(n) < 0.5
    given_rows = sparse.csr_matrix(X) if is_csr else X
    moments = added(given_rows, is_pos)
    assert_same(moments, added(given_rows, is_pos, [int(s * n) for s in shares]))
    for own in (0, 1):
        rows, of_class = X[is_pos == own], moments.of_class(own)
        assert of_class.mass == len(rows)
        if len(rows) == 0:
            assert not of_class.scatter.any()
            continue
        centred = rows - rows.mean(axis=0)
        assert_allclose(of_class.mean, rows.mean(axis=0), rtol=1e-12)
        assert_allclose(of_class.scatter, centred.T @ centred, rtol=1e-9, atol=1e-8)


@pytest.mark.parametrize(("shift", "tol"), [(1e2, 1e-12), (1e6, 1e-8)])
def test_no_digits_lost_far_from_zero(rng, shift, tol):
    # Multiples of 2^-20, so that adding the shift does not round them.
    X = np.round(rng.normal(size=(2000, 3)) * 2**20) / 2**20
    # Rows are counted from the first, which may be far from all others.
    X[0] = 1000.0
    is_pos = rng.random(2000) < 0.3
    near, far = added(X, is_pos), added(X + shift, is_pos)
    for own in (0, 1):
        rows = X[is_pos == own]
        scatter = len(rows) * np.cov(rows.T, ddof=0)
        for moments in (near, far):
            assert_allclose(
                moments.of_class(own).scatter,
                scatter,
                rtol=tol,
                atol=tol * np.abs(scatter).max(),
            )


def test_positive_semidefinite_however_skewed(rng):
    X = rng.normal(size=(900, 1)) @ rng.normal(size=(1, 5)) + 1e4
    scatter = added(X, np.ones(900, dtype=bool)).of_class(1).scatter
    assert_array_equal(scatter, scatter.T)
    assert np.linalg.eigvalsh(scatter)[0] > -1e-12 * scatter.max()


def test_goes_on_after_pickling(rng):
    X, is_pos = rng.normal(size=(900, 3)), rng.random(900) < 0.5
    moments = pickle.loads(pickle.dumps(added(X[:633], is_pos[:633])))
    moments.add(X[633:], is_pos[633:])
    assert_same(moments, added(X, is_pos))


def test_merges_as_moments_of_a_class(rng):
    X, is_pos = rng.normal(size=(90, 3)) + 5, rng.random(90) < 0.5
    parts = [added(X[s], is_pos[s]).of_class(1) for s in (slice(40), slice(40, 90))]
    merged, whole = parts[0].merge(parts[1]), added(X, is_pos).of_class(1)
    assert isinstance(merged, ClassMoments)
    assert_allclose(merged.scatter, whole.scatter, rtol=1e-12)


@pytest.mark.parametrize("is_csr", [False, True])
def test_goes_on_from_moments_of_others(rng, is_csr):
    X, is_pos = rng.normal(size=(900, 3)) + 5, np.ones(900, dtype=bool)
    rows = sparse.csr_matrix(X) if is_csr else X
    moments = StreamedMoments(3)
    known = ClassMoments.of_rows(X[:500], np.ones(500))
    moments.set_class(1, known, sparse_rows=is_csr)
    moments.add(rows[500:], is_pos[500:])
    whole = ClassMoments.of_rows(X, np.ones(900))
    assert moments.of_class(1).mass == 900
    assert_allclose(moments.of_class(1).mean, whole.mean, rtol=1e-12)
    assert_allclose(moments.of_class(1).scatter, whole.scatter, atol=1e-8)


def test_refuses_what_does_not_fit():
    with pytest.raises(ValueError, match=r"14400000000 bytes.*rank=50.*reduce"):
        StreamedMoments(30_000)
