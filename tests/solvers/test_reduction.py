# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pytest
from drawing import draw_problem
from numpy.testing import assert_allclose
from scipy import sparse

from aucmax.design import LocalDesign
from aucmax.losses import SquaredHinge
from aucmax.solvers._reduction import RowSpan, UsedColumns, reduction
from aucmax.solvers.base import Problem
from aucmax.solvers.nonlinear_cg import nonlinear_cg


@pytest.mark.parametrize("layout", [np.asarray, np.asfortranarray, sparse.csr_array])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_same_scores_and_the_same_norm(layout, dtype, rng):
    X, is_pos, weight = draw_problem(rng, n=20, d=50)
    X[1] = X[0]  # one dimension less
    problem = Problem(
        LocalDesign(layout(X.astype(dtype))), SquaredHinge(), is_pos, weight
    )
    span = reduction(problem)
    assert isinstance(span, RowSpan)
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
        assert reduction(problem) is None


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_columns_that_do_not_occur_get_no_weight(dtype, rng):
    X, is_pos, weight = draw_problem(rng, n=600, d=7)
    columns = np.array([3, 50, 51, 200, 400, 650, 699])
    wide = np.zeros((600, 700))
    wide[:, columns] = X
    narrow, problem = (
        Problem(
            LocalDesign(sparse.csr_matrix(rows.astype(dtype))),
            SquaredHinge(),
            is_pos,
            weight,
        )
        for rows in (X, wide)
    )
    assert isinstance(reduction(problem), UsedColumns)
    expected = nonlinear_cg(narrow, 1e-2).coef
    start = rng.normal(size=700)
    coef = nonlinear_cg(problem, 1e-2).coef
    assert_allclose(coef[columns], expected, rtol=1e-12)
    assert not np.delete(coef, columns).any()
    coef = nonlinear_cg(problem, 1e-2, start=start).coef
    assert_allclose(coef[columns], expected, rtol=0.1, atol=0.01)
    assert not np.delete(coef, columns).any()


def test_rows_of_nothing_stay_as_they_are():
    is_pos = np.arange(600) % 2 == 0
    design = LocalDesign(sparse.csr_matrix((600, 700)))
    assert reduction(Problem(design, SquaredHinge(), is_pos, np.ones(600))) is None
