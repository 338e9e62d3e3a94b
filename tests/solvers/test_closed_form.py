# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pytest
from drawing import draw_problem, draw_weight
from numpy.testing import assert_allclose
from oracles import pair_differences
from scipy import sparse

from aucmax.design import LocalDesign
from aucmax.losses import Square, UnivariateSquare
from aucmax.solvers import closed_form
from aucmax.solvers.base import Problem
from aucmax.solvers.closed_form import (
    auto_alpha,
    collect_moments,
    estimate_alpha,
    solve_implicit,
    solve_moments,
)
from aucmax.solvers.nonlinear_cg import nonlinear_cg


def normal_equations(X, is_pos, weight, alpha):
    """Solve ``(2 mean of zz' + alpha I) coef = 2 mean of z`` over explicit pairs."""
    Z = pair_differences(X, is_pos)
    pairs = np.outer(weight[is_pos], weight[~is_pos]).ravel()
    pairs /= pairs.sum()
    matrix = 2 * (Z.T * pairs) @ Z + alpha * np.eye(X.shape[1])
    return np.linalg.solve(matrix, 2 * Z.T @ pairs)


@pytest.mark.parametrize("weights", ["ones", "integers", "any"])
@pytest.mark.parametrize("alpha", [10.0, 1e-2, 1e-6])
def test_both_ways_equal_the_normal_equations(alpha, weights, rng):
    X, is_pos, _ = draw_problem(rng, n=50, d=4)
    weight = draw_weight(rng, 50, weights)
    expected = normal_equations(X, is_pos, weight, alpha)
    for rows in (X, sparse.csr_array(X)):
        design = LocalDesign(rows)
        direct = solve_moments(*collect_moments([X], is_pos, weight), alpha=alpha)
        implicit = solve_implicit(
            design, is_pos, weight, alpha=alpha, tol=1e-13, max_iter=1000
        )
        assert_allclose(direct.coef, expected, rtol=1e-9)
        assert_allclose(implicit.coef, expected, rtol=1e-7)
        terms = Square().evaluate(design.scores(direct.coef), is_pos, weight)
        value = terms.value + alpha / 2 * direct.coef @ direct.coef
        assert direct.value == pytest.approx(value, rel=1e-10)
        assert implicit.value == pytest.approx(value, rel=1e-10)


def test_equals_nonlinear_cg_on_the_same_loss(rng):
    X, is_pos, weight = draw_problem(rng, n=200, d=6)
    design = LocalDesign(X)
    direct = solve_moments(*collect_moments([X], is_pos, weight), alpha=1e-3)
    problem = Problem(design, Square(), is_pos, weight)
    stepwise = nonlinear_cg(problem, 1e-3, tol=1e-14)
    assert_allclose(stepwise.coef, direct.coef, rtol=1e-8)


def test_balanced_univariate_square_has_the_same_direction(rng):
    """An identity: with a free intercept and half the alpha."""
    X, is_pos, weight = draw_problem(rng, n=90, d=5, fraction=0.2)
    design, alpha = LocalDesign(X), 0.05
    pairwise = solve_moments(*collect_moments([X], is_pos, weight), alpha=alpha)
    # Half-mean form: lam = alpha / 2 pairwise is lam / 2 for the univariate loss.
    problem = Problem(design, UnivariateSquare(), is_pos, weight)
    univariate = nonlinear_cg(problem, alpha / 4, tol=1e-14)
    cosine = (pairwise.coef @ univariate.coef) / (
        np.linalg.norm(pairwise.coef) * np.linalg.norm(univariate.coef)
    )
    assert cosine == pytest.approx(1, abs=1e-12)


def test_blocks_change_nothing(rng, monkeypatch):
    X, is_pos, weight = draw_problem(rng, n=100, d=3)
    whole = collect_moments([X], is_pos, weight)
    monkeypatch.setattr(closed_form, "BLOCK_VALUES", 20)
    pieces = collect_moments([X], is_pos, weight)
    for one, other in zip(whole, pieces, strict=True):
        assert_allclose(one.mean, other.mean, atol=1e-13)
        assert_allclose(one.scatter, other.scatter, atol=1e-10)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_singular_covariance(dtype, rng):
    """Repeated and constant columns, one positive, hardly any penalty."""
    X = rng.normal(size=(30, 3))
    X = np.column_stack([X, X, np.ones(30)]).astype(dtype)
    is_pos = np.arange(30) == 4
    moments = collect_moments([X], is_pos, np.ones(30))
    result = solve_moments(*moments, alpha=1e-300)
    assert np.all(np.isfinite(result.coef))
    scores = X @ result.coef
    assert scores[4] > np.delete(scores, 4).max()


def test_implicit_says_when_it_stopped_early(rng):
    X, is_pos, weight = draw_problem(rng, n=100, d=20)
    result = solve_implicit(
        LocalDesign(X), is_pos, weight, alpha=1e-8, tol=1e-14, max_iter=2
    )
    assert not result.converged
    assert result.n_iter == 2
    assert "above" in result.message


@pytest.mark.parametrize("weights", [False, True])
def test_automatic_penalty_equals_its_definition_over_pairs(weights, rng):
    X = rng.normal(size=(40, 3000)) + 5.0
    is_pos = rng.random(40) < 0.4
    weight = rng.random(40) if weights else np.ones(40)
    pairs = np.outer(weight[is_pos], weight[~is_pos])
    squares = ((X[is_pos][:, None] - X[~is_pos][None]) ** 2).sum(axis=2)
    expected = 2e-4 * (pairs * squares).sum() / pairs.sum()
    exact = auto_alpha(*collect_moments([X], is_pos, weight))
    assert exact == pytest.approx(expected, rel=1e-9)
    # The standard deviation of the estimate is about a tenth.
    estimate = estimate_alpha(LocalDesign(X), is_pos, weight)
    assert estimate == pytest.approx(expected, rel=0.3)
