# SPDX-License-Identifier: BSD-3-Clause
"""The estimate of the Hessian against the Hessian."""

import numpy as np
import pytest
from drawing import draw_problem, draw_weight
from numpy.testing import assert_allclose
from scipy import sparse

from aucmax.design import LocalDesign
from aucmax.losses import SquaredHinge
from aucmax.solvers import _sampled_hessian
from aucmax.solvers._sampled_hessian import SampledHessian
from aucmax.solvers.base import Problem


def estimate(X, is_pos, weight, scores, *, alpha=1e-3, budget=1e6):
    problem = Problem(LocalDesign(X), SquaredHinge(), is_pos, weight)
    terms = problem.evaluate(scores)
    built = SampledHessian(problem, scores, terms, alpha=alpha, budget=budget)
    dense = X.toarray() if sparse.issparse(X) else X
    exact = dense.T @ np.column_stack([terms.hess_dot(c) for c in dense.T.copy()])
    return built, exact


def draw(rng, n=900, d=60):
    X, is_pos, _ = draw_problem(rng, n=n, d=d, fraction=0.2)
    X *= np.logspace(0, -3, d)
    return X, is_pos, draw_weight(rng, n, "integers"), X @ rng.normal(size=d)


@pytest.mark.parametrize("layout", [np.asarray, np.asfortranarray, sparse.csr_array])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_exact_where_all_rows_are_drawn(layout, dtype, rng):
    X, is_pos, weight, scores = draw(rng)
    built, exact = estimate(layout(X.astype(dtype)), is_pos, weight, scores)
    # Rows of curvature zero are not drawn; without them the loss is the same.
    rest = exact[np.ix_(built.columns, built.columns)]
    rtol = 1e-8 if dtype == "float64" else 1e-4
    assert_allclose(built.block, rest, rtol=rtol, atol=rtol * np.trace(exact))


def test_solves(rng):
    X, is_pos, weight, scores = draw(rng)
    built, exact = estimate(X, is_pos, weight, scores, alpha=1e-9)
    vector = rng.normal(size=60)
    expected = np.linalg.solve(exact + 1e-9 * np.eye(60), vector)
    assert_allclose(built.solve(vector), expected, rtol=5e-3)


@pytest.mark.parametrize("d", [20, 100])
def test_close_where_rows_are_drawn(d, rng):
    X = rng.normal(size=(40_000, d))
    is_pos = rng.random(40_000) < 0.05
    X[is_pos] += 0.1
    scores = 0.1 * X @ rng.normal(size=d)
    built, exact = estimate(X, is_pos, np.ones(40_000), scores, budget=2.0)
    eigenvalues = np.linalg.eigvals(np.linalg.solve(built.block, exact)).real
    assert 0.3 < eigenvalues.min() < eigenvalues.max() < 3


def test_only_columns_that_curve_more_than_the_penalty(rng):
    drawn = draw(rng, n=1500)
    sizes = []
    for alpha in (1.0, 1e-3, 1e-12):
        built, exact = estimate(*drawn, alpha=alpha)
        sizes.append(len(built.columns))
        # The rows' own curvature, without that of their pairs' means.
        assert_allclose(built.diagonal, np.diag(exact), rtol=1.0)
    assert sizes[0] < sizes[1] < sizes[2] == 60


def test_no_column_at_all(rng):
    built, _ = estimate(*draw(rng, n=1500), alpha=1e6)
    assert len(built.columns) == 0
    vector = rng.normal(size=60)
    assert_allclose(built.solve(vector), vector / (built.diagonal + 1e6))


def test_a_small_budget_leaves_columns_out(rng, monkeypatch):
    monkeypatch.setattr(_sampled_hessian, "LEAST_ROWS", 1)
    built, _ = estimate(*draw(rng, n=1500), alpha=1e-12, budget=0.05)
    assert 0 < len(built.columns) < 60
    assert built.cost <= 0.06


def test_a_column_unseen_in_the_sample_is_not_flat(rng):
    X = rng.normal(size=(50_000, 30))
    X[:, 0] = 0.0
    X[rng.permutation(50_000)[:5], 0] = 1.0
    is_pos = rng.random(50_000) < 0.2
    built, exact = estimate(
        X, is_pos, np.ones(50_000), 0.1 * X[:, 1], alpha=1e-9, budget=2.0
    )
    assert built.block[0, 0] == pytest.approx(exact[0, 0], rel=0.3)


def test_state_restores_it(rng):
    built, _ = estimate(*draw(rng))
    again = SampledHessian.restored(built.state(), 1e-3)
    vector = rng.normal(size=60)
    np.testing.assert_array_equal(again.solve(vector), built.solve(vector))


def test_no_curvature_left(rng):
    X, is_pos, weight, _ = draw(rng)
    built, _ = estimate(X, is_pos, weight, np.where(is_pos, 5.0, -5.0))
    assert_allclose(built.solve(np.ones(60)), np.ones(60) / 1e-3)
