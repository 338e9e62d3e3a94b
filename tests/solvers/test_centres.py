# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pytest
from drawing import draw_problem
from numpy.testing import assert_allclose
from oracles import pair_terms
from scipy import sparse
from sklearn.metrics.pairwise import rbf_kernel

from aucmax.losses import SquaredHinge
from aucmax.solvers.centres import CentresProblem, refine_centres

ALPHA, GAMMA = 1e-2, 0.3


def draw(rng, n=60, d=3, k=5):
    X, is_pos, weight = draw_problem(rng, n=n, d=d)
    X = X / X.std()
    centres = X[rng.permutation(n)[:k]] + 0.1 * rng.normal(size=(k, d))
    return X, is_pos, weight, centres, rng.normal(size=k)


def prepare(dtype=np.float64):
    return lambda centres: (
        lambda rows: rbf_kernel(rows, centres, gamma=GAMMA).astype(dtype)
    )


def make_problem(X, is_pos, weight, dtype=np.float64):
    return CentresProblem(
        X,
        is_pos,
        weight,
        kernel=prepare(dtype),
        gamma=GAMMA,
        loss=SquaredHinge(),
        alpha=ALPHA,
    )


def brute_force(X, is_pos, weight, centres, coef):
    scores = rbf_kernel(X, centres, gamma=GAMMA) @ coef
    norm = coef @ rbf_kernel(centres, gamma=GAMMA) @ coef
    return pair_terms("SquaredHinge", scores, is_pos, weight).value + ALPHA / 2 * norm


def refine(X, is_pos, weight, centres, coef, **kwargs):
    return refine_centres(make_problem(X, is_pos, weight), centres, coef, **kwargs)


@pytest.mark.parametrize("as_rows", [np.asarray, np.asfortranarray, sparse.csr_array])
def test_gradient_against_central_differences(as_rows, rng):
    X, is_pos, weight, centres, coef = draw(rng)
    problem = make_problem(as_rows(X), is_pos, weight)
    value, grad_centres, grad_coef = problem.evaluate(centres, coef)
    assert value == pytest.approx(brute_force(X, is_pos, weight, centres, coef))
    step = 1e-5
    for _ in range(8):
        to_centres, to_coef = rng.normal(size=centres.shape), rng.normal(size=5)
        ahead, behind = (
            brute_force(X, is_pos, weight, centres + t * to_centres, coef + t * to_coef)
            for t in (step, -step)
        )
        slope = np.sum(grad_centres * to_centres) + grad_coef @ to_coef
        assert slope == pytest.approx((ahead - behind) / (2 * step), rel=1e-6)


def test_gradient_in_float32_far_from_zero(rng):
    X, is_pos, weight, centres, coef = draw(rng)
    exact = make_problem(X, is_pos, weight).evaluate(centres, coef)
    rough = make_problem(X + 1e4, is_pos, weight, np.float32).evaluate(
        centres + 1e4, coef
    )
    for one, other in zip(exact, rough, strict=True):
        assert_allclose(other, one, rtol=1e-4, atol=1e-5)


def test_objective_falls_at_every_iteration(rng):
    X, is_pos, weight, centres, coef = draw(rng)
    steps = []
    moved = refine(X, is_pos, weight, centres, coef, max_iter=30, on_step=steps.append)
    values = [step.value for step in steps]
    assert len(values) == moved.n_iter <= 30
    assert np.all(np.diff(values) < 0)
    assert moved.value <= values[-1] * (1 + 1e-9)
    assert moved.value < 0.9 * brute_force(X, is_pos, weight, centres, coef)
    assert np.abs(moved.centres - centres).max() > 0.01
    again = brute_force(X, is_pos, weight, moved.centres, moved.coef)
    assert moved.value == pytest.approx(again, rel=1e-9)


def test_ends_where_the_gradient_vanishes(rng):
    X, is_pos, weight, centres, coef = draw(rng, k=2)
    moved = refine(X, is_pos, weight, centres, coef, max_iter=2000, tol=1e-12)
    problem = make_problem(X, is_pos, weight)
    first = problem.evaluate(centres, coef)
    last = problem.evaluate(moved.centres, moved.coef)
    for one, other in zip(first[1:], last[1:], strict=True):
        assert np.abs(other).max() < 0.02 * np.abs(one).max()


def test_units_of_the_features_do_not_matter(rng):
    X, is_pos, weight, centres, coef = draw(rng)
    moved = refine(X, is_pos, weight, centres, coef, max_iter=10)
    problem = CentresProblem(
        1000 * X,
        is_pos,
        weight,
        kernel=lambda u: lambda rows: rbf_kernel(rows, u, gamma=GAMMA / 1e6),
        gamma=GAMMA / 1e6,
        loss=SquaredHinge(),
        alpha=ALPHA,
    )
    scaled = refine_centres(problem, 1000 * centres, coef, max_iter=10)
    assert_allclose(scaled.centres, 1000 * moved.centres, rtol=1e-5, atol=1e-2)
    assert scaled.value == pytest.approx(moved.value, rel=1e-6)
