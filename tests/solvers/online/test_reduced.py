# SPDX-License-Identifier: BSD-3-Clause
import copy

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from aucmax.solvers.online.base import LinearModel
from aucmax.solvers.online.exact import ExactLearner
from aucmax.solvers.online.reduced import Reduced


class Collector:
    """A learner that keeps the rows it gets."""

    is_order_free = False

    def __init__(self):
        self.rows = []

    def learn(self, X, is_pos):
        assert X.flags.c_contiguous
        assert X.dtype == np.float64
        self.rows.append(X.copy())

    def model(self):
        return LinearModel(np.arange(1.0, 41.0))


FORMS = [np.asarray, sparse.csr_matrix]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("map_form", FORMS)
def test_rows_do_not_depend_on_the_batch(form, map_form, rng):
    """To the last bit. A product of dense matrices fails this."""
    X = rng.normal(size=(50, 900))
    projection = rng.normal(size=(900, 40)) * (rng.random((900, 40)) < 0.5)
    is_pos = np.zeros(50, dtype=bool)
    rows = form(X)
    expected = X @ projection
    found = []
    for size in (1, 7, 50):
        learner = Reduced(Collector(), map_form(projection))
        for low in range(0, 50, size):
            learner.learn(rows[low : low + size], is_pos[low : low + size])
        found.append(np.concatenate(learner.learner.rows))
    assert_allclose(found[0], expected, atol=1e-10)
    assert_array_equal(found[1], found[0])
    assert_array_equal(found[2], found[0])


@pytest.mark.parametrize("map_form", FORMS)
def test_model_is_one_of_the_features_given(map_form, rng):
    X = rng.normal(size=(30, 60))
    projection = map_form(rng.normal(size=(60, 40)))
    learner = Reduced(Collector(), projection)
    scores = learner.model().scores(X)
    assert_allclose(scores, (X @ projection) @ np.arange(1.0, 41.0))


def test_order_and_copies_are_those_of_the_learner(rng):
    X, is_pos = rng.normal(size=(40, 6)), rng.random(40) < 0.5
    learner = Reduced(ExactLearner(6, alpha=1e-2), np.eye(6))
    assert learner.is_order_free
    assert not Reduced(Collector(), np.eye(6)).is_order_free
    learner.learn(X[:20], is_pos[:20])
    twin = copy.deepcopy(learner)
    plain = ExactLearner(6, alpha=1e-2)
    plain.learn(X, is_pos)
    assert np.any(plain.model().coef)
    for each in (learner, twin):
        each.learn(X[20:], is_pos[20:])
        assert_array_equal(each.model().coef, plain.model().coef)
