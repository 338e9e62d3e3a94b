# SPDX-License-Identifier: BSD-3-Clause
import itertools
import sys
from types import SimpleNamespace

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot

from aucmax.plots.curve import CurveDisplay, _space_out


@pytest.fixture(autouse=True)
def _no_windows():
    mpl.use("Agg")
    yield
    pyplot.close("all")


def curve(*means, std=0.01):
    n_rows = 10 * 3 ** np.arange(len(means))
    return SimpleNamespace(
        n_rows=n_rows, mean=np.array(means), std=np.full(len(means), std)
    )


CURVES = {"low": curve(0.6, 0.7, 0.75), "high": curve(0.7, 0.9, 0.99, std=0.03)}


def test_lines_are_means_and_bands_are_spreads():
    display = CurveDisplay.from_curves(CURVES)
    for name, drawn in CURVES.items():
        line, band = display.lines_[name], display.bands_[name]
        assert line.get_xdata().tolist() == [10, 30, 90]
        assert line.get_ydata().tolist() == drawn.mean.tolist()
        corners = band.get_paths()[0].vertices
        assert np.isclose(corners, [30, drawn.mean[1] - drawn.std[1]]).all(1).any()
        assert np.isclose(corners, [30, drawn.mean[1] + drawn.std[1]]).all(1).any()
        # No AUC is above one.
        assert corners[:, 1].max() <= 1.0
    ax = display.ax_
    assert ax.get_xscale() == "log"
    assert ax.get_xlim() == pytest.approx((10, 90))
    low, high = ax.get_ylim()
    assert 0.5 < low < 0.59
    assert 1.0 < high < 1.05
    assert ax.get_xlabel() == "Rows seen, t"
    assert ax.get_ylabel() == "AUC over rows 1 to t"
    assert display.figure_ is ax.figure
    assert display.lines_["low"].get_color() != display.lines_["high"].get_color()


def test_names_at_the_ends():
    display = CurveDisplay.from_curves(CURVES)
    assert list(display.names_) == ["low", "high"]
    for name, text in display.names_.items():
        assert text.get_text() == name
        assert text.get_color() == display.lines_[name].get_color()
    assert display.names_["low"].xy == pytest.approx((1.0, 0.75))
    assert display.names_["high"].xy[1] == pytest.approx(0.99, abs=0.02)
    assert display.ax_.get_legend() is None


def test_names_do_not_overlap():
    curves = {f"model {i}": curve(0.6, 0.8 + 1e-4 * (i % 3)) for i in range(9)}
    display = CurveDisplay.from_curves(curves)
    display.figure_.canvas.draw()
    boxes = [text.get_window_extent() for text in display.names_.values()]
    for one, two in itertools.combinations(boxes, 2):
        assert one.y1 <= two.y0 or two.y1 <= one.y0
    frame = display.ax_.get_window_extent()
    assert all(frame.y0 <= box.y0 and box.y1 <= frame.y1 for box in boxes)
    # Of equal ends the first is above.
    assert display.names_["model 0"].xy[1] > display.names_["model 3"].xy[1]
    assert len({line.get_color() for line in display.lines_.values()}) == 9


def test_places_are_the_nearest_that_are_apart():
    gap, room = 0.1, (-10.0, 10.0)
    apart = np.array([0.1, 0.5, 0.9])
    np.testing.assert_allclose(_space_out(apart, gap, *room), apart)
    together = _space_out(np.array([0.5, 0.5, 0.5]), gap, *room)
    np.testing.assert_allclose(together, [0.4, 0.5, 0.6])
    chained = _space_out(np.array([0.0, 0.05, 0.12]), gap, *room)
    np.testing.assert_allclose(np.diff(chained), 0.1)
    assert chained.mean() == pytest.approx(0.17 / 3)
    at_the_edge = _space_out(np.array([0.98, 1.0]), gap, 0.0, 1.0)
    np.testing.assert_allclose(at_the_edge, [0.85, 0.95])
    below = _space_out(np.array([-1.0, 0.5]), gap, 0.0, 1.0)
    np.testing.assert_allclose(below, [0.05, 0.5])


def test_legend_or_no_names():
    display = CurveDisplay.from_curves(CURVES, names="legend", band=False)
    names = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert names == ["low", "high"]
    assert display.names_ == {}
    assert display.bands_ == {}
    bare = CurveDisplay(CURVES).plot(names="none")
    assert bare.names_ == {}
    assert bare.ax_.get_legend() is None


@pytest.mark.parametrize(
    ("last", "numbers"),
    [(900, {"10", "20", "500"}), (20_000, {"10", "30", "10,000"}), (10**7, {"1,000"})],
)
def test_numbers_of_rows_can_be_read(last, numbers):
    drawn = SimpleNamespace(n_rows=[10, last], mean=[0.5, 0.6], std=[0.1, 0.1])
    display = CurveDisplay.from_curves({"one": drawn})
    display.figure_.canvas.draw()
    ticks = [tick.get_text() for tick in display.ax_.get_xticklabels()]
    assert numbers <= set(ticks)
    assert not any(tick.get_text() for tick in display.ax_.get_xticklabels(minor=True))


def test_linear_on_axes_of_ones_own():
    figure, (left, right) = pyplot.subplots(1, 2)
    display = CurveDisplay(CURVES)
    assert display.plot(right, x_scale="linear") is display
    assert display.ax_ is right
    assert display.figure_ is figure
    assert right.get_xscale() == "linear"
    assert not left.lines


def test_gaps_and_nothing_known():
    nan = float("nan")
    display = CurveDisplay.from_curves(
        {"late": curve(nan, 0.6, 0.7), "never": curve(nan, nan, nan, std=nan)}
    )
    display.figure_.canvas.draw()
    assert list(display.names_) == ["late"]
    none = CurveDisplay.from_curves({"never": curve(nan, std=nan)})
    none.figure_.canvas.draw()
    assert none.ax_.get_ylim() == (0.0, 1.0)


def test_noise_and_wide_bands_do_not_fill_the_axes():
    flat = CurveDisplay.from_curves({"flat": curve(0.8, 0.8001, std=1e-5)})
    low, high = flat.ax_.get_ylim()
    assert high - low == pytest.approx(0.05)
    wide = CurveDisplay.from_curves({"wide": curve(0.8, 0.9, std=0.5)})
    assert wide.ax_.get_ylim()[0] > 0.65


def test_bad_input():
    with pytest.raises(ValueError, match="no curve to plot"):
        CurveDisplay({})
    short = SimpleNamespace(n_rows=[1, 2], mean=[0.5, 0.6], std=[0.1])
    with pytest.raises(ValueError, match="'short' must have one"):
        CurveDisplay({"short": short})
    with pytest.raises(ValueError, match="x_scale='square'"):
        CurveDisplay(CURVES).plot(x_scale="square")
    with pytest.raises(ValueError, match="names='above'"):
        CurveDisplay(CURVES).plot(names="above")


def test_without_matplotlib(monkeypatch):
    display = CurveDisplay(CURVES)
    for name in [name for name in sys.modules if name.startswith("matplotlib")]:
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError, match=r'pip install "aucmax\[plot\]"'):
        display.plot()
