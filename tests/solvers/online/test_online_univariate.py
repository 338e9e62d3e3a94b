# SPDX-License-Identifier: BSD-3-Clause
"""The steps of the univariate learner against the formulas, and what they tend to."""

import itertools
import pickle

import numpy as np
import pytest
from drawing import draw_problem
from oracles import ROW_LOSSES
from scipy import sparse

from aucmax import UnivariateAUC
from aucmax.solvers.online.univariate import AUTO_RATES, UnivariateLearner

FORMS = [np.asarray, sparse.csr_matrix]
SLOPES = {
    "exponential": lambda m: -np.exp(min(-m, 30.0)),
    "square": lambda m: -(1 - m),
    "logistic": lambda m: -1 / (1 + np.exp(m)),
}
NAMES = {
    "exponential": "Exponential",
    "square": "UnivariateSquare",
    "logistic": "Logistic",
}


def make(d, *, form=np.asarray, alpha=1e-3, **options):
    return UnivariateLearner(form(np.zeros((1, d))), alpha=alpha, **options)


def literal_steps(X, is_pos, learner, loss, max_class_weight):
    """Steps on w and b with all rows kept; returns all w and b."""
    rates = learner.rates
    w, b = np.zeros(X.shape[1]), 0.0
    all_w, all_b = [], []
    sizes = np.full(len(X), np.nan)
    for t in range(1, len(X) + 1):
        y = 1 if is_pos[t - 1] else -1
        labels = is_pos[:t]
        z = X[t - 1].copy()
        sizes[t - 1] = z @ z
        first = 0
        if rates.is_centred:
            z -= X[:t].mean(axis=0)
            sizes[t - 1] = z @ z * t / (t - 1) if t > 1 else np.nan
            first = 1
        weight = min(t / (2 * np.sum(labels == is_pos[t - 1])), max_class_weight)
        step, extra = rates.rate, float(rates.has_intercept)
        if rates.is_auto:
            step, extra = auto_step(
                sizes[first:t], labels[first:], labels.mean(), rates
            )
        pull = -step * weight * SLOPES[loss](y * (w @ z + b))
        norm = np.sqrt(z @ z)
        if rates.is_auto:
            gain = abs(pull) * (z @ z + extra)
            pull *= min(1.0, 2.0 / max(gain, 1e-300))
        elif loss == "exponential":
            pull = min(pull, 10.0 / max(norm, 1e-300))
        w = max(0.0, 1 - step * rates.alpha) * w + pull * y * z
        b += extra * pull * y
        all_w.append(w)
        all_b.append(b)
    return np.array(all_w), np.array(all_b)


def auto_step(sizes, labels, p, rates):
    """A share of the largest stable step, and the size of the intercept's feature."""
    parts = [sizes[labels], sizes[~labels]]
    second = [np.mean(part) if len(part) else 0.0 for part in parts]
    typical = p * second[0] + (1 - p) * second[1]
    extra = typical * rates.has_intercept
    if not 0 < p < 1 or typical == 0:
        return 0.0, extra
    fourth = [np.mean((part + extra) ** 2) if len(part) else extra**2 for part in parts]
    stable = 2 * ((1 - p) * fourth[0] + p * fourth[1]) / (sum(second) + 2 * extra)
    curvature = max(typical + extra, stable) / (4 * p * (1 - p))
    return 1 / (curvature / rates.rate + 2 * rates.alpha), extra


@pytest.mark.parametrize(
    ("loss", "step_size", "alpha"),
    list(itertools.product(NAMES, (None, 0.05), (1e-3, 100.0))),
)
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("form", FORMS)
def test_steps_are_the_formula(loss, step_size, alpha, fit_intercept, center, form):
    """With caps at work, rows of zeros, duplicates and a late class."""
    rng = np.random.default_rng(1)
    X, is_pos, _ = draw_problem(rng, n=50, d=4)
    X[rng.random(X.shape) < 0.4] = 0.0
    X[5] = 0.0
    X[20] = X[21]
    X[30] *= 20
    is_pos[:8] = False
    learner = make(
        4,
        form=form,
        loss=loss,
        alpha=alpha,
        step_size=step_size,
        fit_intercept=fit_intercept,
        center=center,
        max_class_weight=3.0,
    )
    learner.learn(form(X), is_pos)
    all_w, all_b = literal_steps(X, is_pos, learner, loss, 3.0)
    largest = np.abs(all_w).max()
    np.testing.assert_allclose(learner.coef, all_w[-1], atol=1e-8 * largest)
    mean = all_w.mean(axis=0)
    np.testing.assert_allclose(learner.model().coef, mean, atol=1e-8 * largest)
    np.testing.assert_allclose(learner.intercept, all_b[-1], atol=1e-8 * largest)


@pytest.mark.parametrize("loss", NAMES)
@pytest.mark.parametrize("margin", [-2.0, -0.1, 0.0, 0.7, 3.0])
def test_slopes_are_derivatives(loss, margin):
    """One small step from known weights moves them along minus the gradient."""
    value = ROW_LOSSES[NAMES[loss]]
    expected = (value(margin + 1e-6) - value(margin - 1e-6)) / 2e-6
    step = 1e-8
    learner = make(
        1, loss=loss, step_size=step, alpha=1e-12, fit_intercept=False, center=False
    )
    learner.state.vectors[0] = margin
    learner.learn(np.ones((1, 1)), np.array([True]))
    # A first row weighs t / 2 = 1 / 2.
    slope = (learner.coef[0] - margin) / (-0.5 * step)
    np.testing.assert_allclose(slope, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("loss", NAMES)
def test_tends_to_the_minimum(loss):
    rng = np.random.default_rng(0)
    X, is_pos, _ = draw_problem(rng, n=200, d=4)
    X /= np.sqrt(np.mean(np.sum(X**2, axis=1)))
    best = UnivariateAUC(0.1, loss=loss, tol=1e-10).fit(X, is_pos).coef_[0]
    learner = make(4, loss=loss, alpha=0.1, step_size=0.005)
    for _ in range(2000):
        order = rng.permutation(200)
        learner.learn(X[order], is_pos[order])
    error = np.linalg.norm(learner.model().coef - best)
    assert error < 0.01 * np.linalg.norm(best)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("center", [True, False])
def test_any_split_is_the_same(form, center):
    rng = np.random.default_rng(1)
    X, is_pos, _ = draw_problem(rng, n=90, d=7)
    X[rng.random(X.shape) < 0.5] = 0.0
    is_pos[:15] = True
    X = form(X)
    whole = make(7, form=form, alpha=5.0, center=center)
    whole.learn(X, is_pos)
    for size in (1, 7):
        parts = make(7, form=form, alpha=5.0, center=center)
        for low in range(0, 90, size):
            parts.learn(X[low : low + size], is_pos[low : low + size])
            parts = pickle.loads(pickle.dumps(parts))
        assert np.array_equal(parts.model().coef, whole.model().coef)
        assert np.array_equal(parts.state.vectors, whole.state.vectors)
        assert parts.intercept == whole.intercept


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("loss", NAMES)
@pytest.mark.parametrize("scale", [1e-6, 1e60])
def test_steps_of_no_setting_follow_the_scale(form, loss, scale):
    rng = np.random.default_rng(4)
    X, is_pos, _ = draw_problem(rng, n=100, d=3)
    plain, scaled = (
        make(3, form=form, loss=loss, alpha=1e-3 * s**2) for s in (1.0, scale)
    )
    plain.learn(form(X), is_pos)
    scaled.learn(form(X * scale), is_pos)
    np.testing.assert_allclose(
        scaled.model().coef * scale, plain.model().coef, rtol=1e-6
    )
    np.testing.assert_allclose(scaled.intercept, plain.intercept, rtol=1e-6)


@pytest.mark.parametrize("form", FORMS)
def test_zeros_and_one_class_are_no_harm(form):
    learner = make(3, form=form)
    assert not learner.model().coef.any()
    learner.learn(form(np.zeros((20, 3))), np.arange(20) % 2 == 0)
    assert not learner.model().coef.any()
    one_class = make(3, form=form)
    X = np.random.default_rng(0).normal(size=(30, 3))
    one_class.learn(form(X), np.ones(30, dtype=bool))
    assert not one_class.model().coef.any()
    one_class.learn(form(X), np.zeros(30, dtype=bool))
    assert one_class.model().coef.any()


@pytest.mark.parametrize("form", FORMS)
def test_overflow_stops_before_the_row(form):
    rng = np.random.default_rng(0)
    X, is_pos, _ = draw_problem(rng, n=300, d=3)
    options = {"form": form, "loss": "square", "step_size": 100.0}
    learner, short = make(3, **options), make(3, **options)
    with pytest.raises(FloatingPointError, match="Lower it"):
        learner.learn(form(X), is_pos)
    n_learned = int(learner.state.classes["n_rows"].sum())
    assert 2 < n_learned < 300
    short.learn(form(X[:n_learned]), is_pos[:n_learned])
    assert np.array_equal(learner.state.vectors, short.state.vectors)
    assert np.isfinite(learner.model().coef).all()


@pytest.mark.parametrize("form", FORMS)
def test_exponential_steps_are_cut(form):
    """Even absurd steps on huge rows leave finite weights."""
    rng = np.random.default_rng(0)
    X, is_pos, _ = draw_problem(rng, n=200, d=3)
    learner = make(3, form=form, step_size=1e6, average=False)
    learner.learn(form(1e5 * X), is_pos)
    assert np.isfinite(learner.model().coef).all()
    assert np.linalg.norm(learner.model().coef) <= 10 * 200


def test_model_is_the_average_or_the_last():
    rng = np.random.default_rng(0)
    X, is_pos, _ = draw_problem(rng, n=60, d=3)
    average, last = make(3), make(3, average=False)
    average.learn(X, is_pos)
    last.learn(X, is_pos)
    assert np.array_equal(average.coef, last.model().coef)
    assert not np.array_equal(average.model().coef, last.model().coef)
    assert set(AUTO_RATES) == set(NAMES)
