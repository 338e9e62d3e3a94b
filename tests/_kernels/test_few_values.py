# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from aucmax._kernels.few_values import (
    LOOK_AT,
    MOST_VALUES,
    sort_few_values,
    sum_few_values,
)

FEW = {
    "one row": lambda rng: np.array([3.0]),
    "constant": lambda rng: np.full(1000, 0.7),
    "rounded": lambda rng: np.round(rng.normal(size=5000), 2),
    "zeros": lambda rng: rng.choice([0.0, -0.0, 1e-300, -1e-300], 1000),
    "infinite": lambda rng: rng.choice([1e308, -1e308, np.inf, -np.inf], 1000),
    "powers of two": lambda rng: 2.0 ** rng.integers(-60, 60, 1000),
    "integers": lambda rng: rng.integers(-900, 900, 5000).astype(float),
    "as many as may be": lambda rng: np.repeat(rng.normal(size=MOST_VALUES), 5),
    "all different, but not many": lambda rng: rng.normal(size=LOOK_AT),
}
MANY = {
    "continuous": lambda rng: rng.normal(size=5000),
    "continuous after ties": lambda rng: np.append(
        np.zeros(900), rng.normal(size=3000)
    ),
    "one too many": lambda rng: np.append(
        np.zeros(LOOK_AT), np.arange(MOST_VALUES) + 1.0
    ),
}


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("case", FEW)
def test_few_values_are_sorted(case, dtype, rng):
    with np.errstate(over="ignore"):
        values = FEW[case](rng).astype(dtype)
    expected = np.sort(values)
    assert sort_few_values(values)
    assert values.dtype == dtype
    assert_array_equal(values, expected)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("case", MANY)
def test_many_values_are_left_alone(case, dtype, rng):
    values = MANY[case](rng).astype(dtype)
    before = values.copy()
    assert not sort_few_values(values)
    assert_array_equal(values, before)
    found, sums = sum_few_values(values.astype(np.float64), np.ones(values.size))
    assert found.size == 0
    assert sums.size == 0


def test_nan_goes_to_the_end():
    values = np.array([np.nan, 1.0, -np.nan, 0.0, np.nan])
    assert sort_few_values(values)
    assert_array_equal(values, [0.0, 1.0, np.nan, np.nan, np.nan])


@pytest.mark.parametrize("case", FEW)
def test_sums_are_those_of_equal_values(case, rng):
    values = FEW[case](rng)
    signed = rng.normal(size=values.size)
    found, sums = sum_few_values(values, signed)
    assert_array_equal(found, np.unique(values))
    for value, (positive, negative) in zip(found, sums, strict=True):
        here = signed[values == value]
        assert_allclose(positive, here[here > 0].sum(), rtol=1e-12)
        assert_allclose(negative, here[here < 0].sum(), rtol=1e-12)


@given(st.lists(st.floats(allow_nan=False), min_size=1, max_size=50))
def test_any_floats_are_sorted(values):
    found = np.array(values)
    assert sort_few_values(found)
    assert_array_equal(found, np.sort(values))
