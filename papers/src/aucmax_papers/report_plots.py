# SPDX-License-Identifier: BSD-3-Clause
"""The plots of the report: boxes over runs, ranks over sets, lines of the figures."""

from collections.abc import Mapping
from functools import partial
from typing import NamedTuple

from aucmax.plots import BoxDisplay, RankDisplay, StudyDisplay, draw_svg
from aucmax_papers.cells import Comparison, Ours
from aucmax_papers.protocol import Figure, Paper
from aucmax_papers.significance import Ranks
from aucmax_papers.study import Line

# Inches; a panel is as wide as a phone.
PANEL_WIDTH = 3.7
BOX_HEIGHT = 0.27
BOX_MARGIN = 0.62


class Plot(NamedTuple):
    """A plot with its title."""

    title: str
    svg: str


def draw_boxes(comparison: Comparison) -> list[Plot]:
    """Return boxes of the AUC over the runs of each set that has at least two."""
    plots = []
    paper, table = comparison.paper, comparison.table
    for name in table.sets if "auc" in table.metrics else ():
        values, marks = {}, {}
        for method in table.methods:
            cell = comparison.cells[name, method, "auc"]
            if cell.main is None:
                continue
            values[method] = [value * _unit(comparison) for value in _runs(cell.main)]
            if cell.printed is not None:
                marks[method] = cell.printed.value * _unit(comparison)
        if max((len(runs) for runs in values.values()), default=0) < 2:
            continue
        display = BoxDisplay(values, marks, table.methods)
        title = f"AUC over the runs on {name}"
        svg = draw_svg(
            display.plot,
            size=(PANEL_WIDTH, BOX_MARGIN + BOX_HEIGHT * len(values)),
            name=f"{paper.key}-table-{table.name}-{name}",
            title=title,
        )
        plots.append(Plot(name, svg))
    return plots


def draw_ranks(comparison: Comparison, ranks: Ranks) -> Plot:
    """Return the critical-difference plot."""
    display = RankDisplay(ranks.mean, ranks.critical_difference)
    svg = draw_svg(
        display.plot,
        size=display.figure_size(),
        name=f"{comparison.paper.key}-table-{comparison.table.name}-ranks",
        title=f"Average ranks over {len(ranks.sets)} sets",
    )
    return Plot("Average ranks", svg)


def draw_lines(
    paper: Paper, figure: Figure, lines: Mapping[str, Mapping[str, Line]]
) -> list[Plot]:
    """Return the lines of each set of a figure."""
    plots = []
    for name, its in lines.items():
        display = StudyDisplay(its, label_of(figure), figure.methods)
        svg = draw_svg(
            partial(display.plot, x_scale="log" if figure.log else "linear"),
            size=display.figure_size(),
            name=f"{paper.key}-figure-{figure.name}-{name}",
            title=f"{figure.caption}, {name}",
        )
        plots.append(Plot(name, svg))
    return plots


def label_of(figure: Figure) -> str:
    """Return what the axis of a figure shows."""
    if figure.x == "seconds":
        return figure.label or "seconds to train"
    if figure.x == "size":
        return figure.label or "size of the model"
    return figure.label or ("rows seen" if figure.vary == "online" else figure.vary)


def _runs(ours: Ours) -> list[float]:
    return list(ours.runs.values())


def _unit(comparison: Comparison) -> float:
    return 100.0 if comparison.table.percent else 1.0
