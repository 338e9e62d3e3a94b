# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from aucmax._kernels.order import argsort


def assert_sorts(scores):
    order = argsort(scores)
    assert order.dtype == np.int64
    assert_array_equal(np.sort(order), np.arange(len(scores)))
    assert_array_equal(np.asarray(scores)[order], np.sort(scores))
    assert_array_equal(argsort(scores), order)


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
    "many octaves": lambda rng: np.exp(rng.uniform(-600, 600, 1000)),
}


@pytest.mark.parametrize("case", CASES)
def test_argsort_sorts(case, rng):
    assert_sorts(CASES[case](rng))


def test_argsort_leaves_the_scores_alone(rng):
    scores = rng.normal(size=100)
    before = scores.copy()
    scores.flags.writeable = False
    argsort(scores)
    assert_array_equal(scores, before)


@given(st.lists(st.floats(allow_nan=False), min_size=1, max_size=50))
def test_argsort_sorts_any_floats(scores):
    assert_sorts(np.array(scores))
