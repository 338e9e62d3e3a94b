# SPDX-License-Identifier: BSD-3-Clause
import pickle

import numpy as np
import pytest
from drawing import draw_problem
from scipy import sparse

from aucmax import OPAUC, AdaOAM
from aucmax.metrics import roc_auc

VARIANTS = [{}, {"sparse": True}, {"step_size": 0.1}]


def streamed(parameters, X, y, size):
    model = AdaOAM(random_state=0, **parameters)
    for low in range(0, X.shape[0], size):
        part = slice(low, low + size)
        model.partial_fit(X[part], y[part], classes=[False, True])
    return model


@pytest.mark.parametrize("parameters", VARIANTS, ids=str)
def test_batches_of_any_size_dense_sparse_or_float32(rng, parameters):
    X, y, _ = draw_problem(rng, n=200, d=5)
    X = np.where(np.abs(X) < 0.5, 0, X).astype(np.float32).astype(np.float64)
    expected = streamed(parameters, X, y, 200).coef_
    assert expected.shape == (1, 5)
    for size in (1, 7):
        assert np.array_equal(streamed(parameters, X, y, size).coef_, expected)
    for other in (sparse.csr_array(X), X.astype(np.float32)):
        assert np.array_equal(streamed(parameters, other, y, 7).coef_, expected)
    saved = pickle.loads(pickle.dumps(streamed(parameters, X[:99], y[:99], 99)))
    saved.partial_fit(X[99:], y[99:])
    assert np.array_equal(saved.coef_, expected)


@pytest.mark.parametrize("parameters", VARIANTS, ids=str)
@pytest.mark.parametrize("scale", [1e-3, 1e3])
def test_close_to_the_minimum_at_any_scale(rng, parameters, scale):
    X, y, _ = draw_problem(rng, n=3000, d=8, shift=0.5)
    if "step_size" in parameters:
        scale = 1.0
    exact = OPAUC().fit(X, y).score(X, y)
    model = AdaOAM(
        alpha=1e-3 * scale**2, l1=0.01 * scale, random_state=0, **parameters
    ).fit(X * scale, y)
    assert model.score(X * scale, y) > exact - 0.02


def test_no_penalty_is_not_sparse(rng):
    X, y, _ = draw_problem(rng, n=200)
    plain = AdaOAM(step_size=0.1, random_state=0).fit(X, y)
    none = AdaOAM(sparse=True, l1=0.0, step_size=0.1, random_state=0).fit(X, y)
    assert np.array_equal(plain.coef_, none.coef_)
    unused = AdaOAM(l1=5.0, step_size=0.1, random_state=0).fit(X, y)
    assert np.array_equal(plain.coef_, unused.coef_)


def test_zeros(rng):
    X, y = rng.normal(size=(2000, 20)), rng.random(2000) < 0.3
    X[y, :2] += 1.0
    model = AdaOAM(sparse=True, l1=1.0, random_state=0).fit(X, y)
    assert isinstance(model.coef_, np.ndarray)
    assert 2 <= sparse.csr_array(model.coef_).nnz <= 14


@pytest.mark.parametrize(
    "wrong", [{"alpha": 0.0}, {"l1": -1.0}, {"offset": -0.1}, {"step_size": 0.0}]
)
def test_bad_parameters(rng, wrong):
    X, y, _ = draw_problem(rng)
    with pytest.raises(ValueError, match=next(iter(wrong))):
        AdaOAM(**wrong).fit(X, y)


@pytest.mark.parametrize("scale", [1.0, 1e-3, 1e-5, 1e-9])
@pytest.mark.parametrize("options", [{}, {"sparse": True, "l1": 0.0}, {"alpha": 1e4}])
def test_a_large_penalty_does_not_turn_the_ranking(rng, scale, options):
    X, is_pos, _ = draw_problem(rng, n=600, d=5)
    model = AdaOAM(random_state=0).set_params(**options).fit(scale * X, is_pos)
    # With so large a penalty the weights are the gap between the class means.
    gap = X[is_pos].mean(axis=0) - X[~is_pos].mean(axis=0)
    least = min(roc_auc(is_pos, X @ gap), OPAUC().fit(X, is_pos).score(X, is_pos))
    assert model.score(scale * X, is_pos) > least - 0.02
