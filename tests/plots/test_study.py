# SPDX-License-Identifier: BSD-3-Clause
from types import SimpleNamespace

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot

from aucmax.plots import StudyDisplay
from aucmax.plots.boxes import PALETTE


@pytest.fixture(autouse=True)
def _no_windows():
    mpl.use("Agg")
    yield
    pyplot.close("all")


def line(x, mean=None):
    x = np.asarray(x, dtype=float)
    mean = np.linspace(0.7, 0.9, len(x)) if mean is None else np.asarray(mean)
    return SimpleNamespace(x=x, mean=mean, std=np.full(len(x), 0.01))


def test_lines_labels_and_limits():
    lines = {"a": line([1e-4, 1e-3]), "b": line([1e-3, 1e-2])}
    display = StudyDisplay.from_lines(lines, label="step size", x_scale="log")
    ax = display.ax_
    assert display.lines_["a"].get_xdata().tolist() == [1e-4, 1e-3]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("step size", "AUC")
    assert ax.get_xlim() == pytest.approx((1e-4, 1e-2))
    assert ax.get_xscale() == "log"
    assert set(display.names_) == {"a", "b"}
    display.figure_.canvas.draw()
    ticks = [text.get_text() for text in ax.get_xticklabels()]
    assert "0.001" in ticks


def test_a_method_keeps_its_color():
    lines = {"a": line([1, 2]), "c": line([1, 2])}
    display = StudyDisplay.from_lines(lines, label="x", methods=["a", "b", "c"])
    for name, place in {"a": 0, "c": 2}.items():
        drawn = [display.lines_[name], display.names_[name]]
        assert [text.get_color() for text in drawn] == [PALETTE[place]] * 2
        (band,) = display.bands_[name].get_facecolor()
        assert mpl.colors.to_hex(band) == PALETTE[place].lower()
        assert band[3] == pytest.approx(0.13)
    with pytest.raises(ValueError, match="lines has 'c', which is not in methods"):
        StudyDisplay(lines, "x", ["a"])


@pytest.mark.parametrize(
    ("x", "ticks"),
    [([1e-6, 1e-5], {"0.000001", "0.00001"}), ([1e6, 1e7], {"1,000,000"})],
)
def test_ticks_have_no_exponents(x, ticks):
    display = StudyDisplay.from_lines({"a": line(x)}, label="x", x_scale="log")
    display.figure_.canvas.draw()
    shown = {text.get_text() for text in display.ax_.get_xticklabels()}
    assert ticks <= shown
    assert not [text for text in shown if "e" in text]


def test_zero_has_no_logarithm():
    display = StudyDisplay.from_lines({"a": line([0, 1])}, label="x", x_scale="log")
    assert display.ax_.get_xscale() == "linear"


@pytest.mark.parametrize(("scale", "limits"), [("log", (2, 8)), ("linear", (3, 5))])
def test_one_point(scale, limits):
    display = StudyDisplay.from_lines({"a": line([4])}, label="x", x_scale=scale)
    assert display.ax_.get_xlim() == pytest.approx(limits)
    assert display.lines_["a"].get_marker() == "o"


def test_long_lines_have_no_markers():
    display = StudyDisplay.from_lines({"a": line(range(100))}, label="x")
    assert display.lines_["a"].get_marker() == "None"


def test_long_names_are_above():
    lines = {"a": line([1, 2]), "a name of many letters": line([1, 2])}
    display = StudyDisplay.from_lines(lines, label="x")
    assert display.names_ == {}
    texts = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert texts == list(lines)
    display.figure_.canvas.draw()
    assert display.ax_.get_legend().get_window_extent().y0 >= display.ax_.bbox.y1
    short = StudyDisplay({"a": line([1, 2])}, "x").figure_size()
    assert display.figure_size()[1] > short[1]


def test_nothing_to_plot():
    with pytest.raises(ValueError, match="no curve to plot"):
        StudyDisplay.from_lines({}, label="x")
