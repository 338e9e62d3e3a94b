# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pytest
from drawing import draw_problem, draw_weight
from numpy.testing import assert_allclose
from oracles import pair_differences
from scipy.optimize import minimize

from aucmax.design.gram import Gram
from aucmax.losses import Exponential, Logistic, Square, SquaredHinge, UnivariateSquare
from aucmax.solvers import kernel_newton as module
from aucmax.solvers.kernel_newton import kernel_newton


def rbf(X, gamma):
    return np.exp(-gamma * ((X[:, None] - X[None]) ** 2).sum(-1))


def gram_of(kernel, **options):
    def against(columns, dtype):
        def values(rows, out=None):
            block = kernel[rows][:, columns].astype(dtype)
            if out is None:
                return block
            out[...] = block
            return out

        return values

    return Gram(against, len(kernel), **{"memory_budget": 10**9, "tile": 64} | options)


def solve(kernel, is_pos, weight=None, *, loss=None, alpha=1e-3, **options):
    weight = np.ones(len(kernel)) if weight is None else weight
    loss = SquaredHinge() if loss is None else loss
    return kernel_newton(
        gram_of(kernel), is_pos, weight, loss=loss, alpha=alpha, **options
    )


def draw(rng, n=80, gamma=0.2, **options):
    X, is_pos, _ = draw_problem(rng, n=n, **options)
    return rbf(X, gamma), is_pos


def objective(kernel, is_pos, coef, alpha, loss=None):
    loss = SquaredHinge() if loss is None else loss
    terms = loss.evaluate(kernel @ coef, is_pos, np.ones(len(coef)))
    return terms.value + alpha / 2 * coef @ kernel @ coef, terms


def reference(kernel, is_pos, alpha):
    """Minimise over all explicit pairs with SciPy, in whitened coordinates."""
    values, vectors = np.linalg.eigh(kernel)
    features = vectors * np.sqrt(np.maximum(values, 0))
    pairs = pair_differences(features, is_pos)

    def value_and_gradient(coef):
        margin = np.maximum(0, 1 - pairs @ coef)
        value = (margin**2).mean() + alpha / 2 * coef @ coef
        return value, -2 * pairs.T @ margin / len(pairs) + alpha * coef

    best = minimize(
        value_and_gradient,
        np.zeros(len(kernel)),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": 20_000, "maxfun": 40_000, "ftol": 1e-16, "gtol": 1e-10},
    )
    return best.fun, features @ best.x


@pytest.mark.parametrize("alpha", [1.0, 1e-2, 1e-4])
@pytest.mark.parametrize("seed", range(3))
def test_same_minimum_as_scipy(seed, alpha):
    kernel, is_pos = draw(np.random.default_rng(seed))
    ours = solve(kernel, is_pos, alpha=alpha)
    value, scores = reference(kernel, is_pos, alpha)
    assert ours.converged
    assert ours.value == pytest.approx(value, rel=1e-8)
    assert_allclose(kernel @ ours.coef, scores, atol=1e-3)


@pytest.mark.parametrize("alpha", [1e-1, 1e-3, 1e-5, 1e-8])
def test_few_active_rows_are_solved_to_rounding(alpha, rng):
    kernel, is_pos = draw(rng, n=150)
    result = solve(kernel, is_pos, alpha=alpha, tol=1e-2)
    value, terms = objective(kernel, is_pos, result.coef, alpha)
    assert result.value == pytest.approx(value, rel=1e-9)
    largest = np.abs(result.coef).max()
    assert_allclose(result.coef, -terms.grad / alpha, atol=1e-6 * largest)
    assert abs(result.coef.sum()) <= 1e-8 * np.abs(result.coef).sum()
    idle = terms.grad == 0
    assert np.all(result.coef[idle] == 0)
    if alpha <= 1e-3:
        assert np.count_nonzero(idle) > 10


@pytest.mark.parametrize(
    "loss", [SquaredHinge, Square, Logistic, UnivariateSquare, Exponential]
)
def test_gradient_vanishes_for_every_smooth_loss(loss, rng):
    kernel, is_pos = draw(rng, n=60)
    result = solve(kernel, is_pos, loss=loss(), tol=1e-8)
    _, terms = objective(kernel, is_pos, result.coef, 1e-3, loss())
    grad = 1e-3 * result.coef + terms.grad
    assert np.abs(kernel @ grad).max() <= 1e-8


def usual_form(kernel, is_pos, alpha, target, max_products):
    """Truncated Newton with CG on ``alpha K + K H K``; count products to a target."""
    weight, n = np.ones(len(kernel)), len(kernel)
    coef, scores, n_products = np.zeros(n), np.zeros(n), 0
    loss = SquaredHinge()
    terms = loss.evaluate(scores, is_pos, weight)
    while n_products < max_products:
        if terms.value + alpha / 2 * coef @ scores <= target:
            break
        grad = kernel @ (alpha * coef + terms.grad)
        residual, step = -grad, -grad
        direction, along = np.zeros(n), np.zeros(n)
        n_products += 1
        first = residual @ residual
        for _ in range(250):
            image = kernel @ step
            product = kernel @ (alpha * step + terms.hess_dot(image))
            n_products += 2
            before = residual @ residual
            length = before / (step @ product)
            direction, along = direction + length * step, along + length * image
            residual = residual - length * product
            if residual @ residual <= 1e-4 * first:
                break
            step = residual + residual @ residual / before * step

        def value(t, coef=coef, scores=scores, d=direction, along=along):
            at = loss.evaluate(scores + t * along, is_pos, weight)
            return at.value + alpha / 2 * (coef + t * d) @ (scores + t * along)

        t = min(np.arange(0.05, 3, 0.05), key=value)
        coef, scores = coef + t * direction, scores + t * along
        terms = loss.evaluate(scores, is_pos, weight)
    return n_products


def test_ten_times_fewer_products_than_the_usual_form(rng, monkeypatch):
    kernel, is_pos = draw(rng, n=150, gamma=0.02)
    alpha = 1e-4
    best = solve(kernel, is_pos, alpha=alpha)
    ours = solve(kernel, is_pos, alpha=alpha, tol=1e-4).history[-1].n_passes
    target = best.value * (1 + 1e-4)
    assert usual_form(kernel, is_pos, alpha, target, 10 * ours) >= 10 * ours
    # Also by CG alone: without landmarks, and without direct steps.
    monkeypatch.setattr(module, "FIRST_DRAW", 10**9)
    monkeypatch.setattr(module, "MAX_DIRECT", 0)
    monkeypatch.setattr(module, "CLEAR_COST", -np.inf)
    plain = solve(kernel, is_pos, alpha=alpha, tol=1e-4)
    plain_passes = next(s.n_passes for s in plain.history if s.value <= target)
    assert usual_form(kernel, is_pos, alpha, target, 10**4) >= 10 * plain_passes


@pytest.fixture
def without_direct_steps(monkeypatch):
    monkeypatch.setattr(module, "MAX_DIRECT", 0)


@pytest.mark.usefixtures("without_direct_steps")
@pytest.mark.parametrize("first_draw", [4, 10**9])
@pytest.mark.parametrize("gamma", [0.02, 0.2, 2.0])
@pytest.mark.parametrize("alpha", [1e-1, 1e-3, 1e-5])
def test_converged_means_close(gamma, alpha, first_draw, rng, monkeypatch):
    monkeypatch.setattr(module, "FIRST_DRAW", first_draw)
    kernel, is_pos = draw(rng, n=300, gamma=gamma)
    rough = solve(kernel, is_pos, alpha=alpha, tol=1e-4)
    monkeypatch.undo()
    exact = solve(kernel, is_pos, alpha=alpha)
    assert rough.converged
    assert -1e-9 <= rough.value / exact.value - 1 <= 3e-4
    value, _ = objective(kernel, is_pos, rough.coef, alpha)
    assert rough.value == pytest.approx(value, rel=1e-8)


@pytest.mark.usefixtures("without_direct_steps")
def test_landmarks_save_products(rng, monkeypatch):
    kernel, is_pos = draw(rng, n=400)
    passes = {}
    for first_draw in (4, 10**9):
        monkeypatch.setattr(module, "FIRST_DRAW", first_draw)
        result = solve(kernel, is_pos, alpha=1e-5, tol=1e-6)
        passes[first_draw] = result.history[-1].n_passes
    assert passes[4] < 0.7 * passes[10**9]


@pytest.mark.usefixtures("without_direct_steps")
def test_idle_rows_are_cleared_at_the_landmarks_expense(rng):
    kernel, is_pos = draw(rng, n=400)
    alpha, tol = 1e-4, 1e-3
    result = solve(kernel, is_pos, alpha=alpha, tol=tol)
    value, terms = objective(kernel, is_pos, result.coef, alpha)
    assert result.value == pytest.approx(value, rel=1e-9)
    idle = terms.grad == 0
    assert np.count_nonzero(idle) > 40
    assert np.count_nonzero(result.coef[idle]) <= 0.05 * np.count_nonzero(idle)


@pytest.mark.usefixtures("without_direct_steps")
def test_idle_rows_stay_where_clearing_costs_too_much(rng, monkeypatch):
    monkeypatch.setattr(module, "CLEAR_COST", -np.inf)
    kernel, is_pos = draw(rng, n=200)
    result = solve(kernel, is_pos, alpha=1e-4)
    assert np.count_nonzero(result.coef) == 200
    value, _ = objective(kernel, is_pos, result.coef, 1e-4)
    assert result.value == pytest.approx(value, rel=1e-9)


@pytest.mark.usefixtures("without_direct_steps")
def test_objective_never_rises(rng, monkeypatch):
    monkeypatch.setattr(module, "CLEAR_COST", -np.inf)
    kernel, is_pos = draw(rng, n=300)
    seen = []
    result = solve(kernel, is_pos, alpha=1e-5, tol=1e-10, on_step=seen.append)
    assert seen == result.history
    assert len(seen) == result.n_iter
    assert np.all(np.diff([step.value for step in seen]) <= 1e-12)
    assert np.all(np.diff([step.n_passes for step in seen]) >= 0)


def test_weights_are_repetitions_and_singular_kernels_harmless(rng):
    kernel, is_pos = draw(rng)
    weight = draw_weight(rng, 80, "integers")
    index = np.repeat(np.arange(80), weight.astype(int))
    weighted = solve(kernel, is_pos, weight, alpha=1e-4)
    repeated = solve(kernel[np.ix_(index, index)], is_pos[index], alpha=1e-4)
    assert np.linalg.matrix_rank(kernel[np.ix_(index, index)]) < len(index)
    assert weighted.value == pytest.approx(repeated.value, rel=1e-10)
    scores = (kernel @ weighted.coef)[index]
    assert_allclose(scores, kernel[np.ix_(index, index)] @ repeated.coef, atol=1e-8)
    # A repeated row's coefficient is the sum of its copies'.
    summed = np.bincount(index, repeated.coef, minlength=80)
    assert_allclose(weighted.coef, summed, atol=1e-6 * np.abs(summed).max())
    assert np.all(weighted.coef[weight == 0] == 0)


@pytest.mark.parametrize("direct", [0, 1000])
def test_kernel_in_float32(direct, rng, monkeypatch):
    monkeypatch.setattr(module, "MAX_DIRECT", direct)
    kernel, is_pos = draw(rng, n=400)
    weight = np.ones(400)
    narrow, wide = (
        kernel_newton(
            gram_of(kernel, dtype=dtype),
            is_pos,
            weight,
            loss=SquaredHinge(),
            alpha=1e-3,
        )
        for dtype in (np.float32, np.float64)
    )
    assert narrow.converged
    value, _ = objective(kernel, is_pos, narrow.coef, 1e-3)
    assert value == pytest.approx(wide.value, rel=2e-4)


def test_one_positive(rng):
    kernel, is_pos = draw(rng, fraction=0.0)
    assert is_pos.sum() == 1
    result = solve(kernel, is_pos, alpha=1e-3)
    value, _ = reference(kernel, is_pos, 1e-3)
    assert result.value == pytest.approx(value, rel=1e-8)


def test_strong_penalty_still_ranks(rng):
    kernel, is_pos = draw(rng)
    result = solve(kernel, is_pos, alpha=1e8)
    # The gradient at zero: the means of the classes, apart.
    expected = np.where(is_pos, 2 / is_pos.sum(), -2 / (~is_pos).sum())
    assert_allclose(result.coef * 1e8, expected, rtol=1e-5)


def test_equal_rows_give_zero():
    result = solve(np.ones((10, 10)), np.arange(10) < 3)
    assert result.converged
    assert result.value == 1.0
    assert np.all(result.coef == 0)


def test_indefinite_kernels_are_refused(rng):
    X, is_pos, _ = draw_problem(rng)
    for kernel in (-rbf(X, 0.2), np.tanh(X @ X.T - 1)):
        with pytest.raises(ValueError, match="not positive semi-definite"):
            solve(kernel, is_pos)


@pytest.mark.parametrize("max_iter", [1, 3])
def test_stops_where_told_and_says_so(max_iter, rng):
    kernel, is_pos = draw(rng)
    result = solve(kernel, is_pos, alpha=1e-6, max_iter=max_iter)
    assert not result.converged
    assert result.n_iter == max_iter
    assert f"after {max_iter} steps" in result.message


def test_overflow_is_explained():
    kernel = np.diag([1e300, 1e300, 1e300])
    with pytest.raises(ValueError, match="Scale the features"):
        solve(kernel, np.array([True, False, True]), alpha=1.0)


@pytest.mark.parametrize("gamma", [1e-3, 0.1, 10.0])
@pytest.mark.parametrize("alpha", [1e-18, 1e-100])
def test_penalties_beyond_the_digits_of_float64_do_no_harm(alpha, gamma, rng):
    kernel, is_pos = draw(rng, n=60, gamma=gamma)
    result = solve(kernel, is_pos, alpha=alpha, max_iter=200)
    assert np.isfinite(result.coef).all()
    assert 0 <= result.value < 1


@pytest.mark.parametrize("most", range(60, 140, 10))
def test_few_active_rows_may_become_many_again(most, rng, monkeypatch):
    kernel, is_pos = draw(rng, n=150)
    exact = solve(kernel, is_pos, alpha=1e-6)
    monkeypatch.setattr(module, "MAX_DIRECT", most)
    monkeypatch.setattr(module, "DIRECT_AFTER", 1)
    result = solve(kernel, is_pos, alpha=1e-6)
    assert result.converged
    assert -1e-9 <= result.value / exact.value - 1 <= 3e-4
