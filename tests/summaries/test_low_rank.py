# SPDX-License-Identifier: BSD-3-Clause
import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from aucmax.summaries import low_rank as module
from aucmax.summaries.low_rank import LowRankMoments, draw_signs, sums_dtype


def draw_rows(rng, n=200, d=30):
    """Rows whose variance is mostly in a few directions, and a column of zeros."""
    X = rng.normal(size=(n, 4)) @ rng.normal(size=(4, d))
    X += 0.1 * rng.normal(size=(n, d)) + rng.normal(size=d)
    X[:, 5] = 0.0
    return X


def moments_of(X, signs):
    moments = LowRankMoments.empty(signs)
    moments.add(sparse.csr_matrix(X))
    return moments


def as_matrix(moments):
    _, factor, rest = moments.covariance().features(slice(None))
    return factor @ factor.T + np.diag(rest)


def nystrom(X, signs):
    S = np.cov(X.T, bias=True)
    seen = S @ signs
    low = seen @ np.linalg.pinv(signs.T @ seen, rcond=1e-10) @ seen.T
    return low + np.diag(np.diag(S - low))


@pytest.mark.parametrize("rank", [1, 4, 12])
def test_covariance_is_nystroms_with_exact_variances(rank, rng):
    X = draw_rows(rng)
    signs = draw_signs(30, rank, rng)
    found = as_matrix(moments_of(X, signs))
    assert_allclose(found, nystrom(X, signs.astype(float)), atol=1e-9)
    assert_allclose(np.diag(found), X.var(axis=0), atol=1e-12)


def test_as_many_directions_as_features_are_exact(rng):
    X = draw_rows(rng)
    found = as_matrix(moments_of(X, draw_signs(30, 50, rng)))
    assert_allclose(found, np.cov(X.T, bias=True), atol=1e-12)


def test_a_rank_above_that_of_the_rows_is_exact(rng):
    """Two rows of each kind: directions without variance are left out."""
    X = np.repeat(rng.normal(size=(3, 30)), 2, axis=0)
    found = as_matrix(moments_of(X, draw_signs(30, 10, rng)))
    assert_allclose(found, np.cov(X.T, bias=True), atol=1e-10)


def test_one_row_has_no_covariance(rng):
    found = as_matrix(moments_of(draw_rows(rng, n=1), draw_signs(30, 5, rng)))
    assert_allclose(found, np.zeros((30, 30)), atol=1e-12)
    zeros = as_matrix(moments_of(np.zeros((3, 30)), draw_signs(30, 5, rng)))
    assert_array_equal(zeros, np.zeros((30, 30)))


def test_blocks_of_features_agree(rng, monkeypatch):
    moments = moments_of(draw_rows(rng), draw_signs(30, 5, rng))
    whole = moments.covariance()
    monkeypatch.setattr(module, "BLOCK_VALUES", 50)
    parts = module.feature_blocks(30, 5)
    assert len(parts) == 5
    blocked = moments.covariance()
    assert_allclose(blocked.along, whole.along, rtol=1e-12)
    for k in range(3):
        pieces = [blocked.features(part)[k] for part in parts]
        # A factor is known up to the signs of its columns.
        found, expected = np.concatenate(pieces), whole.features(slice(None))[k]
        assert_allclose(np.abs(found), np.abs(expected), atol=1e-9)


def test_rows_one_by_one_and_copies(rng):
    X = draw_rows(rng)
    signs = draw_signs(30, 5, rng)
    moments = LowRankMoments.empty(signs)
    for x in X:
        moments.add(sparse.csr_matrix(x[None, :]))
        moments = pickle.loads(pickle.dumps(moments))
    assert_array_equal(moments.sums, moments_of(X, signs).sums)


def test_single_precision_where_sums_are_large(rng, monkeypatch):
    assert sums_dtype(62_061, 104) is np.float64
    assert sums_dtype(1_355_191, 104) is np.float32
    X = draw_rows(rng)
    signs = draw_signs(30, 5, rng)
    moments = LowRankMoments.empty(signs, np.float32)
    moments.add(sparse.csr_matrix(X))
    assert moments.sums.dtype == np.float32
    exact = as_matrix(moments_of(X, signs))
    assert_allclose(as_matrix(moments), exact, atol=1e-3 * np.abs(exact).max())
