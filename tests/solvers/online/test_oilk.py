# SPDX-License-Identifier: BSD-3-Clause
import copy
import itertools
import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from aucmax._kernels.oilk import Settings
from aucmax.solvers.online import oilk
from aucmax.solvers.online.oilk import KernelModel, OILKLearner, inverse_spread
from aucmax.summaries.row_sample import Slots

FORMS = list(
    itertools.product(["reservoir", "fifo"], [None, 3], [True, False], [True, False])
)


def make(n_features, *, seed=1, budget=8, sparse_rows=False, **options):
    given = {"gamma": 0.5} | options
    given["is_fifo"] = given.pop("policy", "reservoir") == "fifo"
    given = {name: value for name, value in given.items() if value is not None}
    rng = np.random.default_rng(seed)
    return OILKLearner(
        n_features, Settings(**given), sparse_rows=sparse_rows, budget=budget, rng=rng
    )


def csr(X):
    rows = sparse.csr_matrix(X)
    rows.indices, rows.indptr = rows.indices.astype("i4"), rows.indptr.astype("i4")
    return rows


def kernel(x, z, gamma):
    return np.exp(-gamma * np.sum((x - z) ** 2))


def literal(X, is_pos, *, budget, policy, n_neighbors, compensate, is_squared, **given):
    """Yield the support of both classes after every row: slot -> [row, weight].

    Everything is computed from the rows and weights alone, nothing carried over.
    """
    slots = Slots(budget, np.random.default_rng(1)).assign(is_pos)
    support, seen, oldest = ({}, {}), [0, 0], [0, 0]
    gamma = given.get("gamma", 0.5)

    def f(x):
        terms = [a * kernel(x, s, gamma) for side in support for s, a in side.values()]
        return sum(terms)

    for x, positive, slot in zip(X, is_pos, slots, strict=True):
        y, own, other = (1, 1, 0) if positive else (-1, 0, 1)
        seen[own] += 1
        t, opposite = sum(seen), max(1, seen[other])
        eta = given.get("step_size") or (
            1 / 200 if policy == "fifo" else min(1 / 200, 2 / t)
        )
        weight = given.get("loss_weight")
        is_auto = weight is None
        if is_auto:
            balance = min(25, t * t / (4 * seen[own] * opposite))
            weight = 10 * np.sqrt(max(t, 400)) / t * balance
        losses = {b: 1 - y * (f(x) - f(s)) for b, (s, _) in support[other].items()}
        chosen = [b for b, loss in sorted(losses.items()) if loss > 0]
        if n_neighbors is not None:
            chosen.sort(key=lambda b: (-kernel(x, support[other][b][0], gamma), b))
            chosen = chosen[:n_neighbors]
        step = eta * weight * max(1, seen[other] / budget)
        if is_squared and is_auto:
            step = min(step, 0.25 / max(1, len(chosen)))
        changes = {b: step * (2 * losses[b] if is_squared else 1) for b in chosen}
        added = y * sum(changes.values())
        if not support[other] or (not support[own] and not chosen):
            added = y * eta * weight
        for side in support:
            for entry in side.values():
                entry[1] *= 1 - eta
        for b, change in changes.items():
            support[other][b][1] -= y * change
        if added != 0:
            mine, dropped = support[own], None
            if len(mine) < budget:
                mine[len(mine)] = [x, added]
            else:
                if policy == "fifo":
                    slot = oldest[own]
                    oldest[own] = (oldest[own] + 1) % budget
                if slot >= 0:
                    dropped, mine[slot] = mine[slot], [x, added]
                else:
                    dropped = [x, added]
            if compensate and dropped is not None:
                near = [kernel(dropped[0], mine[b][0], gamma) for b in sorted(mine)]
                mine[int(np.argmax(near))][1] += dropped[1]
        yield support


def as_model(support, gamma=0.5):
    rows = [side[b] for side in support for b in sorted(side)]
    return KernelModel(
        np.array([s for s, _ in rows]), np.array([a for _, a in rows]), gamma
    )


@pytest.fixture
def problem(rng):
    """Rows of both classes with zeros, and equal rows of both classes."""
    X = rng.normal(size=(60, 3)) * (rng.random((60, 3)) < 0.7)
    is_pos = rng.random(60) < 0.3
    X[is_pos] += 0.5
    X[20:24] = X[30]
    is_pos[20:24] = [True, False, True, False]
    X[40:44] = 0.0
    return X, is_pos


@pytest.mark.parametrize(("policy", "n_neighbors", "compensate", "is_squared"), FORMS)
def test_equals_the_expansion_after_every_row(
    problem, policy, n_neighbors, compensate, is_squared
):
    X, is_pos = problem
    options = {
        "policy": policy,
        "n_neighbors": n_neighbors,
        "compensate": compensate,
        "is_squared": is_squared,
        "budget": 6,
    }
    for given in ({}, {"step_size": 0.05, "loss_weight": 0.3}):
        dense = make(3, **options, **given)
        by_csr = make(3, sparse_rows=True, **options, **given)
        expected = literal(X, is_pos, **options, **given)
        for t, support in enumerate(expected):
            dense.learn(X[t : t + 1], is_pos[t : t + 1])
            model, wanted = dense.model(), as_model(support)
            assert_array_equal(model.basis, wanted.basis)
            size = np.abs(wanted.coef).max()
            assert_allclose(model.coef, wanted.coef, atol=1e-11 * size)
        by_csr.learn(csr(X), is_pos)
        found = by_csr.model()
        assert_array_equal(found.basis.toarray(), wanted.basis)
        assert_allclose(found.coef, wanted.coef, atol=1e-11 * size)
        # More rows than may be kept came by.
        assert len(model.coef) == 12


def test_rows_without_a_loss_are_not_kept(rng):
    """Far apart and well ranked: nothing to learn from the later rows."""
    X = np.repeat([[0.0], [9.0]], 30, axis=0)
    is_pos = np.repeat([False, True], 30)
    order = rng.permutation(60)
    learner = make(1, budget=40, step_size=0.3, loss_weight=5.0)
    learner.learn(X[order], is_pos[order])
    options = {"policy": "reservoir", "n_neighbors": None, "compensate": True}
    options |= {"budget": 40, "is_squared": False}
    settings = {"step_size": 0.3, "loss_weight": 5.0}
    *_, support = literal(X[order], is_pos[order], **options, **settings)
    expected = as_model(support)
    assert len(expected.coef) < 60
    assert_array_equal(learner.model().basis, expected.basis)
    assert_allclose(learner.model().coef, expected.coef, rtol=1e-10)


@pytest.mark.parametrize("sparse_rows", [True, False])
@pytest.mark.parametrize("gamma", [None, 0.5])
@pytest.mark.parametrize("policy", ["reservoir", "fifo"])
def test_batches_of_any_size_and_pickles(rng, sparse_rows, gamma, policy):
    X, is_pos = rng.normal(size=(160, 3)), rng.random(160) < 0.4
    is_pos[:15] = True
    X[np.abs(X) < 0.3] = 0.0
    X = csr(X) if sparse_rows else X
    options = {"sparse_rows": sparse_rows, "gamma": gamma, "policy": policy}
    whole = make(3, **options)
    whole.learn(X, is_pos)
    for size in (1, 7, 99, 100):
        parts = make(3, **options)
        for low in range(0, 160, size):
            parts.learn(X[low : low + size], is_pos[low : low + size])
            if low % 5 == 0:
                # Asking for a model, before the width is set too, changes nothing.
                parts.model()
                parts = copy.deepcopy(pickle.loads(pickle.dumps(parts)))
        assert parts.model().gamma == whole.model().gamma
        assert_array_equal(parts.model().coef, whole.model().coef)
        assert_array_equal(dense_of(parts), dense_of(whole))


def dense_of(learner):
    basis = learner.model().basis
    return basis.toarray() if sparse.issparse(basis) else basis


class TestWidth:
    def test_is_that_of_the_first_hundred_rows(self, rng):
        X, is_pos = rng.normal(size=(130, 3)) * [1.0, 2.0, 3.0], rng.random(130) < 0.5
        head = X[:100]
        expected = 1 / np.mean(np.sum((head - head.mean(axis=0)) ** 2, axis=1))
        for sparse_rows in (True, False):
            learner = make(3, gamma=None, sparse_rows=sparse_rows)
            learner.learn(csr(X) if sparse_rows else X, is_pos)
            assert learner.model().gamma == pytest.approx(expected, rel=1e-8)

    def test_of_fewer_rows_is_provisional(self, rng):
        X, is_pos = rng.normal(size=(99, 3)), rng.random(99) < 0.5
        learner = make(3, gamma=None)
        assert len(learner.model().coef) == 0
        learner.learn(X, is_pos)
        early = learner.model()
        assert early.gamma == pytest.approx(1 / X.var(axis=0).sum(), rel=1e-8)
        assert learner.settings.gamma == 0.0
        given = make(3, gamma=early.gamma)
        given.learn(X, is_pos)
        assert_array_equal(early.coef, given.model().coef)

    @pytest.mark.parametrize("make_rows", [np.asarray, csr])
    def test_of_equal_rows_is_one(self, make_rows):
        assert inverse_spread(make_rows(np.full((50, 3), 0.1))) == 1.0
        assert inverse_spread(make_rows(np.zeros((50, 3)))) == 1.0

    def test_far_from_zero(self, rng):
        X = np.round(rng.normal(size=(50, 2)) * 2**10) / 2**10
        assert inverse_spread(X + 2.0**30) == pytest.approx(inverse_spread(X))


@pytest.mark.parametrize("make_rows", [np.asarray, csr, sparse.csr_array])
@pytest.mark.parametrize("make_basis", [np.asarray, csr])
def test_scores_in_blocks(rng, monkeypatch, make_rows, make_basis):
    monkeypatch.setattr(oilk, "BLOCK_ROWS", 7)
    X, basis, coef = (
        rng.normal(size=(40, 3)),
        rng.normal(size=(7, 3)),
        rng.normal(size=7),
    )
    model = KernelModel(make_basis(basis), coef, 0.4)
    expected = [sum(a * kernel(x, s, 0.4) for a, s in zip(coef, basis)) for x in X]  # noqa: B905
    assert_allclose(model.scores(make_rows(X)), expected, rtol=1e-10)
    single = model.scores(make_rows(X.astype(np.float32)))
    assert_allclose(single, expected, atol=1e-5)


@pytest.mark.parametrize("make_rows", [np.asarray, csr])
def test_equal_rows_have_equal_scores(rng, make_rows):
    X = rng.normal(size=(50, 9)) * (rng.random((50, 9)) < 0.5)
    X[40] = X[3]
    model = KernelModel(make_rows(X[:37]), rng.normal(size=37), 0.2)
    scores = model.scores(make_rows(X))
    assert scores[40] == scores[3]
    alone = [model.scores(make_rows(X[i : i + 1]))[0] for i in range(50)]
    assert_array_equal(alone, scores)


def test_scores_far_from_zero(rng):
    X, coef = np.round(rng.normal(size=(9, 2)) * 2**8) / 2**8, rng.normal(size=9)
    near = KernelModel(X, coef, 1.0).scores(X)
    assert_allclose(KernelModel(X + 2.0**28, coef, 1.0).scores(X + 2.0**28), near)


def test_rows_are_copied_and_models_stay(problem):
    X, is_pos = problem
    for gamma in (None, 0.5):
        rows, marks = X.copy(), is_pos.copy()
        learner, careful = make(3, gamma=gamma), make(3, gamma=gamma)
        learner.learn(rows, marks)
        careful.learn(X, is_pos)
        model = learner.model()
        before = [model.basis.copy(), model.coef.copy()]
        rows[:] = 5.0
        marks[:] = True
        for each in (learner, careful):
            each.learn(X, ~is_pos)
        assert_array_equal(model.basis, before[0])
        assert_array_equal(model.coef, before[1])
        assert_array_equal(learner.model().coef, careful.model().coef)


def test_overflow_stops_before_the_row(problem):
    X, is_pos = problem
    options = {"is_squared": True, "step_size": 0.5, "loss_weight": 1e4}
    learner = make(3, **options)
    with pytest.raises(FloatingPointError, match="weights overflow: step_size=0"):
        learner.learn(X, is_pos)
    n_learned = int(learner.support.n_seen.sum())
    assert 10 < n_learned < 60
    assert np.isfinite(learner.model().coef).all()
    # As if the other rows had never come.
    fewer = make(3, **options)
    fewer.learn(X[:n_learned], is_pos[:n_learned])
    assert_array_equal(learner.model().coef, fewer.model().coef)
    assert_array_equal(learner.slots.n_seen, fewer.slots.n_seen)
    assert learner.slots.rng.random() == fewer.slots.rng.random()


def test_squared_loss_is_stable_by_default(rng):
    X, is_pos = rng.normal(size=(3000, 2)), rng.random(3000) < 0.02
    learner = make(2, budget=50, is_squared=True, compensate=True)
    learner.learn(X, is_pos)
    assert np.abs(learner.model().scores(X)).max() < 50.0


def test_one_class_only(rng):
    X = rng.normal(size=(120, 3))
    learner = make(3, gamma=None)
    learner.learn(X, np.zeros(120, dtype=bool))
    model = learner.model()
    assert model.basis.shape == (8, 3)
    assert (model.coef < 0).all()
    learner.learn(X[:1] + 0.1, np.ones(1, dtype=bool))
    assert len(learner.model().coef) == 9
