# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from aucmax.summaries import RowSpread


def draw(rng, n=30, d=4):
    X = np.round(rng.normal(size=(n, d)), 1) * (rng.random((n, d)) < 0.7)
    is_pos = rng.random(n) < 0.4
    is_pos[:2] = True, False
    weight = rng.integers(0, 4, n).astype(float)
    weight[:2] = 1.0
    return X, is_pos, weight


def all_pairs(X, is_pos, weight):
    gaps = X[is_pos][:, None] - X[~is_pos][None]
    pairs = np.outer(weight[is_pos], weight[~is_pos])
    return np.average(np.square(gaps).sum(axis=2), weights=pairs)


@pytest.mark.parametrize("form", [np.asarray, np.asfortranarray, sparse.csr_matrix])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_equals_all_pairs(rng, form, dtype):
    X, is_pos, weight = draw(rng)
    spread = RowSpread.of_rows(form(X.astype(dtype)), is_pos, weight)
    expected = all_pairs(X, is_pos, weight)
    assert spread.squared_distance() == pytest.approx(expected, rel=1e-5)


@given(seed=st.integers(0, 2**32 - 1), cut=st.integers(0, 30))
@settings(max_examples=50, deadline=None)
def test_merge_equals_together(seed, cut):
    rng = np.random.default_rng(seed)
    X, is_pos, weight = draw(rng)
    parts = [
        RowSpread.of_rows(X[s], is_pos[s], weight[s])
        for s in (slice(cut), slice(cut, 30))
    ]
    whole = RowSpread.of_rows(X, is_pos, weight).squared_distance()
    assert parts[0].merge(parts[1]).squared_distance() == pytest.approx(whole)


def test_no_digits_lost_far_from_zero(rng):
    X, is_pos, weight = draw(rng)
    X = np.round(X * 2**10) / 2**10
    near = RowSpread.of_rows(X, is_pos, weight).squared_distance()
    far = RowSpread.of_rows(X + 2.0**25, is_pos, weight).squared_distance()
    assert far == pytest.approx(near, rel=1e-6)
