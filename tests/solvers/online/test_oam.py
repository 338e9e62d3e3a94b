# SPDX-License-Identifier: BSD-3-Clause
import copy
import itertools
import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from aucmax.solvers.online.oam import OAMLearner
from aucmax.summaries.row_sample import Slots

FORMS = list(itertools.product([True, False], [None, 0.01], [True, False]))


def make(n_features, *, seed=1, **options):
    given = {
        "sparse_rows": False,
        "is_sequential": True,
        "buffer_size": 8,
        "step_size": None,
        "average": True,
    }
    rng = np.random.default_rng(seed)
    return OAMLearner(n_features, rng=rng, **(given | options))


def csr(X):
    rows = sparse.csr_matrix(X)
    rows.indices, rows.indptr = rows.indices.astype("i4"), rows.indptr.astype("i4")
    return rows


def literal(X, is_pos, *, is_sequential, buffer_size, step_size, average, seed=1):
    """The algorithm as it is written down, row by row, pair by pair."""
    slots = Slots(buffer_size, np.random.default_rng(seed)).assign(is_pos)
    coef, history = np.zeros(X.shape[1]), []
    buffers, seen = ({}, {}), ([], [])
    for x, positive, slot in zip(X, is_pos, slots, strict=True):
        y, own, other = (1, 1, 0) if positive else (-1, 0, 1)
        seen[own].append(x)
        if seen[other]:
            if step_size is None:
                pos, neg = np.array(seen[1]), np.array(seen[0])
                spread = np.mean(np.sum((pos[:, None] - neg) ** 2, axis=2))
                constant = 3.0 / ((len(pos) + len(neg)) * spread) if spread else 0.0
            else:
                constant = step_size
            most = constant / 2 * max(1, len(seen[other]) / buffer_size)
            gaps = [x - buffers[other][b] for b in sorted(buffers[other])]
            if is_sequential:
                for gap in gaps:
                    loss = max(0.0, 1 - y * coef @ gap)
                    if gap @ gap > 0:
                        coef = coef + min(most, loss / (gap @ gap)) * y * gap
            else:
                coef = coef + sum(most * y * gap for gap in gaps if y * coef @ gap < 1)
            history.append(coef)
        if slot >= 0:
            buffers[own][slot] = x
    if not history:
        return np.zeros(X.shape[1])
    return np.mean(history, axis=0) if average else history[-1]


@pytest.fixture
def problem(rng):
    """Rows of both classes with zeros, equal rows of both classes, a rare class."""
    X = rng.normal(size=(150, 6)) * (rng.random((150, 6)) < 0.5)
    is_pos = rng.random(150) < 0.25
    X[is_pos, 0] += 0.7
    X[20:24] = X[30]
    is_pos[20:24] = [True, False, True, False]
    X[40:44] = 0.0
    is_pos[40:44] = [True, False, True, False]
    X[50] = X[51]
    X[50, 1] += 1e-9
    is_pos[50:52] = [True, False]
    return X, is_pos


@pytest.mark.parametrize(("is_sequential", "step_size", "average"), FORMS)
def test_equals_the_literal_algorithm(problem, is_sequential, step_size, average):
    X, is_pos = problem
    options = {
        "is_sequential": is_sequential,
        "step_size": step_size,
        "average": average,
        "buffer_size": 8,
    }
    expected = literal(X, is_pos, **options)
    dense = make(6, **options)
    dense.learn(X, is_pos)
    assert_allclose(dense.model().coef, expected, rtol=1e-10, atol=1e-12)
    by_csr = make(6, sparse_rows=True, **options)
    by_csr.learn(csr(X), is_pos)
    size = np.abs(expected).max()
    assert_allclose(by_csr.model().coef, dense.model().coef, atol=1e-12 * size)
    # The rows are worth something: scores of positives are larger.
    scores = X @ expected
    assert scores[is_pos].mean() > scores[~is_pos].mean()


@pytest.mark.parametrize("is_sequential", [True, False])
def test_large_buffer_needs_no_luck(problem, is_sequential):
    X, is_pos = problem
    models = []
    for seed in (1, 2):
        learner = make(6, buffer_size=200, seed=seed, is_sequential=is_sequential)
        learner.learn(X, is_pos)
        models.append(learner.model().coef)
    assert_array_equal(*models)
    options = {"buffer_size": 200, "step_size": None, "average": True}
    expected = literal(X, is_pos, is_sequential=is_sequential, **options)
    assert_allclose(models[0], expected, rtol=1e-9)


@pytest.mark.parametrize("sparse_rows", [False, True])
@pytest.mark.parametrize("is_sequential", [True, False])
def test_batches_of_any_size_and_pickles(problem, sparse_rows, is_sequential):
    X, is_pos = problem
    is_pos[:10] = False
    X = csr(X) if sparse_rows else X
    whole = make(6, sparse_rows=sparse_rows, is_sequential=is_sequential)
    whole.learn(X, is_pos)
    for size in (1, 7):
        parts = make(6, sparse_rows=sparse_rows, is_sequential=is_sequential)
        for low in range(0, 150, size):
            parts.learn(X[low : low + size], is_pos[low : low + size])
            if low % 3 == 0:
                parts = pickle.loads(pickle.dumps(parts))
            if low % 5 == 0:
                parts = copy.deepcopy(parts)
        assert_array_equal(parts.model().coef, whole.model().coef)


@pytest.mark.parametrize("sparse_rows", [False, True])
def test_rows_are_copied_and_models_stay(problem, sparse_rows):
    X, is_pos = problem
    rows = csr(X) if sparse_rows else X.copy()
    learner, careful = (
        make(6, sparse_rows=sparse_rows),
        make(6, sparse_rows=sparse_rows),
    )
    learner.learn(rows, is_pos)
    careful.learn(rows.copy(), is_pos)
    model, before = learner.model(), learner.model().coef.copy()
    rows *= 100.0
    more = csr(X[::-1]) if sparse_rows else X[::-1].copy()
    for each in (learner, careful):
        each.learn(more, is_pos[::-1].copy())
    assert_array_equal(model.coef, before)
    assert_array_equal(learner.model().coef, careful.model().coef)
    assert np.any(learner.model().coef != before)


@pytest.mark.parametrize("sparse_rows", [False, True])
def test_one_class_only(problem, sparse_rows):
    X = csr(problem[0]) if sparse_rows else problem[0]
    learner = make(6, sparse_rows=sparse_rows)
    learner.learn(X, np.ones(150, dtype=bool))
    assert_array_equal(learner.model().coef, 0.0)
    learner.learn(X[:1], np.zeros(1, dtype=bool))
    assert np.any(learner.model().coef != 0.0)


def test_swapped_classes_swap_the_sign(problem):
    X, is_pos = problem
    one, other = make(6, buffer_size=200), make(6, buffer_size=200)
    one.learn(X, is_pos)
    other.learn(X, ~is_pos)
    assert_allclose(one.model().coef, -other.model().coef, rtol=1e-12)


@pytest.mark.parametrize("is_sequential", [True, False])
def test_auto_follows_the_scale(problem, is_sequential):
    X, is_pos = problem
    one, other = (make(6, is_sequential=is_sequential) for _ in range(2))
    one.learn(X, is_pos)
    other.learn(1024.0 * X, is_pos)
    assert_allclose(other.model().coef, one.model().coef / 1024.0, rtol=1e-12)


def test_longer_rows_make_room(rng):
    """Rows that grow from batch to batch; what is kept stays what it was."""
    X = np.tril(rng.normal(size=(40, 40)))
    is_pos = rng.random(40) < 0.5
    dense, by_csr = make(40), make(40, sparse_rows=True)
    dense.learn(X, is_pos)
    for low in range(0, 40, 3):
        by_csr.learn(csr(X[low : low + 3]), is_pos[low : low + 3])
    expected = dense.model().coef
    assert by_csr.state.kept.values.shape[1] >= 38
    assert_allclose(by_csr.model().coef, expected, atol=1e-12 * np.abs(expected).max())


def test_steps_are_bounded():
    assert make(2, step_size=1e300).rule.step_size == 1e100
