# SPDX-License-Identifier: BSD-3-Clause
"""The compiled steps against a transcription that knows no tricks."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from aucmax._kernels.pairs import Rates, State, pair_steps


def literal_steps(rows, pos, neg, rates, coef=None, visits=0):
    """All pairs of a block one by one, a whole vector at a time; return all samples."""
    rows = np.asarray(rows, dtype=np.float64)
    coef = np.zeros(rows.shape[1]) if coef is None else coef
    samples = []
    for low in range(0, len(pos), rates.block_size):
        some = pos[low : low + rates.block_size]
        others = neg[low : low + rates.block_size]
        before, visits = visits, visits + len(some)
        step = 1 / (rates.alpha * (visits + rates.offset))
        direction = np.zeros_like(coef)
        for i in some:
            for j in others:
                difference = rows[i] - rows[j]
                margin = coef @ difference
                if margin < 1:
                    slope = 2 * (1 - margin) if rates.is_squared else 1
                    direction += slope * difference
        coef = coef + step * direction / len(some)
        for t in range(before + 1, visits + 1):
            if t % rates.shrink_every == 0:
                due = visits // rates.shrink_every - before // rates.shrink_every
                share = due * rates.shrink_every / (visits + rates.offset)
                coef = max(0, 1 - share) * coef
                break
        if visits // rates.average_every > before // rates.average_every:
            samples.append(coef)
    return coef, samples


def make_state(d, dtype=np.float64):
    return State(np.zeros(d, dtype), np.zeros(d), np.zeros(d), np.zeros(2, np.int64))


def run(rows, pos, neg, rates, cuts=()):
    state = make_state(rows.shape[1], rows.dtype)
    for part in zip(np.split(pos, cuts), np.split(neg, cuts), strict=True):
        pair_steps(rows, *part, rates, state)
    last = state.coef + (state.work.astype(np.float64) - state.coef.astype(rows.dtype))
    return last, state.mean, state.counts


def draw(rng, n_visits=203, n=40, d=9, dtype=np.float64):
    rows = rng.normal(size=(n, d)).astype(dtype)
    rows[rng.random((n, d)) < 0.5] = 0
    # Some pairs of equal rows: margin zero whatever the coefficients.
    rows[n // 2 : n // 2 + 3] = rows[:3]
    pos = rng.integers(n // 2, size=n_visits)
    neg = n // 2 + rng.integers(n // 2, size=n_visits)
    return rows, pos, neg


@pytest.mark.parametrize("is_squared", [True, False])
@pytest.mark.parametrize("block_size", [1, 2, 3, 8])
@pytest.mark.parametrize("every", [(16, 16), (1, 1), (7, 5), (3, 1000)])
def test_against_a_literal_transcription(is_squared, block_size, every, rng):
    rows, pos, neg = draw(rng)
    rates = Rates(0.02, 40.0, is_squared, block_size, *every)
    coef, samples = literal_steps(rows, pos, neg, rates)
    last, mean, counts = run(rows, pos, neg, rates)
    assert_allclose(last, coef, rtol=1e-9, atol=1e-12)
    assert counts.tolist() == [len(pos), len(samples)]
    if samples:
        assert_allclose(mean, np.mean(samples, axis=0), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("block_size", [1, 8])
@pytest.mark.parametrize("is_squared", [True, False])
def test_float32_rows(is_squared, block_size, rng):
    rows, pos, neg = draw(rng, n_visits=2000, dtype=np.float32)
    rates = Rates(1e-3, 1e4, is_squared, block_size, 16, 16)
    coef, samples = literal_steps(rows, pos, neg, rates)
    last, mean, _ = run(rows, pos, neg, rates)
    assert last.dtype == mean.dtype == np.float64
    assert_allclose(last, coef, atol=1e-5)
    assert_allclose(mean, np.mean(samples, axis=0), atol=1e-5)


def test_float32_keeps_penalties_smaller_than_its_precision():
    """A million windows of 1e-9 each, on rows that give no other step."""
    rows = np.zeros((2, 1), dtype=np.float32)
    index = np.zeros(16_000_000, dtype=np.int64)
    offset = 16e9
    state = make_state(1, np.float32)
    state.work[:], state.coef[:] = 1.0, 1.0
    pair_steps(rows, index, index + 1, Rates(1.0, offset, True, 1, 16, 16), state)
    expected = offset / (offset + len(index))
    assert state.coef[0] == pytest.approx(expected, abs=1e-8)
    assert state.work[0] == np.float32(state.coef[0])


@pytest.mark.parametrize("block_size", [1, 8])
def test_visits_may_come_in_parts(block_size, rng):
    rows, pos, neg = draw(rng, n_visits=320)
    rates = Rates(0.02, 40.0, True, block_size, 16, 16)
    whole = run(rows, pos, neg, rates)
    parts = run(rows, pos, neg, rates, cuts=[8, 64, 240])
    for one, other in zip(whole, parts, strict=True):
        assert_allclose(one, other, rtol=1e-12, atol=1e-15)
    whole_windows = run(rows, pos, neg, rates, cuts=[16, 160])
    assert_array_equal(whole_windows[0], whole[0])


def test_penalty_that_takes_all(rng):
    """A first step so long that the first window ends at zero, not beyond."""
    rows, pos, neg = draw(rng, n_visits=64)
    rates = Rates(0.5, 1e-30, False, 1, 16, 1)
    coef, samples = literal_steps(rows, pos, neg, rates)
    last, mean, _ = run(rows, pos, neg, rates)
    assert_allclose(last, coef, atol=1e-12)
    assert_allclose(mean, np.mean(samples, axis=0), atol=1e-12)
    assert not np.any(samples[15])
    assert np.any(samples[14])


def test_rows_of_zeros():
    rows = np.zeros((4, 3))
    pos, neg = np.zeros(20, dtype=np.int64), np.full(20, 3)
    rates = Rates(0.1, 10.0, True, 4, 16, 16)
    last, mean, counts = run(rows, pos, neg, rates)
    assert not np.any(last)
    assert not np.any(mean)
    assert counts.tolist() == [20, 1]
