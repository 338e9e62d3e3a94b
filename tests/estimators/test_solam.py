# SPDX-License-Identifier: BSD-3-Clause
"""SOLAM as users meet it."""

import pickle

import numpy as np
import pytest
from drawing import draw_problem
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline

from aucmax import LeastSquaresAUC, Nystroem
from aucmax.estimators.solam import SOLAM

VARIANTS = [
    {},
    {"penalty": "ball", "radius": 0.3},
    {"duals": "paper"},
    {"duals": "paper", "step_size": 0.5, "penalty": "ball", "radius": 2.0},
]


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(0)
    X, is_pos, _ = draw_problem(rng, n=300, d=6)
    X[rng.random(X.shape) < 0.3] = 0.0
    return X, is_pos.astype(int)


@pytest.mark.parametrize("options", VARIANTS)
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_any_split_is_the_same(problem, options, form):
    X, y = problem
    y = y.copy()
    y[:30] = 0
    X = form(X)
    whole = SOLAM(**options, random_state=0).partial_fit(X, y, classes=[0, 1])
    for size in (1, 7):
        model = SOLAM(**options, random_state=0)
        for low in range(0, 300, size):
            rows = slice(low, low + size)
            model.partial_fit(X[rows], y[rows], classes=[0, 1])
            if low == 28:
                model = pickle.loads(pickle.dumps(model))
        assert np.array_equal(model.coef_, whole.coef_)
        assert np.array_equal(model.intercept_, whole.intercept_)


@pytest.mark.parametrize("options", VARIANTS)
def test_sparse_is_dense(problem, options):
    X, y = problem
    model = SOLAM(**options, n_passes=2, random_state=0)
    dense = model.fit(X, y).coef_
    csr = model.fit(sparse.csr_array(X), y).coef_
    np.testing.assert_allclose(csr, dense, atol=1e-8 * np.abs(dense).max())


def test_float32_is_float64(problem):
    X, y = problem
    X = X.astype(np.float32)
    single = SOLAM(random_state=0).fit(X, y)
    double = SOLAM(random_state=0).fit(X.astype(np.float64), y)
    assert np.array_equal(single.coef_, double.coef_)


def test_defaults_are_near_the_closed_form(problem):
    """One pass over few rows, far from zero and on other scales, untuned."""
    X, y = problem
    for rows, alpha in ((X, 1e-3), (1e3 * X + 1e4, 1e-3), (1e-3 * X, 1e-9)):
        best = LeastSquaresAUC(alpha).fit(rows, y).score(rows, y)
        model = SOLAM(alpha, random_state=0).fit(rows, y)
        assert model.score(rows, y) > best - 0.02


def test_passes_and_seeds(problem):
    X, y = problem
    first = SOLAM(n_passes=3, random_state=1).fit(X, y)
    again = SOLAM(n_passes=3, random_state=1).fit(X, y)
    other = SOLAM(n_passes=3, random_state=2).fit(X, y)
    assert first.n_samples_seen_ == 900
    assert np.array_equal(first.coef_, again.coef_)
    assert not np.array_equal(first.coef_, other.coef_)
    unshuffled = SOLAM(shuffle=False).fit(X, y)
    streamed = SOLAM().partial_fit(X, y)
    assert np.array_equal(unshuffled.coef_, streamed.coef_)


def test_one_positive(problem):
    X, y = problem
    y = np.zeros_like(y)
    y[17] = 1
    model = SOLAM(random_state=0).fit(X, y)
    assert np.isfinite(model.coef_).all()
    assert model.predict(X).shape == (300,)


def test_one_class_scores_zero(problem):
    X, y = problem
    model = SOLAM().partial_fit(X, np.zeros_like(y), classes=[0, 1])
    assert not model.decision_function(X).any()


def test_only_nonzeros_change():
    """A row of a few nonzeros touches a few numbers only."""
    rng = np.random.default_rng(0)
    columns = rng.integers(500_000, size=200)
    entries = rng.normal(size=200), (np.repeat(np.arange(40), 5), columns)
    X = sparse.csr_matrix(entries, shape=(40, 500_000))
    y = np.arange(40) % 2
    model = SOLAM(random_state=0)
    for i in range(40):
        model.partial_fit(X[i : i + 1], y[i : i + 1], classes=[0, 1])
    touched = np.flatnonzero(model.coef_[0])
    assert set(touched) <= set(X.indices)


def test_nystroem_pipeline():
    """NSOLAM: circles that no line separates."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2))
    y = (np.sum(X**2, axis=1) < 1.0).astype(int)
    model = make_pipeline(Nystroem(40, random_state=0), SOLAM(random_state=0))
    assert model.fit(X, y).score(X, y) > 0.95
    assert SOLAM(random_state=0).fit(X, y).score(X, y) < 0.7


@pytest.mark.parametrize(
    "options",
    [
        {"alpha": 0.0},
        {"penalty": "l1"},
        {"radius": -1.0},
        {"duals": "none"},
        {"step_size": 0.0},
        {"step_size": "big"},
        {"n_passes": 0},
    ],
)
def test_bad_parameters(problem, options):
    with pytest.raises(ValueError, match=next(iter(options))):
        SOLAM(**options).fit(*problem)


def test_not_fitted(problem):
    with pytest.raises(NotFittedError):
        SOLAM().decision_function(problem[0])


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix, sparse.csr_array])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_later_batches_are_checked_too(problem, form, dtype):
    """Though plain arrays like those before skip most checks."""
    X, y = problem
    X = X.astype(dtype)
    model = SOLAM(random_state=0).partial_fit(form(X), y)
    before = model.coef_
    for value, message in (
        (np.nan, "NaN"),
        (np.inf, "infinity"),
        (-np.inf, "infinity"),
    ):
        bad = X.copy()
        bad[3, 2] = value
        with pytest.raises(ValueError, match=message):
            model.partial_fit(form(bad), y)
    if dtype == np.float64:
        bad = X.copy()
        bad[3, 2] = -1e71
        with pytest.raises(ValueError, match="Scale the features"):
            model.partial_fit(form(bad), y)
    with pytest.raises(ValueError, match="5 features"):
        model.partial_fit(form(X[:, :5]), y)
    with pytest.raises(ValueError, match="inconsistent numbers"):
        model.partial_fit(form(X), y[:-1])
    with pytest.raises(ValueError, match="label 2"):
        model.partial_fit(form(X), y + 1)
    assert np.array_equal(model.coef_, before)
    assert model.n_samples_seen_ == 300
