# SPDX-License-Identifier: BSD-3-Clause
import sys

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot
from sklearn.naive_bayes import GaussianNB

from aucmax.metrics import StreamRecord, evaluate_stream
from aucmax.plots import StreamDisplay


@pytest.fixture(autouse=True)
def _no_windows():
    mpl.use("Agg")
    yield
    pyplot.close("all")


def records(*aucs):
    return [StreamRecord(100 * k, 10 * k, auc, auc) for k, auc in enumerate(aucs, 1)]


def test_the_line_is_the_auc_over_the_rows():
    display = StreamDisplay.from_records(records(0.7, 0.8, 0.9))
    assert display.line_.get_xdata().tolist() == [100, 200, 300]
    assert display.line_.get_ydata().tolist() == [0.7, 0.8, 0.9]
    assert display.line_.get_marker() == "None"
    assert display.ax_.get_xlabel() == "Rows seen"
    assert display.ax_.get_ylabel() == "Prequential AUC"
    assert display.ax_.get_legend() is None
    assert display.figure_ is display.ax_.figure
    assert display.ax_.get_ylim() == pytest.approx((0.69, 0.91))
    assert display.ax_.get_xlim() == pytest.approx((0, 306))


def test_numbers_of_rows_can_be_read():
    display = StreamDisplay(n_rows=[1000, 2_000_000], auc=[0.7, 0.8]).plot()
    display.figure_.canvas.draw()
    ticks = [tick.get_text() for tick in display.ax_.get_xticklabels()]
    assert "1,000,000" in ticks


def test_noise_does_not_fill_the_axes():
    display = StreamDisplay(n_rows=[10, 20], auc=[0.999, 1.0]).plot()
    low, high = display.ax_.get_ylim()
    assert low == pytest.approx(0.9745)
    assert 1.0 < high < 1.005


def test_many_names_are_above_the_axes():
    ax = None
    for k in range(5):
        ax = StreamDisplay.from_records(records(0.7, 0.8), ax=ax, label=f"{k}").ax_
    ax.figure.canvas.draw()
    assert ax.get_legend().get_window_extent().y0 >= ax.get_window_extent().y1


def test_two_models_share_axes_and_chance():
    first = StreamDisplay.from_records(records(0.7, 0.8), label="first")
    second = StreamDisplay.from_records(records(0.6, 1.0), label="second", ax=first.ax_)
    assert second.ax_ is first.ax_
    assert second.figure_ is first.figure_
    assert pyplot.get_fignums() == [1]
    assert len(first.ax_.lines) == 3
    chance = first.ax_.lines[0]
    assert set(chance.get_ydata()) == {0.5}
    assert first.line_.get_color() != second.line_.get_color()
    names = [text.get_text() for text in first.ax_.get_legend().get_texts()]
    assert names == ["first", "second"]
    low, high = first.ax_.get_ylim()
    assert low < 0.6 < 1.0 < high


def test_gaps_and_lone_points():
    nan = float("nan")
    display = StreamDisplay.from_records(records(nan, 0.7, nan, 0.8, 0.9, nan, 0.6))
    np.testing.assert_array_equal(
        display.line_.get_ydata(), [nan, 0.7, nan, 0.8, 0.9, nan, 0.6]
    )
    # No line goes through them, so they get a mark.
    assert display.line_.get_markevery() == [1, 6]
    assert display.line_.get_marker() == "o"
    display.figure_.canvas.draw()


def test_all_undefined():
    display = StreamDisplay.from_records(records(float("nan")), label="none")
    display.figure_.canvas.draw()
    low, high = display.ax_.get_ylim()
    assert low < 0.5 < high


def test_on_axes_of_ones_own_with_options():
    figure, (left, right) = pyplot.subplots(1, 2)
    display = StreamDisplay(n_rows=[10, 20], auc=[0.5, 0.6], label="mine")
    assert display.plot(right, color="black", label="other", marker="x") is display
    assert display.ax_ is right
    assert display.figure_ is figure
    assert not left.lines
    assert display.line_.get_color() == "black"
    assert display.line_.get_label() == "other"
    assert display.line_.get_marker() == "x"


def test_of_a_running_stream(rng):
    X = rng.normal(size=(400, 2))
    y = (X[:, 0] > 0).astype(int)
    batches = [(X[k : k + 100], y[k : k + 100]) for k in range(0, 400, 100)]
    display = StreamDisplay.from_records(evaluate_stream(GaussianNB(), batches))
    assert display.n_rows.tolist() == [100, 200, 300, 400]
    assert np.isnan(display.auc[0])
    assert display.auc[-1] > 0.95


def test_nothing_to_plot():
    with pytest.raises(ValueError, match="no record to plot"):
        StreamDisplay.from_records([])
    with pytest.raises(ValueError, match="one AUC for each"):
        StreamDisplay(n_rows=[1, 2], auc=[0.5])


def test_without_matplotlib(monkeypatch):
    display = StreamDisplay(n_rows=[1], auc=[0.5])
    for name in [name for name in sys.modules if name.startswith("matplotlib")]:
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError, match=r'pip install "aucmax\[plot\]"'):
        display.plot()
