# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pytest
from numpy.testing import assert_array_equal

from aucmax.auto.families import FEW_ROWS, ForestGroup


@pytest.mark.parametrize("kind", ["random", "extra"])
def test_few_rows_have_the_scores_of_many(kind):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(FEW_ROWS + 1, 3))
    X[0, 0] = 1e300
    group = ForestGroup(kind, 7).fit(X, X[:, 1] > 0.5, np.zeros(3, dtype=bool))
    together = group.scores(X)
    assert together.shape == (FEW_ROWS + 1, 1)
    assert len(np.unique(together)) > 3
    apart = [group.scores(X[k : k + 1]) for k in range(len(X))]
    assert_array_equal(np.vstack(apart), together)
