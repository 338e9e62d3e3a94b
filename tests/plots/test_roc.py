# SPDX-License-Identifier: BSD-3-Clause
import io
import sys

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVR

from aucmax.metrics import (
    roc_auc,
    roc_auc_interval,
    roc_auc_test,
    roc_band,
    roc_curve,
)
from aucmax.plots import RocDisplay, RocModel, draw_svg


@pytest.fixture(autouse=True)
def _no_windows():
    mpl.use("Agg")
    yield
    pyplot.close("all")


@pytest.fixture
def problem(rng):
    y = np.arange(200) % 4 == 0
    good = np.round(rng.normal(size=200) + 1.2 * y, 1)
    return y, good, good + rng.normal(size=200)


def words(display):
    """All texts of the table under the axes."""
    texts = display.table_.findobj(mpl.text.Text)
    return [text.get_text() for text in texts if text.get_text().strip()]


def entries(display):
    return [text.get_text() for text in display.ax_.get_legend().get_texts()]


def test_curve_interval_and_band(problem):
    y, scores, _ = problem
    display = RocDisplay.from_predictions(y, scores, name="good")
    curve, interval = roc_curve(y, scores), roc_auc_interval(y, scores)
    assert display.line_.get_xdata().tolist() == curve.fpr.tolist()
    assert display.line_.get_ydata().tolist() == curve.tpr.tolist()
    assert display.lines_ == {"good": display.line_}
    band = roc_band(y, scores)
    corners = display.bands_["good"].get_paths()[0].vertices
    for edge in (band.low, band.high):
        for k in (100, 400):
            assert np.isclose(corners, [band.fpr[k], edge[k]]).all(axis=1).any()
    auc, low, high = interval[:3]
    assert entries(display) == [
        f"good  {auc:.3f} ({low:.3f} to {high:.3f})",
        "95% band, pointwise",
    ]
    legend = display.ax_.get_legend()
    assert legend.get_title().get_text() == "AUC (95% interval, DeLong)"
    assert display.ax_.get_xlabel() == "False positive rate"
    assert display.ax_.get_ylabel() == "True positive rate"
    assert display.figure_ is display.ax_.figure
    assert display.table_ is None


def test_level_and_kind_reach_the_band(problem):
    y, scores, _ = problem
    display = RocDisplay.from_predictions(y, scores, level=0.8, band="joint")
    band = roc_band(y, scores, level=0.8, kind="joint")
    assert display.models[""].band.high.tolist() == band.high.tolist()
    assert display.models[""].interval == roc_auc_interval(y, scores, level=0.8)
    assert entries(display)[1] == "80% band, joint"
    assert "80%" in display.ax_.get_legend().get_title().get_text()
    # Without a name the entry is the number.
    assert entries(display)[0].startswith(f"{roc_auc(y, scores):.3f} (")


def test_two_models_have_one_line_of_words(problem):
    y, good, noisy = problem
    display = RocDisplay.from_predictions(y, {"noisy": noisy, "good": good})
    test = roc_auc_test(y, noisy, good)
    assert display.tests["noisy", "good"] == test
    (line,) = words(display)
    assert line == (
        f"noisy \u2212 good: AUC \u2212{-test.difference:.3f}\n"
        f"p = {test.p_value:.3f} (paired DeLong test)"
    )
    assert (
        display.lines_["good"].get_ydata().tolist() == roc_curve(y, good).tpr.tolist()
    )
    assert list(display.bands_) == ["noisy", "good"]
    assert len(entries(display)) == 3
    shade = display.ax_.get_legend().legend_handles[2].get_facecolor()[:3]
    assert shade == tuple(display.bands_["noisy"].get_facecolor()[0][:3])


def test_many_models_have_a_table_and_no_bands(problem, rng):
    y, good, _ = problem
    scores = {f"m{k}": good + k * rng.normal(size=200) for k in range(6)}
    scores["m5"] = rng.normal(size=200)
    display = RocDisplay.from_predictions(y, scores)
    assert display.bands_ == {}
    shown = words(display)
    assert shown[0] == "p of equal AUC (DeLong)"
    assert shown[1:7] == [f"{k + 1}  m{k}" for k in range(6)]
    cells = [shown[7 + sum(6 - j for j in range(k)) :][: 6 - k] for k in range(5)]
    for k, (head, *column) in enumerate(cells):
        assert head == f"{k + 1}"
        for value, other in zip(column, range(k + 1, 6), strict=True):
            p = roc_auc_test(y, scores[f"m{k}"], scores[f"m{other}"]).p_value
            assert value == ("<0.001" if p < 0.001 else f"{p:.3f}")
    assert len({line.get_color() for line in display.lines_.values()}) == 6


def inside(artist, figure):
    box, whole = artist.get_window_extent(), figure.bbox
    return (
        box.x0 >= whole.x0 - 1
        and box.x1 <= whole.x1 + 1
        and box.y0 >= whole.y0 - 1
        and box.y1 <= whole.y1 + 1
    )


@pytest.mark.parametrize("n_models", [1, 2, 6])
@pytest.mark.parametrize("name", ["m", "a name of some length "])
def test_texts_are_whole_and_apart(name, n_models, problem, rng):
    y, good, _ = problem
    scores = {
        f"{name}{k}": good + 2 * k * rng.normal(size=200) for k in range(n_models)
    }
    display = RocDisplay.from_predictions(y, scores)
    display.figure_.canvas.draw()
    legend = display.ax_.get_legend()
    assert inside(legend, display.figure_)
    if n_models > 1:
        assert inside(display.table_, display.figure_)
        label = display.ax_.xaxis.label.get_window_extent()
        assert display.table_.get_window_extent().y1 <= label.y0
    # No curve runs through the legend.
    box = legend.get_window_extent()
    for line in display.lines_.values():
        points = display.ax_.transData.transform(line.get_xydata())
        covered = (points > [box.x0, box.y0]) & (points < [box.x1, box.y1])
        assert not covered.all(axis=1).any()


def test_curve_below_the_diagonal_puts_the_legend_above(problem):
    y, good, _ = problem
    display = RocDisplay.from_predictions(y, -good)
    display.figure_.canvas.draw()
    legend = display.ax_.get_legend().get_window_extent()
    assert legend.y0 >= display.ax_.get_window_extent().y1
    assert inside(display.ax_.get_legend(), display.figure_)


def test_weights_give_curve_and_auc_only(problem, rng):
    y, good, noisy = problem
    weight = rng.integers(0, 3, 200)
    scores = {"good": good, "noisy": noisy}
    display = RocDisplay.from_predictions(y, scores, sample_weight=weight)
    repeated = roc_curve(y.repeat(weight), good.repeat(weight))
    np.testing.assert_allclose(display.line_.get_ydata(), repeated.tpr, atol=1e-12)
    assert display.bands_ == display.tests == {}
    assert display.table_ is None
    auc = roc_auc(y, good, sample_weight=weight)
    assert entries(display)[0] == f"good  {auc:.3f}"
    assert display.ax_.get_legend().get_title().get_text() == "AUC"


def test_displays_share_axes(problem):
    y, good, noisy = problem
    first = RocDisplay.from_predictions(y, good, name="good")
    second = RocDisplay.from_predictions(y, noisy, name="noisy", ax=first.ax_)
    assert second.ax_ is first.ax_
    assert len(first.ax_.lines) == 3  # with one line of chance
    assert first.line_.get_color() != second.line_.get_color()
    names = [entry.partition(" ")[0] for entry in entries(second)]
    assert names == ["good", "noisy", "95%"]
    assert pyplot.get_fignums() == [1]


def test_a_second_table_replaces_the_first(problem):
    y, good, noisy = problem
    first = RocDisplay.from_predictions(y, {"a": good, "b": noisy})
    second = RocDisplay.from_predictions(y, {"c": -good, "d": noisy}, ax=first.ax_)
    assert first.table_ not in first.ax_.artists
    assert second.table_ in first.ax_.artists
    assert len(entries(second)) == 5


def test_of_estimators(rng):
    X = rng.normal(size=(300, 2))
    y = np.where(X[:, 0] + rng.normal(size=300) > 0, "yes", "no")
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)
    display = RocDisplay.from_estimator(model, X, y)
    assert list(display.lines_) == ["LogisticRegression"]
    auc = roc_auc(y, model.decision_function(X))
    assert display.models["LogisticRegression"].auc == auc
    bayes = GaussianNB().fit(X, y)
    both = RocDisplay.from_estimator({"a": model, "b": bayes}, X, y, band="none")
    assert both.models["b"].auc == roc_auc(y, bayes.predict_proba(X)[:, 1])
    assert both.bands_ == {}
    assert list(RocDisplay.from_estimator(bayes, X, y, name="B").lines_) == ["B"]


def test_small_intervals_have_four_digits(rng):
    y = np.arange(200_000) % 2
    display = RocDisplay.from_predictions(y, rng.normal(size=200_000) + 3 * y)
    auc = display.models[""].auc
    assert entries(display)[0].startswith(f"{auc:.4f} (")
    # And few points, which are of the curve.
    assert len(display.line_.get_xdata()) <= 4001
    assert len(display.models[""].curve.fpr) > 10_000
    # No width at all says nothing.
    assert entries(RocDisplay.from_predictions(y, y))[0] == "1.000 (1.000 to 1.000)"


def test_thin_curve_is_the_same_picture(rng):
    y = np.arange(40_000) % 2
    scores = rng.normal(size=40_000) + y
    display = RocDisplay.from_predictions(y, scores, band="none")
    thin = picture(display)
    display.line_.set_data(*roc_curve(y, scores)[:2])
    assert len(display.line_.get_xdata()) > 10_000
    whole = picture(display)
    # Shades at the edge of the line, from the joints of tiny steps; no more.
    assert count_other(thin, whole) < 100
    display.line_.set_ydata(display.line_.get_ydata() * 0.995)
    assert count_other(thin, picture(display)) > 500


def count_other(one, other):
    """Pixels that differ by more than a third of black and white."""
    return np.sum(np.abs(one - other).max(axis=2) > 0.35)


def picture(display):
    file = io.BytesIO()
    display.figure_.savefig(file, format="png", dpi=100)
    file.seek(0)
    return pyplot.imread(file)


def test_same_picture_every_time_also_as_svg(problem):
    y, good, noisy = problem
    scores = {"good": good, "noisy": noisy, "third": -noisy}
    first, second = (picture(RocDisplay.from_predictions(y, scores)) for _ in range(2))
    assert np.array_equal(first, second)
    display = RocDisplay.from_predictions(y, scores)
    svgs = [
        draw_svg(display.plot, size=(4, 5), name="roc", title="ROC curves")
        for _ in range(2)
    ]
    assert svgs[0] == svgs[1]
    assert "third" in svgs[0]


@pytest.mark.parametrize("case", ["tied", "separated", "two positives", "one each"])
def test_worst_cases_draw(case, rng):
    y = np.zeros(50, dtype=int)
    y[:2] = 1
    scores = {
        "tied": np.zeros(50),
        "separated": y,
        "two positives": rng.normal(size=50),
        "one each": np.array([0.1, 0.2]),
    }[case]
    y = y if case != "one each" else np.array([0, 1])
    for band in ("pointwise", "joint"):
        display = RocDisplay.from_predictions(y, scores, band=band)
        display.figure_.canvas.draw()
        band = display.models[""].band
        assert np.all((band.low >= 0) & (band.high <= 1) & (band.low <= band.high))


@pytest.mark.parametrize(
    ("y", "scores", "options", "message"),
    [
        ([1, 1], [0.1, 0.2], {}, "needs both classes"),
        ([0, 1], [0.1, np.nan], {}, "NaN"),
        ([0, 1], {}, {}, "no model to plot"),
        ([0, 1], [0.1, 0.2], {"band": "wide"}, "band='wide' is not known"),
        ([0, 1], [0.1, 0.2], {"level": 95}, "level must be between 0 and 1, got 95"),
        ([0, 1], {"a": [0.1, 0.2]}, {"name": "b"}, "name='b' is for one model"),
        ([0, 1], [[0.9, 0.1], [0.2, 0.8]], {}, "column of the positive class"),
    ],
)
def test_bad_input_is_refused(y, scores, options, message):
    with pytest.raises(ValueError, match=message):
        RocDisplay.from_predictions(y, scores, **options)
    assert pyplot.get_fignums() == []


def test_bad_models_are_refused(rng):
    X, y = rng.normal(size=(30, 2)), np.arange(30) % 3
    with pytest.raises(ValueError, match="Pass a model of two classes"):
        RocDisplay.from_estimator(SGDClassifier().fit(X, y), X, y > 0)
    with pytest.raises(ValueError, match="Pass a model of two classes"):
        RocDisplay.from_estimator(GaussianNB().fit(X, y), X, y > 0)
    with pytest.raises(TypeError, match="LinearSVR has neither decision_function"):
        RocDisplay.from_estimator(LinearSVR().fit(X, y), X, y > 0)
    model = RocModel(roc_curve([0, 1], [0, 1]), 1.0)
    test = roc_auc_test([0, 1], [0, 1], [0, 1])
    with pytest.raises(ValueError, match=r"no comparison of \('a', 'c'\)"):
        RocDisplay(dict.fromkeys("abc", model), {("a", "b"): test})
    with pytest.raises(ValueError, match="no model to plot"):
        RocDisplay({})


def test_without_matplotlib(monkeypatch):
    display = RocDisplay({"a": RocModel(roc_curve([0, 1], [0, 1]), 1.0)})
    for name in [name for name in sys.modules if name.startswith("matplotlib")]:
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError, match=r'pip install "aucmax\[plot\]"'):
        display.plot()
