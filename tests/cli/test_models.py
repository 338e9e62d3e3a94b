# SPDX-License-Identifier: BSD-3-Clause
"""The names of models, and what they do with columns of all kinds."""

import re

import numpy as np
import pytest
from cli.loans import make_loans
from sklearn.base import clone

import aucmax
from aucmax.cli import _fitting
from aucmax.cli._fitting import (
    is_streamed,
    learn_in_batches,
    out_of_fold,
    score_rows,
)
from aucmax.cli._models import MODELS, make_estimator, make_model
from aucmax.io import UntrustedModel, load, save
from aucmax.metrics import roc_auc

SMALL = {
    "nbauc": {"n_landmarks": 20},
    "nsauc": {"n_landmarks": 20, "max_passes": 3},
    "rfauc": {"n_features": 20},
    "sparsekernelauc": {"n_basis": 10, "n_candidates": 10},
    "auto": {"families": ["linear"], "cv": 2},
    "forest": {"n_estimators": 10},
    "hgb": {"max_iter": 10},
    "lightgbm": {"n_estimators": 10},
}


def test_all_estimators_have_a_name():
    public = {name: getattr(aucmax, name) for name in aucmax.__all__}
    expected = {
        name.lower() if name != "AUCClassifier" else "auto"
        for name, value in public.items()
        if hasattr(value, "decision_function")
    }
    assert {n for n, recipe in MODELS.items() if recipe.module == "aucmax"} == expected


@pytest.fixture(scope="module")
def loans():
    frame = make_loans(150)
    X, y = frame.drop(columns=["id", "late"]), (frame["late"] == "yes").to_numpy()
    X["empty"] = np.nan
    return X, y


@pytest.mark.parametrize("name", MODELS)
def test_every_model_takes_every_column(loans, tmp_path, name):
    if name == "lightgbm":
        pytest.importorskip("lightgbm")
    X, y = loans
    estimator = make_estimator(name, SMALL.get(name, {}), seed=0)
    model = make_model(name, estimator).fit(X[:100], y[:100])
    new = X[100:].assign(town="Wien")
    assert roc_auc(y[100:], score_rows(model, X[100:])) > 0.55
    assert np.isfinite(score_rows(model, new)).all()
    save(model, tmp_path / "model.skops")
    loaded = load(tmp_path / "model.skops")
    np.testing.assert_array_equal(score_rows(loaded, X), score_rows(model, X))


@pytest.mark.parametrize("algorithm", ["brute", "ball_tree", "kd_tree"])
def test_neighbours_are_saved_without_their_trees(loans, tmp_path, algorithm):
    X, y = loans
    settings = {"algorithm": algorithm, "weights": "distance"}
    model = make_estimator("knn", settings).fit(X[["owns"]], y)
    assert model.__getstate__()["_tree"] is None
    assert (model._tree is None) == (algorithm == "brute")
    save(model, tmp_path / "model.skops")
    loaded = load(tmp_path / "model.skops")
    assert type(loaded._tree) is type(model._tree)
    assert not hasattr(make_estimator("knn", {}), "_tree")
    save(make_estimator("knn", settings), tmp_path / "model.skops")
    assert load(tmp_path / "model.skops").algorithm == algorithm


def test_neighbours_with_labels_that_there_are_not(loans):
    X, y = loans
    model = make_estimator("knn", {}).fit(X[["owns"]], y)
    state = model.__getstate__() | {"_y": np.full(len(y), 7)}
    with pytest.raises(IndexError):
        make_estimator("knn", {}).__setstate__(state)


@pytest.mark.parametrize(
    "settings",
    [{}, {"boosting_type": "rf", "subsample": 0.5, "subsample_freq": 1}],
    ids=["boosted", "forest"],
)
def test_trees_of_lightgbm_are_checked(rng, tmp_path, settings):
    pytest.importorskip("lightgbm")
    X = rng.normal(size=(200, 3))
    y = np.where(X[:, 0] > 0, "b", "a")
    model = make_estimator("lightgbm", {"n_estimators": 5, **settings}).fit(X, y)
    save(model, tmp_path / "model.skops")
    loaded = load(tmp_path / "model.skops")
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    assert loaded.predict(X).tolist() == model.predict(X).tolist()
    state = loaded.__getstate__()
    text = state["_Booster"]
    text.text = re.sub(r"left_child=\S+", "left_child=99", text.text)
    with pytest.raises(ValueError, match="a branch to nowhere"):
        make_estimator("lightgbm", {}).__setstate__(state)


def test_trees_of_lightgbm_that_cannot_be_checked(rng, tmp_path):
    pytest.importorskip("lightgbm")
    X = rng.normal(size=(200, 3))
    for settings in ({"linear_tree": True}, {"objective": "cross_entropy"}):
        model = make_estimator("lightgbm", {"n_estimators": 2})
        model.set_params(**settings).fit(X, (X[:, 0] > 0).astype(int))
        save(model, tmp_path / "model.skops")
        with pytest.raises(UntrustedModel, match=r"lightgbm\.basic\.Booster"):
            load(tmp_path / "model.skops")


@pytest.mark.parametrize("name", [n for n in MODELS if MODELS[n].streams])
def test_batches_make_the_same_kind_of_model(loans, name, monkeypatch):
    monkeypatch.setattr(_fitting, "BATCH_ROWS", 16)
    X, y = loans
    model = make_model(name, make_estimator(name, {}, seed=0))
    interval = learn_in_batches(model, X, y, y, seed=0)
    assert 0.4 < interval.auc <= 1
    assert model[-1].n_samples_seen_ == len(y)
    assert roc_auc(y, score_rows(model, X)) > 0.6
    assert model.feature_names_in_.tolist() == X.columns.tolist()


def test_batches_of_an_exact_learner_make_the_same_model(loans, monkeypatch):
    monkeypatch.setattr(_fitting, "BATCH_ROWS", 16)
    X, y = loans
    model = make_model("opauc", make_estimator("opauc", {}, seed=0))
    # The same preparation for both: all rows, in place of those not held out.
    prepare = clone(model[0]).fit(X)
    monkeypatch.setattr(type(model[0]), "fit", lambda self, X, y=None: self)
    model.steps[0] = ("prepare", prepare)
    learn_in_batches(model, X, y, y, seed=0)
    whole = clone(model[-1]).fit(prepare.transform(X), y)
    np.testing.assert_allclose(model[-1].coef_, whole.coef_, rtol=1e-6, atol=1e-9)


def test_only_learners_of_one_pass_are_streamed(monkeypatch):
    monkeypatch.setattr(_fitting, "STREAMED_ROWS", 10)
    one, two = (make_estimator("solam", {"n_passes": n}) for n in (1, 2))
    assert is_streamed(one, 11)
    assert not is_streamed(one, 10)
    assert not is_streamed(two, 11)
    # It has to see all rows before it can reduce them.
    pca = make_estimator("opauc", {"reduce": "pca", "n_components": 2})
    assert not is_streamed(pca, 11)


def test_scores_of_all_folds_have_one_scale(rng):
    """A model whose scores shift from fit to fit ranks as well as one without."""
    X = rng.normal(size=(200, 1))
    y = X[:, 0] + rng.normal(size=200) > 0

    class Shifting:
        n_fits = 0

        def fit(self, X, y):
            Shifting.n_fits += 1
            self.shift = 100 * Shifting.n_fits
            return self

        def decision_function(self, X):
            return X[:, 0] + self.shift

    told = []
    found = out_of_fold(Shifting, X, y, y, n_folds=4, seed=0, progress=told.append)
    assert Shifting.n_fits == 4
    assert told == [f"fold {k} of 4" for k in range(1, 5)]
    assert roc_auc(y, found.scores) == pytest.approx(roc_auc(y, X[:, 0]), abs=0.02)
