# SPDX-License-Identifier: BSD-3-Clause
"""Trees come back from a file, but none whose branches lead out of it."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.ensemble import (
    BaggingClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    VotingClassifier,
)
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import FunctionTransformer
from sklearn.tree import DecisionTreeClassifier

from aucmax.io import UntrustedModel, load, save
from aucmax.io.models.saving import write_model

SEED = {"random_state": 0}
FOREST = RandomForestClassifier(3, max_depth=3, **SEED)
BOOSTED = HistGradientBoostingClassifier(
    max_iter=3, max_leaf_nodes=4, min_samples_leaf=5, categorical_features=[0], **SEED
)
MODELS = [
    DecisionTreeClassifier(max_depth=3, **SEED),
    FOREST,
    ExtraTreesClassifier(3, max_depth=3, **SEED),
    BOOSTED,
    VotingClassifier([("one", FOREST), ("two", BOOSTED)], voting="soft"),
    VotingClassifier([("one", DecisionTreeClassifier(max_depth=2))], voting="soft"),
]


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4))
    X[:, 0] = rng.integers(0, 5, 200)
    X[::7, 2] = np.nan
    return X, (X[:, 1] + np.isin(X[:, 0], [1, 3]) > 0.5).astype(int)


@pytest.mark.parametrize("model", MODELS, ids=lambda m: type(m).__name__)
def test_round_trip(tmp_path, rows, model):
    X, y = rows
    fitted = clone(model).fit(X, y)
    save(fitted, tmp_path / "model.skops")
    loaded = load(tmp_path / "model.skops")
    assert_array_equal(loaded.predict_proba(X), fitted.predict_proba(X))


def refuse(path, model, words):
    write_model(model, path)
    with pytest.raises(ValueError, match=rf"is damaged \({words}") as caught:
        load(path)
    assert "\n" not in str(caught.value)


def set_node(tree, name, value):
    state = tree.__getstate__()
    state["nodes"] = state["nodes"].copy()
    # The first node of all, which is no leaf.
    state["nodes"][name][0] = value
    tree.__setstate__(state)


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("left_child", 10**9, "a tree has a branch to nowhere"),
        ("right_child", -5, "a tree has a branch to nowhere"),
        ("left_child", 0, "a tree has a branch to nowhere"),
        ("right_child", 1, "a tree has a branch to nowhere"),
        ("feature", 4, "a tree has a feature that there is not"),
        ("feature", -1, "a tree has a feature that there is not"),
    ],
)
def test_nodes_of_a_forest(tmp_path, rows, name, value, words):
    forest = clone(FOREST).fit(*rows)
    set_node(forest.estimators_[1].tree_, name, value)
    refuse(tmp_path / "model.skops", forest, words)


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("node_count", 10**6, "a tree has other features or nodes"),
        ("node_count", 0, "a tree has other features or nodes"),
        ("max_depth", 1, "a tree is deeper"),
    ],
)
def test_sizes_of_a_tree(tmp_path, rows, monkeypatch, name, value, words):
    """Such a tree cannot be saved, so what was read is changed."""
    tree = DecisionTreeClassifier(max_depth=3, **SEED).fit(*rows)
    save(tree, tmp_path / "model.skops")

    def spoil(file, trusted):
        tree.tree_.__setstate__(tree.tree_.__getstate__() | {name: value})
        return tree

    monkeypatch.setattr("skops.io.load", spoil)
    with pytest.raises(ValueError, match=rf"is damaged \({words}"):
        load(tmp_path / "model.skops")


def test_forest_that_takes_fewer_features_than_its_trees(tmp_path, rows):
    forest = clone(FOREST).fit(*rows)
    forest.n_features_in_ = 2
    refuse(tmp_path / "model.skops", forest, "a tree has other features")


def test_forest_whose_features_are_said_to_be_those_of_a_bag(tmp_path, rows):
    forest = clone(FOREST).fit(*rows)
    forest.n_features_in_ = 2
    forest.estimators_features_ = [np.arange(4)] * 3
    refuse(tmp_path / "model.skops", forest, "a tree has other features")


def test_forest_with_a_tuple_of_trees(tmp_path, rows):
    forest = clone(FOREST).fit(*rows)
    forest.n_features_in_ = 2
    forest.estimators_ = tuple(forest.estimators_)
    refuse(tmp_path / "model.skops", forest, "a tree has other features")


# scikit-learn's own loop over these trees takes the number of outputs from the file.
@pytest.mark.parametrize(
    "model",
    [
        GradientBoostingClassifier(n_estimators=1, max_depth=2, **SEED),
        BaggingClassifier(DecisionTreeClassifier(), 2, max_features=2, **SEED),
    ],
    ids=lambda model: type(model).__name__,
)
def test_other_ensembles_are_asked_about(tmp_path, rows, model):
    X, y = np.nan_to_num(rows[0]), rows[1]
    model.fit(X, y)
    save(model, tmp_path / "model.skops")
    with pytest.raises(UntrustedModel, match=type(model).__name__) as caught:
        load(tmp_path / "model.skops")
    loaded = load(tmp_path / "model.skops", trusted=caught.value.types)
    assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))


def test_tree_behind_a_mask(tmp_path, rows):
    forest = clone(FOREST).fit(*rows)
    trees = np.array(forest.estimators_, dtype=object)
    set_node(trees[1].tree_, "feature", 2**30)
    forest.estimators_ = np.ma.MaskedArray(trees, mask=[False, True, False])
    refuse(tmp_path / "model.skops", forest, "it holds a MaskedArray|a tree has a feat")


def test_masks_of_a_search_are_kept(tmp_path, rows):
    search = GridSearchCV(FOREST, {"max_depth": [1, 2]}, cv=2).fit(*rows)
    save(search, tmp_path / "model.skops")
    found = load(tmp_path / "model.skops").cv_results_["param_max_depth"]
    assert type(found) is np.ma.MaskedArray


def test_tree_that_is_somewhere_else(tmp_path, rows):
    tree = DecisionTreeClassifier(max_depth=1).fit(*rows).tree_
    hidden = FunctionTransformer(kw_args={"where": tree})
    refuse(tmp_path / "model.skops", hidden, "it holds a tree that belongs to no model")


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("left", 10**9, "a tree has a branch to nowhere"),
        ("right", 2**32 - 1, "a tree has a branch to nowhere"),
        ("left", 0, "a tree has a branch to nowhere"),
        ("feature_idx", 4, "a tree has a feature that there is not"),
        ("feature_idx", -1, "a tree has a feature that there is not"),
        ("bitset_idx", 100, "a boosted tree has categories"),
        ("feature_idx", 1, "a boosted tree has categories"),
    ],
)
def test_nodes_of_boosted_trees(tmp_path, rows, name, value, words):
    X = rows[0]
    # By categories only, so that the first node splits by them.
    model = clone(BOOSTED).fit(X, np.isin(X[:, 0], [1, 3]))
    nodes = model._predictors[0][0].nodes
    assert nodes["is_categorical"][0]
    nodes[name][0] = value
    refuse(tmp_path / "model.skops", model, words)


def test_other_parts_of_boosted_trees(tmp_path, rows):
    path = tmp_path / "model.skops"
    model = clone(BOOSTED).fit(*rows)
    model._n_features = 3
    refuse(path, model, "its boosted trees do not tell their features")
    model = clone(BOOSTED).fit(*rows)
    model._preprocessor.transformers_[0] = ("encoder", FunctionTransformer(), [0])
    refuse(path, model, "its boosted trees come after a strange step, encoder")
    model = clone(BOOSTED).fit(*rows)
    model._in_fit = True
    refuse(path, model, "its boosted trees do not tell their features")
    model = clone(BOOSTED).fit(*rows)
    predictor = model._predictors[1][0]
    predictor.nodes = predictor.nodes.reshape(1, -1)
    refuse(path, model, "a boosted tree has nodes of another kind")
    model = clone(BOOSTED).fit(*rows)
    model._predictors[1] = [None]
    refuse(path, model, "it holds a NoneType in the place of a tree")
