# SPDX-License-Identifier: BSD-3-Clause
from dataclasses import replace

import numpy as np
import pytest
from fake_papers import VERSIONS, fake_paper, make_points

from aucmax_papers.study import collect_lines

PAPER = fake_paper()


def test_means_over_runs():
    rows = make_points(PAPER, "1", "small", "Best", {10: 0.8, 1: 0.6})
    rows += make_points(PAPER, "1", "small", "Best", {1: 0.7, 10: 0.9}, run=1)
    lines = collect_lines(PAPER, rows, "1")
    assert list(lines) == ["small"]
    line = lines["small"]["Best"]
    assert line.x.tolist() == [1, 10]
    assert line.mean == pytest.approx([0.65, 0.85])
    assert line.std == pytest.approx([0.05, 0.05])
    assert (line.n_runs, line.versions) == (2, (VERSIONS,))
    assert line.is_current


def test_axis_of_seconds():
    rows = make_points(PAPER, "2", "small", "Best", {10: 0.8, 20: 0.9})
    line = collect_lines(PAPER, rows, "2")["small"]["Best"]
    assert line.x.tolist() == [1.0, 2.0]
    assert line.varied.tolist() == [10, 20]


def test_axis_of_sizes():
    figure = replace(PAPER.figures["2"], x="size")
    paper = replace(PAPER, figures={"2": figure})
    rows = make_points(paper, "2", "small", "Best", {10: 0.8}, size=40)
    rows += make_points(paper, "2", "small", "Best", {10: 0.7}, size=50, run=1)
    rows += make_points(paper, "2", "small", "Best", {20: 0.9}, size=7)
    line = collect_lines(paper, rows, "2")["small"]["Best"]
    assert line.x.tolist() == [7, 45]
    assert line.varied.tolist() == [20, 10]
    assert line.mean == pytest.approx([0.9, 0.75])


def test_the_least_number_of_runs():
    rows = make_points(PAPER, "1", "small", "Best", {1: 0.6, 10: 0.8})
    rows += make_points(PAPER, "1", "small", "Best", {10: 0.9}, run=1)
    assert collect_lines(PAPER, rows, "1")["small"]["Best"].n_runs == 1


def test_diverged_runs_count():
    rows = make_points(PAPER, "1", "small", "Best", {1: 0.9, 10: 0.8})
    rows += make_points(
        PAPER, "1", "small", "Best", {1: 0.5, 10: 0.5}, run=1, error="it grew"
    )
    line = collect_lines(PAPER, rows, "1")["small"]["Best"]
    assert line.mean == pytest.approx([0.7, 0.65])
    assert line.n_runs == 2


def tuned(points, chosen, **rest):
    """Points whose parameters are what varied, and one that was tuned."""
    return [
        row
        for x, auc in points.items()
        for row in make_points(
            PAPER,
            "1",
            "small",
            "Best",
            {x: auc},
            params=f'{{"lambda": {chosen}, "rank": {x}}}',
            **rest,
        )
    ]


def test_points_of_two_tunings_are_not_mixed():
    old = tuned({1: 0.1, 10: 0.2}, chosen=9)
    new = tuned({1: 0.7, 10: 0.8, 100: 0.9}, chosen=1)
    line = collect_lines(PAPER, old + new, "1")["small"]["Best"]
    assert line.mean.tolist() == [0.7, 0.8, 0.9]
    # If there are as many, the later in the order of the keys.
    line = collect_lines(PAPER, new[:2] + old, "1")["small"]["Best"]
    assert line.mean.tolist() == [0.1, 0.2]


def test_order_is_that_of_the_file():
    rows = make_points(PAPER, "1", "odd", "Plain | B", {1: 0.5})
    rows += make_points(PAPER, "1", "odd", "Best", {1: 0.5})
    rows += make_points(PAPER, "1", "small", "Best", {1: 0.5})
    lines = collect_lines(PAPER, rows, "1")
    assert list(lines) == ["small", "odd"]
    assert list(lines["odd"]) == ["Best", "Plain | B"]


def test_what_does_not_belong():
    rows = make_points(PAPER, "1", "small", "Best", {1: 0.5})
    assert collect_lines(PAPER, rows, "2") == {}
    assert collect_lines(fake_paper(fast=True), rows, "1") == {}


def test_first_rows_of_one_class_have_no_point():
    rows = make_points(PAPER, "1", "small", "Best", {1: np.nan, 10: 0.8})
    rows += make_points(PAPER, "1", "small", "Best", {1: 0.9, 10: 0.8}, run=1)
    assert collect_lines(PAPER, rows, "1")["small"]["Best"].x.tolist() == [10]


def test_failed_runs_are_left_out():
    rows = make_points(PAPER, "1", "small", "Best", {1: 0.9})
    rows += make_points(PAPER, "1", "small", "Best", {1: np.nan}, run=1, error="no")
    line = collect_lines(PAPER, rows, "1")["small"]["Best"]
    assert (line.mean.tolist(), line.n_runs) == ([0.9], 1)
    assert collect_lines(PAPER, rows[1:], "1") == {}


def test_one_version():
    rows = make_points(PAPER, "1", "small", "Best", {1: 0.9})
    rows += make_points(
        PAPER, "1", "small", "Best", {1: 0.1, 10: 0.1}, results_version=0
    )
    line = collect_lines(PAPER, rows, "1")["small"]["Best"]
    assert line.mean.tolist() == [0.9]
    line = collect_lines(PAPER, rows[1:], "1")["small"]["Best"]
    assert not line.is_current


def test_unknown_figure():
    with pytest.raises(ValueError, match=r"no figure '7'\. Choose of: 1, 2"):
        collect_lines(PAPER, [], "7")
