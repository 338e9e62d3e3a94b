# SPDX-License-Identifier: BSD-3-Clause
import json
import math
import re
from xml.etree import ElementTree

import numpy as np
import pytest
from fake_demo import BOARD, OURS, SENTENCES, make_set
from html_tree import read
from scipy import stats
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC

from aucmax.datasets.bundled import load_bundled
from aucmax.demo import models as demo_models
from aucmax.demo import page as demo_page
from aucmax.demo import run as demo
from aucmax.demo.models import describe_grid, make_models
from aucmax.demo.page import NONE, write_demo
from aucmax.demo.plots import N_BINS, measure_reliability, write_picture
from aucmax.demo.run import ModelRun, SetRun, run_demo, run_set
from aucmax.demo.text import (
    describe_all,
    describe_outcome,
    sort_rivals,
    table_text,
    to_dict,
)
from aucmax.metrics import AUCInterval, roc_auc_interval, roc_auc_test

# What is said.


def test_ours_first_and_significantly_so():
    each = make_set({OURS: 0.3, "worse": 3.0})
    auc = each.ours.interval.auc
    assert describe_outcome(each) == (
        f"{OURS} has the highest AUC, {auc:.3f}. {OURS} is significantly above worse."
    )


def test_a_rival_that_wins_is_named():
    each = make_set({OURS: 3.0, "better": 0.3})
    top = each.runs[1].interval.auc
    assert each.runs[1].test.difference < 0
    assert describe_outcome(each) == (
        f"better has the highest AUC, {top:.3f}; {OURS} has "
        f"{each.ours.interval.auc:.3f}. {OURS} is significantly below better."
    )


def test_what_cannot_be_told_is_said():
    each = make_set({OURS: 1.0, "as good": 1.0, "worse": 9.0})
    assert sort_rivals(each) == (["worse"], [], ["as good"])
    text = describe_outcome(each)
    assert text.endswith(f"as good cannot be told from {OURS} by these test rows.")
    only = make_set({OURS: 1.0, "as good": 1.0})
    assert "None of the others can be told" in describe_outcome(only)


def test_equal_figures_are_shared():
    each = make_set({OURS: 1.0, "same": 1.0})
    ours, same = each.runs
    same = ModelRun(**(vars(same) | {"interval": ours.interval._replace(
        auc=ours.interval.auc + 1e-6)}))  # fmt: skip
    each = SetRun(**(vars(each) | {"runs": (ours, same)}))
    text = describe_outcome(each)
    assert text.startswith(f"same and {OURS} have the highest AUC, ")


def test_summary_counts_sets_and_tests():
    sets = [
        make_set({OURS: 0.3, "other": 3.0, "third": 2.0}),
        make_set({OURS: 3.0, "other": 0.3, "third": 3.0}),
    ]
    text = describe_all(sets)
    assert text.startswith(f"{OURS} has the highest AUC on 1 of 2 sets; its mean AUC")
    means = [np.mean([each.runs[i].interval.auc for each in sets]) for i in range(3)]
    best = ["other", "third"][int(np.argmax(means[1:]))]
    assert (
        f"{means[0]:.3f}, that of the best other, {best}, {max(means[1:]):.3f}." in text
    )
    assert "In 4 paired tests it is significantly above in 2, below in 1, and 1" in text


def test_table_has_one_line_per_model():
    each = make_set({OURS: 0.5, "other": 3.0})
    head, ours, other = table_text(each).splitlines()
    assert head.split() == ["model", "test", "AUC", "[95%]", "p-value", "fit", "s"]
    auc, low, high, _ = each.ours.interval
    assert ours.split() == [OURS, f"{auc:.3f}", f"[{low:.3f},", f"{high:.3f}]", "1.2"]
    assert other.split()[-2:] == ["<0.001", "1.2"]
    assert len({len(line) for line in (head, ours, other)}) == 1


def test_json_has_the_same_figures():
    each = make_set({OURS: 0.5, "other": 3.0})
    found = json.loads(json.dumps(to_dict(each)))
    assert (found["set"], found["n_train"], found["n_test"]) == ("invented", 800, 400)
    ours, other = found["models"]
    assert ours["auc"] == each.ours.interval.auc
    assert ours["p_value"] is None
    assert other["p_value"] == each.runs[1].test.p_value
    p, y = each.ours.probabilities, each.data.y_test
    assert ours["brier"] == pytest.approx(((p - y) ** 2).mean())
    assert other["brier"] is None


# How probabilities are compared with what came.


def test_reliability_has_all_rows_and_wilsons_interval(rng):
    p = rng.uniform(size=3000) ** 2
    y = rng.uniform(size=3000) < p
    found = measure_reliability(y, p)
    assert len(found.n_rows) == N_BINS
    assert found.n_rows.sum() == 3000
    bins = np.floor(p * N_BINS).astype(int)
    for i in range(N_BINS):
        inside = bins == i
        assert found.n_rows[i] == inside.sum()
        assert found.predicted[i] == pytest.approx(p[inside].mean())
        assert found.observed[i] == pytest.approx(y[inside].mean())
        k, n = int(y[inside].sum()), int(inside.sum())
        limits = stats.binomtest(k, n).proportion_ci(method="wilson")
        assert (found.low[i], found.high[i]) == pytest.approx((limits.low, limits.high))


def test_reliability_joins_bins_of_few_rows():
    p = np.r_[np.full(20, 0.05), [0.25, 0.35, 0.45], np.full(6, 0.55), [0.95]]
    found = measure_reliability(np.zeros(30), p)
    # Three rows are too few, so the next bin has them; the last one has too few, too.
    assert found.n_rows.tolist() == [20, 10]
    assert found.observed.tolist() == [0.0, 0.0]
    assert (found.low == 0.0).all()
    assert (found.high > 0.0).all()
    one = measure_reliability([1, 0], [0.2, 0.9])
    assert (one.n_rows.tolist(), one.observed.tolist()) == ([2], [0.5])


# The models.


def test_models_are_tuned_for_auc():
    models = make_models()
    ours, *rivals = models.values()
    assert ours.get_params() == type(ours)(random_state=0).get_params()
    assert len(rivals) >= 3
    for model in rivals:
        assert isinstance(model, GridSearchCV)
        assert model.scoring == "roc_auc"
        assert model.cv.get_n_splits() == 5
    steps = [[name for name, _ in model.estimator.steps] for model in rivals]
    assert steps[:3] == [["scale", "model"], ["scale", "model"], ["model"]]
    assert models["SVC (rbf)"].estimator["model"].class_weight == "balanced"


def test_a_quick_run_tries_less():
    full, quick = make_models(), make_models(is_quick=True)
    assert list(full) == list(quick)
    assert quick[OURS].get_params()["families"] == ("linear", "kernel")
    for name in list(full)[1:]:
        large, small = full[name].param_grid, quick[name].param_grid
        assert all(set(small[key]) <= set(large[key]) for key in large)
        sizes = [math.prod(map(len, grid.values())) for grid in (small, large)]
        assert sizes[0] < sizes[1]


def test_lightgbm_is_left_out_where_it_is_missing(monkeypatch):
    monkeypatch.setattr(demo_models, "find_spec", lambda name: None)
    assert demo_models.LIGHT not in make_models()
    assert len(make_models()) == 4


class Ours(LogisticRegression):
    """A model that says what AUCClassifier says, in no time."""

    auc_interval_ = AUCInterval(0.9, 0.8, 1.0, 0.05)
    leaderboard_ = BOARD

    def explain(self):
        return SENTENCES


def test_run_compares_test_scores():
    data, lines = load_bundled("glass"), []
    grid = GridSearchCV(SVC(), {"C": [1.0, 50.0]}, scoring="roc_auc", cv=3)
    models = {OURS: Ours(max_iter=5000), "SVC": grid}
    each = run_set(data, models, lines.append)
    assert lines == ["glass: AUCClassifier ...", "glass: SVC ..."]
    ours, other = each.runs
    assert (each.ours, each.rivals) == (ours, (other,))
    expected = models[OURS].decision_function(data.X_test)
    np.testing.assert_array_equal(ours.scores, expected)
    assert ours.test is None
    p = models[OURS].predict_proba(data.X_test)[:, 1]
    np.testing.assert_array_equal(ours.probabilities, p)
    assert other.probabilities is None
    assert other.interval == roc_auc_interval(data.y_test, other.scores)
    assert other.test == roc_auc_test(data.y_test, expected, other.scores)
    assert other.chosen == describe_grid(grid) == f"C={grid.best_params_['C']}"
    assert (each.explanation, each.leaderboard) == (SENTENCES, BOARD)


def test_demo_runs_three_sets_or_one_if_quick(monkeypatch):
    monkeypatch.setattr(demo, "make_models", lambda is_quick: {OURS: is_quick})
    monkeypatch.setattr(demo, "warm_up", lambda: None)
    monkeypatch.setattr(
        demo, "run_set", lambda data, models, tell: (data.name, models[OURS])
    )
    assert list(run_demo(is_quick=True)) == [("glass", True)]
    names = [name for name, is_quick in run_demo() if not is_quick]
    assert names == ["german", "satimage", "vehicle"]


# The page and the picture.


@pytest.fixture(scope="module")
def sets():
    return [
        make_set({OURS: 0.5, "LogisticRegression": 3.0, "SVC (rbf)": 0.4}),
        make_set({OURS: 0.9, "LogisticRegression": 0.9, "SVC (rbf)": 0.9}, name="b"),
    ]


@pytest.fixture(scope="module")
def path(sets, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "new" / "demo.html"
    assert write_demo(sets, path) == path
    return path


def test_page_has_tables_plots_and_words(sets, path):
    page = read(path)
    assert describe_all(sets) in page.text
    for each in sets:
        (section,) = page.find("section", id=each.data.name)
        assert each.data.description in section.text
        assert each.data.source in section.text
        assert describe_outcome(each) in section.text
        table, board = section.find("table")
        rows = [row.find("td") for row in table.find("tr")[1:]]
        assert [row.find("th")[0].text for row in table.find("tr")[1:]] == [
            run.name for run in each.runs
        ]
        for run, cells in zip(each.runs, rows, strict=True):
            assert cells[0].text.startswith(f"{run.interval.auc:.3f} [")
        tops = [cell.text for cell in table.find("td", "best") if "[" in cell.text]
        best = max(run.interval.auc for run in each.runs)
        assert [text[:5] for text in tops] == [f"{best:.3f}"]
        names = [row.find("th")[0].text for row in board.find("tr")[1:]]
        assert names == [each.name for each in BOARD]
        last = [cell.text for cell in board.find("tr")[-1].find("td")]
        assert last == ["linear", "0.600", NONE, "0.2", "", "dropped: far behind"]
        said = [item.text for item in section.find("ol")[0].find("li")]
        assert said == SENTENCES.splitlines()
        # ROC, scores, calibration.
        assert len(section.find("svg")) == 3
    assert len(page.find("section", id="overview")[0].find("svg")) == len(sets)


def test_page_escapes_what_it_is_given(path):
    text = path.read_text(encoding="utf-8")
    assert "<b>model" not in text
    assert "kernel &lt;wide&gt;" in text


def test_page_needs_nothing_else(path):
    page, text = read(path), path.read_text(encoding="utf-8")
    assert page.find("script") == []
    assert [link.attrs["href"] for link in page.find("link")] == ["data:,"]
    assert page.find("img") == []
    assert "@import" not in text
    assert not re.search(r"url\((?!#)", text)
    ids = [node.attrs["id"] for node in page if "id" in node.attrs]
    assert len(ids) == len(set(ids))


def test_page_of_one_quick_set(sets, tmp_path):
    path = write_demo(sets[:1], tmp_path / "q.html", is_quick=True)
    page = read(path)
    assert "AUCClassifier minus this model" in page.text
    assert "quick run" in page.find("span", "flag")[0].text
    assert page.find("dl") == []
    assert "AUC of 3-fold cross-validation" in page.text
    assert "families=['linear', 'kernel']" in page.text


def test_page_is_written_whole_or_not_at_all(sets, tmp_path, monkeypatch):
    path = tmp_path / "demo.html"
    path.write_text("before", encoding="utf-8")

    def fail(each):
        raise RuntimeError("no plot")

    monkeypatch.setattr(demo_page, "draw_scores", fail)
    with pytest.raises(RuntimeError, match="no plot"):
        write_demo(sets, path)
    assert path.read_text(encoding="utf-8") == "before"
    assert list(tmp_path.iterdir()) == [path]


def test_picture_is_an_image_by_day_and_by_night(sets, tmp_path):
    path = write_picture(sets, tmp_path / "demo.svg")
    text = path.read_text(encoding="utf-8")
    root = ElementTree.fromstring(text)
    assert root.tag.endswith("}svg")
    words = " ".join(root.itertext())
    for each in sets:
        assert each.data.name in words
    for run in sets[0].runs:
        assert words.count(run.name) == 1
    assert "1,200 rows, 25% positive" in words
    assert "prefers-color-scheme: dark" in words
    assert "currentColor" in text
