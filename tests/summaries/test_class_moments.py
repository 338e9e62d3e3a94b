# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import sparse

from aucmax.summaries import ClassMoments


def test_equals_numpy(rng):
    X, weight = rng.normal(size=(40, 3)) + 5, rng.integers(1, 4, 40).astype(float)
    moments = ClassMoments.of_rows(X, weight)
    assert moments.mass == weight.sum()
    assert_allclose(moments.mean, np.average(X, axis=0, weights=weight))
    expected = np.cov(X.T, fweights=weight.astype(int), ddof=0)
    assert_allclose(moments.covariance, expected)


@given(seed=st.integers(0, 2**32 - 1), cut=st.integers(0, 30))
@settings(max_examples=50, deadline=None)
def test_merge_equals_together(seed, cut):
    rng = np.random.default_rng(seed)
    X, weight = rng.normal(size=(30, 4)) * 10 + 100, rng.gamma(1.0, size=30)
    parts = [
        ClassMoments.of_rows(X[s], weight[s]) for s in (slice(cut), slice(cut, 30))
    ]
    whole = ClassMoments.of_rows(X, weight)
    merged = parts[0].merge(parts[1])
    assert merged.mass == pytest.approx(whole.mass)
    assert_allclose(merged.mean, whole.mean, rtol=1e-12)
    assert_allclose(merged.scatter, whole.scatter, rtol=1e-9, atol=1e-9)


def test_no_digits_lost_far_from_zero(rng):
    X = np.round(rng.normal(size=(50, 2)) * 2**10) / 2**10
    near = ClassMoments.of_rows(X, np.ones(50))
    far = ClassMoments.of_rows(X + 2.0**25, np.ones(50))
    assert_allclose(far.scatter, near.scatter, rtol=1e-6)


def test_sparse_float32_and_single_rows(rng):
    X = rng.normal(size=(10, 3)).astype(np.float32)
    dense = ClassMoments.of_rows(X, np.ones(10))
    assert dense.scatter.dtype == np.float64
    csr = ClassMoments.of_rows(sparse.csr_array(X), np.ones(10))
    assert_allclose(csr.scatter, dense.scatter)
    assert_allclose(ClassMoments.of_rows(X[:1], np.ones(1)).covariance, 0)


def test_nothing_merged_with_nothing():
    empty = ClassMoments.empty(2)
    assert empty.merge(ClassMoments.of_rows(np.ones((3, 2)), np.zeros(3))).mass == 0
