# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pytest

from aucmax.solvers._search import MAX_SEARCH, search_line


def along(slope, curvature):
    """Count visits; the curvature is that of the last one."""
    visited = []

    def slope_at(t):
        visited.append(t)
        return slope(t)

    return visited, slope_at, lambda: curvature(visited[-1])


@pytest.mark.parametrize("first", [1e-3, 1.0, 50.0])
def test_finds_where_the_slope_vanishes(first):
    visited, slope_at, curvature = along(lambda t: np.exp(t) - 9, np.exp)
    t = search_line(slope_at, curvature, first=first, enough=1e-8)
    assert t == visited[-1]
    assert t == pytest.approx(np.log(9), abs=1e-8)
    assert len(visited) < 70


def test_flat_stretches_and_overflow_are_bracketed():
    # No curvature before 3, not a number after 1e3.
    def slope(t):
        return np.nan if t > 1e3 else max(-1.0, t - 4.0)

    for first in (1.0, 1e4):
        _, slope_at, curvature = along(slope, lambda t: 1.0 if t > 3 else 0.0)
        t = search_line(slope_at, curvature, first=first, enough=1e-9)
        assert t == pytest.approx(4)


def test_gives_up_in_the_end():
    visited, slope_at, curvature = along(lambda t: -1.0, lambda t: 0.0)
    search_line(slope_at, curvature, first=1.0, enough=0.1)
    assert len(visited) == MAX_SEARCH
