# SPDX-License-Identifier: BSD-3-Clause
"""The solver for wide rows reaches the optimum of the one for narrow rows."""

import copy

import numpy as np
import pytest
from drawing import draw_problem, draw_weight
from numpy.testing import assert_allclose, assert_array_equal

from aucmax.design import LocalDesign
from aucmax.losses import Exponential, Logistic, Square, SquaredHinge, UnivariateSquare
from aucmax.solvers import _curvature_block as block_module
from aucmax.solvers import nonlinear_cg as module
from aucmax.solvers._curvature_block import CurvatureBlock
from aucmax.solvers.newton_cg import newton_cg
from aucmax.solvers.nonlinear_cg import NonlinearCG, nonlinear_cg
from aucmax.solvers.path import regularisation_path

LOSSES = [SquaredHinge, Square, Logistic, UnivariateSquare, Exponential]


def name(loss):
    return loss.__name__


@pytest.fixture
def treats_all_as_large(monkeypatch):
    """Sample, cut columns and start from a sub-sample, however small the problem."""
    monkeypatch.setattr(block_module, "SMALL_ROWS", 0)
    monkeypatch.setattr(block_module, "FEW_ROWS", 40)
    monkeypatch.setattr(block_module, "LEAST_ROWS", 60)
    monkeypatch.setattr(module, "SUBSAMPLE_ABOVE", 100)


def draw_wide(rng, n=900, d=60):
    """Columns that fade like those of a kernel's eigenvectors."""
    X, is_pos, _ = draw_problem(rng, n=n, d=d, fraction=0.2)
    X *= np.logspace(0, -3, d)
    return X, is_pos, draw_weight(rng, n, "integers")


@pytest.mark.parametrize("alpha", [1.0, 1e-3, 1e-6])
@pytest.mark.parametrize("loss", LOSSES, ids=name)
def test_same_optimum_as_newton(loss, alpha, rng):
    X, is_pos, weight = draw_wide(rng)
    solve = {"loss": loss(), "alpha": alpha, "tol": 1e-10}
    ours = nonlinear_cg(LocalDesign(X), is_pos, weight, **solve)
    newton = newton_cg(LocalDesign(X), is_pos, weight, **solve)
    assert ours.converged
    assert ours.value == pytest.approx(newton.value, rel=1e-8)


@pytest.mark.usefixtures("treats_all_as_large")
@pytest.mark.parametrize("alpha", [1e-1, 1e-3, 1e-5, 1e-7])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_same_optimum_with_everything_estimated(alpha, dtype, rng):
    X, is_pos, weight = draw_wide(rng)
    solve = {"loss": SquaredHinge(), "alpha": alpha}
    design = LocalDesign(X.astype(dtype))
    ours = nonlinear_cg(design, is_pos, weight, tol=1e-8, **solve)
    newton = newton_cg(LocalDesign(X), is_pos, weight, tol=1e-10, **solve)
    assert ours.converged
    rel = 1e-6 if dtype == "float64" else 1e-4
    assert ours.value == pytest.approx(newton.value, rel=rel)


@pytest.mark.usefixtures("treats_all_as_large")
@pytest.mark.parametrize("alpha", [1e-2, 1e-4, 1e-6])
def test_converged_means_close(alpha, rng):
    X, is_pos, weight = draw_wide(rng)
    design = LocalDesign(X)
    solve = {"loss": SquaredHinge(), "alpha": alpha}
    rough = nonlinear_cg(design, is_pos, weight, tol=1e-3, **solve)
    tight = nonlinear_cg(design, is_pos, weight, tol=1e-10, **solve)
    assert rough.converged
    assert rough.value <= tight.value * (1 + 2e-3)
    assert rough.n_iter < tight.n_iter


@pytest.mark.usefixtures("treats_all_as_large")
def test_fewer_products_than_plain_newton(rng, monkeypatch):
    X, is_pos, weight = draw_wide(rng, n=2000)
    design = LocalDesign(X)
    solve = {"loss": SquaredHinge(), "alpha": 1e-6, "tol": 1e-4}
    ours = nonlinear_cg(design, is_pos, weight, **solve)
    monkeypatch.setattr("aucmax.solvers._preconditioner.MAX_FEATURES", 0)
    plain = newton_cg(design, is_pos, weight, **solve)
    assert ours.value <= plain.value * (1 + 1e-3)
    assert ours.history[-1].n_passes <= 0.5 * plain.history[-1].n_passes


def test_weights_are_repetitions(rng):
    X, is_pos, weight = draw_wide(rng, n=150, d=20)
    solve = {"loss": SquaredHinge(), "alpha": 1e-5, "tol": 1e-3}
    times = weight.astype(int)
    weighted = nonlinear_cg(LocalDesign(X), is_pos, weight, **solve)
    repeated = nonlinear_cg(
        LocalDesign(np.repeat(X, times, axis=0)),
        np.repeat(is_pos, times),
        np.ones(times.sum()),
        **solve,
    )
    # Not only the optimum: the same way there, so that rough solutions agree too.
    assert weighted.n_iter == repeated.n_iter
    assert_allclose(weighted.coef, repeated.coef, rtol=1e-6, atol=1e-8)


def test_converges_from_any_start(rng):
    X, is_pos, weight = draw_wide(rng, n=200, d=20)
    solve = {"loss": SquaredHinge(), "alpha": 1e-4, "tol": 1e-12}
    best = nonlinear_cg(LocalDesign(X), is_pos, weight, **solve)
    for _ in range(3):
        start = 30 * rng.normal(size=20)
        result = nonlinear_cg(LocalDesign(X), is_pos, weight, start=start, **solve)
        assert result.converged
        assert result.value == pytest.approx(best.value, rel=1e-9)


def test_separable_rows_with_a_tiny_penalty(rng):
    X, is_pos, weight = draw_wide(rng, n=200, d=40)
    X[is_pos] += 5.0
    result = nonlinear_cg(
        LocalDesign(X), is_pos, weight, loss=SquaredHinge(), alpha=1e-9
    )
    assert result.converged
    assert np.all(np.isfinite(result.coef))


def test_one_positive(rng):
    X, is_pos, _ = draw_wide(rng, n=100, d=10)
    is_pos = np.arange(100) == 7
    solve = {"loss": SquaredHinge(), "alpha": 1e-3, "tol": 1e-10}
    ours = nonlinear_cg(LocalDesign(X), is_pos, np.ones(100), **solve)
    newton = newton_cg(LocalDesign(X), is_pos, np.ones(100), **solve)
    assert ours.value == pytest.approx(newton.value, rel=1e-8)


def test_constant_rows_give_zero():
    result = nonlinear_cg(
        LocalDesign(np.ones((30, 3))),
        np.arange(30) % 2 == 0,
        np.ones(30),
        loss=SquaredHinge(),
        alpha=1e-3,
    )
    assert result.converged
    assert_allclose(result.coef, 0, atol=1e-12)


def test_stops_where_told_and_says_so(rng):
    X, is_pos, weight = draw_wide(rng)
    steps = []
    result = nonlinear_cg(
        LocalDesign(X),
        is_pos,
        weight,
        loss=SquaredHinge(),
        alpha=1e-8,
        tol=1e-14,
        max_iter=3,
        on_step=steps.append,
    )
    assert not result.converged
    assert result.n_iter == 3
    assert "after 3" in result.message
    assert steps == result.history


@pytest.mark.usefixtures("treats_all_as_large")
def test_path_equals_separate_fits(rng):
    X, is_pos, weight = draw_wide(rng)
    design, alphas = LocalDesign(X), [1e-1, 1e-2, 1e-3, 1e-4, 1e-5]
    path = regularisation_path(
        design,
        is_pos,
        weight,
        loss=SquaredHinge(),
        alphas=alphas,
        tol=1e-8,
        solver=NonlinearCG,
    )
    for alpha, (result, scores) in zip(alphas, path, strict=True):
        alone = newton_cg(
            design, is_pos, weight, loss=SquaredHinge(), alpha=alpha, tol=1e-12
        )
        assert result.value == pytest.approx(alone.value, rel=1e-6)
        assert_allclose(scores, design.scores(result.coef), atol=1e-6)


class TestBlock:
    """The estimate of the Hessian against the Hessian."""

    def build(self, rng, alpha, budget=np.inf, rows_per_column=4.0):
        X, is_pos, weight = draw_wide(rng)
        design, loss = LocalDesign(X), SquaredHinge()
        scores = design.scores(rng.normal(size=60))
        terms = loss.evaluate(scores, is_pos, weight)
        exact = np.array(
            [
                design.adjoint(terms.hess_dot(c))
                for c in design.rows(np.arange(900)).T.astype(float).copy()
            ]
        )
        block = CurvatureBlock(
            design,
            loss,
            scores,
            terms,
            is_pos,
            weight,
            alpha=alpha,
            rows_per_column=rows_per_column,
            budget=budget,
        )
        return block, exact, terms

    def test_small_problems_are_exact(self, rng):
        block, exact, _ = self.build(rng, alpha=1e-3)
        vector = rng.normal(size=60)
        expected = np.linalg.solve(exact + 1e-3 * np.eye(60), vector)
        assert_allclose(block.solve(vector), expected, rtol=1e-6)

    @pytest.mark.usefixtures("treats_all_as_large")
    def test_all_rows_drawn_is_exact_to_float32(self, rng):
        block, exact, _ = self.build(rng, alpha=1e-3, rows_per_column=900)
        assert block.is_complete
        lower = np.tril(exact[np.ix_(block.columns, block.columns)])
        assert_allclose(np.tril(block._block), lower, atol=1e-5 * np.trace(exact))

    @pytest.mark.usefixtures("treats_all_as_large")
    def test_only_columns_that_curve_more_than_the_penalty(self, rng):
        sizes = []
        for alpha in (10.0, 0.1, 1e-9):
            block, exact, _ = self.build(np.random.default_rng(0), alpha=alpha)
            sizes.append(len(block.columns))
            assert_allclose(block.diagonal, np.diag(exact), rtol=1.0)
        assert sizes[0] < sizes[1] < sizes[2] == 60

    @pytest.mark.usefixtures("treats_all_as_large")
    def test_no_column_at_all(self, rng):
        block, _, _ = self.build(rng, alpha=1e6)
        assert len(block.columns) == 0
        vector = rng.normal(size=60)
        assert_allclose(block.solve(vector), vector / (block.diagonal + 1e6))

    @pytest.mark.usefixtures("treats_all_as_large")
    def test_budget_cuts_the_block(self, rng):
        block, _, _ = self.build(rng, alpha=1e-9, budget=0.05)
        assert block.is_cut
        assert 0 < len(block.columns) < 60
        assert block.cost <= 0.05

    def test_drift_is_the_share_of_curvature_that_moved(self, rng):
        block, _, terms = self.build(rng, alpha=1e-3)
        assert block.drift(terms) == 0.0
        block.curvature = np.zeros_like(block.curvature)
        assert block.drift(terms) == pytest.approx(1.0)


@pytest.mark.usefixtures("treats_all_as_large")
def test_goes_on_from_any_state(rng):
    X, is_pos, weight = draw_wide(rng)
    states = []

    def solve(saved=None):
        return nonlinear_cg(
            LocalDesign(X),
            is_pos,
            weight,
            loss=SquaredHinge(),
            alpha=1e-7,
            tol=1e-5,
            saved=saved,
            offer=lambda state: states.append(copy.deepcopy(state())),
        )

    result = solve()
    every, alphas = list(states), {state["alpha"] for state in states}
    assert len(alphas) > 1
    for state in every:
        again = solve(saved=state)
        assert_array_equal(again.coef, result.coef)
        assert again.history == result.history
    for name in ("coef", "scores", "loss_grad"):
        with pytest.raises(ValueError, match=f"is damaged: {name} has the shape"):
            solve(saved=every[0] | {name: every[0][name][:-1]})
