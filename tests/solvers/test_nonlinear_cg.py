# SPDX-License-Identifier: BSD-3-Clause
import copy

import numpy as np
import pytest
from drawing import draw_problem, draw_weight
from numpy.testing import assert_allclose, assert_array_equal
from oracles import pair_differences
from scipy import sparse
from scipy.optimize import minimize

from aucmax.design import LocalDesign
from aucmax.losses import Exponential, Logistic, Square, SquaredHinge, UnivariateSquare
from aucmax.solvers import _sampled_hessian
from aucmax.solvers import nonlinear_cg as module
from aucmax.solvers.base import Checkpointing, Problem
from aucmax.solvers.nonlinear_cg import nonlinear_cg
from aucmax.solvers.path import curvature_scale, regularisation_path

LOSSES = [SquaredHinge, Square, Logistic, UnivariateSquare, Exponential]


def name(loss):
    return loss.__name__


def make(X, is_pos, weight=None, loss=SquaredHinge):
    ones = np.ones(len(is_pos))
    return Problem(LocalDesign(X), loss(), is_pos, ones if weight is None else weight)


@pytest.fixture
def treats_all_as_large(monkeypatch):
    """Sample, cut columns and start from a sub-sample, however small the problem."""
    monkeypatch.setattr(_sampled_hessian, "LEAST_ROWS", 60)
    monkeypatch.setattr(_sampled_hessian, "MANY_ROWS", 6.0)
    monkeypatch.setattr(module, "SUBSAMPLE_ABOVE", 100)


def draw_wide(rng, n=900, d=60):
    """Columns that fade like those of a kernel's eigenvectors."""
    X, is_pos, _ = draw_problem(rng, n=n, d=d, fraction=0.2)
    X *= np.logspace(0, -3, d)
    return X, is_pos, draw_weight(rng, n, "integers")


def minimise_pairs(X, is_pos, alpha):
    """Minimise the explicit pairwise squared hinge with SciPy."""
    pairs = pair_differences(X, is_pos)

    def objective(coef):
        margin = np.maximum(0, 1 - pairs @ coef)
        value = (margin**2).mean() + alpha / 2 * coef @ coef
        return value, -2 * pairs.T @ margin / len(pairs) + alpha * coef

    start = np.zeros(X.shape[1])
    return minimize(objective, start, jac=True, method="BFGS", options={"gtol": 1e-9})


@pytest.mark.parametrize("alpha", [1.0, 1e-2, 1e-5])
@pytest.mark.parametrize("seed", range(4))
def test_same_objective_as_scipy(seed, alpha):
    X, is_pos, weight = draw_problem(np.random.default_rng(seed))
    ours = nonlinear_cg(make(X, is_pos, weight), alpha, tol=1e-10)
    theirs = minimise_pairs(X, is_pos, alpha)
    assert ours.converged
    assert ours.value == pytest.approx(theirs.fun, rel=1e-8)
    assert ours.value <= theirs.fun * (1 + 1e-10)
    assert_allclose(ours.coef, theirs.x, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("alpha", [1.0, 1e-3, 1e-6])
@pytest.mark.parametrize("loss", LOSSES, ids=name)
@pytest.mark.parametrize("draw", [draw_problem, draw_wide])
def test_gradient_vanishes(draw, loss, alpha, rng):
    X, is_pos, _ = draw(rng, n=300, d=12)
    problem = make(X, is_pos, draw_weight(rng, 300, "any"), loss)
    result = nonlinear_cg(problem, alpha, tol=1e-14)
    design = problem.design
    first = design.adjoint(problem.evaluate(np.zeros(300)).grad)
    last = design.adjoint(problem.evaluate(design.scores(result.coef)).grad)
    last += alpha * result.coef
    assert np.linalg.norm(last) <= 1e-6 * np.linalg.norm(first)


@pytest.mark.usefixtures("treats_all_as_large")
@pytest.mark.parametrize("alpha", [1e-1, 1e-3, 1e-5, 1e-7])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_same_optimum_with_everything_estimated(alpha, dtype, rng, monkeypatch):
    X, is_pos, weight = draw_wide(rng)
    ours = nonlinear_cg(make(X.astype(dtype), is_pos, weight), alpha, tol=1e-8)
    monkeypatch.undo()
    plain = make(X, is_pos, weight)
    exact = nonlinear_cg(plain, alpha, tol=1e-12, start=np.zeros(60))
    assert ours.converged
    rel = 1e-6 if dtype == "float64" else 1e-4
    assert ours.value == pytest.approx(exact.value, rel=rel)


@pytest.mark.parametrize("loss", LOSSES, ids=name)
@pytest.mark.parametrize("scale", [1.0, 30.0])
def test_converges_from_any_start(loss, scale, rng):
    X, is_pos, weight = draw_problem(rng, n=120, d=6)
    problem = make(X, is_pos, weight, loss)
    best = nonlinear_cg(problem, 1e-2, tol=1e-12)
    for _ in range(3):
        start = scale * rng.normal(size=6)
        result = nonlinear_cg(problem, 1e-2, start=start, tol=1e-12)
        assert result.converged
        assert result.value == pytest.approx(best.value, rel=1e-9)


@pytest.mark.parametrize("shape", [(30, 100), (100, 300), (700, 500), (100, 2500)])
@pytest.mark.parametrize("alpha", [1e-2, 1e-3, 1e-4])
def test_converged_means_close_also_with_more_features_than_rows(shape, alpha, rng):
    X = rng.normal(size=shape)
    is_pos = np.arange(shape[0]) % 3 == 0
    X[is_pos] += 1 / np.sqrt(shape[1])
    problem = make(X, is_pos)
    rough = nonlinear_cg(problem, alpha, tol=1e-4)
    tight = nonlinear_cg(problem, alpha, tol=1e-10, start=rough.coef)
    assert rough.converged
    assert rough.value <= tight.value * (1 + 5e-4)


@pytest.mark.usefixtures("treats_all_as_large")
@pytest.mark.parametrize("alpha", [1e-2, 1e-4, 1e-6])
def test_converged_means_close_with_a_sampled_hessian(alpha, rng):
    X, is_pos, weight = draw_wide(rng)
    problem = make(X, is_pos, weight)
    rough = nonlinear_cg(problem, alpha, tol=1e-3)
    tight = nonlinear_cg(problem, alpha, tol=1e-10)
    assert rough.converged
    assert rough.value <= tight.value * (1 + 2e-3)
    assert rough.n_iter < tight.n_iter


@pytest.mark.parametrize("scale", [1e8, 1e11, 1e12])
def test_converged_means_close_also_with_one_wide_column(scale, rng):
    X, is_pos = rng.normal(size=(1500, 20)), np.arange(1500) % 3 == 0
    X[is_pos] += 1.5 / np.sqrt(20)
    wide = X.copy()
    wide[:, 0] *= scale
    ours, plain = (nonlinear_cg(make(rows, is_pos), 1e-3) for rows in (wide, X))
    # The wide column costs no penalty, so the objective is a little lower.
    assert ours.converged
    assert ours.value <= plain.value * (1 + 3e-4)


def test_rare_columns_do_not_hold_it_up(rng):
    """No sample has seen a column of ten ones in 20,000 rows."""
    X, is_pos, weight = draw_problem(rng, n=20_000, d=20)
    rare = np.zeros((20_000, 30))
    rare[rng.permutation(20_000)[:300], np.arange(300) % 30] = 1.0
    problem = make(np.hstack([X, rare]), is_pos, weight)
    result = nonlinear_cg(problem, 1e-6, tol=1e-5)
    assert result.converged
    assert result.n_iter <= 30


def test_objective_never_rises(rng):
    X, is_pos, weight = draw_problem(rng, n=400, d=20)
    result = nonlinear_cg(make(X, is_pos, weight), 1e-5, tol=1e-12)
    values = [step.value for step in result.history]
    assert len(values) == result.n_iter
    assert np.all(np.diff(values) <= 1e-12)
    assert np.all(np.diff([step.n_passes for step in result.history]) >= 2)


def test_strong_penalty_gives_the_mean_difference(rng):
    X, is_pos, weight = draw_problem(rng)
    result = nonlinear_cg(make(X, is_pos, weight), 1e8, tol=1e-12)
    gap = X[is_pos].mean(axis=0) - X[~is_pos].mean(axis=0)
    assert_allclose(result.coef * 1e8, 2 * gap, rtol=1e-5)


def test_flipping_labels_flips_the_coefficients(rng):
    X, is_pos, weight = draw_problem(rng)
    there = nonlinear_cg(make(X, is_pos, weight), 1e-3, tol=1e-12)
    back = nonlinear_cg(make(X, ~is_pos, weight), 1e-3, tol=1e-12)
    assert_allclose(there.coef, -back.coef, rtol=1e-5, atol=1e-7)


def test_weights_are_repetitions(rng):
    X, is_pos, weight = draw_wide(rng, n=150, d=20)
    times = weight.astype(int)
    weighted = nonlinear_cg(make(X, is_pos, weight), 1e-5, tol=1e-3)
    repeated = nonlinear_cg(
        make(np.repeat(X, times, axis=0), np.repeat(is_pos, times)), 1e-5, tol=1e-3
    )
    # Not only the optimum: the same steps, so that rough solutions agree too.
    assert weighted.n_iter == repeated.n_iter
    assert_allclose(weighted.coef, repeated.coef, rtol=1e-6, atol=1e-8)


def test_stops_where_told_and_says_so(rng):
    X, is_pos, weight = draw_wide(rng)
    steps = []
    result = nonlinear_cg(
        make(X, is_pos, weight), 1e-8, tol=1e-14, max_iter=3, on_step=steps.append
    )
    assert not result.converged
    assert result.n_iter == 3
    assert "after 3 steps" in result.message
    assert steps == result.history


def test_large_problems_start_from_a_part_of_the_rows(rng):
    X, is_pos, _ = draw_problem(rng, n=6000, d=8, fraction=0.1)
    weight = draw_weight(rng, 6000, "integers")
    plain = make(X, is_pos, weight)
    expected = nonlinear_cg(plain, 1e-4, tol=1e-12, start=np.zeros(8))
    for rows in (X, np.asfortranarray(X), sparse.csr_array(X)):
        result = nonlinear_cg(make(rows, is_pos, weight), 1e-4, tol=1e-12)
        assert result.value == pytest.approx(expected.value, rel=1e-9)
        assert result.history[0].gap < 0.2


def test_separable_rows_with_a_tiny_penalty(rng):
    X, is_pos, weight = draw_wide(rng, n=200, d=40)
    X[is_pos] += 5.0
    result = nonlinear_cg(make(X, is_pos, weight), 1e-9)
    assert result.converged
    assert np.all(np.isfinite(result.coef))


def test_one_positive(rng):
    X, _, _ = draw_wide(rng, n=100, d=10)
    is_pos = np.arange(100) == 7
    result = nonlinear_cg(make(X, is_pos), 1e-3, tol=1e-10)
    assert result.value == pytest.approx(minimise_pairs(X, is_pos, 1e-3).fun, rel=1e-8)


@pytest.mark.parametrize("X", [np.ones((40, 3)), np.repeat(np.eye(20), 2, axis=0)])
def test_equal_classes_give_zero(X):
    result = nonlinear_cg(make(X, np.arange(40) % 2 == 0), 1e-2)
    assert result.converged
    assert_allclose(result.coef, 0, atol=1e-12)


def test_underflow_is_explained(rng):
    X, is_pos, weight = draw_problem(rng)
    with pytest.raises(ValueError, match="Scale the features"):
        nonlinear_cg(make(1e-165 * X, is_pos, weight), 1.0)


def test_overflow_is_explained():
    X = np.array([[1e200], [-1e200], [3e200], [2e200]])
    with pytest.raises(ValueError, match="Scale the features"):
        nonlinear_cg(make(X, np.array([True, False, True, False])), 1.0)


@pytest.mark.usefixtures("treats_all_as_large")
@pytest.mark.parametrize("shape", [(900, 60), (50, 60)])
def test_goes_on_from_any_state(shape, rng):
    X, is_pos, weight = draw_wide(rng, *shape)
    states = []

    def solve(saved=None):
        return nonlinear_cg(
            make(X, is_pos, weight),
            1e-7,
            tol=1e-6,
            checkpointing=Checkpointing(
                saved, lambda state: states.append(copy.deepcopy(state()))
            ),
        )

    result = solve()
    every = list(states)
    plain = nonlinear_cg(make(X, is_pos, weight), 1e-7, tol=1e-6)
    assert_array_equal(result.coef, plain.coef)
    if shape[0] == 900:  # so that a renewed Hessian is among them
        assert len(every) > module.LEAST_AGE + 1
    for state in every:
        again = solve(saved=state)
        assert_array_equal(again.coef, result.coef)
        assert again.history == result.history
    for key in ("coef", "scores", "loss_grad"):
        with pytest.raises(ValueError, match=f"is damaged: {key} has the shape"):
            solve(saved=every[0] | {key: every[0][key][:-1]})


class TestPath:
    @pytest.mark.parametrize("loss", [SquaredHinge, Logistic], ids=name)
    @pytest.mark.parametrize("draw", [draw_problem, draw_wide])
    @pytest.mark.parametrize("shape", [(500, 10), (30, 40)])
    def test_equals_separate_fits(self, shape, draw, loss, rng):
        X, is_pos, _ = draw(rng, *shape)
        problem = make(X, is_pos, draw_weight(rng, len(X), "integers"), loss)
        alphas = np.logspace(1, -6, 12).tolist()
        path = regularisation_path(problem, alphas, tol=1e-8)
        for alpha, (result, scores) in zip(alphas, path, strict=True):
            alone = nonlinear_cg(problem, alpha, tol=1e-12)
            assert result.converged
            assert result.value == pytest.approx(alone.value, rel=1e-7)
            assert_allclose(scores, problem.design.scores(result.coef), atol=1e-8)

    @pytest.mark.usefixtures("treats_all_as_large")
    def test_with_everything_estimated(self, rng):
        problem = make(*draw_wide(rng))
        alphas = [1e-1, 1e-2, 1e-3, 1e-4, 1e-5]
        path = regularisation_path(problem, alphas, tol=1e-8)
        for alpha, (result, _) in zip(alphas, path, strict=True):
            alone = nonlinear_cg(problem, alpha, tol=1e-12)
            assert result.value == pytest.approx(alone.value, rel=1e-6)

    def test_scores_rows_left_out_by_weight(self, rng):
        X, is_pos, weight = draw_problem(rng, n=200, d=4)
        weight[:50] = 0
        ((result, scores),) = regularisation_path(
            make(X, is_pos, weight), [0.01], tol=1e-12
        )
        alone = nonlinear_cg(make(X[50:], is_pos[50:]), 0.01, tol=1e-12)
        assert_allclose(result.coef, alone.coef, rtol=1e-6, atol=1e-9)
        assert scores.shape == (200,)

    def test_curvature_scale_follows_the_features(self, rng):
        X, is_pos, weight = draw_problem(rng)
        one = curvature_scale(make(X, is_pos, weight))
        ten = curvature_scale(make(10 * X, is_pos, weight))
        assert ten == pytest.approx(100 * one)
        mask = np.array([True, True, False, False])
        for constant in (1.0, 5.3):
            assert curvature_scale(make(np.full((4, 2), constant), mask)) == 1.0
