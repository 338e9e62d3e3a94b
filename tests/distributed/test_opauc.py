# SPDX-License-Identifier: BSD-3-Clause
"""OPAUC on Dask: rows are added, on workers or in memory, in any number of calls."""

import copy

import dask.array as da
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from aucmax import OPAUC
from aucmax.distributed import DaskOPAUC


@pytest.fixture
def rows(rng):
    """More rows of each class than are kept for the threshold."""
    X = np.where(rng.random((1500, 5)) < 0.5, rng.normal(size=(1500, 5)) + 3, 0)
    return X, np.where(X[:, 0] + rng.normal(size=1500) > 2, "b", "a")


def on_dask(X, y, sizes=(900, 0, 100, 500), form=None):
    low, high = 0, len(y)
    assert sum(sizes) == high - low
    rows = da.from_array(X, chunks=(sizes, X.shape[1]))
    rows = rows if form is None else rows.map_blocks(form)
    return rows, da.from_array(y, (sizes,))


def assert_same(model, local, X):
    assert_allclose(model.coef_, local.coef_, rtol=0, atol=1e-10)
    assert_allclose(model.intercept_, local.intercept_, rtol=0, atol=1e-10)
    assert model.n_samples_seen_ == local.n_samples_seen_
    assert_array_equal(model.predict(X), local.predict(X))


@pytest.mark.parametrize("form", [None, sparse.csr_matrix], ids=["dense", "csr"])
def test_to_local_goes_on_with_rows_in_memory(rows, form):
    X, y = rows
    here = X if form is None else form(X)
    model = DaskOPAUC(alpha=0.01).fit(*on_dask(X, y, form=form)).to_local()
    local = OPAUC(alpha=0.01).fit(here, y)
    assert_same(model, local, here)
    for part in (slice(0, 700), slice(700, 701)):
        model.partial_fit(here[part], y[part])
        local.partial_fit(here[part], y[part])
    # The same rows were kept for the threshold, out of all.
    assert_same(model, local, here)


def test_going_on_leaves_the_first_model_as_it_was(rows):
    X, y = rows
    model = DaskOPAUC().fit(*on_dask(X, y))
    coef, local = model.coef_, model.to_local()
    local.partial_fit(X + 1, y)
    assert_array_equal(model.coef_, coef)
    assert model.n_samples_seen_ == 1500


def test_going_on_leaves_copies_as_they_were(rows):
    X, y = on_dask(*rows)
    model = DaskOPAUC().fit(X, y)
    twin = copy.copy(model)
    intercept = twin.intercept_
    model.partial_fit(X + 1, y)
    assert twin.n_samples_seen_ == 1500
    assert_array_equal(twin.intercept_, intercept)
    assert model.n_samples_seen_ == 3000


def test_calls_of_partial_fit_add_up(scheduler, rows):
    X, y = rows
    model = DaskOPAUC()
    order = np.argsort(y, kind="stable")
    X, y = X[order], y[order]
    assert y[399] == "a"
    model.partial_fit(*on_dask(X[:400], y[:400], (150, 250)), classes=["a", "b"])
    assert model.n_samples_seen_ == 400
    model.partial_fit(*on_dask(X[400:], y[400:], (600, 500)), classes=["a", "b"])
    assert_same(model, OPAUC().fit(X, y), X)


def test_fit_forgets(rows):
    X, y = on_dask(*rows)
    model = DaskOPAUC().fit(X, y)
    assert model.fit(X, y).n_samples_seen_ == 1500


@pytest.mark.parametrize(
    "parameters", [{"solver": "gradient"}, {"rank": 3}, {"reduce": "projection"}]
)
def test_other_methods_are_refused(rows, parameters):
    name = next(iter(parameters))
    for method in ("fit", "partial_fit"):
        model = DaskOPAUC(**parameters)
        with pytest.raises(ValueError, match=f"DaskOPAUC has only {name}="):
            getattr(model, method)(*on_dask(*rows))


def test_what_does_not_fit_is_refused_and_nothing_changes(rows):
    X, y = on_dask(*rows)
    model = DaskOPAUC().fit(X, y)
    before = model.coef_
    other = da.where(y == "a", "c", y)
    bad = {
        "X has 2 features, but DaskOPAUC is expecting 5": (X[:, :2], y, None),
        "y holds the label 'c', but the classes are": (X, other, None),
        "differs from the first call": (X, y, ["a", "c"]),
        "sums and products overflow": (X * 1e80, y, None),
    }
    for message, args in bad.items():
        with pytest.raises(ValueError, match=message):
            model.partial_fit(*args)
    assert_array_equal(model.coef_, before)
    assert model.n_samples_seen_ == 1500
    with pytest.raises(ValueError, match="needs both classes"):
        DaskOPAUC().partial_fit(X, da.full_like(y, "a"))
