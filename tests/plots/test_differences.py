# SPDX-License-Identifier: BSD-3-Clause
import itertools

import matplotlib as mpl
import pytest
from matplotlib import pyplot

from aucmax.plots import RankDisplay


@pytest.fixture(autouse=True)
def _no_windows():
    mpl.use("Agg")
    yield
    pyplot.close("all")


RANKS = {"c": 3.1, "a": 1.2, "b": 2.0, "d": 3.9}


def test_groups_are_as_large_as_they_can_be():
    assert RankDisplay.from_ranks(RANKS, 1.0).groups_ == [("a", "b"), ("c", "d")]
    assert RankDisplay.from_ranks(RANKS, 1.2).groups_ == [
        ("a", "b"),
        ("b", "c"),
        ("c", "d"),
    ]
    assert RankDisplay.from_ranks(RANKS, 2.0).groups_ == [
        ("a", "b", "c"),
        ("b", "c", "d"),
    ]
    assert RankDisplay.from_ranks(RANKS, 5.0).groups_ == [("a", "b", "c", "d")]
    assert RankDisplay.from_ranks(RANKS, 0.5).groups_ == []


def test_a_difference_as_large_as_the_critical_one_counts():
    assert RankDisplay.from_ranks({"a": 1.0, "b": 2.0}, 1.0).groups_ == []


def test_names_and_bars():
    display = RankDisplay.from_ranks(RANKS, 1.0)
    texts = {name: text.get_text() for name, text in display.names_.items()}
    assert texts == {"a": "a  1.20", "b": "b  2.00", "c": "3.10  c", "d": "3.90  d"}
    ax = display.ax_
    bars = [line for line in ax.lines if line.get_linewidth() > 3]
    assert [line.get_xdata() for line in bars] == [
        pytest.approx([1.16, 2.04]),
        pytest.approx([3.06, 3.94]),
    ]
    assert "critical difference 1.00" in [text.get_text() for text in ax.texts]
    assert display.figure_ is ax.figure


@pytest.mark.parametrize("n", [2, 5, 12])
def test_no_text_is_on_another(n):
    ranks = {f"method {i}": 1 + 0.3 * i for i in range(n)}
    display = RankDisplay.from_ranks(ranks, 1.4)
    display.figure_.canvas.draw()
    boxes = [text.get_window_extent() for text in display.ax_.texts]
    assert not any(a.overlaps(b) for a, b in itertools.combinations(boxes, 2))
    page = display.figure_.bbox
    assert all(page.x0 <= box.x0 and box.x1 <= page.x1 for box in boxes)


def test_one_method_has_no_rank():
    with pytest.raises(ValueError, match="at least two methods"):
        RankDisplay.from_ranks({"a": 1.0}, 1.0)
