# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pytest
from drawing import draw_labels, draw_weight
from numpy.testing import assert_allclose, assert_array_equal

from aucmax._kernels.active_pairs import active_product, find_active_pairs


def laplacian(order, is_pos, weight):
    """Minus the weight of each active pair; its rows sum to zero."""
    rank = np.argsort(order)
    active = is_pos[:, None] & ~is_pos[None, :] & (rank[:, None] < rank[None, :])
    pairs = np.outer(weight, weight) * (active | active.T)
    return np.diag(pairs.sum(axis=1)) - pairs


def test_places_when_positives_are_few():
    order, is_pos = np.array([3, 0, 4, 2, 1]), np.array([1, 0, 1, 0, 0], dtype=bool)
    pairs = find_active_pairs(order, is_pos, np.ones(5))
    assert pairs.n_few == 2
    assert pairs.place[[0, 2]].tolist() == [3, 4]  # the first and the second positive
    assert pairs.place[[3, 4, 1]].tolist() == [0, 1, 2]  # positives before a negative


def test_places_when_negatives_are_few_are_those_of_the_reversed_order():
    order, is_pos = np.array([3, 0, 4, 2, 1]), np.array([1, 1, 1, 0, 0], dtype=bool)
    pairs = find_active_pairs(order, is_pos, np.ones(5))
    assert pairs.n_few == 2
    assert pairs.place[[4, 3]].tolist() == [3, 4]  # the highest negative and the next
    assert pairs.place[[1, 2, 0]].tolist() == [0, 0, 1]  # negatives above a positive


@pytest.mark.parametrize("flip", [False, True])
@pytest.mark.parametrize("weights", ["ones", "integers", "any"])
@pytest.mark.parametrize("n", [2, 3, 50])
def test_against_all_pairs(n, weights, flip, rng):
    is_pos, weight = draw_labels(rng, n) ^ flip, draw_weight(rng, n, weights)
    order, vector = rng.permutation(n), rng.normal(size=n) + 1e3
    pairs = find_active_pairs(order, is_pos, weight)
    total = weight[is_pos].sum() * weight[~is_pos].sum()
    assert pairs.pair_mass == pytest.approx(total)
    matrix = laplacian(order, is_pos, weight)
    assert_allclose(pairs.partner_mass, np.diag(matrix), atol=1e-12)
    vectors = np.array([vector, rng.normal(size=n)])
    out = np.empty((2, n))
    active_product(pairs, vectors, 1, 0.5, out)
    assert_allclose(out, 0.5 * vectors @ matrix, atol=1e-9)
    in_place = vectors.copy()
    active_product(pairs, in_place, 1, 0.5, in_place)
    assert_array_equal(in_place, out)
    rounded = vectors.astype(np.float32)
    active_product(pairs, rounded, 1, 0.5, out)
    assert_allclose(out, 0.5 * rounded.astype(np.float64) @ matrix, atol=1e-9)


def test_masses_of_very_different_size():
    """Neither may be found as a difference."""
    weight, is_pos = np.array([1e12, 1e-12]), np.array([True, False])
    pairs = find_active_pairs(np.array([0, 1]), is_pos, weight)
    assert pairs.pair_mass == 1.0
    assert_array_equal(pairs.partner_mass, [1.0, 1.0])


@pytest.mark.parametrize("n_neg", [10, 20, 30])
def test_rows_without_partners_have_no_mass_to_the_last_bit(n_neg, rng):
    """Solvers skip them."""
    is_pos = np.arange(40) >= n_neg
    pairs = find_active_pairs(np.arange(40), is_pos, rng.random(40))
    assert_array_equal(pairs.partner_mass, 0.0)
