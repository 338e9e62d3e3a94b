# SPDX-License-Identifier: BSD-3-Clause
from itertools import combinations

import matplotlib as mpl
import numpy as np
import pytest
from color_vision import contrast, distance
from matplotlib import pyplot

from aucmax.plots import BoxDisplay
from aucmax.plots.boxes import PALETTE


@pytest.fixture(autouse=True)
def _no_windows():
    mpl.use("Agg")
    yield
    pyplot.close("all")


VALUES = {"first": [0.1, 0.2, 0.3, 0.4, 0.5], "second": [0.7]}


def test_boxes_are_quartiles():
    display = BoxDisplay.from_values(VALUES, marks={"first": 0.9}, label="score")
    box = display.boxes_["first"]
    assert box.get_x() == pytest.approx(0.2)
    assert box.get_x() + box.get_width() == pytest.approx(0.4)
    assert display.boxes_["second"].get_width() == 0
    ax = display.ax_
    assert [text.get_text() for text in ax.get_yticklabels()] == ["first", "second"]
    assert ax.get_xlabel() == "score"
    assert display.figure_ is ax.figure


def test_whiskers_median_and_runs():
    ax = BoxDisplay.from_values({"only": VALUES["first"]}).ax_
    whisker, median = (group.get_segments()[0] for group in ax.collections)
    assert whisker[:, 0].tolist() == [0.1, 0.5]
    assert median[:, 0] == pytest.approx([0.3, 0.3])
    drawn = ax.lines[0].get_xdata()
    assert np.unique(drawn).tolist() == VALUES["first"]


def test_first_is_on_top_and_marks_are_seen():
    display = BoxDisplay.from_values(VALUES, marks={"first": 0.9})
    low, high = display.ax_.get_ylim()
    assert low > high
    mark = display.marks_["first"]
    assert (mark.get_xdata()[0], mark.get_ydata()[0]) == (0.9, 0)
    left, right = display.ax_.get_xlim()
    assert left < 0.1
    assert right > 0.9


def test_equal_runs_have_a_span():
    left, right = BoxDisplay.from_values({"a": [0.5, 0.5]}).ax_.get_xlim()
    assert right - left == pytest.approx(0.01)


def test_colors_differ_and_many_methods_have_one_each():
    many = {f"m{i}": [0.1 * i, 0.1 * i + 0.05] for i in range(9)}
    boxes = BoxDisplay.from_values(many).boxes_.values()
    assert len({box.get_edgecolor() for box in boxes}) == 9


def test_eight_colors_are_told_apart_by_all_readers():
    assert len(PALETTE) == 8
    assert min(distance(*pair) for pair in combinations(PALETTE, 2)) > 15
    assert min(contrast(color, "#ffffff") for color in PALETTE) > 2.2


def test_a_method_keeps_its_color():
    names = ["first", "missing", "second"]
    display = BoxDisplay.from_values(VALUES, names=names)
    colors = {
        name: mpl.colors.to_hex(box.get_edgecolor()).upper()
        for name, box in display.boxes_.items()
    }
    assert colors == {"first": PALETTE[0], "second": PALETTE[2].upper()}
    # There is no gap where it would be.
    assert display.ax_.get_yticks().tolist() == [0, 1]
    with pytest.raises(ValueError, match="values has 'second', which is not in names"):
        BoxDisplay(VALUES, names=["first"])


def test_axes_may_be_given():
    _, ax = pyplot.subplots()
    assert BoxDisplay.from_values(VALUES, ax=ax).ax_ is ax


@pytest.mark.parametrize(
    ("values", "marks", "message"),
    [
        ({}, {}, "no method to plot"),
        ({"a": []}, {}, "runs of 'a' must be one or more"),
        ({"a": [0.1, np.nan]}, {}, "runs of 'a' must be one or more finite"),
        ({"a": [[0.1]]}, {}, "runs of 'a'"),
        ({"a": [0.1]}, {"b": 0.2}, "marks has 'b'"),
    ],
)
def test_bad_values(values, marks, message):
    with pytest.raises(ValueError, match=message):
        BoxDisplay(values, marks)
