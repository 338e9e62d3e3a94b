# SPDX-License-Identifier: BSD-3-Clause
"""What the saddle point learner tends to, and what its state may go through."""

import pickle

import numpy as np
import pytest
from drawing import draw_problem
from scipy import sparse

from aucmax import LeastSquaresAUC
from aucmax.solvers.online.solam import SaddlePointLearner

FORMS = [np.asarray, sparse.csr_matrix]


def make(d, *, form=np.asarray, alpha=1e-3, radius=50.0, **options):
    rows = form(np.zeros((1, d)))
    return SaddlePointLearner(rows, alpha=alpha, radius=radius, **options)


@pytest.mark.parametrize("exact_duals", [True, False])
def test_tends_to_least_squares(exact_duals):
    """The error falls with the root of the passes or faster."""
    rng = np.random.default_rng(0)
    X, is_pos, _ = draw_problem(rng, n=200, d=4)
    X /= np.linalg.norm(X, axis=1).max()
    best = LeastSquaresAUC(alpha=0.1).fit(X, is_pos).coef_[0]
    learner = make(4, alpha=0.1, radius=4.5, step_size=3.0, exact_duals=exact_duals)
    errors = []
    for n_pass in range(1, 1001):
        order = rng.permutation(200)
        learner.learn(X[order], is_pos[order])
        if n_pass in (10, 100, 1000):
            error = np.linalg.norm(learner.model().coef - best)
            errors.append(error / np.linalg.norm(best))
    assert errors[0] < 0.2
    assert errors[1] < errors[0] / 2
    assert errors[2] < errors[1] / 2


def test_constant_steps_come_close():
    rng = np.random.default_rng(0)
    X, is_pos, _ = draw_problem(rng, n=200, d=4)
    best = LeastSquaresAUC(alpha=0.1).fit(X, is_pos).coef_[0]
    learner = make(4, alpha=0.1)
    for _ in range(200):
        order = rng.permutation(200)
        learner.learn(X[order], is_pos[order])
    error = np.linalg.norm(learner.model().coef - best)
    assert error < 0.05 * np.linalg.norm(best)


def test_ball_tends_to_the_best_in_it():
    """On the sphere the minimum is that of some penalty."""
    rng = np.random.default_rng(0)
    X, is_pos, _ = draw_problem(rng, n=200, d=4)
    best = LeastSquaresAUC(alpha=2.0).fit(X, is_pos).coef_[0]
    learner = make(4, alpha=0.0, radius=np.linalg.norm(best))
    for _ in range(300):
        order = rng.permutation(200)
        learner.learn(X[order], is_pos[order])
    error = np.linalg.norm(learner.model().coef - best)
    assert error < 0.05 * np.linalg.norm(best)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("exact_duals", [True, False])
def test_any_split_is_the_same(form, exact_duals):
    rng = np.random.default_rng(1)
    X, is_pos, _ = draw_problem(rng, n=90, d=7)
    X[rng.random(X.shape) < 0.5] = 0.0
    is_pos[:15] = True
    X = form(X)
    # A penalty that makes the scale tiny, so that it is folded often.
    whole = make(7, form=form, alpha=5.0, exact_duals=exact_duals)
    whole.learn(X, is_pos)
    for size in (1, 7):
        parts = make(7, form=form, alpha=5.0, exact_duals=exact_duals)
        for low in range(0, 90, size):
            parts.learn(X[low : low + size], is_pos[low : low + size])
            parts = pickle.loads(pickle.dumps(parts))
        assert np.array_equal(parts.model().coef, whole.model().coef)
        assert np.array_equal(parts.coef, whole.coef)
        assert np.array_equal(parts.state.vectors, whole.state.vectors)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("exact_duals", [True, False])
def test_one_class_teaches_nothing(form, exact_duals):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(50, 3))
    learner = make(3, form=form, exact_duals=exact_duals)
    assert not learner.model().coef.any()
    learner.learn(form(X), np.zeros(50, dtype=bool))
    assert not learner.model().coef.any()
    assert not learner.coef.any()
    learner.learn(form(X), np.ones(50, dtype=bool))
    assert learner.model().coef.any()


@pytest.mark.parametrize("form", FORMS)
def test_zeros_and_constants_teach_nothing(form):
    learner = make(3, form=form)
    learner.learn(form(np.zeros((20, 3))), np.arange(20) % 2 == 0)
    assert not learner.model().coef.any()
    learner.learn(form(np.full((20, 3), 5.0)), np.arange(20) % 2 == 0)
    assert np.isfinite(learner.model().coef).all()


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("scale", [1e-6, 1e60])
def test_steps_of_no_setting_follow_the_scale(form, scale):
    """Rows of any scale give the same ranking."""
    rng = np.random.default_rng(4)
    X, is_pos, _ = draw_problem(rng, n=100, d=3)
    plain, scaled = (
        make(3, form=form, alpha=1e-3 * s**2, radius=50.0 / s) for s in (1.0, scale)
    )
    plain.learn(form(X), is_pos)
    scaled.learn(form(X * scale), is_pos)
    np.testing.assert_allclose(
        scaled.model().coef * scale, plain.model().coef, rtol=1e-6
    )


def test_far_rows_do_no_harm():
    """The mean of the rows is taken off before every step."""
    rng = np.random.default_rng(5)
    X, is_pos, _ = draw_problem(rng, n=300, d=3)
    near, far = make(3), make(3)
    near.learn(X, is_pos)
    far.learn(X + 1e5, is_pos)
    np.testing.assert_allclose(far.model().coef, near.model().coef, rtol=1e-4)


@pytest.mark.parametrize("form", FORMS)
def test_overflow_stops_before_the_row(form):
    X = np.array([[1.0, 2.0], [2.0, 1.0], [1e70, 1e70], [1e70, 0.0], [1.0, 1.0]])
    is_pos = np.array([True, False, True, False, True])
    options = {"form": form, "radius": 1e200, "step_size": 1e60, "exact_duals": False}
    learner, short = make(2, **options), make(2, **options)
    with pytest.raises(FloatingPointError, match="Lower step_size"):
        learner.learn(form(X), is_pos)
    n_learned = int(learner.state.classes["n_rows"].sum())
    assert 2 <= n_learned < 5
    short.learn(form(X[:n_learned]), is_pos[:n_learned])
    assert np.array_equal(learner.state.vectors, short.state.vectors)
    assert np.isfinite(learner.model().coef).all()


def test_sparse_stays_dense_over_many_rows():
    """Products kept up to date by additions are computed afresh now and then."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50_000, 5)) * (rng.random((50_000, 5)) < 0.3)
    X[:, 0] += 100.0
    is_pos = X[:, 1] + rng.normal(size=50_000) > 1.0
    dense, csr = (make(5, form=form, alpha=0.0, radius=1e3) for form in FORMS)
    for _ in range(10):
        dense.learn(X, is_pos)
        csr.learn(sparse.csr_matrix(X), is_pos)
    largest = np.abs(dense.coef).max()
    np.testing.assert_allclose(csr.coef, dense.coef, atol=1e-7 * largest)


def test_model_does_not_change_later():
    rng = np.random.default_rng(6)
    X, is_pos, _ = draw_problem(rng, n=40, d=3)
    learner = make(3)
    learner.learn(X[:20], is_pos[:20])
    model = learner.model()
    before = model.coef.copy()
    learner.learn(X[20:], is_pos[20:])
    assert np.array_equal(model.coef, before)
