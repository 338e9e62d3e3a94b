# SPDX-License-Identifier: BSD-3-Clause
import pickle

import numpy as np
import pytest
from drawing import draw_problem
from numpy.testing import assert_allclose
from scipy import sparse
from threadpoolctl import threadpool_limits

from aucmax import OPAUC, LeastSquaresAUC

MODELS = [
    OPAUC(),
    OPAUC(solver="gradient", random_state=0),
    OPAUC(solver="gradient", step_size=0.01, random_state=0),
]


def streamed(model, X, y, size):
    model = model.__class__(**model.get_params())
    for low in range(0, X.shape[0], size):
        part = slice(low, low + size)
        model.partial_fit(X[part], y[part], classes=[False, True])
    return model


@pytest.mark.parametrize("alpha", [1e-6, 1e-3, 10.0])
@pytest.mark.parametrize("shift", [0.0, 1e3])
def test_exact_equals_least_squares(rng, alpha, shift):
    X, y, _ = draw_problem(rng, n=500, d=6)
    X += shift
    expected = LeastSquaresAUC(alpha).fit(X, y).coef_
    assert_allclose(OPAUC(alpha).fit(X, y).coef_, expected, rtol=1e-9)
    assert_allclose(streamed(OPAUC(alpha), X, y, 17).coef_, expected, rtol=1e-9)


def test_exact_with_one_positive(rng):
    X, y, _ = draw_problem(rng, n=60, d=3, fraction=0.0)
    assert y.sum() == 1
    expected = LeastSquaresAUC().fit(X, y).coef_
    assert_allclose(OPAUC().fit(X, y).coef_, expected, rtol=1e-9)


def test_exact_does_not_depend_on_threads(rng):
    X, y, _ = draw_problem(rng, n=400, d=150)
    coefs = []
    for n_threads in (1, 2):
        with threadpool_limits(n_threads):
            coefs.append(OPAUC().fit(X, y).coef_)
    assert np.array_equal(*coefs)


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_batches_of_any_size_dense_or_sparse(rng, model):
    X, y, _ = draw_problem(rng, n=200, d=5)
    X[np.abs(X) < 0.5] = 0
    expected = streamed(model, X, y, 200)
    for size in (1, 7):
        other = streamed(model, X, y, size)
        assert np.array_equal(other.coef_, expected.coef_)
        assert np.array_equal(other.intercept_, expected.intercept_)
    csr = [streamed(model, sparse.csr_array(X), y, size) for size in (1, 7)]
    assert np.array_equal(csr[0].coef_, csr[1].coef_)
    assert_allclose(csr[0].coef_, expected.coef_, rtol=1e-9)
    saved = pickle.loads(pickle.dumps(streamed(model, X[:99], y[:99], 99)))
    saved.partial_fit(X[99:], y[99:])
    assert np.array_equal(saved.coef_, expected.coef_)


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_float32_is_learned_in_float64(rng, model):
    X, y, _ = draw_problem(rng, n=200, d=5)
    X = X.astype(np.float32)
    expected = streamed(model, X.astype(np.float64), y, 200).coef_
    assert expected.dtype == np.float64
    assert np.array_equal(streamed(model, X, y, 50).coef_, expected)


def test_gradient_close_to_exact(rng):
    X, y, _ = draw_problem(rng, n=3000, d=8, shift=0.5)
    exact = OPAUC().fit(X, y).score(X, y)
    assert OPAUC(solver="gradient", random_state=0).fit(X, y).score(X, y) > exact - 0.01


def test_order_matters_only_to_gradient(rng):
    X, y, _ = draw_problem(rng, n=200)
    first, second = (
        OPAUC(solver="gradient", random_state=seed).fit(X, y).coef_ for seed in (0, 1)
    )
    assert not np.array_equal(first, second)
    again = OPAUC(solver="gradient", random_state=0).fit(X, y).coef_
    assert np.array_equal(again, first)
    first, second = (OPAUC(random_state=seed).fit(X, y).coef_ for seed in (0, 1))
    assert np.array_equal(first, second)


def test_a_step_too_long_says_what_to_do(rng):
    X, y, _ = draw_problem(rng, n=400)
    model = OPAUC(solver="gradient", step_size=100.0, random_state=0)
    with pytest.raises(FloatingPointError, match="Lower step_size, or scale"):
        model.fit(X, y)


@pytest.mark.parametrize("solver", ["exact", "gradient"])
def test_too_many_features_for_covariances(solver):
    X = sparse.csr_array(np.eye(2, 50_000))
    with pytest.raises(ValueError, match=r"50000 features.*bytes.*rank=50"):
        OPAUC(solver=solver).fit(X, [0, 1])


@pytest.mark.parametrize(
    "wrong",
    [{"alpha": 0.0}, {"solver": "newton"}, {"step_size": -1.0}, {"step_size": "big"}],
)
def test_bad_parameters(rng, wrong):
    X, y, _ = draw_problem(rng)
    with pytest.raises(ValueError, match=next(iter(wrong))):
        OPAUC(**wrong).fit(X, y)
