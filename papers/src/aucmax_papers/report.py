# SPDX-License-Identifier: BSD-3-Clause
"""All results in one HTML file that needs nothing else."""

import os
import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from aucmax.plots.page import open_template, read_part, style_sheet, write_page
from aucmax_papers.cells import Cell, Comparison, count_cells
from aucmax_papers.compare import compare
from aucmax_papers.formatting import (
    METRICS,
    OLD,
    command_for,
    describe_age,
    describe_counts,
    other_name,
    show_difference,
    show_main,
    show_ours,
    show_p,
    show_part,
    show_printed,
    show_range,
    show_runs,
    show_value,
    sort_difference,
)
from aucmax_papers.protocol import KEYS, Figure, Paper, load_paper
from aucmax_papers.report_plots import draw_boxes, draw_lines, draw_ranks
from aucmax_papers.rows import Row
from aucmax_papers.significance import Outcome, Record, count_outcomes, rank_methods
from aucmax_papers.study import collect_lines

# Tiles that are left out while they are zero.
RARE = ("Incomplete", "Failed")
# Where the shades of a cell change, as differences of the AUC.
SHADES = (0.0005, 0.005, 0.015, 0.04)
MARKS = {
    "above": "\N{BLACK UP-POINTING TRIANGLE}",
    "below": "\N{BLACK DOWN-POINTING TRIANGLE}",
    "copied": "c",
}
# As in the papers: the reference is better, or worse.
TEST_MARKS = {"win": "\N{BLACK CIRCLE}", "loss": "\N{WHITE CIRCLE}"}


def write_report(
    store_rows: Mapping[str, Sequence[Row]],
    path: str | os.PathLike[str],
    *,
    fast: bool = False,
    papers: Sequence[Paper] | None = None,
) -> Path:
    """Write the report: tables, tests, plots, and the commands that make them.

    The file holds its style, its script and its plots, and asks for nothing else. For
    the same results it is the same, byte by byte.

    Parameters
    ----------
    store_rows : dict of str to sequence of Row
        Results by the key of their paper. Papers without are in the report as well.
    path : path-like
        The file; it is written whole or not at all.
    fast : bool, default=False
        Whether to show the results of the reduced protocol; if ``papers`` are given,
        they say that.
    papers : sequence of Paper, default=None
        Which papers, all in full or all reduced; None is all five.

    Returns
    -------
    path : Path
        The file.

    Notes
    -----
    Whether a method wins is decided by paired t-tests over runs. These are optimistic,
    because folds share training rows: see
    :func:`aucmax_papers.significance.paired_test`.

    Examples
    --------
    Of all results in a folder::

        rows = {key: Store("results", key).rows() for key in KEYS}
        write_report(rows, "report.html")
    """
    if papers is None:
        papers = [load_paper(key, fast=fast) for key in KEYS]
    if unknown := [key for key in store_rows if key not in {p.key for p in papers}]:
        raise ValueError(
            f"There are results of {unknown[0]!r}, which is no paper of this report. "
            f"Pass results of: {', '.join(p.key for p in papers)}."
        )
    if len({paper.is_fast for paper in papers}) > 1:
        reduced = ", ".join(paper.key for paper in papers if paper.is_fast)
        raise ValueError(
            f"Only a part of the papers is reduced: {reduced}. Load them all with "
            "fast=True, or none."
        )
    return write_page(path, _render(papers, store_rows))


def _render(
    papers: Sequence[Paper],
    store_rows: Mapping[str, Sequence[Row]],
) -> str:
    template = open_template("aucmax_papers", "report.html.j2")
    sections = [_paper(paper, store_rows) for paper in papers]
    every = [cell for section in sections for cell in section.pop("cells")]
    text: str = template.render(
        css=style_sheet(),
        js=read_part("aucmax_papers", "report.js"),
        is_fast=any(paper.is_fast for paper in papers),
        papers=sections,
        tiles=_tiles(every),
        shades=SHADES,
        old=OLD,
    )
    return text


def _slug(*words: str) -> str:
    """Return an identifier without blanks."""
    return re.sub(r"[^A-Za-z0-9]+", "-", "-".join(words))


def _paper(paper: Paper, store_rows: Mapping[str, Sequence[Row]]) -> dict[str, Any]:
    rows = store_rows.get(paper.key, ())
    comparisons = [compare(paper, rows, name, store_rows) for name in paper.tables]
    cells = [cell for each in comparisons for cell in each.cells.values()]
    figures = [_figure(paper, figure, rows) for figure in paper.figures.values()]
    texts = {text for each in comparisons for text in each.versions}
    texts |= {text for figure in figures for text in figure.pop("versions")}
    return {
        "paper": paper,
        "link": paper.link if paper.link.startswith(("https://", "http://")) else "",
        "command": command_for(paper),
        "counts": count_cells(cells),
        "proposed": count_cells(cell for cell in cells if cell.is_proposed),
        "n_not_run": len(_choose(cells, "not run")),
        "n_cells": sum(c.metric == "auc" and c.printed is not None for c in cells),
        "tiles": _tiles(cells),
        "tables": [_table(each) for each in comparisons],
        "figures": figures,
        "versions": sorted(texts),
        "cells": cells,
    }


def _tiles(cells: Sequence[Cell]) -> list[dict[str, Any]]:
    """Return the figures that sum up a paper."""
    proposed = [cell for cell in cells if cell.is_proposed]
    tiles = [
        _share("Not below the paper", cells),
        _share("Of proposed methods", proposed),
        _tile("Above the paper", cells, "above"),
        _tile("Below the paper", cells, "below"),
        _tile("Not comparable", cells, "not comparable", "copied"),
        _tile("Incomplete", cells, "incomplete"),
        _tile("Failed", cells, "failed"),
        _tile("Not run", cells, "not run"),
    ]
    # Two that should not be there, and often are not.
    return [t for t in tiles if t["title"] not in RARE or t["value"] != "0"]


def _share(title: str, cells: Sequence[Cell]) -> dict[str, Any]:
    counts = count_cells(cells)
    n, within = counts.n_comparable, counts.n_within
    return {
        "title": title,
        "value": f"{within} of {n}" if n else "0",
        "share": round(100 * within / n, 1) if n else None,
        "n_old": sum(cell.is_stale and cell.is_comparable for cell in cells),
    }


def _tile(title: str, cells: Sequence[Cell], *verdicts: str) -> dict[str, Any]:
    chosen = _choose(cells, *verdicts)
    return {
        "title": title,
        "value": str(len(chosen)),
        "share": None,
        "n_old": sum(cell.is_stale for cell in chosen),
    }


def _choose(cells: Sequence[Cell], *verdicts: str) -> list[Cell]:
    """Return the cells of AUC with one of the verdicts.

    What was not run and the paper never printed is not missing.
    """
    return [
        cell
        for cell in cells
        if cell.metric == "auc"
        and cell.verdict in verdicts
        and (cell.printed is not None or cell.verdict != "not run")
    ]


def _table(comparison: Comparison) -> dict[str, Any]:
    paper, table = comparison.paper, comparison.table
    view: dict[str, Any] = {
        "id": _slug(paper.key, "table", table.name),
        "table": table,
        "command": command_for(paper, table=table.name),
        "has_results": comparison.has_results,
    }
    if not comparison.has_results:
        return view
    records, ranks = count_outcomes(comparison), rank_methods(comparison)
    cells = comparison.cells.values()
    return view | {
        "counts": describe_counts(comparison),
        "grids": [_grid(comparison, metric, records) for metric in table.metrics],
        "records": records,
        "lines": [_line(comparison, cell, records) for cell in cells],
        "other_name": other_name(comparison),
        "has_metrics": len(table.metrics) > 1,
        "has_ranges": any(cell.is_partitioned and cell.main for cell in cells),
        "has_other": any(cell.other for cell in cells),
        "notes": comparison.notes,
        "left_out": comparison.left_out,
        "age": describe_age(comparison),
        "boxes": draw_boxes(comparison),
        "ranks": ranks,
        "rank_p": show_p(ranks.p_value) if ranks else "",
        "rank_plot": draw_ranks(comparison, ranks) if ranks else None,
    }


def _grid(
    comparison: Comparison, metric: str, records: Mapping[str, Record]
) -> dict[str, Any]:
    """Return sets against methods, as the paper has it."""
    table = comparison.table
    return {
        "metric": METRICS.get(metric, metric),
        "methods": [(m, comparison.method_notes[m]) for m in table.methods],
        "rows": [
            {
                "set": name,
                "notes": comparison.set_notes[name],
                "cells": [
                    _line(comparison, comparison.cells[name, m, metric], records)
                    for m in table.methods
                ],
            }
            for name in table.sets
        ],
        "totals": [
            str(records[m]) if m in records else "" for m in table.methods
        ] if metric == "auc" and records else [],
    }  # fmt: skip


def _line(
    comparison: Comparison, cell: Cell, records: Mapping[str, Record]
) -> dict[str, Any]:
    """Return all that is shown of a cell."""
    table = comparison.table
    shared = (*comparison.set_notes[cell.set], *comparison.method_notes[cell.method])
    test = _outcome(cell, records)
    metric = METRICS.get(cell.metric, cell.metric)
    return {
        "cell": cell,
        "metric": metric,
        "value": cell.main.value if cell.main else None,
        "short": show_main(cell, table),
        "part": show_part(cell),
        "short_printed": show_value(cell.printed.value, cell.metric, table)
        if cell.printed
        else "",
        "ours": show_ours(cell.main, cell.metric, table),
        "printed": show_printed(cell, table),
        "difference": show_difference(cell, table),
        "difference_value": sort_difference(cell),
        "range": show_range(cell, table),
        "other": show_ours(cell.other, cell.metric, table),
        "is_other_old": cell.other is not None and not cell.other.is_current,
        "runs": show_runs(cell),
        "shade": shade(cell),
        "mark": MARKS.get(cell.verdict, ""),
        "words": f"{metric} {cell.verdict}{' older version' * cell.is_stale}",
        "test": test,
        "p_value": show_p(test.p_value) if test else "",
        "test_mark": TEST_MARKS.get(test.word, "") if test else "",
        "set_notes": comparison.set_notes[cell.set],
        "method_notes": comparison.method_notes[cell.method],
        "notes": [key for key in cell.notes if key not in shared],
    }


def _outcome(cell: Cell, records: Mapping[str, Record]) -> Outcome | None:
    if cell.metric != "auc" or cell.method not in records:
        return None
    return records[cell.method].outcomes[cell.set]


def shade(cell: Cell) -> str:
    """Return the class of a cell's colour: how far from the paper, and which side."""
    if cell.main is None:
        return "none"
    difference = cell.difference
    if not cell.is_comparable or difference is None:
        return "grey"
    step = bisect_right(SHADES, abs(difference))
    if step == 0:
        return "even"
    return f"{'up' if difference > 0 else 'down'}-{step}"


def _figure(paper: Paper, figure: Figure, rows: Sequence[Row]) -> dict[str, Any]:
    lines = collect_lines(paper, rows, figure.name)
    every = [line for its in lines.values() for line in its.values()]
    return {
        "id": _slug(paper.key, "figure", figure.name),
        "figure": figure,
        "command": command_for(paper, figure=figure.name),
        "plots": draw_lines(paper, figure, lines),
        "n_runs": sorted({line.n_runs for line in every}),
        "is_mixed": not all(line.is_current for line in every),
        "absent": [name for name in figure.sets if name not in lines],
        "versions": {text for line in every for text in line.versions},
    }
