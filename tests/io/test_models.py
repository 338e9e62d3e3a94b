# SPDX-License-Identifier: BSD-3-Clause
"""Every model comes back from its file as it was; nothing else comes out of one."""

import pickle

import numpy as np
import pandas as pd
import pytest
from estimator_list import ESTIMATORS, quick
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.datasets import make_classification
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from aucmax import (
    KNNOAM,
    NSAUC,
    OAM,
    OILK,
    OPAUC,
    SPDAM,
    AUCClassifier,
    LeastSquaresAUC,
    Nystroem,
    RankSVM,
)
from aucmax.auto import candidates
from aucmax.io import UntrustedModel, load, save
from aucmax.neighbors import trees

# Learners that keep sparse rows in other ways than dense ones.
SPARSE = [OAM(), OPAUC(rank=2), OILK(), NSAUC(), KNNOAM(backend="brute")]


@pytest.fixture(scope="module")
def rows():
    X, y = make_classification(120, 5, n_informative=3, random_state=0)
    X[np.abs(X) < 0.3] = 0.0
    return X, y


def output(model, X):
    is_scorer = hasattr(model, "decision_function")
    return model.decision_function(X) if is_scorer else model.transform(X)


def learn(model, X, y):
    """Fit, or take in rows if the model can."""
    if not hasattr(model, "partial_fit"):
        return model.fit(X, y)
    if hasattr(model, "transform"):
        return model.partial_fit(X)
    return model.partial_fit(X, y, classes=[0, 1])


# Also with fewer directions than there are features.
@pytest.mark.parametrize("estimator", [*ESTIMATORS, OPAUC(rank=2)], ids=str)
def test_round_trip(tmp_path, rows, estimator):
    X, y = rows
    model = learn(quick(estimator, random_state=0), X[:80], y[:80])
    save(model, tmp_path / "model.skops")
    loaded = load(tmp_path / "model.skops")
    assert type(loaded) is type(model)
    assert str(loaded) == str(model)
    assert_array_equal(output(loaded, X), output(model, X))
    # Again, with what was computed for the scores among its attributes.
    save(model, tmp_path / "model.skops")
    loaded = load(tmp_path / "model.skops")
    if hasattr(model, "partial_fit"):
        learn(model, X[80:], y[80:])
        learn(loaded, X[80:], y[80:])
    assert_array_equal(output(loaded, X), output(model, X))


@pytest.mark.parametrize("estimator", SPARSE, ids=str)
def test_round_trip_of_sparse_rows(tmp_path, rows, estimator):
    X, y = sparse.csr_matrix(rows[0]), rows[1]
    model = learn(quick(estimator, random_state=0), X[:80], y[:80])
    save(model, tmp_path / "model.skops")
    loaded = load(tmp_path / "model.skops")
    assert_array_equal(output(loaded, X), output(model, X))
    learn(model, X[80:], y[80:])
    learn(loaded, X[80:], y[80:])
    assert_array_equal(output(loaded, X), output(model, X))


def test_sparse_rows_of_many_features(tmp_path, rng):
    X = sparse.random(60, 5000, density=0.01, format="csr", random_state=rng)
    y = np.arange(60) % 2
    model = learn(KNNOAM(random_state=0), X[:40], y[:40])
    save(model, tmp_path / "model.skops")
    loaded = load(tmp_path / "model.skops")
    learn(model, X[40:], y[40:])
    learn(loaded, X[40:], y[40:])
    assert_array_equal(output(loaded, X), output(model, X))


def test_trees_are_planted_again(tmp_path, rows, monkeypatch):
    monkeypatch.setattr(trees, "SMALLEST_TREE", 16)
    X, y = rows
    model = learn(KNNOAM(backend="tree", random_state=0), X[:80], y[:80])
    save(model, tmp_path / "model.skops")
    loaded = load(tmp_path / "model.skops")
    before, after = (m._stream.learner.index for m in (model, loaded))
    assert [part[:2] for part in before._trees] == [(0, 64), (64, 80)]
    assert [part[:2] for part in after._trees] == [(0, 64), (64, 80)]
    learn(model, X[80:], y[80:])
    learn(loaded, X[80:], y[80:])
    assert_array_equal(output(loaded, X), output(model, X))


def test_graph_has_to_be_trusted(tmp_path, rows):
    pytest.importorskip("usearch")
    X, y = rows
    model = learn(KNNOAM(backend="approximate", random_state=0), X, y)
    save(model, tmp_path / "model.skops")
    with pytest.raises(UntrustedModel, match="a graph that usearch reads") as caught:
        load(tmp_path / "model.skops")
    name = "aucmax.saved.ApproximateIndex"
    assert caught.value.types == [name]
    loaded = load(tmp_path / "model.skops", trusted=[name])
    assert_array_equal(output(loaded, X), output(model, X))


@pytest.mark.parametrize("estimator", [OAM(), SPDAM()], ids=str)
def test_random_state_goes_on(tmp_path, rows, estimator):
    model = quick(estimator, random_state=np.random.RandomState(7)).fit(*rows)
    save(model, tmp_path / "model.skops")
    loaded = load(tmp_path / "model.skops")
    # Drawn from where the first fit stopped.
    assert_array_equal(
        output(loaded.fit(*rows), rows[0]), output(model.fit(*rows), rows[0])
    )


@pytest.mark.parametrize("labels", [["no", "yes"], [True, False], [-1.5, 2.0]])
def test_labels_of_every_kind(tmp_path, rows, labels):
    X, y = rows
    given = np.array(labels)[y]
    for values in (given, given.astype(object)):
        model = LeastSquaresAUC().fit(X, values)
        save(model, tmp_path / "model.skops")
        loaded = load(tmp_path / "model.skops")
        assert loaded.classes_.dtype == model.classes_.dtype
        assert_array_equal(loaded.predict(X), model.predict(X))


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("order", ["C", "F"])
def test_arrays_keep_type_and_order(tmp_path, rows, kind, order):
    X = np.asarray(rows[0], dtype=kind, order=order)
    model = Nystroem(8, random_state=0).fit(X)
    save(model, tmp_path / "model.skops")
    loaded = load(tmp_path / "model.skops")
    for name, value in vars(model).items():
        if isinstance(value, np.ndarray):
            assert getattr(loaded, name).dtype == value.dtype
            assert getattr(loaded, name).flags.f_contiguous == value.flags.f_contiguous
    assert_array_equal(loaded.transform(X), model.transform(X))


@pytest.mark.parametrize("has_light", [True, False])
def test_mixture_of_all_families(tmp_path, rows, has_light, monkeypatch):
    if has_light:
        pytest.importorskip("lightgbm")
    found = candidates.find_spec
    monkeypatch.setattr(candidates, "find_spec", lambda n: has_light and found(n))
    X, y = frame_of(rows[0]), rows[1]
    model = AUCClassifier(cv=2, random_state=0).fit(X[:80], y[:80])
    for _ in range(2):
        save(model, tmp_path / "model.skops")
        loaded = load(tmp_path / "model.skops")
        for name in ("decision_function", "predict_proba", "predict"):
            assert_array_equal(getattr(loaded, name)(X), getattr(model, name)(X))
        assert loaded.auc_interval_ == model.auc_interval_
        assert repr(loaded.leaderboard_) == repr(model.leaderboard_)
        assert loaded.explain() == model.explain()
        copied = pickle.loads(pickle.dumps(loaded))
        assert_array_equal(copied.predict(X), model.predict(X))
        # Also what was loaded can be saved.
        model = loaded
    families = {type(part.models[0]).__name__ for part in model.ensemble_.parts}
    assert {"BoostingGroup", "ForestGroup"} <= families


def frame_of(X):
    frame = pd.DataFrame(X).add_prefix("x")
    return frame.assign(town=np.where(X[:, 0] > 0, "Graz", "Linz"))


def prepared(model):
    numbers = make_column_selector(dtype_include=float)
    columns = make_column_transformer(
        (StandardScaler(), numbers), (OneHotEncoder(handle_unknown="ignore"), ["town"])
    )
    return make_pipeline(columns, model)


PIPELINES = [
    prepared(RankSVM()),
    prepared(OPAUC(random_state=0)),
    GridSearchCV(
        prepared(LeastSquaresAUC()),
        {"leastsquaresauc__alpha": [0.1, 1.0]},
        cv=StratifiedKFold(2),
    ),
    CalibratedClassifierCV(prepared(RankSVM()), cv=2),
    CalibratedClassifierCV(prepared(RankSVM()), cv=2, method="isotonic"),
]


@pytest.mark.parametrize("pipeline", PIPELINES, ids=lambda p: type(p).__name__)
def test_round_trip_inside_scikit_learn(tmp_path, rows, pipeline):
    X, y = frame_of(rows[0]), rows[1]
    model = clone(pipeline).fit(X, y)
    save(model, tmp_path / "model.skops")
    loaded = load(tmp_path / "model.skops")
    for name in ("decision_function", "predict_proba", "predict"):
        assert hasattr(loaded, name) == hasattr(model, name)
        if hasattr(model, name):
            assert_array_equal(getattr(loaded, name)(X), getattr(model, name)(X))
    assert_array_equal(loaded.feature_names_in_, X.columns)
