# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pytest
from drawing import draw_labels, draw_weight
from numpy.testing import assert_allclose, assert_array_equal

from aucmax._kernels.active_pairs import (
    active_product,
    link_partners,
    partner_mass,
    shift_positives,
)


def link(order, is_pos):
    by_class, partner = np.empty((2, len(order)), dtype=np.uint32)
    n_pos = link_partners(order, is_pos, by_class, partner)
    return by_class, n_pos, partner


def laplacian(order, is_pos, weight):
    """Minus the weight of each active pair; its rows sum to zero."""
    place = np.argsort(order)
    active = is_pos[:, None] & ~is_pos[None, :] & (place[:, None] < place[None, :])
    pairs = np.outer(weight, weight) * (active | active.T)
    return np.diag(pairs.sum(axis=1)) - pairs


@pytest.mark.parametrize("is_pos", [[1, 0, 1, 0, 0], [1, 1, 1, 0, 0], [0, 0, 0, 1, 1]])
def test_rows_by_class_and_where_the_sums_of_their_partners_are(is_pos):
    is_pos = np.array(is_pos, dtype=bool)
    order = np.array([3, 0, 4, 2, 1])
    by_class, n_pos, partner = link(order, is_pos)
    expected = [i for i in order if is_pos[i]] + [
        i for i in order[::-1] if not is_pos[i]
    ]
    assert by_class.tolist() == expected
    assert n_pos == is_pos.sum()
    # Sums over the rows themselves, a zero before either class.
    seen = [by_class[:k] for k in range(n_pos + 1)]
    seen += [by_class[n_pos : n_pos + k] for k in range(5 - n_pos + 1)]
    edges = laplacian(order, is_pos, np.ones(5)) < 0
    for i in range(5):
        assert set(seen[partner[i]]) == set(np.flatnonzero(edges[i]))


@pytest.mark.parametrize("weights", ["ones", "integers", "any"])
@pytest.mark.parametrize("n", [2, 3, 50])
def test_against_all_pairs(n, weights, rng):
    is_pos, weight = draw_labels(rng, n), draw_weight(rng, n, weights)
    order, vector = rng.permutation(n), rng.normal(size=n) + 1e3
    by_class, n_pos, partner = link(order, is_pos)
    sums, mass, out = np.empty(n + 2), np.empty(n), np.empty(n)
    masses = partner_mass(weight, by_class, n_pos, partner, sums, mass)
    assert masses[0] == pytest.approx(weight[is_pos].sum())
    assert masses[1] == pytest.approx(weight[~is_pos].sum())
    matrix = laplacian(order, is_pos, weight)
    assert_allclose(mass, np.diag(matrix), atol=1e-12)
    pairs = 1, weight, by_class, n_pos, partner, mass, 0.5, sums
    active_product(vector, is_pos, 0.0, *pairs, out)
    assert_allclose(out, 0.5 * matrix @ vector, atol=1e-9)

    margin, shifted = 0.7, np.empty(n)
    shift_positives(vector, is_pos, margin, 3.0, shifted)
    assert_array_equal(shifted, np.where(is_pos, vector - margin, vector) - 3.0)
    active_product(vector, is_pos, margin, *pairs, out)
    assert_allclose(out, 0.5 * matrix @ shifted, atol=1e-9)


def test_masses_of_very_different_size():
    """Neither may be found as a difference."""
    weight, is_pos = np.array([1e12, 1e-12]), np.array([True, False])
    by_class, n_pos, partner = link(np.array([0, 1]), is_pos)
    mass = np.empty(2)
    masses = partner_mass(weight, by_class, n_pos, partner, np.empty(4), mass)
    assert masses == (1e12, 1e-12)
    assert_array_equal(mass, [1.0, 1.0])


def test_rows_without_partners_have_no_mass_to_the_last_bit(rng):
    """Solvers skip them."""
    is_pos = np.arange(40) >= 20
    by_class, n_pos, partner = link(np.arange(40), is_pos)
    mass = np.empty(40)
    partner_mass(rng.random(40), by_class, n_pos, partner, np.empty(42), mass)
    assert_array_equal(mass, 0.0)
