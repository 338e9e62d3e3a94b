# SPDX-License-Identifier: BSD-3-Clause
import math

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot
from sklearn.metrics import fbeta_score, precision_score, recall_score
from sklearn.naive_bayes import GaussianNB

from aucmax.metrics import best_threshold, cost_curve
from aucmax.plots import ThresholdDisplay


@pytest.fixture(autouse=True)
def _no_windows():
    mpl.use("Agg")
    yield
    pyplot.close("all")


@pytest.fixture
def problem(rng):
    y = np.arange(120) % 4 == 0
    return y, np.round(rng.normal(size=120) + 1.5 * y, 1)


def height(line, at):
    """What a line of steps shows at a threshold."""
    x, y = line.get_data()
    assert line.get_drawstyle() == "steps-pre"
    return y[np.searchsorted(x, at, side="left")]


def mark_text(display):
    (text,) = display.ax_.get_legend().get_texts()
    return text.get_text()


def test_steps_show_the_cost_at_any_threshold(problem, rng):
    y, scores = problem
    display = ThresholdDisplay.from_predictions(y, scores, cost_fp=2, cost_fn=5)
    ends = display.ax_.get_xlim()
    assert ends[0] < scores.min() < scores.max() < ends[1]
    for at in [*rng.uniform(*ends, 200), *scores]:
        called = scores >= at
        cost = np.mean(2 * (called & ~y) + 5 * (~called & y))
        assert height(display.line_, at) == pytest.approx(cost)
    assert display.ax_.get_xlabel() == "Threshold of the score"
    assert display.ax_.get_ylabel() == "Expected cost per row"
    assert display.ax_.get_ylim()[0] == 0
    assert display.rates_ax_ is None
    assert display.rates_ == {}
    assert display.figure_ is display.ax_.figure


def test_best_threshold_is_marked_and_described(problem):
    y, scores = problem
    options = {"cost_fn": 4, "prevalence": 0.05}
    display = ThresholdDisplay.from_predictions(y, scores, **options)
    best = best_threshold(y, scores, **options)
    assert display.best_threshold_ == best == display.best_.threshold
    assert display.mark_.get_xdata()[0] == best
    called = scores >= best
    cost = 0.95 * np.mean(called[~y]) + 0.05 * 4 * np.mean(~called[y])
    assert display.mark_.get_ydata()[0] == pytest.approx(cost)
    recall, fpr = np.mean(called[y]), np.mean(called[~y])
    precision = 0.05 * recall / (0.05 * recall + 0.95 * fpr)
    assert mark_text(display) == (
        f"best threshold {best:.4g}, cost {cost:.3g}\n"
        f"sensitivity {recall:.3f}, specificity {1 - fpr:.3f}\n"
        f"precision {precision:.3f}"
    )


def test_rates_are_below(problem, rng):
    y, scores = problem
    show = ("recall", "precision", "f_score", "specificity")
    display = ThresholdDisplay.from_predictions(y, scores, show=show, beta=2)
    assert list(display.rates_) == list(show)
    assert display.rates_ax_ is not display.ax_
    assert display.rates_ax_.get_xlim() == display.ax_.get_xlim()
    for at in [*rng.uniform(scores.min(), scores.max(), 50), scores.max()]:
        called = scores >= at
        shown = {name: height(line, at) for name, line in display.rates_.items()}
        assert shown["recall"] == pytest.approx(recall_score(y, called))
        assert shown["precision"] == pytest.approx(precision_score(y, called))
        assert shown["f_score"] == pytest.approx(fbeta_score(y, called, beta=2))
        assert shown["specificity"] == pytest.approx(np.mean(~called[~y]))
    # No row passes, so no share of them is positive.
    assert math.isnan(height(display.rates_["precision"], scores.max() + 0.01))
    names = [t.get_text() for t in display.rates_ax_.get_legend().get_texts()]
    assert names == ["recall", "precision", "F2", "specificity"]
    assert len({line.get_color() for line in display.rates_.values()}) == 4
    assert display.rates_ax_.get_xlabel() == "Threshold of the score"
    assert display.ax_.get_xlabel() == ""


def test_one_name_alone_may_be_asked_for(problem):
    display = ThresholdDisplay.from_predictions(*problem, show="recall")
    assert list(display.rates_) == ["recall"]


def test_all_or_none():
    y, scores = [0, 1, 0, 1], [0.9, 0.8, 0.2, 0.1]
    never = ThresholdDisplay.from_predictions(y, scores, cost_fp=100)
    assert never.best_threshold_ == math.inf
    assert never.mark_.get_xdata()[0] == never.ax_.get_xlim()[1]
    assert "call no row positive" in mark_text(never)
    assert "precision undefined" in mark_text(never)
    always = ThresholdDisplay.from_predictions(y, scores, cost_fn=100)
    assert always.best_threshold_ == -math.inf
    assert always.mark_.get_xdata()[0] == always.ax_.get_xlim()[0]
    assert "call all rows positive" in mark_text(always)
    for display in (never, always):
        display.figure_.canvas.draw()


def test_weights(problem, rng):
    y, scores = problem
    weight = rng.integers(1, 4, 120)
    weighted = ThresholdDisplay.from_predictions(y, scores, sample_weight=weight)
    repeated = ThresholdDisplay.from_predictions(
        y.repeat(weight), scores.repeat(weight)
    )
    assert weighted.best_ == pytest.approx(repeated.best_)


def test_many_rows_are_thinned(rng):
    y = np.arange(50_000) % 10 == 0
    scores = rng.normal(size=50_000) + y
    display = ThresholdDisplay.from_predictions(y, scores, cost_fn=9, show="precision")
    assert len(display.line_.get_xdata()) <= 4000
    assert len(display.curve.cost) == 50_001
    # The least cost is one of the points drawn.
    assert display.line_.get_ydata().min() == display.best_.cost
    assert display.best_threshold_ == best_threshold(y, scores, cost_fn=9)


def test_on_axes_of_ones_own(problem):
    _, axes = pyplot.subplots(2, 2)
    curve = cost_curve(*problem)
    display = ThresholdDisplay(curve)
    assert display.plot(axes[0, 0]) is display
    assert display.ax_ is axes[0, 0]
    display.plot(axes[:, 1], show=("recall",))
    assert display.ax_ is axes[0, 1]
    assert display.rates_ax_ is axes[1, 1]
    with pytest.raises(ValueError, match="ax holds 1 axes, but 2 are needed"):
        display.plot(axes[0, 0], show=("recall",))
    with pytest.raises(ValueError, match="ax holds 2 axes, but 1 are needed"):
        display.plot(axes[0])


def test_of_an_estimator(rng):
    X = rng.normal(size=(100, 2))
    y = (X[:, 0] + 0.5 * rng.normal(size=100) > 0).astype(int)
    model = GaussianNB().fit(X, y)
    display = ThresholdDisplay.from_estimator(model, X, y, cost_fn=3)
    scores = model.predict_proba(X)[:, 1]
    assert display.best_threshold_ == best_threshold(y, scores, cost_fn=3)


@pytest.mark.parametrize("value", [0.0, 1e12])
def test_all_tied(value):
    display = ThresholdDisplay.from_predictions([0, 0, 1], [value] * 3)
    display.figure_.canvas.draw()
    low, high = display.ax_.get_xlim()
    assert low < value < high
    assert height(display.line_, value) == pytest.approx(2 / 3)
    assert height(display.line_, high) == pytest.approx(1 / 3)


@pytest.mark.parametrize("size", [(2.6, 2.2), (8.0, 5.0)])
def test_texts_fit_into_small_and_large_figures(size, problem):
    figure, ax = pyplot.subplots(figsize=size, layout="constrained")
    ThresholdDisplay.from_predictions(*problem, ax=ax)
    figure.canvas.draw()
    legend = ax.get_legend().get_window_extent()
    assert legend.y0 >= ax.get_window_extent().y1
    assert legend.x1 <= figure.bbox.x1 + 1
    assert legend.y1 <= figure.bbox.y1 + 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"show": ("recal",)}, "show='recal' is not known"),
        ({"cost_fp": -1}, "cost_fp must be from 0 to"),
        ({"prevalence": 2}, "prevalence must be between 0 and 1"),
        ({"show": "f_score", "beta": 0}, "beta must be positive"),
    ],
)
def test_bad_options_are_refused(options, message, problem):
    with pytest.raises(ValueError, match=message):
        ThresholdDisplay.from_predictions(*problem, **options)
    assert pyplot.get_fignums() == []
