# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pytest
from drawing import draw_problem, draw_weight
from numpy.testing import assert_allclose
from oracles import pair_differences
from scipy import sparse
from scipy.optimize import minimize

from aucmax.design import LocalDesign
from aucmax.losses import Exponential, Logistic, Square, SquaredHinge, UnivariateSquare
from aucmax.solvers import newton_cg as module
from aucmax.solvers._preconditioner import _unit_columns
from aucmax.solvers.newton_cg import newton_cg
from aucmax.solvers.path import curvature_scale, regularisation_path

LOSSES = [SquaredHinge, Square, Logistic, UnivariateSquare, Exponential]


def name(loss):
    return loss.__name__


def reference(X, is_pos, alpha):
    """Minimise the explicit pairwise squared hinge with SciPy."""
    pairs = pair_differences(X, is_pos)

    def objective(coef):
        margin = np.maximum(0, 1 - pairs @ coef)
        value = (margin**2).mean() + alpha / 2 * coef @ coef
        return value, -2 * pairs.T @ margin / len(pairs) + alpha * coef

    return minimize(
        objective,
        np.zeros(X.shape[1]),
        jac=True,
        method="BFGS",
        options={"gtol": 1e-9},
    )


@pytest.mark.parametrize("alpha", [1.0, 1e-2, 1e-5])
@pytest.mark.parametrize("seed", range(4))
def test_same_objective_as_scipy(seed, alpha):
    X, is_pos, weight = draw_problem(np.random.default_rng(seed))
    ours = newton_cg(
        LocalDesign(X), is_pos, weight, loss=SquaredHinge(), alpha=alpha, tol=1e-10
    )
    theirs = reference(X, is_pos, alpha)
    assert ours.converged
    assert ours.value == pytest.approx(theirs.fun, rel=1e-8)
    assert ours.value <= theirs.fun * (1 + 1e-10)
    assert_allclose(ours.coef, theirs.x, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("alpha", [1.0, 1e-3, 1e-6])
@pytest.mark.parametrize("loss", LOSSES, ids=name)
def test_gradient_vanishes(loss, alpha, rng):
    X, is_pos, _ = draw_problem(rng, n=300, d=12)
    weight = draw_weight(rng, 300, "any")
    design = LocalDesign(X)
    result = newton_cg(design, is_pos, weight, loss=loss(), alpha=alpha, tol=1e-14)
    at_zero = loss().evaluate(np.zeros(300), is_pos, weight)
    at_end = loss().evaluate(design.scores(result.coef), is_pos, weight)
    first = np.linalg.norm(design.adjoint(at_zero.grad))
    last = np.linalg.norm(design.adjoint(at_end.grad) + alpha * result.coef)
    assert last <= 1e-6 * first


@pytest.mark.parametrize("loss", LOSSES, ids=name)
@pytest.mark.parametrize("scale", [1.0, 30.0])
def test_converges_from_any_start(loss, scale, rng):
    X, is_pos, weight = draw_problem(rng, n=120, d=6)
    solve = {"loss": loss(), "alpha": 1e-2, "tol": 1e-12, "max_iter": 1000}
    design = LocalDesign(X)
    best = newton_cg(design, is_pos, weight, **solve)
    for _ in range(3):
        start = scale * rng.normal(size=6)
        result = newton_cg(design, is_pos, weight, start=start, **solve)
        assert result.converged
        assert result.value == pytest.approx(best.value, rel=1e-9)


@pytest.mark.parametrize("shape", [(30, 100), (100, 300), (700, 500), (100, 2500)])
@pytest.mark.parametrize("alpha", [1e-2, 1e-3, 1e-4])
def test_converged_means_close_also_with_more_features_than_rows(shape, alpha, rng):
    X = rng.normal(size=shape)
    is_pos = np.arange(shape[0]) % 3 == 0
    X[is_pos] += 1 / np.sqrt(shape[1])
    solve = {"loss": SquaredHinge(), "alpha": alpha}
    weight = np.ones(shape[0])
    rough = newton_cg(LocalDesign(X), is_pos, weight, tol=1e-4, **solve)
    tight = newton_cg(
        LocalDesign(X), is_pos, weight, tol=1e-10, start=rough.coef, **solve
    )
    assert rough.converged
    assert rough.value <= tight.value * (1 + 5e-4)


def test_one_product_where_the_preconditioner_is_the_hessian(rng):
    """And one pass for each gradient."""
    X, is_pos, weight = draw_problem(rng, n=300, d=12)
    result = newton_cg(
        LocalDesign(X), is_pos, weight, loss=SquaredHinge(), alpha=1e-2, tol=1e-8
    )
    passes = [step.n_passes for step in result.history]
    assert len(passes) > 2
    assert_allclose(np.diff([1, *passes]), 3)


@pytest.mark.parametrize("scale", [1e8, 1e11, 1e12])
def test_converged_means_close_also_with_one_wide_column(scale, rng):
    n, d = 1500, 20
    X, is_pos = rng.normal(size=(n, d)), np.arange(n) % 3 == 0
    X[is_pos] += 1.5 / np.sqrt(d)
    wide = X.copy()
    wide[:, 0] *= scale
    fits = [
        newton_cg(
            LocalDesign(rows),
            is_pos,
            np.ones(n),
            loss=SquaredHinge(),
            alpha=1e-3,
            tol=1e-4,
        )
        for rows in (wide, X)
    ]
    # The wide column costs no penalty, so the objective is a little lower.
    assert fits[0].converged
    assert fits[0].value <= fits[1].value * (1 + 3e-4)


def test_objective_never_rises(rng):
    X, is_pos, weight = draw_problem(rng, n=400, d=20)
    result = newton_cg(
        LocalDesign(X), is_pos, weight, loss=SquaredHinge(), alpha=1e-5, tol=1e-12
    )
    values = [step.value for step in result.history]
    assert len(values) == result.n_iter
    assert np.all(np.diff(values) <= 1e-12)
    assert np.all(np.diff([step.n_passes for step in result.history]) > 0)


def test_strong_penalty_gives_the_mean_difference(rng):
    X, is_pos, weight = draw_problem(rng)
    result = newton_cg(
        LocalDesign(X), is_pos, weight, loss=SquaredHinge(), alpha=1e8, tol=1e-12
    )
    gap = X[is_pos].mean(axis=0) - X[~is_pos].mean(axis=0)
    assert_allclose(result.coef * 1e8, 2 * gap, rtol=1e-5)


def test_flipping_labels_flips_the_coefficients(rng):
    X, is_pos, weight = draw_problem(rng)
    design = LocalDesign(X)
    solve = {"loss": SquaredHinge(), "alpha": 1e-3, "tol": 1e-12}
    there = newton_cg(design, is_pos, weight, **solve)
    back = newton_cg(design, ~is_pos, weight, **solve)
    assert_allclose(there.coef, -back.coef, rtol=1e-5, atol=1e-7)


def test_stops_where_told_and_says_so(rng):
    X, is_pos, weight = draw_problem(rng, n=200, d=10)
    result = newton_cg(
        LocalDesign(X),
        is_pos,
        weight,
        loss=SquaredHinge(),
        alpha=1e-6,
        tol=1e-15,
        max_iter=2,
    )
    assert not result.converged
    assert result.n_iter == 2
    assert "after 2 steps" in result.message


def test_every_large_problem_path(rng, monkeypatch):
    """Sub-sample start, drawn preconditioner and its batches against the plain way."""
    X, is_pos, _ = draw_problem(rng, n=6000, d=8, fraction=0.1)
    weight = draw_weight(rng, 6000, "integers")
    solve = {"loss": SquaredHinge(), "alpha": 1e-4, "tol": 1e-12}
    plain = newton_cg(LocalDesign(X), is_pos, weight, start=np.zeros(8), **solve)
    monkeypatch.setattr(module, "SUBSAMPLE_ABOVE", 500)
    for rows in (X, np.asfortranarray(X), sparse.csr_array(X)):
        result = newton_cg(LocalDesign(rows), is_pos, weight, **solve)
        assert result.value == pytest.approx(plain.value, rel=1e-9)
        assert result.history[0].gap < 0.1  # the sub-sample was a good start


def test_without_a_preconditioner(rng, monkeypatch):
    monkeypatch.setattr("aucmax.solvers._preconditioner.MAX_FEATURES", 3)
    X, is_pos, weight = draw_problem(rng, n=200, d=6)
    solve = {"loss": SquaredHinge(), "alpha": 1e-3, "tol": 1e-12}
    plain = newton_cg(LocalDesign(X), is_pos, weight, **solve)
    monkeypatch.undo()
    other = newton_cg(LocalDesign(X), is_pos, weight, **solve)
    assert plain.value == pytest.approx(other.value, rel=1e-10)


def test_equal_classes_give_zero(rng):
    X = np.repeat(rng.normal(size=(20, 3)), 2, axis=0)
    is_pos = np.arange(40) % 2 == 0
    result = newton_cg(
        LocalDesign(X), is_pos, np.ones(40), loss=SquaredHinge(), alpha=1e-2
    )
    assert result.converged
    assert_allclose(result.coef, 0, atol=1e-12)


def test_underflow_is_explained(rng):
    X, is_pos, weight = draw_problem(rng)
    with pytest.raises(ValueError, match="Scale the features"):
        newton_cg(
            LocalDesign(1e-165 * X),
            is_pos,
            weight,
            loss=SquaredHinge(),
            alpha=1.0,
        )


def test_overflow_is_explained():
    X = np.array([[1e200], [-1e200], [3e200], [2e200]])
    with pytest.raises(ValueError, match="Scale the features"):
        newton_cg(
            LocalDesign(X),
            np.array([True, False, True, False]),
            np.ones(4),
            loss=SquaredHinge(),
            alpha=1.0,
        )


@pytest.mark.parametrize("loss", [SquaredHinge, Logistic], ids=name)
def test_path_equals_separate_fits(loss, rng):
    X, is_pos, _ = draw_problem(rng, n=500, d=10)
    weight = draw_weight(rng, 500, "integers")
    design, alphas = LocalDesign(X), np.logspace(1, -6, 12)
    path = regularisation_path(
        design, is_pos, weight, loss=loss(), alphas=list(alphas), tol=1e-8
    )
    for alpha, (result, scores) in zip(alphas, path, strict=True):
        alone = newton_cg(design, is_pos, weight, loss=loss(), alpha=alpha, tol=1e-12)
        assert result.converged
        assert result.value == pytest.approx(alone.value, rel=1e-7)
        assert_allclose(scores, design.scores(result.coef), atol=1e-8)


def test_path_scores_rows_left_out_by_weight(rng):
    X, is_pos, weight = draw_problem(rng, n=200, d=4)
    weight[:50] = 0
    kept = slice(50, None)
    ((result, scores),) = regularisation_path(
        LocalDesign(X), is_pos, weight, loss=SquaredHinge(), alphas=[0.01], tol=1e-12
    )
    alone = newton_cg(
        LocalDesign(X[kept]),
        is_pos[kept],
        weight[kept],
        loss=SquaredHinge(),
        alpha=0.01,
        tol=1e-12,
    )
    assert_allclose(result.coef, alone.coef, rtol=1e-6, atol=1e-9)
    assert scores.shape == (200,)


def test_curvature_scale_follows_the_features(rng):
    X, is_pos, weight = draw_problem(rng)
    one = curvature_scale(LocalDesign(X), is_pos, weight, loss=SquaredHinge())
    ten = curvature_scale(LocalDesign(10 * X), is_pos, weight, loss=SquaredHinge())
    assert ten == pytest.approx(100 * one)
    mask = np.array([True, True, False, False])
    for constant in (1.0, 5.3):
        flat = LocalDesign(np.full((4, 2), constant))
        assert curvature_scale(flat, mask, np.ones(4), loss=SquaredHinge()) == 1.0


def test_a_column_next_to_zero_in_the_first_rows_only():
    """Its scale was once taken from these, and the rest of it became infinite."""
    X = np.random.default_rng(0).normal(size=(1200, 64))
    X[:1100, 0] *= 1e-310
    columns, scale = _unit_columns(_Rows(X), np.arange(1200))
    assert_allclose(np.diff(columns.T * scale, axis=0), np.diff(X, axis=0), atol=1e-12)


class _Rows:
    """As much of a design as the preconditioner needs."""

    def __init__(self, X):
        self.X, self.shape, self.reads_in_order = X, X.shape, False

    def rows(self, index):
        return self.X[index]
