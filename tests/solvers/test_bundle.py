# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pytest
from drawing import draw_problem, draw_weight
from oracles import pair_differences
from scipy.optimize import LinearConstraint, minimize
from sklearn.svm import LinearSVC

from aucmax._kernels.simplex import maximise_over_simplex
from aucmax.design import LocalDesign
from aucmax.losses import Hinge
from aucmax.solvers.base import Problem
from aucmax.solvers.bundle import CuttingPlanes, bundle


def hinge_problem(X, is_pos, weight):
    return Problem(LocalDesign(X), Hinge(), is_pos, weight)


def qp_reference(X, is_pos, alpha):
    """Objective of LIBLINEAR's dual solver on the explicit differences."""
    Z = pair_differences(X, is_pos)
    sign = np.where(np.arange(len(Z)) % 2, 1, -1)  # it insists on two classes
    svc = LinearSVC(
        loss="hinge",
        fit_intercept=False,
        C=1 / (alpha * len(Z)),
        tol=1e-10,
        max_iter=10**7,
        random_state=0,
    )
    coef = svc.fit(Z * sign[:, None], sign).coef_[0]
    return np.maximum(0, 1 - Z @ coef).mean() + alpha / 2 * coef @ coef


@pytest.mark.parametrize("alpha", [1.0, 0.1, 1e-2, 1e-3])
@pytest.mark.parametrize("seed", range(3))
def test_within_its_stated_gap_of_a_qp_reference(seed, alpha):
    X, is_pos, weight = draw_problem(np.random.default_rng(seed), n=40, d=3)
    tol = 1e-5
    result = bundle(hinge_problem(X, is_pos, weight), alpha, tol=tol)
    assert result.converged
    reference = qp_reference(X, is_pos, alpha)
    assert result.value <= reference * (1 + tol)
    assert result.value * (1 - result.history[-1].gap) <= reference


def test_certificate_is_honest_along_the_way(rng):
    X, is_pos, _ = draw_problem(rng, n=150, d=5)
    weight = draw_weight(rng, 150, "integers")
    solve = {"alpha": 1e-2}
    best = bundle(hinge_problem(X, is_pos, weight), tol=1e-7, **solve).value
    rough = bundle(hinge_problem(X, is_pos, weight), tol=1e-1, **solve)
    for step in rough.history:
        assert step.value * (1 - step.gap) <= best + 1e-9
    values = [step.value for step in rough.history]
    assert np.all(np.diff(values) <= 0)


def test_weight_is_repetition(rng):
    X, is_pos, _ = draw_problem(rng, n=40, d=3)
    times = rng.integers(1, 4, 40)
    again = np.repeat(np.arange(40), times)
    solve = {"alpha": 1e-2, "tol": 1e-7}
    weighted = bundle(hinge_problem(X, is_pos, times.astype(float)), **solve)
    copied = bundle(
        hinge_problem(X[again], is_pos[again], np.ones(len(again))), **solve
    )
    assert weighted.value == pytest.approx(copied.value, rel=1e-6)


def test_warm_start_and_stopping_early(rng):
    X, is_pos, weight = draw_problem(rng, n=100, d=5)
    solve = {"alpha": 1e-3}
    best = bundle(hinge_problem(X, is_pos, weight), tol=1e-6, **solve)
    again = bundle(hinge_problem(X, is_pos, weight), tol=1e-2, start=best.coef, **solve)
    assert again.value <= best.value * (1 + 1e-9)
    cut = bundle(hinge_problem(X, is_pos, weight), tol=1e-9, max_iter=2, **solve)
    assert not cut.converged
    assert cut.n_iter == 2
    assert "certified gap" in cut.message


def test_few_evaluations_per_step(rng):
    """Bisection of the slope would need twice as many."""
    X, is_pos, weight = draw_problem(rng, n=3000, d=10)
    n_evaluations = 0

    class Counted:
        def evaluate(self, *args):
            nonlocal n_evaluations
            n_evaluations += 1
            return Hinge().evaluate(*args)

    problem = Problem(LocalDesign(X), Counted(), is_pos, weight)
    result = bundle(problem, alpha=0.01, tol=1e-3)
    assert result.converged
    assert n_evaluations <= 6 * result.n_iter


def test_many_tangents_are_merged_without_harm(rng, monkeypatch):
    X, is_pos, weight = draw_problem(rng, n=200, d=10)
    solve = {"alpha": 1e-4, "tol": 1e-5}
    full = bundle(hinge_problem(X, is_pos, weight), **solve)
    monkeypatch.setattr("aucmax.solvers.bundle.MAX_PLANES", 25)
    lean = bundle(hinge_problem(X, is_pos, weight), **solve)
    assert full.n_iter > 25
    assert lean.converged
    assert lean.value == pytest.approx(full.value, rel=3e-5)


def test_merging_tangents_changes_neither_minimum_nor_bound(rng, monkeypatch):
    monkeypatch.setattr("aucmax.solvers.bundle.MAX_PLANES", 12)
    model = CuttingPlanes(30, alpha=10.0)
    for _ in range(11):
        model.add(rng.normal(size=30), 5.0)
    coef, bound = model.minimise(1e-12), model.lower_bound()
    assert np.sum(model.shares > 0) > 6
    model.add(np.zeros(30), -1.0)
    assert len(model.shares) == 8
    assert model.lower_bound() == pytest.approx(bound)
    assert model.minimise(1e-12) == pytest.approx(coef)


@pytest.mark.parametrize("seed", range(5))
def test_simplex_kernel_against_scipy(seed):
    rng = np.random.default_rng(seed)
    rows, linear = rng.normal(size=(6, 3)), rng.normal(size=6)
    gram = rows @ rows.T
    shares = np.full(6, 1 / 6)
    maximise_over_simplex(gram, linear, shares, 1e-12, 100_000)
    assert shares.sum() == pytest.approx(1)
    assert shares.min() >= 0
    reference = minimize(
        lambda a: a @ gram @ a / 2 - linear @ a,
        np.full(6, 1 / 6),
        jac=lambda a: gram @ a - linear,
        bounds=[(0, 1)] * 6,
        constraints=LinearConstraint(np.ones((1, 6)), 1, 1),
        method="SLSQP",
        options={"ftol": 1e-14},
    )
    value = linear @ shares - shares @ gram @ shares / 2
    assert value >= -reference.fun - 1e-9
