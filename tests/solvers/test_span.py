# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pytest
from drawing import draw_problem
from numpy.testing import assert_allclose
from scipy import sparse

from aucmax.design import LocalDesign
from aucmax.losses import SquaredHinge
from aucmax.solvers._span import RowSpan, has_few_rows
from aucmax.solvers.base import Problem


@pytest.mark.parametrize("layout", [np.asarray, np.asfortranarray, sparse.csr_array])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_same_scores_and_the_same_norm(layout, dtype, rng):
    X, is_pos, weight = draw_problem(rng, n=20, d=50)
    X[1] = X[0]  # one dimension less
    problem = Problem(
        LocalDesign(layout(X.astype(dtype))), SquaredHinge(), is_pos, weight
    )
    assert has_few_rows(problem)
    span = RowSpan(problem)
    assert span.problem.design.shape[1] < 20
    inside = span.problem.design.shape[1]
    point = rng.normal(size=inside)
    coef = span.coef(point)
    tol = 1e-4 if dtype == "float32" else 1e-10
    assert np.linalg.norm(coef) == pytest.approx(np.linalg.norm(point), rel=tol)
    scores, rotated = problem.design.scores(coef), span.problem.design.scores(point)
    # Losses ignore a constant.
    assert_allclose(scores - scores[0], rotated - rotated[0], atol=100 * tol)
    assert_allclose(span.coordinates(coef), point, atol=100 * tol)


def test_not_for_many_rows_or_few_features(rng):
    for n, d in ((20, 20), (501, 600)):
        X, is_pos, weight = draw_problem(rng, n=n, d=d)
        problem = Problem(LocalDesign(X), SquaredHinge(), is_pos, weight)
        assert not has_few_rows(problem)
