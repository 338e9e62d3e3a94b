# SPDX-License-Identifier: BSD-3-Clause
"""The squared hinge from bins is within its bound of all pairs, whatever the blocks."""

import functools

import numpy as np
import pytest
from drawing import draw_labels, draw_weight
from numpy.testing import assert_allclose, assert_array_equal
from oracles import pair_terms

from aucmax.losses import BinnedSquaredHinge
from aucmax.losses.binned_squared_hinge import active, bin_rows, merge_sums, sum_bins

# As many as there are numbers: every distinct score has a bin of its own.
ALL_BITS = 2**52


class MemoryBlocks:
    """Blocks in memory; counts how often they are merged."""

    n_merged = 0

    def __init__(self, values):
        self.values = values

    def map(self, function, *args):
        columns = [
            arg.values if isinstance(arg, MemoryBlocks) else [arg] * len(self.values)
            for arg in args
        ]
        values = zip(self.values, *columns, strict=True)
        return MemoryBlocks([function(*of_block) for of_block in values])

    def keep(self):
        return self

    def merge(self, function):
        MemoryBlocks.n_merged += 1
        return functools.reduce(function, self.values)


def split(vector, n_blocks=3):
    return MemoryBlocks(np.array_split(vector, n_blocks))


def joined(blocks):
    return np.concatenate(blocks.values)


def evaluate(scores, is_pos, weight, bins, n_blocks=3, margin=1.0):
    vectors = (split(vector, n_blocks) for vector in (scores, is_pos, weight))
    return BinnedSquaredHinge(bins, margin).evaluate(*vectors)


def drawn(seed, n=None, weights="any"):
    """Scores, labels and weights, both classes with mass."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 40)) if n is None else n
    is_pos, weight = draw_labels(rng, n), draw_weight(rng, n, weights)
    weight[np.flatnonzero(is_pos)[0]] = weight[np.flatnonzero(~is_pos)[0]] = 1.0
    return 2 * rng.normal(size=n), is_pos, weight


@pytest.mark.parametrize("n_blocks", [1, 3])
@pytest.mark.parametrize("weights", ["ones", "integers", "any"])
@pytest.mark.parametrize("decimals", [0, 1, 8])
def test_bins_of_single_values_match_all_pairs(decimals, weights, n_blocks):
    for seed in range(10):
        scores, is_pos, weight = drawn(seed, weights=weights)
        scores = np.round(scores, decimals)
        terms = evaluate(scores, is_pos, weight, ALL_BITS, n_blocks)
        slow = pair_terms("SquaredHinge", scores, is_pos, weight)
        assert terms.error == 0.0
        assert_allclose(terms.value, slow.value, rtol=1e-12, atol=1e-14)
        assert_allclose(joined(terms.grad), slow.grad, atol=1e-13)
        along = np.random.default_rng(seed).normal(size=len(scores))
        assert terms.slope(split(along, n_blocks)) == pytest.approx(
            slow.grad @ along, abs=1e-12
        )
        if decimals < 8:
            continue  # at a kink the curvature may be any value in between
        product = joined(terms.hess_dot(split(along, n_blocks)))
        assert_allclose(product, slow.hessian @ along, atol=1e-12)
        assert terms.curvature(split(along, n_blocks)) == pytest.approx(
            along @ slow.hessian @ along, abs=1e-12
        )


@pytest.mark.parametrize("bins", [1, 8, 64])
def test_value_and_gradient_are_within_the_bound_of_all_pairs(bins):
    scores, is_pos, weight = drawn(0, n=300, weights="integers")
    terms = evaluate(scores, is_pos, weight, bins)
    slow = pair_terms("SquaredHinge", scores, is_pos, weight)
    excess = terms.value - slow.value
    assert 0.0 < excess <= terms.error
    assert bins > 1 or excess > 1e-4
    # A row's gradient is off by twice the distance to those of its bin, at most.
    rows = bin_rows(scores, is_pos, weight, 1.0, bins)
    pairs = (rows.which[:, None] == rows.which) & (is_pos[:, None] != is_pos)
    distance = np.abs(rows.values[:, None] - rows.values)
    scale = np.outer(weight, weight) / (weight[is_pos].sum() * weight[~is_pos].sum())
    slack = (2 * scale * distance * pairs).sum(axis=1)
    assert np.all(np.abs(joined(terms.grad) - slow.grad) <= slack + 1e-12)
    assert joined(terms.grad).sum() == pytest.approx(0, abs=1e-12)


def test_slope_and_curvature_are_those_of_gradient_and_hessian(rng):
    scores, is_pos, weight = drawn(1, n=200)
    along = split(rng.normal(size=200))
    terms = evaluate(scores, is_pos, weight, 16)
    assert terms.slope(along) == pytest.approx(joined(terms.grad) @ joined(along))
    product = joined(terms.hess_dot(along))
    assert terms.curvature(along) == pytest.approx(joined(along) @ product)


def test_a_trial_of_a_line_search_merges_once(rng):
    terms = evaluate(*drawn(1, n=50), 16)
    along, other = split(rng.normal(size=50)), split(rng.normal(size=50))
    before = MemoryBlocks.n_merged
    value = terms.slope(along), terms.curvature(along), terms.value, terms.error
    assert np.isfinite(value).all()
    assert MemoryBlocks.n_merged == before + 1
    slope = terms.slope(other)
    assert slope == pytest.approx(joined(terms.grad) @ joined(other))


@pytest.mark.parametrize("margin", [0.5, 2.0])
def test_margin_one_positive_and_float32(margin, rng):
    scores, is_pos = rng.normal(size=30).astype(np.float32), np.arange(30) == 7
    terms = evaluate(scores, is_pos, np.ones(30), ALL_BITS, margin=margin)
    slow = pair_terms("SquaredHinge", scores * 1.0, is_pos, np.ones(30), margin)
    assert terms.value == pytest.approx(slow.value, rel=1e-6)
    assert_allclose(joined(terms.grad), slow.grad, atol=1e-6)
    assert joined(terms.grad).dtype == np.float64


def test_rows_without_weight_are_absent(rng):
    scores, is_pos, weight = drawn(2, n=40, weights="ones")
    far = np.append(scores, [0.01, -0.01])
    mask, mass = np.append(is_pos, [True, False]), np.append(weight, [0.0, 0.0])
    here, there = evaluate(scores, is_pos, weight, 4), evaluate(far, mask, mass, 4)
    assert there.value == pytest.approx(here.value, rel=1e-13)
    assert there.error == pytest.approx(here.error, rel=1e-13)
    assert_allclose(joined(there.grad)[:40], joined(here.grad), atol=1e-14)


@pytest.mark.parametrize("bins", [1, 16, 1024])
def test_bins_are_intervals_in_order(rng, bins):
    values = rng.normal(size=500) * 10.0 ** rng.integers(-3, 4, 500)
    values[:3] = 0.0, -0.0, 5e-324
    rows = bin_rows(values, rng.random(500) < 0.5, np.ones(500), 0.0, bins)
    assert np.all(np.diff(rows.edges) > 0)
    assert_array_equal(rows.values, values)
    assert np.all(np.diff(rows.which[np.argsort(values)]) >= 0)
    table = sum_bins(rows)
    assert np.all(table.high[:-1] < table.low[1:])
    width = np.maximum(np.abs(rows.edges), 1e-300) / bins
    assert np.all(table.high - table.low <= width)


def test_sums_of_parts_merge_to_that_of_all(rng):
    scores, is_pos, weight = drawn(3, n=90, weights="integers")
    along = rng.normal(size=90)

    def sums(part):
        rows = bin_rows(scores[part], is_pos[part], weight[part], 1.0, 4)
        return sum_bins(rows, along[part])

    merged = merge_sums(sums(np.s_[:10]), sums(np.s_[10:11]))
    merged = merge_sums(merged, sums(np.s_[11:]))
    for found, expected in zip(merged, sums(np.s_[:]), strict=True):
        assert_allclose(found, expected, rtol=1e-12, atol=1e-13)


def test_error_of_one_bin_is_the_square_of_its_width():
    scores, is_pos = np.array([2.0, 1.4, 3.0]), np.array([True, False, False])
    terms = evaluate(scores, is_pos, np.array([2.0, 3.0, 1.0]), 1, n_blocks=1)
    assert terms.error == pytest.approx(2.0 * 3.0 * 0.4**2 / (2.0 * 4.0))


def test_active_sums():
    neg, pos = np.array([1.0, 2.0, 4.0]), np.array([10.0, 20.0, 40.0])
    for_neg, for_pos = active(np.stack([neg, pos]))
    assert for_neg.tolist() == [10.0, 30.0, 70.0]
    assert for_pos.tolist() == [7.0, 6.0, 4.0]
