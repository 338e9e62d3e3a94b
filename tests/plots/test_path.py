# SPDX-License-Identifier: BSD-3-Clause
import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot
from sklearn.datasets import make_classification
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from aucmax import RankSVM, RankSVMCV
from aucmax.plots import PathDisplay


@pytest.fixture(autouse=True)
def _no_windows():
    mpl.use("Agg")
    yield
    pyplot.close("all")


ALPHAS = [1.0, 0.1, 0.01]
SCORES = [[0.7, 0.9], [0.8, 0.94], [0.6, 0.8]]


def entries(display):
    return [text.get_text() for text in display.ax_.get_legend().get_texts()]


def test_mean_spread_and_choice():
    display = PathDisplay(alphas=ALPHAS, cv_scores=SCORES, alpha=0.1).plot()
    assert display.line_.get_xdata().tolist() == [0.01, 0.1, 1.0]
    assert display.line_.get_ydata() == pytest.approx([0.7, 0.87, 0.8])
    corners = display.band_.get_paths()[0].vertices
    for corner in ([0.01, 0.6], [0.01, 0.8], [0.1, 0.8], [0.1, 0.94], [1, 0.9]):
        assert np.isclose(corners, corner).all(axis=1).any()
    assert display.chosen_.get_xdata()[0] == 0.1
    assert display.chosen_.get_ydata()[0] == pytest.approx(0.87)
    assert entries(display) == [
        "one standard deviation over the folds",
        "mean of 2 folds",
        "chosen: alpha 0.1, AUC 0.870",
    ]
    ax = display.ax_
    assert ax.get_xscale() == "log"
    assert ax.get_ylabel() == "AUC on left-out folds"
    assert ax.get_xlabel() == "alpha (strength of penalty)"
    low, high = ax.get_ylim()
    assert low < 0.6 < 0.94 < high
    assert display.folds_ == []
    assert display.figure_ is ax.figure


def test_folds():
    display = PathDisplay(alphas=ALPHAS, cv_scores=SCORES, alpha=0.1).plot(folds=True)
    drawn = [line.get_ydata().tolist() for line in display.folds_]
    assert drawn == [[0.6, 0.8, 0.7], [0.8, 0.94, 0.9]]
    assert entries(display)[0] == "each fold"
    assert len(entries(display)) == 4


@pytest.mark.parametrize("in_pipeline", [False, True])
def test_of_a_fitted_model(in_pipeline):
    X, y = make_classification(120, 5, weights=[0.7], flip_y=0.2, random_state=0)
    model = RankSVMCV(alphas=4, cv=3)
    fitted = make_pipeline(StandardScaler(), model) if in_pipeline else model
    _, ax = pyplot.subplots()
    display = PathDisplay.from_estimator(fitted.fit(X, y), ax=ax)
    assert display.ax_ is ax
    assert display.line_.get_xdata().tolist() == model.alphas_[::-1].tolist()
    means = model.cv_scores_.mean(axis=1)
    assert display.line_.get_ydata() == pytest.approx(means[::-1])
    assert display.chosen_.get_xdata()[0] == model.alpha_
    assert display.chosen_.get_ydata()[0] == pytest.approx(means.max())


def test_one_alpha_one_fold_and_auc_of_one():
    display = PathDisplay(alphas=[0.1], cv_scores=[[0.7, 0.8]], alpha=0.1).plot()
    display.figure_.canvas.draw()
    x = display.band_.get_paths()[0].vertices[:, 0]
    assert x.min() < 0.1 < x.max()
    low, high = display.ax_.get_xlim()
    assert low < 0.05
    assert high > 0.2
    display = PathDisplay(alphas=[1, 2], cv_scores=[[1.0], [1.0]], alpha=2).plot()
    display.figure_.canvas.draw()
    assert "mean of 1 fold" in entries(display)
    low, high = display.ax_.get_ylim()
    assert low == pytest.approx(0.99)
    assert 1.0 < high < 1.01
    # A mark on the edge of the axes is whole.
    assert not display.chosen_.get_clip_on()


@pytest.mark.parametrize("size", [(2.6, 2.2), (8.0, 5.0)])
def test_texts_fit_into_small_and_large_figures(size):
    figure, ax = pyplot.subplots(figsize=size, layout="constrained")
    PathDisplay(alphas=ALPHAS, cv_scores=SCORES, alpha=0.1).plot(ax, folds=True)
    figure.canvas.draw()
    legend = ax.get_legend().get_window_extent()
    assert legend.y0 >= ax.get_window_extent().y1
    assert legend.x1 <= figure.bbox.x1 + 1
    assert legend.y1 <= figure.bbox.y1 + 1
    label = ax.xaxis.label.get_window_extent()
    assert label.x1 <= figure.bbox.x1 + 1


@pytest.mark.parametrize(
    ("alphas", "scores", "alpha", "message"),
    [
        ([0.1, 0.2], [[0.5]], 0.1, r"alphas has shape \(2,\) and cv_scores \(1, 1\)"),
        ([0.1], [0.5], 0.1, "one row of cv_scores for each alpha"),
        ([], np.empty((0, 2)), 0.1, "one row of cv_scores for each alpha"),
        ([0.0, 0.1], [[0.5], [0.5]], 0.1, "alphas must be positive"),
        ([0.2, 0.1], [[0.5], [0.5]], 0.3, "alpha=0.3 is not one of alphas"),
    ],
)
def test_bad_values_are_refused(alphas, scores, alpha, message):
    with pytest.raises(ValueError, match=message):
        PathDisplay(alphas=alphas, cv_scores=scores, alpha=alpha)


def test_models_without_a_path_are_refused():
    with pytest.raises(ValueError, match="RankSVM has no alphas_"):
        PathDisplay.from_estimator(RankSVM())
    with pytest.raises(ValueError, match=r"RankSVMCV has no alphas_\. Pass a fitted"):
        PathDisplay.from_estimator(RankSVMCV())
