# SPDX-License-Identifier: BSD-3-Clause
"""The default penalty of RankSVM."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.base import clone

from aucmax import RankSVM


def draw(rng, n=800, d=6):
    X = np.round(rng.normal(size=(n, d)), 1)
    y = X[:, 0] + X[:, 1] + rng.normal(size=n) > 1.0
    return X, y


def test_it_is_the_distance_per_row(rng):
    X, y = draw(rng)
    gaps = X[y][:, None] - X[~y][None]
    squared_distance = np.square(gaps).sum(axis=2).mean()
    alpha = RankSVM().fit(X, y).alpha_
    assert alpha == pytest.approx(0.7 * squared_distance / len(np.unique(X, axis=0)))
    few = RankSVM().fit(np.sign(X[:, :2]), y)
    # At most nine different rows.
    assert few.alpha_ < 0.01
    assert RankSVM(alpha=0.5).fit(X, y).alpha_ == 0.5


@pytest.mark.parametrize("form", [np.asarray, np.asfortranarray, sparse.csr_matrix])
def test_weights_are_repetitions_of_any_scale(rng, form):
    X, y = draw(rng)
    weight = rng.integers(0, 4, len(y))
    repeated = np.repeat(np.arange(len(y)), weight)
    rng.shuffle(repeated)
    weighted = RankSVM().fit(form(X), y, weight)
    scaled = RankSVM().fit(form(X), y, 1e-3 * weight)
    alone = RankSVM().fit(form(X[repeated]), y[repeated])
    assert scaled.alpha_ == pytest.approx(weighted.alpha_, rel=1e-12)
    assert alone.alpha_ == pytest.approx(weighted.alpha_, rel=1e-12)


def test_the_scale_of_the_features_makes_no_difference(rng):
    X, y = draw(rng)
    model, scaled = RankSVM(tol=1e-8).fit(X, y), RankSVM(tol=1e-8).fit(1e3 * X, y)
    assert scaled.alpha_ == pytest.approx(1e6 * model.alpha_)
    assert_allclose(1e3 * scaled.coef_, model.coef_, rtol=1e-3)


@pytest.mark.parametrize("loss", ["squared_hinge", "hinge"])
def test_batches_give_the_same(rng, loss):
    X, y = draw(rng)
    model = RankSVM(loss=loss)
    streamed = clone(model).fit_stream(
        [(X[:1], y[:1]), (X[1:300], y[1:300]), (X[300:], y[300:])]
    )
    assert streamed.alpha_ == pytest.approx(model.fit(X, y).alpha_, rel=1e-12)


def test_a_source_that_grows_is_refused(rng):
    X, y = draw(rng)

    class Growing:
        n_passes = 0

        def __iter__(self):
            self.n_passes += 1
            yield from [(X, y)] * self.n_passes

    with pytest.raises(ValueError, match="must not change"):
        RankSVM().fit_stream(Growing())
