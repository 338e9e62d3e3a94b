# SPDX-License-Identifier: BSD-3-Clause
"""RankSVM from sums over bins: within its bound of the exact one, nothing n-long."""

import pickle

import dask.array as da
import numpy as np
import oracles
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from aucmax import RankSVM
from aucmax.distributed import DaskRankSVM, _binned, _binned_fit, _cluster
from aucmax.distributed._bins import active, merge_tables, pair_error, place, tabulate
from aucmax.distributed._inputs import check_inputs, linear_design
from aucmax.distributed._partitions import partitions_of
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


def objective_of(X, y, weight, bins):
    partitions = partitions_of(*on_dask(X, y, weight), name="", local="")
    inputs = check_inputs(DaskRankSVM(), partitions)
    return _binned.Objective(
        linear_design(inputs), inputs, alpha=ALPHA, bins_per_octave=bins
    )


@pytest.fixture
def few_rows(monkeypatch):
    """Start from so few rows that most of the way is left."""
    monkeypatch.setattr(_binned_fit, "LEAST_ROWS", 30)
    monkeypatch.setattr(_binned_fit, "ROWS_PER_FEATURE", 1)


@pytest.mark.parametrize("bins", [1, 16, 1024])
def test_bins_are_intervals_in_order(rng, bins):
    values = rng.normal(size=500) * 10.0 ** rng.integers(-3, 4, 500)
    values[:3] = 0.0, -0.0, 5e-324
    here = place(values, bins)
    assert np.all(np.diff(here.edges) > 0)
    assert_array_equal(here.values, values)
    order = np.argsort(values)
    assert np.all(np.diff(here.which[order]) >= 0)
    table = tabulate(here, rng.random(500) < 0.5, np.ones(500))
    assert np.all(table.high[:-1] < table.low[1:])
    width = np.maximum(np.abs(here.edges), 1e-300) / bins
    assert np.all(table.high - table.low <= width)


def test_tables_of_parts_merge_to_that_of_all(rng):
    values, is_pos = rng.normal(size=90), rng.random(90) < 0.4
    weight = rng.integers(0, 3, 90) * 1.0

    def table(part):
        return tabulate(place(values[part].copy(), 4), is_pos[part], weight[part])

    merged = merge_tables(table(np.s_[:10]), table(np.s_[10:11]))
    merged = merge_tables(merged, table(np.s_[11:]))
    for found, expected in zip(merged, table(np.s_[:]), strict=True):
        assert_allclose(found, expected, rtol=1e-13)


@pytest.mark.parametrize("bins", [1, 8, 64])
def test_value_and_gradient_are_within_the_bound_of_all_pairs(data, weight, bins):
    X, y = data
    objective = objective_of(X, y, weight, bins)
    coef = np.array([0.8, 0.2, -0.1, 0.05])
    point = objective.at(coef)
    slow = oracles.pair_terms("SquaredHinge", X @ coef, y == 1, weight)
    excess = point.value - 0.5 * ALPHA * coef @ coef - slow.value
    assert -1e-12 <= excess <= point.error
    assert excess > (1e-4 if bins == 1 else 0.0)
    # A row's gradient is off by twice the distance to those of its bin, at most.
    middle = X - np.average(X, axis=0, weights=weight)
    shifted = middle @ coef - (y == 1)
    same = place(shifted, bins).which
    pairs = (same[:, None] == same) & ((y == 1)[:, None] != (y == 1))
    distance = np.abs(shifted[:, None] - shifted)
    scale = np.outer(weight, weight) / (weight[y == 1].sum() * weight[y == 0].sum())
    slack = (2 * scale * distance * pairs).sum(axis=1)
    error = point.grad() - ALPHA * coef - X.T @ slow.grad
    assert np.all(np.abs(error) <= np.abs(middle).T @ slack + 1e-9)


def test_hessian_is_that_of_the_pairs_of_all_bins(data, weight, rng):
    X, y = data
    objective = objective_of(X, y, weight, 2**40)
    coef, vector = np.array([0.8, 0.2, -0.1, 0.05]), rng.normal(size=4)
    slow = oracles.pair_terms("SquaredHinge", X @ coef, y == 1, weight)
    point = objective.at(coef)
    assert point.error == 0.0
    assert point.value == pytest.approx(slow.value + 0.5 * ALPHA * coef @ coef)
    assert_allclose(point.grad(), X.T @ slow.grad + ALPHA * coef, rtol=1e-9)
    expected = X.T @ (slow.hessian @ (X @ vector)) + ALPHA * vector
    assert_allclose(point.hess_dot(vector), expected, rtol=1e-9)


def test_active_sums():
    neg, pos = np.array([1.0, 2.0, 4.0]), np.array([10.0, 20.0, 40.0])
    for_neg, for_pos = active(np.stack([neg, pos]))
    assert for_neg.tolist() == [10.0, 30.0, 70.0]
    assert for_pos.tolist() == [7.0, 6.0, 4.0]


def test_the_two_last_points_are_remembered(data, weight):
    objective = objective_of(*data, weight, 64)
    first, second, third = (objective.at(np.full(4, 0.1 * k)) for k in range(3))
    assert objective.at(np.full(4, 0.1)) is second
    assert objective.at(np.full(4, 0.2)) is third
    assert objective.at(np.zeros(4)) is not first
    # Asked for again, it is not the next to go.
    assert objective.at(np.full(4, 0.2)) is third
    objective.at(np.full(4, 0.3))
    assert objective.at(np.full(4, 0.2)) is third


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
    n = 40_000
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
    for module in (_binned, _binned_fit):
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


def test_error_of_one_bin_is_the_square_of_its_width():
    here = place(np.array([1.0, 1.4, 3.0]), 1)
    table = tabulate(here, np.array([True, False, False]), np.array([2.0, 3.0, 1.0]))
    assert pair_error(table) == pytest.approx(2.0 * 3.0 * 0.4**2)
