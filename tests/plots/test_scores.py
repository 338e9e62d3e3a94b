# SPDX-License-Identifier: BSD-3-Clause
import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot
from sklearn.naive_bayes import GaussianNB

from aucmax.plots import ScoreDisplay


@pytest.fixture(autouse=True)
def _no_windows():
    mpl.use("Agg")
    yield
    pyplot.close("all")


def entries(display):
    return [text.get_text() for text in display.ax_.get_legend().get_texts()]


def slow_shares(scores, weight, edges):
    """Weight in each bin, one row at a time; the last bin has its right edge."""
    shares = np.zeros(len(edges) - 1)
    for score, w in zip(scores, weight, strict=True):
        for k in range(len(shares)):
            is_last = k == len(shares) - 1
            if edges[k] <= score < edges[k + 1] or (is_last and score == edges[-1]):
                shares[k] += w / np.sum(weight)
    return shares


@pytest.mark.parametrize("bins", [7, [-1.0, 0.0, 0.3, 2.0]])
@pytest.mark.parametrize("weighted", [False, True])
def test_shares_of_each_class(weighted, bins, rng):
    y = np.arange(90) % 9 == 0
    scores = np.round(rng.normal(size=90) + y, 1)
    weight = rng.integers(0, 3, 90).astype(float) if weighted else np.ones(90)
    weight[:2] = 1
    options = {"sample_weight": weight} if weighted else {}
    display = ScoreDisplay.from_predictions(y, scores, bins=bins, **options)
    used = weight > 0
    edges = display.edges
    if isinstance(bins, int):
        low, high = scores[used].min(), scores[used].max()
        np.testing.assert_allclose(edges, np.linspace(low, high, 8))
    for stairs, of in ((display.stairs_neg_, ~y), (display.stairs_pos_, y)):
        rows = used & of
        shares = slow_shares(scores[rows], weight[rows], edges)
        drawn = stairs.get_data()
        np.testing.assert_allclose(np.nan_to_num(drawn.values), shares, atol=1e-12)
        np.testing.assert_array_equal(drawn.edges, edges)
        if isinstance(bins, int):
            assert np.nansum(drawn.values) == pytest.approx(1)
        else:
            assert np.nansum(drawn.values) < 1  # of the whole class, not of those drawn


def test_heavy_imbalance_and_counts(rng):
    y = np.zeros(50_002, dtype=int)
    y[:2] = 1
    display = ScoreDisplay.from_predictions(y, rng.normal(size=50_002) + 3 * y)
    assert entries(display) == ["y = 0: 50,000 rows", "y = 1: 2 rows"]
    assert np.nanmax(display.shares_pos) == 0.5
    assert display.stairs_neg_.get_edgecolor() != display.stairs_pos_.get_edgecolor()
    assert display.line_ is None
    assert display.ax_.get_xlabel() == "Score"
    assert display.ax_.get_ylabel() == "Share of the class per bin"
    assert display.figure_ is display.ax_.figure


def test_threshold_and_what_is_above():
    y = ["ham", "ham", "ham", "spam"]
    display = ScoreDisplay.from_predictions(y, [0.1, 0.2, 0.5, 0.9], threshold=0.5)
    assert set(display.line_.get_xdata()) == {0.5}
    assert entries(display) == [
        "y = ham: 3 rows",
        "y = spam: 1 row",
        "threshold 0.5\nabove: 33.3% of y = ham, 100.0% of y = spam",
    ]
    weighted = ScoreDisplay.from_predictions(
        y, [0.1, 0.2, 0.5, 0.9], threshold=0.5, sample_weight=[1, 0, 3, 1]
    )
    assert "75.0% of y = ham" in entries(weighted)[2]


@pytest.mark.parametrize("threshold", [-5.0, 5.0, np.inf])
def test_threshold_away_from_the_scores(threshold):
    display = ScoreDisplay.from_predictions([0, 1], [0.0, 1.0], threshold=threshold)
    display.figure_.canvas.draw()
    low, high = display.ax_.get_xlim()
    assert low < 0 < 1 < high
    assert threshold == np.inf or low < threshold < high


@pytest.mark.parametrize("value", [0.0, -3.0, 1e12])
@pytest.mark.parametrize("bins", [1, 30])
def test_all_tied_is_one_bar_in_the_middle(bins, value):
    display = ScoreDisplay.from_predictions([0, 1, 0], [value] * 3, bins=bins)
    display.figure_.canvas.draw()
    assert np.all(np.diff(display.edges) > 0)
    (bar,) = np.flatnonzero(display.shares_neg)
    assert display.shares_pos[bar] == 1
    middle = (display.edges[bar] + display.edges[bar + 1]) / 2
    assert middle == pytest.approx(value)
    low, high = display.ax_.get_xlim()
    assert low < display.edges[0] < display.edges[-1] < high


def test_no_score_in_the_bins():
    display = ScoreDisplay.from_predictions([0, 1], [0.0, 1.0], bins=[2, 3])
    display.figure_.canvas.draw()
    assert display.shares_neg.tolist() == display.shares_pos.tolist() == [0]


def test_of_an_estimator(rng):
    X = rng.normal(size=(100, 2))
    y = (X[:, 0] > 0).astype(int)
    model = GaussianNB().fit(X, y)
    _, ax = pyplot.subplots()
    display = ScoreDisplay.from_estimator(model, X, y, bins=5, ax=ax)
    assert display.ax_ is ax
    same = ScoreDisplay.from_predictions(y, model.predict_proba(X)[:, 1], bins=5)
    assert display.shares_pos.tolist() == same.shares_pos.tolist()


@pytest.mark.parametrize("size", [(2.6, 2.2), (8.0, 5.0)])
def test_texts_fit_into_small_and_large_figures(size, rng):
    figure, ax = pyplot.subplots(figsize=size, layout="constrained")
    y = np.arange(50) % 2
    ScoreDisplay.from_predictions(y, rng.normal(size=50), threshold=0.25, ax=ax)
    figure.canvas.draw()
    legend = ax.get_legend().get_window_extent()
    assert legend.y0 >= ax.get_window_extent().y1
    assert legend.x1 <= figure.bbox.x1 + 1
    assert legend.y1 <= figure.bbox.y1 + 1


@pytest.mark.parametrize(
    ("y", "scores", "options", "message"),
    [
        ([1, 1], [0.1, 0.2], {}, "ScoreDisplay needs both classes"),
        ([0, 1], [0.1, np.nan], {}, "NaN"),
        ([0, 1], [0.1, np.inf], {}, "infinity"),
        ([0, 1], [0.1, 0.2], {"bins": 0}, "bins must be at least 1, got 0"),
        ([0, 1], [0.1, 0.2], {"bins": [1, 0]}, "increasing edges"),
        ([0, 1], [0.1, 0.2], {"bins": True}, "increasing edges, got True"),
        ([0, 1], [0.1, 0.2], {"threshold": np.nan}, "threshold is NaN"),
        ([0, 1], [0.1, 0.2], {"sample_weight": [1, 0]}, "positive class has no weight"),
    ],
)
def test_bad_input_is_refused(y, scores, options, message):
    with pytest.raises(ValueError, match=message):
        ScoreDisplay.from_predictions(y, scores, **options)
    assert pyplot.get_fignums() == []


def test_shares_must_fit_the_bins():
    with pytest.raises(ValueError, match="There are 2 bins"):
        ScoreDisplay(edges=[0, 1, 2], shares_neg=[0.5, 0.5], shares_pos=[1.0])
