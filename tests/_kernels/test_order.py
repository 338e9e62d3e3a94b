# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from aucmax._kernels.order import SMALL, argsort, sort


def assert_sorts(scores):
    found = argsort(scores)
    assert found.dtype == np.int64
    assert_array_equal(np.sort(found), np.arange(len(scores)))
    assert_array_equal(np.asarray(scores)[found], np.sort(scores))
    assert_array_equal(argsort(scores), found)


CASES = {
    "one": lambda rng: np.array([3.0]),
    "two": lambda rng: np.array([3.0, -3.0]),
    "continuous": lambda rng: rng.normal(size=5000),
    "tied": lambda rng: np.round(rng.normal(size=5000), 1),
    "constant": lambda rng: np.full(1000, 0.7),
    "sorted": lambda rng: np.sort(rng.normal(size=1000)),
    "reversed": lambda rng: -np.sort(rng.normal(size=1000)),
    "zeros": lambda rng: rng.choice([0.0, -0.0, 1e-300, -1e-300], 1000),
    "subnormal": lambda rng: rng.integers(-50, 50, 1000) * 5e-324,
    "huge": lambda rng: rng.choice([1e308, -1e308, 1.0, np.inf, -np.inf], 1000),
    # All agree in the bits that travel with the index: the plain sort must take over.
    "cluster": lambda rng: 1e6 + 1e-6 * rng.normal(size=20_000),
    "two clusters": lambda rng: np.concatenate(
        [rng.normal(size=5000), 1e6 + 1e-7 * rng.normal(size=20_000)]
    ),
    "float32": lambda rng: rng.normal(size=1000).astype(np.float32),
    "strided": lambda rng: rng.normal(size=(1000, 2))[:, 1],
    # Beyond what sorts by leading bits alone.
    "tied zeros": lambda rng: np.round(rng.normal(size=60_000)) * -0.0,
    "tied but for rounding": lambda rng: rng.choice([0.3, 0.1 + 0.2], 60_000),
    # The first half is larger, by one bit: what is subtracted must not borrow from it.
    "neighbours": lambda rng: np.repeat([1.0, 1 - 2.0**-53], 20_000),
    "few agree": lambda rng: rng.choice(1.0 + np.arange(9000) * 2.0**-51, 30_000),
    "far outlier": lambda rng: np.append(1.0 + 1e-9 * rng.normal(size=60_000), 1e300),
    "both signs": lambda rng: rng.choice([-1.0, 1.0], 5000) * rng.lognormal(0, 9, 5000),
    "integers": lambda rng: rng.integers(-(2**53), 2**53, 5000).astype(float),
    "too many to cache": lambda rng: rng.normal(size=2**19 + 1),
    "many octaves": lambda rng: np.exp(rng.uniform(-600, 600, 1000)),
}


@pytest.mark.parametrize("case", CASES)
def test_argsort_sorts(case, rng):
    assert_sorts(CASES[case](rng))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("case", CASES)
def test_sort_sorts(case, dtype, rng):
    with np.errstate(over="ignore"):
        values = np.ascontiguousarray(CASES[case](rng), dtype=dtype)
    expected = np.sort(values)
    sort(values)
    assert values.dtype == dtype
    assert_array_equal(values, expected)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n", [50, SMALL + 1])
def test_sort_puts_nan_at_an_end(n, dtype, rng):
    values = rng.normal(size=n).astype(dtype)
    values[3] = np.nan
    values[7:8].view(f"i{values.itemsize}")[:] = -1  # one with a sign
    sort(values)
    assert np.isnan(values).sum() == 2
    assert np.isnan(values[0]) or np.isnan(values[-1])
    assert not np.isnan(values[2:-2]).any()


def test_argsort_leaves_the_scores_alone(rng):
    scores = rng.normal(size=100)
    before = scores.copy()
    scores.flags.writeable = False
    argsort(scores)
    assert_array_equal(scores, before)


@given(st.lists(st.floats(allow_nan=False), min_size=1, max_size=50))
def test_argsort_sorts_any_floats(scores):
    assert_sorts(np.array(scores))
