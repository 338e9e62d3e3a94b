# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pytest
from drawing import draw_labels, draw_weight
from numpy.testing import assert_allclose

from aucmax._kernels.candidates import add_slopes_and_curvatures


def brute_force(columns, signed, grad):
    """Both sums pair by pair; a positive is active with every negative after it."""
    curvature = np.zeros(columns.shape[1])
    for i in np.flatnonzero(signed > 0):
        for j in np.flatnonzero(signed <= 0):
            if i < j:
                both = signed[i] * -signed[j]
                curvature += both * (columns[i] - columns[j]) ** 2
    return grad @ columns, curvature


def sweep(columns, signed, grad, pivot, cuts=()):
    n, k = columns.shape
    pos, neg = np.maximum(signed, 0.0), np.maximum(-signed, 0.0)
    partners = pos * np.cumsum(neg[::-1])[::-1] + neg * np.cumsum(pos)
    first, slope, curvature = np.zeros((3, k))
    for low, high in zip((0, *cuts), (*cuts, n), strict=True):
        part = slice(low, high)
        add_slopes_and_curvatures(
            columns[part],
            signed[part],
            grad[part],
            partners[part],
            pivot,
            first,
            slope,
            curvature,
        )
    return slope, curvature


@pytest.mark.parametrize("weights", ["ones", "integers", "any"])
@pytest.mark.parametrize(("n", "k"), [(2, 1), (3, 5), (40, 7)])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_against_all_pairs(n, k, weights, dtype, rng):
    is_pos, weight = draw_labels(rng, n), draw_weight(rng, n, weights)
    signed = np.where(is_pos, weight, -weight)
    columns = rng.normal(size=(n, k)).astype(dtype)
    grad = rng.normal(size=n)
    grad -= grad.mean()
    expected = brute_force(columns.astype(np.float64), signed, grad)
    for pivot in (np.zeros(k), columns.mean(axis=0, dtype=np.float64)):
        found = sweep(columns, signed, grad, pivot)
        assert_allclose(found[0], expected[0], atol=1e-12)
        assert_allclose(found[1], expected[1], rtol=1e-12, atol=1e-12)


def test_blocks_of_rows_add_up(rng):
    signed = np.where(draw_labels(rng, 30), 1.0, -2.0)
    columns, grad = rng.normal(size=(30, 4)), rng.normal(size=30)
    whole = sweep(columns, signed, grad, np.zeros(4))
    parts = sweep(columns, signed, grad, np.zeros(4), cuts=(1, 11, 12, 25))
    assert_allclose(parts, whole, rtol=1e-13)


def test_pivot_keeps_the_digits_of_columns_far_from_zero(rng):
    signed = np.where(draw_labels(rng, 50), 1.0, -1.0)
    columns, grad = rng.normal(size=(50, 3)), np.zeros(50)
    near = sweep(columns, signed, grad, np.zeros(3))[1]
    away = sweep(columns + 1e8, signed, grad, np.full(3, 1e8))[1]
    assert_allclose(away, near, rtol=1e-6)
