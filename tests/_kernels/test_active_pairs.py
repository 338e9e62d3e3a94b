# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pytest
from drawing import draw_labels, draw_weight
from numpy.testing import assert_allclose, assert_array_equal

from aucmax._kernels.active_pairs import (
    active_product,
    partner_mass,
    place_rows,
    shift_positives,
)


def find_places(order, is_pos):
    place = np.empty(len(order), dtype=np.uint32)
    return place, place_rows(order, is_pos, place)


def laplacian(order, is_pos, weight):
    """Minus the weight of each active pair; its rows sum to zero."""
    rank = np.argsort(order)
    active = is_pos[:, None] & ~is_pos[None, :] & (rank[:, None] < rank[None, :])
    pairs = np.outer(weight, weight) * (active | active.T)
    return np.diag(pairs.sum(axis=1)) - pairs


def test_places_when_positives_are_few():
    order, is_pos = np.array([3, 0, 4, 2, 1]), np.array([1, 0, 1, 0, 0], dtype=bool)
    place, few = find_places(order, is_pos)
    assert few == 2
    assert place[[0, 2]].tolist() == [3, 4]  # the first and the second positive
    assert place[[3, 4, 1]].tolist() == [0, 1, 2]  # positives before each negative


def test_places_when_negatives_are_few_are_those_of_the_order_turned_round():
    order, is_pos = np.array([3, 0, 4, 2, 1]), np.array([1, 1, 1, 0, 0], dtype=bool)
    place, few = find_places(order, is_pos)
    assert few == 2
    assert place[[4, 3]].tolist() == [3, 4]  # the highest negative and the next
    assert place[[1, 2, 0]].tolist() == [0, 0, 1]  # negatives above each positive


@pytest.mark.parametrize("flip", [False, True])
@pytest.mark.parametrize("weights", ["ones", "integers", "any"])
@pytest.mark.parametrize("n", [2, 3, 50])
def test_against_all_pairs(n, weights, flip, rng):
    is_pos, weight = draw_labels(rng, n) ^ flip, draw_weight(rng, n, weights)
    order, vector = rng.permutation(n), rng.normal(size=n) + 1e3
    place, few = find_places(order, is_pos)
    sums, mass = np.empty(2 * few + 1), np.empty(n)
    total = partner_mass(weight, place, few, sums, mass)
    assert total == pytest.approx(weight[is_pos].sum() * weight[~is_pos].sum())
    matrix = laplacian(order, is_pos, weight)
    assert_allclose(mass, np.diag(matrix), atol=1e-12)
    vectors = np.array([vector, rng.normal(size=n)])
    out = np.empty((2, n))
    active_product(vectors, 1, weight, place, few, mass, 0.5, sums, out)
    assert_allclose(out, 0.5 * vectors @ matrix, atol=1e-9)
    in_place = vectors.copy()
    active_product(in_place, 1, weight, place, few, mass, 0.5, sums, in_place)
    assert_array_equal(in_place, out)
    rounded = vectors.astype(np.float32)
    active_product(rounded, 1, weight, place, few, mass, 0.5, sums, out)
    assert_allclose(out, 0.5 * rounded.astype(np.float64) @ matrix, atol=1e-9)
    if weights == "ones":
        even, even_mass = np.empty((2, n)), np.empty(n)
        assert partner_mass(None, place, few, sums, even_mass) == total
        assert_array_equal(even_mass, mass)
        active_product(rounded, 1, None, place, few, mass, 0.5, sums, even)
        assert_array_equal(even, out)


def test_shift_of_positives(rng):
    is_pos, scores, shifted = draw_labels(rng, 9), rng.normal(size=9), np.empty(9)
    shift_positives(scores, is_pos, 0.7, 3.0, shifted)
    assert_array_equal(shifted, np.where(is_pos, scores - 0.7, scores) - 3.0)


def test_masses_of_very_different_size():
    """Neither may be found as a difference."""
    weight, is_pos = np.array([1e12, 1e-12]), np.array([True, False])
    place, few = find_places(np.array([0, 1]), is_pos)
    mass = np.empty(2)
    assert partner_mass(weight, place, few, np.empty(3), mass) == 1.0
    assert_array_equal(mass, [1.0, 1.0])


@pytest.mark.parametrize("n_neg", [10, 20, 30])
def test_rows_without_partners_have_no_mass_to_the_last_bit(n_neg, rng):
    """Solvers skip them."""
    place, few = find_places(np.arange(40), np.arange(40) >= n_neg)
    mass = np.empty(40)
    partner_mass(rng.random(40), place, few, np.empty(2 * few + 1), mass)
    assert_array_equal(mass, 0.0)
