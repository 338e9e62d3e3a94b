# SPDX-License-Identifier: BSD-3-Clause
import time

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_wine, make_classification
from sklearn.ensemble import StackingClassifier
from sklearn.exceptions import FitFailedWarning
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    GridSearchCV,
    RepeatedStratifiedKFold,
    StratifiedKFold,
    cross_val_score,
)
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import NotFittedError

from aucmax import AUCClassifier
from aucmax.auto import candidates, families, race
from aucmax.datasets import load_bundled
from aucmax.metrics import roc_auc

QUICK = {"families": ["linear"], "cv": 3, "random_state": 0}


@pytest.fixture(scope="module")
def glass():
    return load_bundled("glass")


@pytest.fixture(scope="module")
def model(glass):
    return AUCClassifier(random_state=0).fit(glass.X, glass.y)


def mixed_frame(n=240, seed=0):
    rng = np.random.default_rng(seed)
    city = rng.choice(["Bern", "Basel", "Genf"], n)
    age = rng.normal(40, 10, n)
    y = rng.random(n) < 1 / (1 + np.exp(-(2.0 * (city == "Bern") + (age - 40) / 8 - 2)))
    frame = pd.DataFrame(
        {
            "city": city,
            "age": np.where(rng.random(n) < 0.1, np.nan, age),
            "member": rng.random(n) < 0.5,
            "since": pd.Timestamp("2020-01-01")
            + pd.to_timedelta(rng.integers(0, 900, n), unit="D"),
        }
    )
    frame.loc[rng.random(n) < 0.1, "city"] = None
    return frame, np.where(y, "yes", "no")


def test_default_ranks_well_and_says_how_well(glass, model):
    auc = model.score(glass.X_test, glass.y_test)
    assert auc > 0.95
    interval = model.auc_interval_
    assert interval.low < interval.auc <= interval.high
    families_seen = {entry.family for entry in model.leaderboard_}
    assert families_seen == set(candidates.FAMILIES)
    assert sum(entry.weight for entry in model.leaderboard_) == pytest.approx(1)
    assert not [e for e in model.leaderboard_ if e.note.startswith("failed")]
    aucs = [entry.auc for entry in model.leaderboard_]
    assert aucs == sorted(aucs, reverse=True)


def test_probabilities_rank_as_the_decision_function(glass, model):
    scores = model.decision_function(glass.X_test)
    probability = model.predict_proba(glass.X_test)
    assert_allclose(probability.sum(axis=1), 1)
    assert_array_equal(np.argsort(scores), np.argsort(probability[:, 1]))
    assert_array_equal(model.predict(glass.X_test), (scores > 0).astype(int))


def calibration_error(probability, is_pos, n_bins=10):
    bins = np.array_split(np.argsort(probability), n_bins)
    gaps = [abs(probability[rows].mean() - is_pos[rows].mean()) for rows in bins]
    return np.average(gaps, weights=[len(rows) for rows in bins])


@pytest.mark.parametrize("name", ["german", "satimage", "vehicle"])
def test_calibration_halves_the_error_of_plain_scaling(name):
    data = load_bundled(name)
    rows = slice(None, None, 3 if name == "satimage" else 1)
    fitted = AUCClassifier(["linear", "kernel"], cv=3, random_state=0)
    fitted.fit(data.X[rows], data.y[rows])
    scores = fitted.decision_function(data.X_test)
    scaled = (scores - scores.min()) / np.ptp(scores)
    calibrated = fitted.predict_proba(data.X_test)[:, 1]
    assert calibration_error(calibrated, data.y_test) < 0.5 * calibration_error(
        scaled, data.y_test
    )


def test_explains_itself(glass, model):
    text = model.explain()
    assert "149 rows of 9 columns" in text
    assert f"{model.auc_interval_.auc:.4f}" in text
    assert "Permuting a column costs" in model.explain(
        glass.X_test, glass.y_test, n_repeats=1
    )
    with pytest.raises(ValueError, match="y is missing"):
        model.explain(glass.X_test)


def test_same_seed_same_model_for_any_number_of_jobs(glass):
    options = {"families": ["linear", "kernel", "boosting"], "cv": 2}
    fits = [
        AUCClassifier(**options, random_state=1, n_jobs=n_jobs).fit(glass.X, glass.y)
        for n_jobs in (None, 2)
    ]
    first, second = (fit.decision_function(glass.X_test) for fit in fits)
    assert_array_equal(first, second)


@pytest.mark.parametrize("chosen", ["auto", ["linear", "kernel"], ["forest"]])
def test_frames_with_text_dates_and_missing_values(chosen):
    frame, y = mixed_frame()
    new, y_new = mixed_frame(seed=1)
    fitted = AUCClassifier(chosen, cv=2, random_state=0).fit(frame, y)
    assert fitted.score(new, y_new) > 0.7
    assert fitted.feature_names_in_.tolist() == frame.columns.tolist()
    as_polars = pl.from_pandas(new)
    assert_allclose(
        fitted.decision_function(as_polars), fitted.decision_function(new), atol=1e-9
    )
    with pytest.raises(ValueError, match="feature names"):
        fitted.predict(new.drop(columns="age"))


def test_arrays_with_missing_values_sparse_rows_and_float32(glass):
    X = glass.X.copy()
    X[::7, 2] = np.nan
    dense = AUCClassifier(**QUICK).fit(X, glass.y)
    assert dense.score(glass.X_test, glass.y_test) > 0.8
    narrow = AUCClassifier(**QUICK).fit(X.astype(np.float32), glass.y)
    assert_allclose(
        narrow.decision_function(glass.X_test.astype(np.float32)),
        dense.decision_function(glass.X_test),
        atol=0.05,
    )
    csr = AUCClassifier(**QUICK).fit(sparse.csr_array(glass.X), glass.y)
    full = AUCClassifier(**QUICK).fit(glass.X, glass.y)
    assert_array_equal(
        csr.decision_function(sparse.csr_array(glass.X_test)),
        full.decision_function(glass.X_test),
    )


def test_text_like_rows_stay_sparse(monkeypatch):
    monkeypatch.setattr("aucmax.auto.sparse_rows.DENSE_VALUES", 1000)
    rng = np.random.default_rng(0)
    X = sparse.random_array((300, 3000), density=0.01, rng=rng, format="csr")
    y = (X[:, :300].sum(axis=1) > np.median(X[:, :300].sum(axis=1))).astype(int)
    fitted = AUCClassifier(cv=2, random_state=0).fit(X[:200], y[:200])
    assert fitted.score(X[200:], y[200:]) > 0.6
    assert "kernel" not in {entry.family for entry in fitted.leaderboard_}


def test_single_model_and_no_probabilities(glass):
    fitted = AUCClassifier(**QUICK | {"ensemble": False, "calibrate": False})
    fitted.fit(glass.X, glass.y)
    best = max(fitted.leaderboard_, key=lambda entry: entry.auc)
    assert best.weight == 1
    assert not hasattr(fitted, "predict_proba")
    assert f"The model is {best.name} alone." in fitted.explain()


def test_one_positive_is_fitted_without_an_interval():
    X = np.arange(20.0)[:, None]
    y = np.arange(20) == 19
    fitted = AUCClassifier(random_state=0).fit(X, y)
    assert fitted.score(X, y) == 1
    assert np.isnan(fitted.auc_interval_.auc)
    assert "a class has a single row" in fitted.explain()
    assert fitted.predict_proba(X).shape == (20, 2)


def test_two_positives_and_repeated_folds(glass):
    rows = np.r_[np.flatnonzero(glass.y == 0)[:40], np.flatnonzero(glass.y)[:2]]
    few = AUCClassifier(**QUICK).fit(glass.X[rows], glass.y[rows])
    assert few.fit_report_["n_folds"] == 2
    cv = RepeatedStratifiedKFold(n_splits=2, n_repeats=2, random_state=0)
    fitted = AUCClassifier(**QUICK | {"cv": cv}).fit(glass.X, glass.y)
    assert fitted.fit_report_["n_folds"] == 4


def test_stragglers_drop_out():
    """A radial problem: the linear family is at chance and must not spoil the rest."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 2))
    y = (X**2).sum(axis=1) < 0.5
    fitted = AUCClassifier(["linear", "kernel"], cv=3, random_state=0).fit(X, y)
    linear = [entry for entry in fitted.leaderboard_ if entry.family == "linear"]
    assert all("far behind" in entry.note for entry in linear)
    assert fitted.auc_interval_.auc > 0.98


def test_large_data_take_one_holdout_and_a_short_first_heat(monkeypatch):
    X, y = make_classification(3000, 8, weights=[0.8], random_state=0)
    monkeypatch.setattr("aucmax.auto.sampling.HUGE_ROWS", 2000)
    monkeypatch.setattr(race, "FULL_HEAT_ROWS", 500)
    monkeypatch.setattr(race, "HEAT_ROWS", 500)
    monkeypatch.setattr(families, "KERNEL_ROWS", 700)
    fitted = AUCClassifier(["linear", "kernel"], random_state=0).fit(X, y)
    assert fitted.fit_report_["n_folds"] == 1
    assert fitted.auc_interval_.auc > 0.8
    assert "By 20% of the rows, left out" in fitted.explain()
    dropped = [e for e in fitted.leaderboard_ if "early" in e.note]
    assert {e.family for e in dropped} == {"linear"}


def test_a_budget_leaves_out_what_does_not_fit_in(glass, monkeypatch):
    """Time is told by a false clock, so that nothing depends on the machine."""
    now = [0.0]

    def tick():
        now[0] += 0.4
        return now[0]

    monkeypatch.setattr(time, "perf_counter", tick)
    fitted = AUCClassifier(time_budget=15, random_state=0).fit(glass.X, glass.y)
    notes = [entry.note for entry in fitted.leaderboard_]
    assert any("no time left" in note for note in notes)
    assert any(not note for note in notes)
    assert fitted.score(glass.X_test, glass.y_test) > 0.8


def test_a_short_heat_spares_boosting(monkeypatch):
    """On very many rows a part decides; boosting runs once, as the yardstick."""
    monkeypatch.setattr(race, "FULL_HEAT_ROWS", 100)
    monkeypatch.setattr(race, "HEAT_ROWS", 80)
    sizes = []
    fit = families.BoostingGroup.fit

    def watch(self, X, is_pos, is_categorical):
        sizes.append(len(is_pos))
        return fit(self, X, is_pos, is_categorical)

    monkeypatch.setattr(families.BoostingGroup, "fit", watch)
    X, y = make_classification(400, 5, random_state=0)
    AUCClassifier(["linear", "boosting"], cv=2, random_state=0).fit(X, y)
    assert sizes.count(80) == 1
    assert sizes[0] == 80


def test_models_of_the_folds_are_kept_when_time_is_up(glass, monkeypatch):
    monkeypatch.setattr(race, "REFIT_COST", 1e9)
    fitted = AUCClassifier(["linear"], cv=3, time_budget=60, random_state=0)
    fitted.fit(glass.X, glass.y)
    assert [len(part.models) for part in fitted.ensemble_.parts] == [3]
    assert "those of the folds" in fitted.explain()
    assert fitted.score(glass.X_test, glass.y_test) > 0.8


def test_probabilities_keep_their_mean_when_rows_are_thinned(monkeypatch):
    """A budget thins the common class; probabilities must not follow."""
    monkeypatch.setattr("aucmax.auto.ensemble.LEAST_ROWS", 600)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6000, 3))
    y = rng.random(6000) < 0.05 * np.exp(X[:, 0] - 0.5)
    fitted = AUCClassifier(["linear"], cv=2, time_budget=0.01, random_state=0)
    fitted.fit(X, y)
    assert fitted.fit_report_["n_used"] == 600
    assert f"{y.sum()} of them" in fitted.explain()
    assert fitted.predict_proba(X)[:, 1].mean() == pytest.approx(y.mean(), rel=0.3)


def test_rows_given_by_number_are_not_thinned(monkeypatch):
    monkeypatch.setattr("aucmax.auto.ensemble.LEAST_ROWS", 50)
    X, y = make_classification(400, 5, random_state=0)
    splits = list(StratifiedKFold(2).split(X, y))
    fitted = AUCClassifier(["linear"], cv=splits, time_budget=0.01, random_state=0)
    assert fitted.fit(X, y).fit_report_["n_used"] == 400


def test_the_interval_is_wider_than_that_of_delong_and_counts_rows_once(glass):
    intervals = []
    for n_repeats in (1, 8):
        cv = RepeatedStratifiedKFold(n_splits=2, n_repeats=n_repeats, random_state=0)
        fitted = AUCClassifier(["linear"], cv=cv, random_state=0)
        intervals.append(fitted.fit(glass.X, glass.y).auc_interval_)
    once, often = intervals
    assert often.std_error > 0.6 * once.std_error
    best = AUCClassifier(["linear"], cv=2, ensemble=False, random_state=0)
    best.fit(glass.X, glass.y)
    entry = max(best.leaderboard_, key=lambda entry: entry.auc)
    reach = 1.2 * (entry.auc - entry.low)
    assert best.auc_interval_.low == pytest.approx(entry.auc - reach)


def test_separated_classes_have_an_interval(glass):
    X = np.r_[np.zeros(20), np.ones(20)][:, None]
    interval = AUCClassifier(**QUICK).fit(X, X[:, 0]).auc_interval_
    assert interval.auc == 1
    assert 0.7 < interval.low < 0.95


@pytest.mark.parametrize(
    "X", [np.ones((40, 2)), pd.DataFrame({"id": [f"u{k}" for k in range(40)]})]
)
def test_columns_that_say_nothing(X):
    y = np.arange(40) % 3 == 0
    fitted = AUCClassifier(["linear", "kernel"], cv=2, random_state=0).fit(X, y)
    assert fitted.auc_interval_.low <= 0.5
    assert_allclose(fitted.predict_proba(X)[:, 1], y.mean(), atol=0.15)
    assert "no better than chance" in fitted.explain()


def test_explains_columns_of_any_table():
    frame, y = mixed_frame()
    fitted = AUCClassifier(**QUICK).fit(pl.from_pandas(frame), y)
    assert "Permuting a column costs this much AUC: " in fitted.explain(
        pl.from_pandas(frame), y, n_repeats=1
    )


def test_calibration_belongs_to_the_last_fit(glass):
    fitted = AUCClassifier(**QUICK | {"calibrate": False}).fit(glass.X, glass.y)
    assert not hasattr(fitted.set_params(calibrate=True), "predict_proba")
    assert hasattr(fitted.fit(glass.X, glass.y), "predict_proba")


@pytest.mark.parametrize(
    ("cv", "message"),
    [
        ([], "cv gives no split"),
        ([(np.arange(30), np.arange(30, 40))], "test rows of split 0"),
    ],
)
def test_bad_splits(cv, message):
    X = np.arange(40.0)[:, None]
    with pytest.raises(ValueError, match=message):
        AUCClassifier(["linear"], cv=cv).fit(X, np.arange(40) < 20)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (np.array(["a", None] * 20, dtype=object), "contains NaN or None"),
        (np.array(["a", 1] * 20, dtype=object), "mixes labels"),
        (np.array([0.0, np.nan] * 20), "Input y contains NaN"),
    ],
)
def test_bad_labels(y, message):
    with pytest.raises(ValueError, match=message):
        AUCClassifier().fit(np.arange(40.0)[:, None], y)


def test_a_final_fit_that_fails_does_not_cost_the_others(glass, monkeypatch):
    fit = families.KernelGroup.fit

    def fail(self, X, is_pos, is_categorical):
        if len(is_pos) == len(glass.y):
            raise MemoryError("too large")
        return fit(self, X, is_pos, is_categorical)

    monkeypatch.setattr(families.KernelGroup, "fit", fail)
    fitted = AUCClassifier(["linear", "kernel"], cv=2, random_state=0)
    with pytest.warns(FitFailedWarning, match="too large"):
        fitted.fit(glass.X, glass.y)
    assert fitted.score(glass.X_test, glass.y_test) > 0.8


def test_a_candidate_that_fails_does_not_cost_the_others(glass, monkeypatch):
    def fail(self, X, is_pos, is_categorical):
        raise MemoryError("too large")

    monkeypatch.setattr(families.KernelGroup, "fit", fail)
    fitted = AUCClassifier(["linear", "kernel"], cv=2, random_state=0)
    with pytest.warns(FitFailedWarning, match="MemoryError: too large"):
        fitted.fit(glass.X, glass.y)
    assert fitted.score(glass.X_test, glass.y_test) > 0.8


def test_failed_fits_leave_the_model_as_it_was(glass):
    fitted = AUCClassifier(**QUICK).fit(glass.X, glass.y)
    before = fitted.decision_function(glass.X_test)
    with pytest.raises(ValueError, match="only one class"):
        fitted.fit(glass.X, np.zeros(len(glass.y)))
    assert_array_equal(fitted.decision_function(glass.X_test), before)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"families": ["trees"]}, "holds the family 'trees'"),
        ({"families": []}, "an empty list"),
        ({"time_budget": 0}, "time_budget"),
        ({"families": "linear"}, "families"),
    ],
)
def test_bad_parameters(glass, options, message):
    with pytest.raises(ValueError, match=message):
        AUCClassifier(**options).fit(glass.X, glass.y)


def test_bad_rows(glass):
    with pytest.raises(ValueError, match="3 classes"):
        AUCClassifier().fit(*load_wine(return_X_y=True))
    with pytest.raises(ValueError, match="inconsistent numbers"):
        AUCClassifier().fit(glass.X, glass.y[:-1])
    with pytest.raises(ValueError, match="y is None"):
        AUCClassifier().fit(glass.X, None)
    with pytest.raises(NotFittedError):
        AUCClassifier().predict(glass.X)


def test_huge_values_and_constant_columns(glass):
    X = np.column_stack([glass.X, np.ones(len(glass.X)), glass.X[:, 0] * 1e300])
    fitted = AUCClassifier(cv=2, random_state=0).fit(X, glass.y)
    assert fitted.auc_interval_.auc > 0.8
    assert not [e for e in fitted.leaderboard_ if e.note.startswith("failed")]


def test_columns_without_a_value(glass):
    X = np.column_stack([glass.X, np.full(len(glass.X), np.nan)])
    fitted = AUCClassifier(cv=2, random_state=0).fit(X, glass.y)
    assert not [e.note for e in fitted.leaderboard_ if e.note.startswith("failed")]
    new = np.column_stack([glass.X_test, np.arange(len(glass.X_test))])
    assert fitted.score(new, glass.y_test) > 0.9


def test_progress_goes_to_standard_error(glass, capsys):
    AUCClassifier(**QUICK | {"verbose": 1}).fit(glass.X, glass.y)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "[AUCClassifier] linear, alpha=3: 1 of 3 folds" in captured.err


def test_fits_the_tools_of_scikit_learn(glass):
    quick = AUCClassifier(**QUICK)
    X, y = glass.X, glass.y
    assert make_pipeline(StandardScaler(), quick).fit(X, y).score(X, y) > 0.8
    search = GridSearchCV(quick, {"ensemble": [True, False]}, cv=2).fit(X, y)
    assert roc_auc(y, search.decision_function(X)) > 0.8
    assert cross_val_score(quick, X, y, cv=2, scoring="roc_auc").mean() > 0.8
    calibrated = CalibratedClassifierCV(clone(quick), cv=2).fit(X, y)
    assert calibrated.predict_proba(X).shape == (len(y), 2)
    wine, kind = load_wine(return_X_y=True)
    rest = OneVsRestClassifier(quick).fit(wine, kind)
    assert (rest.predict(wine) == kind).mean() > 0.9
    stack = StackingClassifier(
        [("a", quick), ("b", LogisticRegression(max_iter=5000))], cv=2
    )
    assert stack.fit(X, y).score(X, y) > 0.8
    fitted = clone(quick).fit(X, y)
    found = permutation_importance(fitted, X, y, n_repeats=1, random_state=0)
    assert found.importances_mean.shape == (9,)
    framed = make_pipeline(StandardScaler(), quick).set_output(transform="pandas")
    frame = pd.DataFrame(X, columns=[f"c{k}" for k in range(9)])
    assert framed.fit(frame, y)[-1].feature_names_in_[0] == "c0"
