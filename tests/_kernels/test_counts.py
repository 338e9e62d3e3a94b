# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pytest
from drawing import draw_labels, draw_weight
from metrics import metric_oracles
from numpy.testing import assert_allclose, assert_array_equal

from aucmax._kernels.counts import (
    LOW_BITS,
    count_ordered,
    placement_counts,
    placement_squares,
    sign_weights,
    split_by_class,
    weigh_pairs,
)
from aucmax._kernels.order import argsort


@pytest.fixture(params=[0, 1, 3], ids=lambda digits: f"{digits} digits")
def scores(request, rng):
    return np.round(rng.normal(size=60), request.param)


@pytest.fixture(params=[1, 7, 30, 59], ids=lambda n_pos: f"{n_pos} positives")
def is_pos(request, rng):
    return draw_labels(rng, 60, request.param)


def test_split_by_class_keeps_every_value_on_its_side(scores, is_pos):
    out = np.empty_like(scores)
    n_pos = split_by_class(scores, is_pos, out)
    assert n_pos == is_pos.sum()
    assert_array_equal(np.sort(out[:n_pos]), np.sort(scores[is_pos]))
    assert_array_equal(np.sort(out[n_pos:]), np.sort(scores[~is_pos]))


def test_count_ordered_matches_all_pairs(scores, is_pos):
    high, low = count_ordered(np.sort(scores[is_pos]), np.sort(scores[~is_pos]))
    assert high == 0
    assert low == 2 * metric_oracles.pair_values(is_pos, scores).sum()


@pytest.mark.parametrize(("gap", "share"), [(1.0, 2), (0.0, 1), (-1.0, 0)])
def test_count_ordered_carries_beyond_the_low_part(gap, share):
    n_pos, n_neg = 100_001, 99_999
    high, low = count_ordered(np.full(n_pos, gap), np.zeros(n_neg))
    assert (high << LOW_BITS) + low == share * n_pos * n_neg
    assert 0 <= low < 1 << LOW_BITS


def test_placement_squares_match_the_placements(scores, is_pos):
    values = metric_oracles.pair_values(is_pos, scores)
    squares = placement_squares(
        np.sort(scores[is_pos]), np.sort(scores[~is_pos]), values.mean()
    )
    n_pos, n_neg = values.shape
    expected = values.mean(axis=1).var() * n_pos, values.mean(axis=0).var() * n_neg
    assert_allclose(squares, expected, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("kind", ["ones", "integers", "any"])
def test_weigh_pairs_matches_all_pairs(kind, scores, is_pos, rng):
    weight = draw_weight(rng, 60, kind)
    signed = weight.copy()
    sign_weights(signed, is_pos)
    pairs = np.outer(weight[is_pos], weight[~is_pos])
    values = metric_oracles.pair_values(is_pos, scores)
    expected = [pairs[values == value].sum() for value in (1, 0.5, 0)]
    found = weigh_pairs(scores, signed, argsort(scores))
    assert_allclose(found, expected, rtol=1e-13)


def test_placement_counts_match_all_pairs(scores, is_pos):
    counts = np.empty(60, dtype=np.int64)
    placement_counts(scores, argsort(scores), is_pos, int(is_pos.sum()), counts)
    values = metric_oracles.pair_values(is_pos, scores)
    assert_array_equal(counts[is_pos], 2 * values.sum(axis=1))
    assert_array_equal(counts[~is_pos], 2 * values.sum(axis=0))
