# SPDX-License-Identifier: BSD-3-Clause
"""Trees of LightGBM are saved as text, and none is read that leads out of itself."""

import pickle
import re

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from aucmax.auto.lightgbm_text import LightGBMText, clean

lightgbm = pytest.importorskip("lightgbm")


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    X[:, 0] = rng.integers(0, 40, 300)
    X[::5, 2] = np.nan
    return X, (X[:, 1] + 3 * np.isin(X[:, 0], range(0, 40, 3)) > 1.0).astype(int)


@pytest.fixture(scope="module")
def model(rows):
    made = lightgbm.LGBMClassifier(
        n_estimators=5,
        num_leaves=6,
        min_child_samples=5,
        # So that categories are split by.
        min_data_per_group=5,
        cat_smooth=1.0,
        verbose=-1,
        n_jobs=1,
    )
    return made.fit(*rows, categorical_feature=[0])


@pytest.fixture(scope="module")
def text(model):
    return model.booster_.model_to_string()


@pytest.mark.parametrize("n_trees", [2, 5])
def test_scores_are_those_of_the_model(rows, model, n_trees):
    kept = pickle.loads(pickle.dumps(LightGBMText.of(model)))
    assert LightGBMText.of(kept) is kept
    X = rows[0]
    for _ in range(2):
        found = kept.predict(X, raw_score=True, num_iteration=n_trees)
        expected = model.predict(X, raw_score=True, num_iteration=n_trees)
        assert_array_equal(found, expected)
    assert set(kept.__getstate__()) == {"text", "n_threads"}


def test_tree_without_a_split(rows):
    model = lightgbm.LGBMClassifier(n_estimators=2, verbose=-1, min_child_samples=999)
    X, y = rows
    model.fit(X, y)
    found = LightGBMText.of(model).predict(X, raw_score=True, num_iteration=2)
    assert_array_equal(found, model.predict(X, raw_score=True))


def test_clean_text_stays_as_it_is(text):
    assert clean(clean(text)) == clean(text)
    assert "parameters" not in clean(text)


@pytest.mark.parametrize(
    "settings",
    [{}, {"sigmoid": 2.5}, {"boosting_type": "rf", "subsample": 0.5}],
    ids=["plain", "sigmoid", "forest"],
)
def test_text_keeps_how_scores_become_probabilities(rows, settings):
    X, y = rows
    model = lightgbm.LGBMClassifier(
        n_estimators=3, subsample_freq=1, verbose=-1, n_jobs=1, **settings
    ).fit(X, y)
    found = lightgbm.Booster(model_str=LightGBMText.of(model).text).predict(X)
    assert_array_equal(found, model.predict_proba(X)[:, 1])


def test_other_objectives_are_not_taken_from_a_file(text):
    strange = changed(text, "objective", lambda v: "custom\\n")
    assert "objective" in clean(text)
    assert "objective" not in clean(strange)


def changed(text, key, change):
    """Return the text with the first line of this key changed."""
    found = re.search(rf"^{key}=(.*)$", text, re.MULTILINE)
    return text[: found.start(1)] + change(found[1]) + text[found.end(1) :]


@pytest.mark.parametrize(
    ("key", "change", "words"),
    [
        ("num_class", lambda v: "3", "not of two classes"),
        ("num_tree_per_iteration", lambda v: "2", "not of two classes"),
        ("max_feature_idx", lambda v: "-1", "do not tell their features"),
        ("max_feature_idx", lambda v: "1", "other features than they name"),
        # Would take 1.6 GB of names.
        ("max_feature_idx", lambda v: "99999999", "other features than they name"),
        ("num_leaves", lambda v: "1000000000", "1000000000 leaves"),
        ("num_leaves", lambda v: "0", "0 leaves"),
        ("num_leaves", lambda v: str(int(v) + 1), "too few or too many leaves"),
        ("split_feature", lambda v: "-1" + v[1:], "a feature that there is not"),
        ("split_feature", lambda v: v + " 1", "too few or too many splits"),
        ("left_child", lambda v: "99" + v[1:], "a branch to nowhere"),
        ("left_child", lambda v: "0" + v[1:], "a branch to nowhere"),
        ("right_child", lambda v: v.rpartition(" ")[0] + " -99", "a branch to nowhere"),
        ("leaf_value", lambda v: v + " %n", "text where numbers are expected"),
        ("is_linear", lambda v: "1", "linear leaves"),
        ("cat_boundaries", lambda v: v + "0", "sets of categories that do not fit"),
        ("cat_threshold", lambda v: v + " 1", "sets of categories that do not fit"),
        ("num_cat", lambda v: "0", "categories that there are not"),
        ("num_cat", lambda v: "-1", "leaves, -1 of categories"),
    ],
)
def test_text_that_leads_elsewhere(text, key, change, words):
    # The first tree has categories.
    assert re.search(r"Tree=0\nnum_leaves=6\nnum_cat=[1-5]\n", text)
    with pytest.raises(ValueError, match=words):
        clean(changed(text, key, change))


def test_category_that_there_is_not(text):
    kinds = re.search(r"^decision_type=(.*)$", text, re.MULTILINE)[1].split()
    number = next(k for k, kind in enumerate(kinds) if int(kind) & 1)

    def change(values):
        listed = values.split()
        listed[number] = "7"
        return " ".join(listed)

    with pytest.raises(ValueError, match="categories that there are not"):
        clean(changed(text, "threshold", change))


def test_bad_text_never_gets_to_lightgbm(model, rows):
    kept = LightGBMText.of(model)
    bad = LightGBMText(changed(kept.text, "left_child", lambda v: "99" + v[1:]))
    with pytest.raises(ValueError, match="a branch to nowhere"):
        bad.predict(rows[0], raw_score=True, num_iteration=1)
