# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pytest
from drawing import draw_labels, draw_weight
from numpy.testing import assert_allclose

from aucmax._kernels.sweeps import active_mass, sign_weights


def test_masses_of_very_different_size():
    """Neither may be found as a difference."""
    signed = np.empty(2)
    masses = sign_weights(
        np.array([True, False]), np.array([1e12, 1e-12]), np.array([1, 0]), signed
    )
    assert masses == (1e12, 1e-12)
    assert signed.tolist() == [-1e-12, 1e12]


@pytest.mark.parametrize("weights", ["ones", "integers", "any"])
@pytest.mark.parametrize("n", [2, 3, 50])
def test_against_all_pairs(n, weights, rng):
    is_pos, weight = draw_labels(rng, n), draw_weight(rng, n, weights)
    order = rng.permutation(n)
    signed = np.empty(n)
    mass_pos, mass_neg = sign_weights(is_pos, weight, order, signed)
    assert mass_pos == pytest.approx(weight[is_pos].sum())
    assert mass_neg == pytest.approx(weight[~is_pos].sum())
    place = np.empty(n, dtype=int)
    place[order] = np.arange(n)
    mass = np.zeros(n)
    for i in np.flatnonzero(is_pos):
        for j in np.flatnonzero(~is_pos):
            if place[i] < place[j]:
                both = weight[i] * weight[j]
                mass[i] += both
                mass[j] += both
    out = np.empty(n)
    active_mass(order, signed, out)
    assert_allclose(out, mass, atol=1e-12)
