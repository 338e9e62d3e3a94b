# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pytest

from aucmax.metrics import cost_curve, roc_curve
from aucmax.plots._thin import thin_columns, thin_rising


def distance_to_line(x, y, at):
    """Least of the distances of points to the line through some, up and sideways."""
    up = np.abs(np.interp(x, x[at], y[at]) - y)
    sideways = np.abs(np.interp(y, y[at], x[at]) - x)
    return np.minimum(up, sideways)


@pytest.mark.parametrize("shift", [0.0, 1.0, 4.0])
def test_roc_curve_keeps_its_place(shift, rng):
    y = np.arange(60_000) % 3 == 0
    curve = roc_curve(y, rng.normal(size=60_000) + shift * y)
    drawn = thin_rising(curve.fpr, curve.tpr)
    assert len(drawn) <= 4001
    assert drawn[0] == 0
    assert drawn[-1] == len(curve.fpr) - 1
    assert np.all(np.diff(drawn) > 0)
    assert distance_to_line(curve.fpr, curve.tpr, drawn).max() <= 1 / 2000
    # Coarser would not do.
    coarse = drawn[::8]
    assert distance_to_line(curve.fpr, curve.tpr, coarse).max() > 1 / 2000


def test_extremes_of_each_column_stay(rng):
    y = np.arange(50_000) % 5 == 0
    curve = cost_curve(y, rng.normal(size=50_000) + y, cost_fn=4)
    x, cost = curve.thresholds[:0:-1], curve.cost[:0:-1]
    drawn = thin_columns(x, cost)
    assert len(drawn) <= 4000
    assert np.all(np.diff(drawn) > 0)
    column = np.floor((x - x[0]) * (1000 / (x[-1] - x[0])))
    for k in np.unique(column):
        inside = np.flatnonzero(column == k)
        kept = np.intersect1d(inside, drawn)
        assert kept[0] == inside[0]
        assert kept[-1] == inside[-1]
        assert cost[kept].min() == cost[inside].min()
        assert cost[kept].max() == cost[inside].max()


def test_short_curves_are_whole():
    x = np.linspace(0, 1, 4000)
    assert thin_rising(x, x).tolist() == list(range(4000))
    assert thin_columns(x, x).tolist() == list(range(4000))


def test_gaps_are_kept():
    x = np.linspace(0, 1, 9000)
    y = np.sin(50 * x)
    y[-1] = np.nan
    drawn = thin_columns(x, y)
    assert drawn[-1] == 8999
    assert np.nanmax(y[drawn]) == np.nanmax(y)
