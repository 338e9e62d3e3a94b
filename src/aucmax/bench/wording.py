# SPDX-License-Identifier: BSD-3-Clause
"""How the figures of a comparison are written, in Markdown and in HTML alike."""

import shlex

from aucmax.bench.cells import Cell, Comparison, Ours
from aucmax.bench.protocol import Paper, Table

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


def show_value(value: float | None, metric: str, table: Table) -> str:
    """Return a figure as the paper would print it.

    Examples
    --------
    >>> from aucmax.bench.protocol import Table
    >>> from aucmax.bench.wording import show_value
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
    # Three digits, but never an exponent.
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def show_spread(value: float, std: float | None, metric: str, table: Table) -> str:
    """Return a figure with its standard deviation, if there is one."""
    text = show_value(value, metric, table)
    if std is None or metric == "basis_functions":
        return text
    return f"{text} {PLUS_MINUS} {show_value(std, metric, table)}"


def show_difference(cell: Cell, table: Table) -> str:
    """Return ours less the paper's; of seconds and sizes, ours in terms of it."""
    difference = cell.difference
    if difference is None or cell.main is None or cell.printed is None:
        return MISSING
    if cell.metric == "auc":
        return f"{difference * _unit(table):+.{table.digits}f}"
    if cell.printed.value == 0:
        return MISSING
    return f"{TIMES}{cell.main.value / cell.printed.value:.2g}"


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
    if cell.main is None:
        return "0"
    n = len(cell.main.runs)
    return f"{n} of {cell.n_expected}" if n < cell.n_expected else str(n)


def other_name(comparison: Comparison) -> str:
    """Return what the column of the other variant is called."""
    names = {
        OTHER_NAMES[comparison.paper.methods[m].headline]
        for m in comparison.table.methods
    }
    return " or ".join(sorted(names, reverse=True))


def describe_code(comparison: Comparison) -> str:
    """Return which versions of the source the figures are of, and if they mix."""
    if not comparison.codes:
        return ""
    methods = (
        f"{method} {' and '.join(codes)}" for method, codes in comparison.codes.items()
    )
    words = f"Code: {', '.join(methods)}"
    if comparison.n_stale:
        n = comparison.n_stale
        words += (
            f"; {n} {'cell is' if n == 1 else 'cells are'} of another version of the "
            "source or of the protocol than the present one"
        )
    return f"{words}."


def command_for(paper: Paper, *, table: str = "", figure: str = "") -> str:
    """Return the command that makes these figures.

    Examples
    --------
    >>> from aucmax.bench.protocol import load_paper
    >>> from aucmax.bench.wording import command_for
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
