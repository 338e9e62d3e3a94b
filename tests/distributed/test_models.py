# SPDX-License-Identifier: BSD-3-Clause
"""What all estimators on Dask share, and that they equal those in memory."""

import pickle

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from aucmax import NBAUC, OPAUC, LeastSquaresAUC, RankSVM
from aucmax.distributed import DaskLeastSquaresAUC, DaskNBAUC, DaskOPAUC, DaskRankSVM

KERNEL = {"n_landmarks": 30, "gamma": 0.05, "alpha": 1e-3, "random_state": 0}
MODELS = {
    "RankSVM": (DaskRankSVM(alpha=0.01), RankSVM(alpha=0.01)),
    "direct": (DaskLeastSquaresAUC(), LeastSquaresAUC()),
    "cg": (DaskLeastSquaresAUC(solver="cg"), LeastSquaresAUC(solver="cg")),
    "NBAUC": (DaskNBAUC(**KERNEL), NBAUC(**KERNEL)),
    "OPAUC": (DaskOPAUC(alpha=0.1), OPAUC(alpha=0.1)),
}
SIZES = (7, 150, 1, 0, 142)


@pytest.fixture(params=MODELS)
def models(request):
    return map(clone, MODELS[request.param])


def on_dask(X, *vectors, sizes=SIZES):
    rows = da.from_array(X, chunks=(sizes, X.shape[1]))
    return rows, *(da.from_array(vector, (sizes,)) for vector in vectors)


def test_scores_are_those_in_memory(scheduler, data, weight, models):
    model, local = models
    X, y = data
    local.fit(*data) if isinstance(local, OPAUC) else local.fit(*data, weight)
    rows, labels, weights = on_dask(X, y, weight)
    model.fit(rows, labels, *([] if isinstance(local, OPAUC) else [weights]))
    expected = local.decision_function(X)
    assert_allclose(model.decision_function(X), expected, rtol=0, atol=1e-10)
    scores = model.decision_function(rows)
    assert isinstance(scores, da.Array)
    assert scores.chunks == (SIZES,)
    assert_allclose(scores.compute(), expected, rtol=0, atol=1e-10)
    assert_array_equal(model.predict(rows).compute(), local.predict(X))
    assert model.score(rows, labels) == pytest.approx(local.score(X, y), abs=1e-12)


@pytest.mark.parametrize("kind", ["csr", "float32"])
def test_other_rows(data, models, kind):
    model, local = models
    X, y = data
    X = np.where(X > 1, X, 0).astype(np.float32 if kind == "float32" else np.float64)
    rows, labels = on_dask(X, y)
    if kind == "csr":
        rows, X = rows.map_blocks(sparse.csr_matrix), sparse.csr_matrix(X)
    scores = model.fit(rows, labels).decision_function(X)
    expected = local.fit(X, y).decision_function(X)
    assert scores.dtype == expected.dtype
    assert_allclose(scores, expected, rtol=0, atol=1e-10)
    lazy = model.decision_function(rows).compute()
    assert_allclose(lazy, expected, rtol=0, atol=1e-4 if kind == "float32" else 1e-10)


def test_to_local_is_the_plain_class(data, models):
    model, local = models
    X, y = data
    with pytest.raises(NotFittedError):
        model.to_local()
    back = model.fit(*on_dask(X, y)).to_local()
    assert type(back) is type(local)
    assert back.get_params() == local.get_params()
    assert vars(back).keys() == vars(local.fit(X, y)).keys()
    assert_array_equal(back.decision_function(X), model.decision_function(X))
    assert_array_equal(back.predict(X), model.predict(X))
    assert back.score(X, y) == model.score(X, y)


def test_pickle_clone_and_parameters(data, models):
    model, local = models
    assert clone(model).get_params() == model.get_params()
    assert set(local.get_params()) <= set(model.get_params())
    X, y = data
    model.fit(*on_dask(X, y))
    back = pickle.loads(pickle.dumps(model))
    assert_array_equal(back.decision_function(X), model.decision_function(X))
    again = clone(model).fit(*on_dask(X, y, sizes=(150, 150)))
    assert_allclose(
        again.decision_function(X), model.decision_function(X), rtol=0, atol=1e-10
    )


def test_frames_are_scored_as_series(data):
    X, y = data
    frame = pd.DataFrame(X, columns=list("abcd"), index=np.arange(300) * 2)
    rows = dd.from_pandas(frame, npartitions=3)
    labels = dd.from_pandas(pd.Series(np.where(y, "p", "n"), frame.index), 3)
    model = DaskRankSVM().fit(rows, labels)
    scores = model.decision_function(rows).compute()
    assert_array_equal(scores.index, frame.index)
    assert_array_equal(scores, model.decision_function(frame))
    assert_array_equal(model.predict(rows).compute(), model.predict(frame))
    assert model.score(rows, labels) == model.score(frame, labels.compute())
    with pytest.raises(ValueError, match="feature names should match"):
        model.decision_function(rows[list("dcba")]).compute()


def test_scoring_refuses_other_features_and_labels(data):
    X, y = on_dask(*data)
    model = DaskRankSVM().fit(X, y)
    with pytest.raises(ValueError, match="X has 2 features, but RankSVM is expect"):
        model.decision_function(X[:, :2])
    with pytest.raises(ValueError, match=r"y holds the labels \[1, 2\], but the class"):
        model.score(X, y + 1)
    with pytest.raises(NotFittedError):
        DaskRankSVM().predict(X)


def test_columns_in_several_chunks_are_scored(data):
    X, y = on_dask(*data)
    model = DaskRankSVM().fit(X, y)
    scores = model.decision_function(X.rechunk((100, 1))).compute()
    assert_allclose(scores, model.decision_function(data[0]), rtol=1e-12)


def test_batches_are_for_the_local_class(data, models):
    model, local = models
    with pytest.raises(AttributeError, match=f"Use {type(local).__name__} for batches"):
        model.fit_stream([data])


def test_nbauc_chooses_as_in_memory(data, weight):
    X, y = data
    model, local = (kind(30, gamma=0.1, random_state=0) for kind in (DaskNBAUC, NBAUC))
    model.fit(*on_dask(X, y, weight))
    local.fit(X, y, weight)
    assert_array_equal(model.tuning_, local.tuning_)
    assert model.alpha_ == local.alpha_
    assert_allclose(
        model.decision_function(X), local.decision_function(X), rtol=0, atol=1e-10
    )


def test_nbauc_leaves_out_blocks_without_weight(data):
    X, y = data
    weight = np.where(np.arange(300) < 157, 0.0, 1.0)
    model = DaskNBAUC(**KERNEL).fit(*on_dask(X, y, weight))
    local = NBAUC(**KERNEL).fit(X[157:], y[157:])
    assert_allclose(
        model.decision_function(X), local.decision_function(X), rtol=0, atol=1e-10
    )


def test_nbauc_draws_from_many_rows_as_from_a_stream(data, monkeypatch):
    monkeypatch.setattr("aucmax.streams.passes.LEAST_SAMPLE", 50)
    monkeypatch.setattr("aucmax.streams.passes.MOST_SAMPLE", 100)
    X, y = data
    parameters = {"n_landmarks": 30, "gamma": "scale-mean", "random_state": 0}
    model = DaskNBAUC(**parameters).fit(*on_dask(X, y))
    streamed = NBAUC(**parameters)
    streamed.fit_stream([(X[:100], y[:100]), (X[100:], y[100:])])
    assert (model.gamma_, model.alpha_) == (streamed.gamma_, streamed.alpha_)
    assert_allclose(
        model.decision_function(X), streamed.decision_function(X), rtol=0, atol=1e-10
    )
