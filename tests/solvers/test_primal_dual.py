# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pytest
from drawing import draw_problem
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.preprocessing import StandardScaler

from aucmax._kernels import primal_dual as kernels
from aucmax.design import LocalDesign
from aucmax.solvers import primal_dual as module
from aucmax.solvers.closed_form import collect_moments, solve_moments
from aucmax.solvers.primal_dual import primal_dual


def solve(X, is_pos, seed=0, **options):
    options = {"alpha": 0.1, "batch_size": 1, "tol": 1e-12, "max_iter": 500} | options
    rng = np.random.default_rng(seed)
    return primal_dual(LocalDesign(X), is_pos, rng=rng, **options)


def closed_form(X, is_pos, alpha):
    weight = np.ones(len(is_pos))
    return solve_moments(*collect_moments([X], is_pos, weight), alpha=alpha)


def data(name):
    if name == "drawn":
        X, is_pos, _ = draw_problem(np.random.default_rng(3), n=300, d=8)
    else:
        load = {"cancer": load_breast_cancer, "wine": load_wine}[name]
        X, y = load(return_X_y=True)
        is_pos = y == 1
    return StandardScaler().fit_transform(X), is_pos


@pytest.mark.parametrize("batch_size", [1, 7])
@pytest.mark.parametrize("name", ["drawn", "cancer", "wine"])
def test_converges_linearly_to_the_closed_form(name, batch_size, monkeypatch):
    """The slope of the log distance is at least the proved one, to full precision."""
    X, is_pos = data(name)
    n, alpha = len(is_pos), 0.2
    optimum = closed_form(X, is_pos, alpha).coef
    distances = []

    def watch(step):
        distances.append(np.linalg.norm(state["coef"] - optimum))

    # The kernel updates the coefficients in place; keep a handle on them.
    state = {}
    kernel = kernels.primal_dual_steps_dense

    def spy(*arguments):
        state["coef"] = arguments[-1].coef
        kernel(*arguments)

    monkeypatch.setattr(kernels, "primal_dual_steps_dense", spy)
    result = solve(
        X,
        is_pos,
        alpha=alpha,
        batch_size=batch_size,
        tol=1e-11,
        max_iter=3000,
        on_step=watch,
    )
    assert result.converged
    assert_allclose(result.coef, optimum, rtol=1e-6, atol=1e-9)
    rows = module._CentredRows(LocalDesign(X), is_pos)
    rates = module._rates(alpha, n, batch_size, rows.largest_square())
    proved = 0.5 * np.log(rates.theta) * (n // batch_size)
    logs = np.log(np.array(distances) / np.linalg.norm(optimum))
    usable = np.flatnonzero(logs > np.log(1e-9))
    half = usable[len(usable) // 3 :]
    slope = np.polyfit(half, logs[half], 1)[0]
    assert slope <= 0.9 * proved
    # A straight line, not a curve that flattens out.
    residual = logs[half] - np.polyval(np.polyfit(half, logs[half], 1), half)
    assert np.abs(residual).max() < 0.25 * (logs[half[0]] - logs[half[-1]]) + 1


def test_step_against_a_literal_transcription(rng):
    """The kernel against the saddle-point updates written out with vectors."""
    X, is_pos, _ = draw_problem(rng, n=40, d=3)
    n, p = 40, is_pos.mean()
    rows = module._CentredRows(LocalDesign(X), is_pos)
    centred = np.where(
        is_pos[:, None],
        (X - X[is_pos].mean(axis=0)) / np.sqrt(p),
        (X - X[~is_pos].mean(axis=0)) / np.sqrt(1 - p),
    )
    assert_allclose(
        rows.centre(LocalDesign(X).rows(np.arange(n)), np.arange(n)),
        centred,
        atol=1e-12,
    )
    gap = X[~is_pos].mean(axis=0) - X[is_pos].mean(axis=0)
    rates = module._rates(0.3, n, 2, (centred**2).sum(axis=1).max())
    ids = np.array([3, 8, 3, 11, 20, 39])
    dense, sparse_rows = (
        kernels.State(np.zeros(n), np.zeros(3), np.zeros(3), np.zeros(3))
        for _ in range(2)
    )
    kernels.primal_dual_steps_dense(centred[ids], ids, rows.gap, rates, dense)
    beta, w, wt = np.zeros(n), np.zeros(3), np.zeros(3)
    for batch in ids.reshape(-1, 2):
        old = beta.copy()
        beta[batch] = (beta[batch] + rates.sigma * centred[batch] @ wt) / (
            1 + rates.sigma
        )
        u_old, u_new = centred.T @ old / n, centred.T @ beta / n
        u = u_old + n / 2 * (u_new - u_old)
        matrix = (rates.ridge + 1 / rates.tau) * np.eye(3) + np.outer(gap, gap)
        new = np.linalg.solve(matrix, w / rates.tau - u - gap)
        wt, w = new + rates.theta * (new - w), new
    # On sparse rows the same steps, which are centred on the way.
    csr = module._CentredRows(LocalDesign(sparse.csr_array(X)), is_pos)
    csr.run(ids, rates, sparse_rows)
    for state in (dense, sparse_rows):
        assert_allclose(state.coef, w, rtol=1e-9)
        assert_allclose(state.ahead, wt, rtol=1e-9)
        assert_allclose(state.dual, beta, rtol=1e-9)
        assert_allclose(state.dual_mean, centred.T @ beta / n, atol=1e-13)
    assert csr.largest_square() == pytest.approx(rows.largest_square())


def test_sparse_equals_dense_and_seeds_reproduce(rng):
    X, is_pos, _ = draw_problem(rng, n=60, d=4)
    dense = solve(X, is_pos, max_iter=20)
    assert_array_equal(solve(X, is_pos, max_iter=20).coef, dense.coef)
    assert np.any(solve(X, is_pos, seed=1, max_iter=20).coef != dense.coef)
    csr = solve(sparse.csr_array(X), is_pos, max_iter=20)
    assert_allclose(csr.coef, dense.coef, rtol=1e-8)
    single = solve(sparse.csr_array(X.astype(np.float32)), is_pos, max_iter=20)
    assert_allclose(single.coef, dense.coef, rtol=1e-4)


def test_block_size_changes_nothing(rng, monkeypatch):
    X, is_pos, _ = draw_problem(rng, n=64, d=4)
    whole = solve(X, is_pos, max_iter=200)
    monkeypatch.setattr(module, "BLOCK_VALUES", 40)
    assert_allclose(solve(X, is_pos, max_iter=200).coef, whole.coef, rtol=1e-8)


def test_stops_early_and_says_so(rng):
    X, is_pos, _ = draw_problem(rng, n=50, d=4)
    result = solve(X, is_pos, max_iter=2)
    assert not result.converged
    assert result.n_iter == 2
    assert "of that at zero" in result.message


def test_rows_equal_to_their_class_mean():
    X = np.array([[1.0], [1.0], [0.0], [0.0]])
    result = solve(X, np.array([True, True, False, False]), alpha=1.0)
    assert result.converged
    assert result.coef[0] == pytest.approx(1 / 1.5)
