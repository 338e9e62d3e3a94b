# SPDX-License-Identifier: BSD-3-Clause
"""RankSVM from sums over bins: within its bound of the exact one, nothing n-long."""

import pickle

import dask.array as da
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from aucmax import RankSVM
from aucmax.distributed import DaskRankSVM, _binned_fit, _blocks, _cluster
from aucmax.losses import SquaredHinge

ALPHA = 0.01
SIZES = (7, 150, 1, 0, 142)


def on_dask(X, *vectors, sizes=SIZES):
    rows = da.from_array(X, chunks=(sizes, X.shape[1]))
    return rows, *(da.from_array(vector, (sizes,)) for vector in vectors)


def exact_objective(coef, X, y, weight=None):
    weight = np.ones(len(y)) if weight is None else weight
    loss = SquaredHinge().evaluate(X @ coef, y == 1, weight).value
    return loss + 0.5 * ALPHA * coef @ coef


@pytest.fixture
def few_rows(monkeypatch):
    """Start from so few rows that most of the way is left."""
    monkeypatch.setattr(_binned_fit, "LEAST_ROWS", 30)
    monkeypatch.setattr(_binned_fit, "ROWS_PER_FEATURE", 1)


def test_coefficients_approach_the_exact_ones(few_rows, data, weight):
    X, y = data
    exact = RankSVM(ALPHA, tol=1e-12).fit(X, y, weight)
    distances = []
    for bins in (4, 64, 1024):
        model = DaskRankSVM(
            ALPHA, tol=1e-10, scores="binned", bins_per_octave=bins
        ).fit(*on_dask(X, y, weight))
        here = exact_objective(model.coef_[0], X, y, weight)
        assert here - 1e-12 <= model.objective_ <= here + model.objective_error_ + 1e-12
        # It minimises what is above the exact objective by no more than the error.
        assert here <= exact.objective_ + 1.2 * model.objective_error_ + 1e-9
        distances.append(np.abs(model.coef_ - exact.coef_).max())
    assert distances[0] > 10 * distances[1] > 10 * distances[2]
    assert distances[2] < 1e-5
    assert_allclose(model.intercept_, exact.intercept_, atol=1e-4)
    assert_array_equal(model.predict(X), exact.predict(X))


@pytest.mark.parametrize("kind", ["csr", "float32"])
def test_default_bins_are_as_good_as_exact(few_rows, data, kind):
    X, y = data
    X = np.where(X > 1, X, 0).astype(np.float32 if kind == "float32" else np.float64)
    rows, labels = on_dask(X, y)
    if kind == "csr":
        rows = rows.map_blocks(sparse.csr_matrix)
    model = DaskRankSVM(ALPHA, tol=1e-8, scores="binned").fit(rows, labels)
    exact = RankSVM(ALPHA, tol=1e-8).fit(X, y)
    assert model.coef_.dtype == exact.coef_.dtype
    assert 0 < model.objective_error_ < 1e-6
    assert model.objective_ == pytest.approx(exact.objective_, rel=1e-5)
    assert np.mean(model.predict(X) == exact.predict(X)) > 0.98
    assert len(model.history_) == model.n_iter_ >= 1


def test_on_the_cluster(client, data, weight):
    X, y = data
    with client.as_current():
        model = DaskRankSVM(ALPHA, scores="binned").fit(*on_dask(X, y, weight))
    exact = RankSVM(ALPHA).fit(X, y, weight)
    assert model.objective_ == pytest.approx(exact.objective_, rel=2e-4)
    local = model.to_local()
    assert_array_equal(local.decision_function(X), model.decision_function(X))
    assert not hasattr(local, "objective_error_")


def test_nothing_as_long_as_the_rows_reaches_the_driver(monkeypatch, rng):
    n = 80_000
    X = rng.normal(size=(n, 3))
    y = (X[:, 0] + rng.normal(size=n) > 1).astype(int)
    sent = []

    def counted(function):
        def run(tasks):
            results = function(tasks)
            sent.append(len(pickle.dumps(results)))
            return results

        return run

    monkeypatch.setattr(_binned_fit, "LEAST_ROWS", 500)
    for module in (_blocks, _binned_fit):
        monkeypatch.setattr(module, "fetch", counted(_cluster.fetch))
    monkeypatch.setattr("aucmax.distributed._inputs.fetch", counted(_cluster.fetch))
    monkeypatch.setattr("aucmax.distributed.design.fetch", counted(_cluster.fetch))
    rows, labels = on_dask(X, y, sizes=(n // 4,) * 4)
    DaskRankSVM(scores="binned", bins_per_octave=16).fit(rows, labels)
    assert len(sent) > 8
    # One byte per row would be as many.
    assert max(sent) < n
    sent.clear()
    DaskRankSVM().fit(rows, labels)
    assert max(sent) > 8 * n


def test_offset_of_the_rows_costs_no_bins(few_rows, data):
    X, y = data
    near = DaskRankSVM(ALPHA, scores="binned").fit(*on_dask(X, y))
    far = DaskRankSVM(ALPHA, scores="binned").fit(*on_dask(X + 1e6, y))
    assert far.objective_error_ == pytest.approx(near.objective_error_, rel=0.5)
    assert_allclose(far.coef_, near.coef_, atol=1e-5)
    assert_array_equal(far.predict(X + 1e6), near.predict(X))


def test_separable_classes(few_rows, data):
    X, _ = data
    y = (X[:, 0] > 5).astype(int)
    rows, labels = on_dask(X, y)
    model = DaskRankSVM(1e-6, scores="binned").fit(rows, labels)
    assert model.score(rows, labels) > 0.999
    assert np.mean(model.predict(X) == y) > 0.99


def test_warm_start_and_few_steps(few_rows, data):
    X, y = on_dask(*data)
    model = DaskRankSVM(ALPHA, scores="binned", tol=1e-8, warm_start=True).fit(X, y)
    assert model.fit(X, y).n_iter_ <= 2
    with pytest.warns(ConvergenceWarning, match="did not converge"):
        DaskRankSVM(ALPHA, scores="binned", tol=1e-12, max_iter=1).fit(X, y)


def test_exact_scores_have_no_error(data):
    assert DaskRankSVM().fit(*on_dask(*data)).objective_error_ == 0.0


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"loss": "hinge"}, 'scores="binned" works with loss="squared_hinge"'),
        ({"bins_per_octave": 1000}, "bins_per_octave must be a power of two"),
        ({"bins_per_octave": 2**30}, r"bins_per_octave must be .* up to 2\*\*20"),
        ({"bins_per_octave": 0}, "bins_per_octave"),
        ({"scores": "rough"}, "scores"),
    ],
)
def test_bad_parameters_are_refused(data, parameters, message):
    model = DaskRankSVM(**{"scores": "binned", **parameters})
    with pytest.raises(ValueError, match=message):
        model.fit(*on_dask(*data))
