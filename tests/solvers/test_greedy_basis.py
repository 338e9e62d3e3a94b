# SPDX-License-Identifier: BSD-3-Clause
from itertools import islice

import numpy as np
import pytest
from drawing import draw_problem
from numpy.testing import assert_allclose
from oracles import pair_terms
from scipy.optimize import minimize, minimize_scalar
from sklearn.metrics.pairwise import rbf_kernel

from aucmax.losses import SquaredHinge
from aucmax.solvers import _candidates
from aucmax.solvers._candidates import CandidateModel
from aucmax.solvers._expansion import Expansion, factorise_gram
from aucmax.solvers.greedy_basis import GreedySettings, greedy_basis, schedule

ALPHA = 1e-2


def grow(expansion, *, rng, n_threads=1, on_stage=None, **settings):
    return greedy_basis(
        expansion,
        GreedySettings(**settings),
        rng,
        n_threads=n_threads,
        on_stage=on_stage,
    )


def make_expansion(K, is_pos, weight=None, *, alpha=ALPHA, dtype=np.float64):
    n = len(is_pos)
    return Expansion(
        lambda rows, index: K[np.ix_(rows, index)].astype(dtype),
        is_pos,
        np.ones(n) if weight is None else weight,
        loss=SquaredHinge(),
        alpha=alpha,
        capacity=n,
        dtype=dtype,
    )


def draw_kernel(rng, n=40, d=3, gamma=0.2, **kwargs):
    X, is_pos, _ = draw_problem(rng, n=n, d=d, **kwargs)
    return rbf_kernel(X / X.std(), gamma=gamma), is_pos


def objective(K, is_pos, index, coef, alpha=ALPHA):
    """Mean over all pairs, plus the penalty."""
    scores = K[:, index] @ coef
    margins = 1 - scores[is_pos][:, None] + scores[~is_pos]
    norm = coef @ K[np.ix_(index, index)] @ coef
    return (np.maximum(0, margins) ** 2).mean() + alpha / 2 * norm


def joint_gain(K, expansion):
    """A function of rows: what the quadratic model loses when their weights move."""
    terms = pair_terms(
        "SquaredHinge", expansion.scores, expansion.is_pos, expansion.weight
    )
    slope = K @ terms.grad + expansion.alpha * expansion.scores
    curvature = K @ terms.hessian @ K + expansion.alpha * K

    def gain(index):
        part = curvature[np.ix_(index, index)]
        return slope[index] @ np.linalg.solve(part, slope[index]) / 2

    return gain


def full_optimum(K, is_pos, alpha=ALPHA):
    """The kernel RankSVM by SciPy on explicit pairs, in coordinates of its norm."""
    values, vectors = np.linalg.eigh(K)
    features = vectors * np.sqrt(np.maximum(values, 0))
    pairs = features[is_pos][:, None] - features[~is_pos][None]
    pairs = pairs.reshape(-1, features.shape[1])

    def value_and_grad(w):
        margin = np.maximum(0, 1 - pairs @ w)
        value = (margin**2).mean() + alpha / 2 * w @ w
        return value, -2 * pairs.T @ margin / len(pairs) + alpha * w

    start = np.zeros(features.shape[1])
    options = {"gtol": 1e-10}
    return minimize(value_and_grad, start, jac=True, method="BFGS", options=options).fun


def test_schedule():
    expected = [1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 23, 27, 32, 39, 46, 54]
    expected += [64, 77, 91, 108, 128, 153, 182, 216, 256, 305, 363, 431]
    assert list(islice(schedule(), len(expected))) == expected
    assert list(islice(schedule("doublings"), 5)) == [1, 2, 4, 8, 16]
    assert list(islice(schedule("always"), 5)) == [1, 2, 3, 4, 5]


@pytest.mark.parametrize("retrain", ["doublings", "always"])
def test_every_schedule_trains_at_its_sizes(retrain):
    K, is_pos = draw_kernel(np.random.default_rng(0), n=60)
    expansion = make_expansion(K, is_pos)
    stages = grow(
        expansion,
        n_basis=20,
        select="newton",
        retrain=retrain,
        tol=1e-9,
        rng=np.random.RandomState(0),
    )
    sizes = [stage.n_basis for stage in stages]
    assert sizes == (
        [1, 2, 4, 8, 16, 20] if retrain == "doublings" else [*range(1, 21)]
    )
    assert np.all(np.diff([stage.value for stage in stages]) < 0)
    reached = minimize(
        lambda coef: objective(K, is_pos, expansion.index, coef), expansion.coef
    )
    assert stages[-1].value == pytest.approx(reached.fun, rel=1e-6)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("size", [0, 5])
def test_newton_gain_is_that_of_the_model(size, weighted, rng):
    K, is_pos = draw_kernel(rng)
    n = len(is_pos)
    weight = np.where(np.arange(n) % 5 == 0, 0.0, 1.0) if weighted else np.ones(n)
    expansion = make_expansion(K, is_pos, weight)
    expansion.append(np.flatnonzero(weight)[:size])
    if size:
        expansion.retrain(1e-2)
    terms = pair_terms("SquaredHinge", expansion.scores, is_pos, weight)
    slope = K @ terms.grad + ALPHA * expansion.scores
    curvature = np.einsum("ij,jk,ik->i", K, terms.hessian, K) + ALPHA * np.diag(K)
    candidates = np.setdiff1d(np.arange(n), expansion.index)
    gains = CandidateModel(expansion, candidates).newton_gains()
    assert_allclose(
        gains, (slope**2 / 2 / curvature)[candidates], rtol=1e-8, atol=1e-15
    )


def test_exact_choice_is_the_best_of_all_candidates(rng):
    K, is_pos = draw_kernel(rng, n=30)
    expansion = make_expansion(K, is_pos)

    def best_value(index, coef, row):
        more = np.append(index, row)
        found = minimize_scalar(
            lambda b: objective(K, is_pos, more, np.append(coef, b)),
            options={"xtol": 1e-10},
        )
        return found.fun

    for size in (1, 2, 3):
        index, coef = expansion.index, expansion.coef
        free = np.setdiff1d(np.arange(30), index)
        values = [best_value(index, coef, row) for row in free]
        grow(
            expansion,
            n_basis=size,
            n_candidates=30,
            select="exact",
            rng=np.random.RandomState(0),
        )
        assert expansion.index[-1] == free[np.argmin(values)]
        assert expansion.objective <= min(values) * (1 + 1e-9)


def test_joint_choice_is_the_best_of_the_quadratic_model(rng):
    """With all weights free; the second pick given the first."""
    K, is_pos = draw_kernel(rng)
    expansion = make_expansion(K, is_pos)
    expansion.append(np.array([3, 17, 22, 30]))
    expansion.retrain(1e-2)
    # Weights far too large: their slopes matter, and some rows are in no active pair.
    expansion.truncate(4 * expansion.coef)
    assert 20 < np.count_nonzero(expansion.terms.grad) < 40
    chosen = list(expansion.index)
    pool = np.setdiff1d(np.arange(40), chosen)
    picks = CandidateModel(expansion, pool).pick_jointly(3)
    assert len(picks) == 3
    gain = joint_gain(K, expansion)
    for pick in picks:
        free = np.setdiff1d(pool, chosen)
        gains = [gain([*chosen, row]) for row in free]
        assert pick == free[np.argmax(gains)]
        chosen.append(pick)


@pytest.mark.parametrize("select", ["joint", "newton", "exact"])
def test_objective_falls_as_functions_are_added(select, rng):
    K, is_pos = draw_kernel(rng, n=80)
    expansion = make_expansion(K, is_pos, alpha=1e-4)
    values = []
    stages = grow(
        expansion,
        n_basis=50,
        n_candidates=10,
        select=select,
        rng=np.random.RandomState(0),
        on_stage=lambda stage: values.append(expansion.objective),
    )
    assert [stage.n_basis for stage in stages][-4:] == [32, 39, 46, 50]
    assert [stage.value for stage in stages] == values
    assert np.all(np.diff(values) < 1e-12)
    assert len(set(expansion.index)) == 50
    brute = objective(K, is_pos, expansion.index, expansion.coef, alpha=1e-4)
    assert expansion.objective == pytest.approx(brute, rel=1e-9)


@pytest.mark.parametrize("select", ["joint", "newton", "exact"])
@pytest.mark.parametrize("alpha", [1e-2, 1e-4])
def test_all_rows_reach_the_optimum_of_the_full_kernel(select, alpha, rng):
    K, is_pos = draw_kernel(rng, n=30)
    expansion = make_expansion(K, is_pos, alpha=alpha)
    grow(
        expansion,
        n_basis=30,
        n_candidates=5,
        select=select,
        tol=1e-9,
        rng=np.random.RandomState(0),
    )
    best = full_optimum(K, is_pos, alpha)
    assert expansion.objective == pytest.approx(best, rel=1e-6)


def test_joint_choice_needs_fewer_functions(rng):
    K, is_pos = draw_kernel(rng, n=300, d=4, gamma=0.05)
    values = {}
    for select in ("joint", "newton"):
        expansion = make_expansion(K, is_pos, alpha=1e-5)
        grow(expansion, n_basis=20, select=select, rng=np.random.RandomState(0))
        values[select] = expansion.objective
    assert values["joint"] < values["newton"]


def test_drawn_rows_stand_for_all(rng, monkeypatch):
    K, is_pos = draw_kernel(rng, n=400, d=2, shift=2.0)
    expansion = make_expansion(K, is_pos, alpha=1e-4)
    # Weights of zero: far from the optimum, where slopes are large against the noise.
    expansion.append(np.arange(0, 400, 80))
    pool = np.setdiff1d(np.arange(400), expansion.index)
    exact = CandidateModel(expansion, pool).newton_gains()
    joint = CandidateModel(expansion, pool).pick_jointly(1)
    monkeypatch.setattr(_candidates, "SLOPE_ROWS", 200)
    monkeypatch.setattr(_candidates, "CURVATURE_ROWS", 200)
    drawn = CandidateModel(expansion, pool).newton_gains()
    assert not np.array_equal(drawn, exact)
    large = exact > np.median(exact)
    assert_allclose(drawn[large], exact[large], rtol=0.4)
    few = CandidateModel(expansion, pool).pick_jointly(1)
    gain = joint_gain(K, expansion)
    best, good, typical = (
        gain([*expansion.index, *picks]) for picks in (joint, few, pool[:1])
    )
    assert typical < good <= best
    assert good > 0.95 * best


def test_held_out_rows_are_scored_but_neither_trained_on_nor_drawn(rng):
    K, is_pos = draw_kernel(rng, n=60)
    held_out = np.arange(60) % 4 == 0
    expansion = make_expansion(K, is_pos, np.where(held_out, 0.0, 1.0))
    kept = np.flatnonzero(~held_out)
    alone = make_expansion(K[np.ix_(kept, kept)], is_pos[kept])
    for model in (expansion, alone):
        grow(model, n_basis=12, n_candidates=45, rng=np.random.RandomState(1))
    assert not held_out[expansion.index].any()
    assert_allclose(expansion.scores, K[:, expansion.index] @ expansion.coef)
    assert set(kept[alone.index]) == set(expansion.index)
    assert_allclose(expansion.objective, alone.objective, rtol=1e-6)


@pytest.mark.parametrize("select", ["joint", "newton", "exact"])
def test_rows_given_many_times(select, rng):
    K, is_pos = draw_kernel(rng, n=12)
    index = np.repeat(np.arange(12), 3)
    expansion = make_expansion(K[np.ix_(index, index)], is_pos[index], alpha=1e-4)
    grow(
        expansion,
        n_basis=36,
        n_candidates=12,
        select=select,
        tol=1e-9,
        rng=np.random.RandomState(0),
    )
    best = full_optimum(K, is_pos, 1e-4)
    assert expansion.objective == pytest.approx(best, rel=1e-5)


def test_constant_kernel_gives_one_function_of_no_use(rng):
    is_pos = np.arange(20) % 4 == 0
    expansion = make_expansion(np.zeros((20, 20)), is_pos)
    stages = grow(expansion, n_basis=10, rng=np.random.RandomState(0))
    assert [stage.n_basis for stage in stages] == [1]
    assert not expansion.scores.any()


def test_stops_when_told(rng):
    K, is_pos = draw_kernel(rng)
    expansion = make_expansion(K, is_pos)
    stages = grow(
        expansion,
        n_basis=30,
        rng=np.random.RandomState(0),
        on_stage=lambda stage: stage.n_basis == 6,
    )
    assert stages[-1].n_basis == len(expansion.index) == 6


@pytest.mark.parametrize("select", ["joint", "newton", "exact"])
def test_threads_do_not_change_the_result(select, rng, monkeypatch):
    monkeypatch.setattr(_candidates, "BLOCK_CANDIDATES", 7)
    K, is_pos = draw_kernel(rng, n=80)
    models = []
    for n_threads in (1, 3):
        expansion = make_expansion(K, is_pos)
        grow(
            expansion,
            n_basis=14,
            n_candidates=30,
            select=select,
            n_threads=n_threads,
            rng=np.random.RandomState(0),
        )
        models.append(expansion)
    assert_allclose(models[0].index, models[1].index, atol=0)
    assert_allclose(models[0].coef, models[1].coef, atol=0)


def test_float32_columns_reach_nearly_the_same(rng):
    K, is_pos = draw_kernel(rng, n=200)
    values = []
    for dtype in (np.float64, np.float32):
        expansion = make_expansion(K, is_pos, alpha=1e-4, dtype=dtype)
        assert expansion.columns.dtype == dtype
        expansion.append(np.arange(0, 200, 5))
        expansion.retrain(1e-6)
        values.append(objective(K, is_pos, expansion.index, expansion.coef, 1e-4))
    assert values[1] == pytest.approx(values[0], rel=1e-3)


def test_bad_kernels_are_named():
    with pytest.raises(ValueError, match="not positive semi-definite"):
        factorise_gram(np.array([[1.0, 3.0], [3.0, 1.0]]))
    with pytest.raises(ValueError, match="not finite"):
        factorise_gram(np.array([[1.0, np.inf], [np.inf, 1.0]]))
