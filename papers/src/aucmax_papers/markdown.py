# SPDX-License-Identifier: BSD-3-Clause
"""Tables and figures of a paper as Markdown."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from aucmax_papers.cells import Cell, Comparison, Ours
from aucmax_papers.formatting import (
    METRICS,
    MISSING,
    OLD,
    PLUS_MINUS,
    REDUCED,
    command_for,
    describe_age,
    describe_allowance,
    describe_counts,
    other_name,
    show_difference,
    show_main,
    show_number,
    show_ours,
    show_part,
    show_printed,
    show_range,
    show_runs,
    show_value,
)
from aucmax_papers.protocol import Figure, Paper, Table
from aucmax_papers.significance import count_outcomes
from aucmax_papers.study import Line

# Points of a curve that are written; all of them are in the report.
MOST_POINTS = 12


def table_markdown(comparison: Comparison) -> str:
    """Return a table as Markdown: in the paper's shape, and cell by cell.

    Parameters
    ----------
    comparison : Comparison
        From :func:`compare`.

    Returns
    -------
    text : str
        With title, footnotes, versions and the command that makes it.

    Examples
    --------
    >>> from aucmax_papers.compare import compare
    >>> from aucmax_papers.markdown import table_markdown
    >>> from aucmax_papers.protocol import load_paper
    >>> text = table_markdown(compare(load_paper("gao2013"), [], "2"))
    >>> text.splitlines()[0]
    '### gao2013, table 2: Test AUC on benchmark data'
    """
    paper, table = comparison.paper, comparison.table
    title = f"### {paper.key}, table {table.name}: {_escape(table.caption)}"
    command = f"    {command_for(paper, table=table.name)}"
    if not comparison.has_results:
        return _join([title, "Not run yet. This makes it:", command])
    parts = [title, _about(comparison)]
    for metric in table.metrics:
        parts += [_grid_title(comparison, metric), _grid(comparison, metric)]
    parts += ["Cell by cell:", _cells(comparison), _footnotes(comparison), command]
    return _join(parts)


def figure_markdown(
    paper: Paper, figure: str, lines: Mapping[str, Mapping[str, Line]]
) -> str:
    """Return a figure as Markdown: a table of the mean AUC for each set.

    Parameters
    ----------
    paper : Paper
        From :func:`load_paper`.
    figure : str
        Its number in the paper.
    lines : dict of str to dict of str to Line
        From :func:`collect_lines`.

    Returns
    -------
    text : str
        With title, versions and the command that makes it. Of long curves it has every
        so many points.
    """
    entry = paper.figures[figure]
    title = f"### {paper.key}, figure {figure}: {_escape(entry.caption)}"
    command = f"    {command_for(paper, figure=figure)}"
    if not lines:
        return _join([title, "Not run yet. This makes it:", command])
    parts = [title, _sentence(entry.note), _fast_line(paper)]
    for name, its in lines.items():
        runs = sorted({line.n_runs for line in its.values()})
        over = f"{runs[0]}" if len(runs) == 1 else f"{runs[0]} to {runs[-1]}"
        word = "run" if runs == [1] else "runs"
        parts.append(f"{_escape(name)}, mean AUC over {over} {word}:")
        parts.append(_points(entry, its))
    every = [line for its in lines.values() for line in its.values()]
    if not all(line.is_current for line in every):
        parts.append("Some are of another version than the present one.")
    parts.append("; ".join(sorted({text for line in every for text in line.versions})))
    return _join([*parts, command])


def _about(comparison: Comparison) -> str:
    is_compared = comparison.counts.n_comparable > 0
    parts = [
        _fast_line(comparison.paper),
        describe_counts(comparison),
        describe_allowance(comparison.table) if is_compared else "",
        "Such cells are **bold**." if is_compared else "",
        _sentence(comparison.table.note),
    ]
    return " ".join(part for part in parts if part)


def _grid_title(comparison: Comparison, metric: str) -> str:
    return f"{METRICS.get(metric, metric)}: ours (the paper's)"


def _grid(comparison: Comparison, metric: str) -> str:
    table = comparison.table
    head = ["set", *(_named(comparison, "", m) for m in table.methods)]
    body = []
    for name in table.sets:
        cells = [comparison.cells[name, m, metric] for m in table.methods]
        shown = (_in_grid(cell, comparison) for cell in cells)
        body.append([_named(comparison, name, ""), *shown])
    records = count_outcomes(comparison) if metric == "auc" else {}
    if records:
        marks = (str(records[m]) if m in records else "" for m in table.methods)
        body.append([f"{_escape(table.reference)}: win/tie/loss", *marks])
    return _table(head, body, "l" + "r" * len(table.methods))


def _in_grid(cell: Cell, comparison: Comparison) -> str:
    table, part = comparison.table, show_part(cell)
    shown = _bold(show_main(cell, table), cell) + (OLD if cell.is_stale else "")
    shown += f" [{part}]" if part else ""
    if cell.printed is not None:
        shown += f" ({show_value(cell.printed.value, cell.metric, table)})"
    return shown + _marks(_own_notes(comparison, cell))


def _cells(comparison: Comparison) -> str:
    table = comparison.table
    cells = comparison.cells.values()
    has_ranges = any(cell.is_partitioned and cell.main for cell in cells)
    has_metrics = len(table.metrics) > 1
    has_other = any(cell.other for cell in cells)
    dash = f" {MISSING} "
    columns = [
        ("set", "l", True),
        ("method", "l", True),
        ("metric", "l", has_metrics),
        ("paper", "r", True),
        ("ours", "r", True),
        ("difference", "r", True),
        ("verdict", "l", True),
        (dash.join(("least", "median", "most")), "r", has_ranges),
        (other_name(comparison), "r", has_other),
        ("runs", "r", True),
    ]
    body = []
    for cell in cells:
        fields = [
            _named(comparison, cell.set, ""),
            _named(comparison, "", cell.method),
            METRICS.get(cell.metric, cell.metric),
            show_printed(cell, table),
            _told(cell.main, cell, table),
            _bold(show_difference(cell, table), cell),
            _bold(cell.verdict, cell) + _marks(_own_notes(comparison, cell)),
            show_range(cell, table),
            _told(cell.other, cell, table),
            show_runs(cell),
        ]
        body.append(
            [f for f, (_, _, kept) in zip(fields, columns, strict=True) if kept]
        )
    kept = [(name, side) for name, side, is_kept in columns if is_kept]
    return _table([n for n, _ in kept], body, "".join(side for _, side in kept))


def _told(ours: Ours | None, cell: Cell, table: Table) -> str:
    is_old = ours is not None and not ours.is_current
    return show_ours(ours, cell.metric, table) + (OLD if is_old else "")


def _own_notes(comparison: Comparison, cell: Cell) -> list[str]:
    """Return the footnotes that neither the set nor the method has already."""
    shared = (*comparison.set_notes[cell.set], *comparison.method_notes[cell.method])
    return [key for key in cell.notes if key not in shared]


def _footnotes(comparison: Comparison) -> str:
    lines = [f"{_sup(key)} {_escape(text)}" for key, text in comparison.notes.items()]
    if comparison.left_out:
        names = ", ".join(comparison.left_out)
        lines.append(f"In the paper's table, and not here: {_escape(names)}.")
    cells = comparison.cells.values()
    if any(cell.verdict == "not comparable" for cell in cells):
        lines.append(
            "Not comparable: the paper's problem is not known in full, it prints no "
            "figure, or the metric depends on the machine."
        )
    if count_outcomes(comparison):
        lines.append(
            f"Win/tie/loss of {_escape(comparison.table.reference)} by paired t-tests "
            "at 95% over the runs of a set. Folds share training rows, so that these "
            "tests are optimistic."
        )
    if part := next(filter(None, map(show_part, cells)), ""):
        lines.append(f"[{part}]: runs so far, of how many; such cells do not count.")
    if any(cell.verdict == "copied" for cell in cells):
        lines.append("Copied: the paper has the figure from elsewhere; not counted.")
    lines.append(f"{PLUS_MINUS} is the standard deviation over runs.")
    lines.append(describe_age(comparison))
    lines.append("; ".join(comparison.versions))
    return "  \n".join(line for line in lines if line)


def _points(entry: Figure, lines: Mapping[str, Line]) -> str:
    every = np.unique(np.concatenate([line.varied for line in lines.values()]))
    if len(every) > MOST_POINTS:
        steps = np.linspace(0, len(every) - 1, MOST_POINTS).round().astype(int)
        every = every[steps]
    body = [
        [
            show_number(value, 6),
            *(_point(line, value, entry.x) for line in lines.values()),
        ]
        for value in every
    ]
    label = entry.vary if entry.x != "value" else entry.label or entry.vary
    head = [_escape(label), *(_escape(m) for m in lines)]
    return _table(head, body, "r" * len(head))


def _point(line: Line, value: float, axis: str) -> str:
    at = np.flatnonzero(line.varied == value)
    if not len(at):
        return MISSING
    auc = f"{line.mean[at[0]]:.4f}"
    return auc if axis == "value" else f"{auc} at {show_number(line.x[at[0]])} {axis}"


def _table(head: Sequence[str], body: Iterable[Sequence[str]], sides: str) -> str:
    rule = ["---:" if side == "r" else "---" for side in sides]
    lines = [head, rule, *body]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _named(comparison: Comparison, name: str, method: str) -> str:
    """Return the name of a set or a method with its footnotes."""
    notes = comparison.set_notes[name] if name else comparison.method_notes[method]
    return _escape(name or method) + _marks(notes)


def _marks(keys: Sequence[str]) -> str:
    return f" {_sup(', '.join(keys))}" if keys else ""


def _sup(text: str) -> str:
    return f"<sup>{text}</sup>"


def _bold(text: str, cell: Cell) -> str:
    return f"**{text}**" if cell.verdict == "below" else text


def _fast_line(paper: Paper) -> str:
    return f"This is the {REDUCED}." if paper.is_fast else ""


def _sentence(text: str) -> str:
    return _escape(text.strip())


def _escape(text: str) -> str:
    """Keep names from meaning anything in Markdown."""
    for mark in "\\|*_<`":
        text = text.replace(mark, f"\\{mark}")
    return " ".join(text.split())


def _join(parts: Iterable[str]) -> str:
    return "\n\n".join(part for part in parts if part) + "\n"
