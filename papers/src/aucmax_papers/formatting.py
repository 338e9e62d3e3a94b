# SPDX-License-Identifier: BSD-3-Clause
"""How the figures of a comparison are written, in Markdown and in HTML alike."""

import shlex

import numpy as np

from aucmax_papers.cells import Cell, Comparison, Ours
from aucmax_papers.compare import ALLOWANCE
from aucmax_papers.protocol import Paper, Table

MISSING = "\N{EN DASH}"
TIMES = "\N{MULTIPLICATION SIGN}"
PLUS_MINUS = "\N{PLUS-MINUS SIGN}"
METRICS = {
    "auc": "AUC",
    "train_s": "seconds to train",
    "learn_s": "seconds to learn",
    "time_s": "seconds to train and score",
    "basis_functions": "basis functions",
}
# What the variant beside the headline is called.
OTHER_NAMES = {"published": "untuned", "default": "as published"}
REDUCED = "reduced protocol (--fast)"
# Of another version of the source or of the protocol than the present one.
OLD = "\N{DAGGER}"
# Smaller ones are not told apart.
SMALLEST_P = 1e-4


def show_value(value: float | None, metric: str, table: Table) -> str:
    """Return a figure as the paper would print it.

    Examples
    --------
    >>> from aucmax_papers.protocol import Table
    >>> from aucmax_papers.formatting import show_value
    >>> table = Table("2", "", ("diabetes",), ("OPAUC",), percent=True, digits=2)
    >>> show_value(0.83094, "auc", table), show_value(12.345, "train_s", table)
    ('83.09', '12.3')
    """
    if value is None:
        return MISSING
    if metric == "auc":
        return f"{value * _unit(table):.{table.digits}f}"
    if metric == "basis_functions":
        return f"{value:.0f}"
    return show_number(value)


def show_number(value: float, digits: int = 3) -> str:
    """Return a number with so many digits that count, and never with an exponent.

    Examples
    --------
    >>> from aucmax_papers.formatting import show_number
    >>> show_number(0.0000512), show_number(999.7), show_number(123456.7)
    ('0.0000512', '1000', '123457')
    """
    if abs(value) >= 10**digits:
        return f"{value:.0f}"
    return np.format_float_positional(
        value, precision=digits, unique=False, fractional=False, trim="-"
    )


def show_p(p_value: float) -> str:
    """Return the p-value of a test.

    Examples
    --------
    >>> from aucmax_papers.formatting import show_p
    >>> show_p(0.0496), show_p(3e-12)
    ('0.0496', '<0.0001')
    """
    return f"<{SMALLEST_P}" if p_value < SMALLEST_P else f"{p_value:.4f}"


def show_spread(value: float, std: float | None, metric: str, table: Table) -> str:
    """Return a figure with its standard deviation, if there is one."""
    text = show_value(value, metric, table)
    if std is None or metric == "basis_functions":
        return text
    return f"{text} {PLUS_MINUS} {show_value(std, metric, table)}"


def show_difference(cell: Cell, table: Table) -> str:
    """Return ours less the paper's; of seconds and sizes, ours in terms of it."""
    value = sort_difference(cell)
    if value is None:
        return MISSING
    if cell.metric != "auc":
        return f"{TIMES}{show_number(value, 2)}"
    text = f"{value * _unit(table):+.{table.digits}f}"
    return text if float(text) else text[1:]


def sort_difference(cell: Cell) -> float | None:
    """Return the number that :func:`show_difference` shows."""
    return cell.difference if cell.metric == "auc" else cell.ratio


def show_printed(cell: Cell, table: Table) -> str:
    """Return what the paper printed."""
    if cell.printed is None:
        return MISSING
    return show_spread(cell.printed.value, cell.printed.std, cell.metric, table)


def show_ours(ours: Ours | None, metric: str, table: Table) -> str:
    """Return what we reached."""
    if ours is None:
        return MISSING
    return show_spread(ours.value, ours.std, metric, table)


def show_range(cell: Cell, table: Table) -> str:
    """Return the least, the median and the most over random halves of the classes."""
    if cell.main is None or not cell.is_partitioned:
        return ""
    parts = (show_value(v, cell.metric, table) for v in cell.main.spread)
    return f" {MISSING} ".join(parts)


def show_runs(cell: Cell) -> str:
    """Return how many runs there are, and of how many if some are missing."""
    return (
        f"{cell.n_runs} of {cell.n_expected}" if cell.is_partial else str(cell.n_runs)
    )


def show_part(cell: Cell) -> str:
    """Return the same in short, and nothing if no run is missing."""
    return f"{cell.n_runs}/{cell.n_expected}" if cell.is_partial else ""


def show_main(cell: Cell, table: Table) -> str:
    """Return our figure alone, or why there is none."""
    if cell.verdict == "failed":
        return "failed"
    return show_value(cell.main.value if cell.main else None, cell.metric, table)


def other_name(comparison: Comparison) -> str:
    """Return what the column of the other variant is called."""
    names = {
        OTHER_NAMES[comparison.paper.methods[m].headline]
        for m in comparison.table.methods
    }
    return " or ".join(sorted(names, reverse=True))


def describe_counts(comparison: Comparison) -> str:
    """Return how the table compares with the paper; nothing if it has no AUC."""
    if "auc" not in comparison.table.metrics:
        return ""
    counts, proposed = comparison.counts, comparison.proposed_counts
    words = "No cell can be compared with the paper"
    if counts.n_comparable:
        words = (
            f"{counts.n_within} of {counts.n_comparable} comparable cells are not "
            "below the paper"
        )
    if proposed.n_comparable:
        words += (
            f"; of the methods the papers propose, {proposed.n_within} of "
            f"{proposed.n_comparable}"
        )
    verdicts = [cell.verdict for cell in comparison.cells.values()]
    if n := verdicts.count("incomplete"):
        words += f"; {n} {'is' if n == 1 else 'are'} incomplete and not counted"
    return f"{words}."


def describe_allowance(table: Table) -> str:
    """Return from where on a cell is below.

    Examples
    --------
    >>> from aucmax_papers.protocol import Table
    >>> from aucmax_papers.formatting import describe_allowance
    >>> describe_allowance(Table("2", "", ("diabetes",), ("OPAUC",), percent=True))
    "Below is by more than the paper's standard deviation, and 0.5 at least."
    """
    least = show_number(ALLOWANCE * _unit(table))
    return (
        f"Below is by more than the paper's standard deviation, and {least} at least."
    )


def describe_age(comparison: Comparison) -> str:
    """Return how many figures are of an earlier version; empty if none is."""
    n = comparison.n_stale
    if not n:
        return ""
    return (
        f"{n} {'cell is' if n == 1 else 'cells are'} of another version of the method "
        f"or of the protocol than the present one ({OLD})."
    )


def command_for(paper: Paper, *, table: str = "", figure: str = "") -> str:
    """Return the command that makes these figures.

    Examples
    --------
    >>> from aucmax_papers.protocol import load_paper
    >>> from aucmax_papers.formatting import command_for
    >>> command_for(load_paper("gao2013"), table="2")
    'aucmax bench run gao2013 --table 2'
    """
    words = ["aucmax", "bench", "run", paper.key]
    words += ["--table", table] if table else []
    words += ["--figure", figure] if figure else []
    words += ["--fast"] if paper.is_fast else []
    return shlex.join(words)


def _unit(table: Table) -> float:
    return 100.0 if table.percent else 1.0
