# SPDX-License-Identifier: BSD-3-Clause
"""What the demonstration found, in tables and sentences, also where others win."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from aucmax.demo.run import ModelRun, SetRun

# Of a test.
LEVEL = 0.05
SMALLEST_P = 0.001
HEAD = ("model", "test AUC [95%]", "p-value", "fit s")


def show_p(p_value: float) -> str:
    """Return a p-value as it is printed.

    Examples
    --------
    >>> from aucmax.demo.text import show_p
    >>> show_p(0.0496), show_p(3e-12)
    ('0.050', '<0.001')
    """
    return f"<{SMALLEST_P}" if p_value < SMALLEST_P else f"{p_value:.3f}"


def show_interval(interval: Sequence[float]) -> str:
    """Return an AUC with its interval.

    Examples
    --------
    >>> from aucmax.demo.text import show_interval
    >>> show_interval((0.8, 0.75, 0.851, 0.026))
    '0.800 [0.750, 0.851]'
    """
    auc, low, high = (f"{value:.3f}" for value in interval[:3])
    return f"{auc} [{low}, {high}]"


def describe_rows(each: SetRun) -> str:
    """Return how many rows there are, and how many positives."""
    data = each.data
    parts = (("train on", data.y), ("test on", data.y_test))
    return ", ".join(
        f"{len(y):,} rows to {what} ({int(y.sum()):,} positive, {y.mean():.0%})"
        for what, y in parts
    )


def table_text(each: SetRun) -> str:
    """Return the table of one set, for a terminal.

    Parameters
    ----------
    each : SetRun
        The set with its runs.

    Returns
    -------
    text : str
        Aligned columns.
    """
    rows = [HEAD, *(_cells(run) for run in each.runs)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if column else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    )


def _cells(run: ModelRun) -> tuple[str, ...]:
    p_value = show_p(run.test.p_value) if run.test else ""
    return run.name, show_interval(run.interval), p_value, f"{run.seconds:.1f}"


def sort_rivals(each: SetRun) -> tuple[list[str], list[str], list[str]]:
    """Return the rivals that ours is significantly above, below, and the others."""
    above, below, undecided = [], [], []
    for run in each.rivals:
        if run.test is None or run.test.p_value >= LEVEL:
            undecided.append(run.name)
        elif run.test.difference > 0:
            above.append(run.name)
        else:
            below.append(run.name)
    return above, below, undecided


def describe_outcome(each: SetRun) -> str:
    """Return in sentences how ours compares on one set."""
    best = max(each.runs, key=lambda run: run.interval.auc)
    ours = each.ours
    auc, top = f"{ours.interval.auc:.3f}", f"{best.interval.auc:.3f}"
    if best is ours:
        texts = [f"{ours.name} has the highest AUC, {auc}."]
    elif auc == top:
        texts = [f"{best.name} and {ours.name} have the highest AUC, {auc}."]
    else:
        texts = [f"{best.name} has the highest AUC, {top}; {ours.name} has {auc}."]
    above, below, undecided = sort_rivals(each)
    if above:
        texts.append(f"{ours.name} is significantly above {join(above)}.")
    if below:
        texts.append(f"{ours.name} is significantly below {join(below)}.")
    if len(undecided) == len(each.rivals):
        texts.append(
            f"None of the others can be told from {ours.name} by these test rows."
        )
    elif undecided:
        texts.append(
            f"{join(undecided)} cannot be told from {ours.name} by these test rows."
        )
    return " ".join(texts)


def join(names: Sequence[str]) -> str:
    """Return names in a sentence.

    Examples
    --------
    >>> from aucmax.demo.text import join
    >>> join(["a"]), join(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


def describe_all(sets: Sequence[SetRun]) -> str:
    """Return in sentences what all sets say together."""
    sorted_rivals = [sort_rivals(each) for each in sets]
    above, below, undecided = (
        sum(len(part[i]) for part in sorted_rivals) for i in range(3)
    )
    ours = sets[0].ours.name
    n_top = sum(each.ours.interval.auc >= best_auc(each) for each in sets)
    n_all = above + below + undecided
    means = mean_aucs(sets)
    mean = means.pop(ours)
    best = max(means, key=lambda name: means[name])
    return (
        f"{ours} has the highest AUC on {n_top} of {count(len(sets), 'set')}; its mean "
        f"AUC is {mean:.3f}, that of the best other, {best}, {means[best]:.3f}. "
        f"In {n_all} paired tests it is significantly above in {above}, below in "
        f"{below}, and {undecided} cannot tell (DeLong, at {LEVEL}, not corrected for "
        "the number of tests)."
    )


def count(number: int, word: str) -> str:
    """Return a number of things."""
    return f"{number:,} {word}{'s' * (number != 1)}"


def chance_of_one(n_tests: int) -> float:
    """Return how likely one of several tests is significant though nothing differs.

    Examples
    --------
    >>> from aucmax.demo.text import chance_of_one
    >>> round(chance_of_one(12), 2)
    0.46
    """
    return float(1 - (1 - LEVEL) ** n_tests)


def best_auc(each: SetRun) -> float:
    """Return the highest AUC of a set."""
    return max(run.interval.auc for run in each.runs)


def mean_aucs(sets: Sequence[SetRun]) -> dict[str, float]:
    """Return the mean AUC over the sets by model."""
    return {
        run.name: float(np.mean([each.runs[i].interval.auc for each in sets]))
        for i, run in enumerate(sets[0].runs)
    }


def brier(each: SetRun, run: ModelRun) -> float | None:
    """Return the mean squared error of the probabilities, None if there are none."""
    if run.probabilities is None:
        return None
    return float(np.mean((run.probabilities - each.data.y_test) ** 2))


def to_dict(each: SetRun) -> dict[str, Any]:
    """Return the table of one set, for JSON."""
    return {
        "set": each.data.name,
        "n_train": len(each.data.y),
        "n_test": len(each.data.y_test),
        "models": [
            {
                "model": run.name,
                "auc": run.interval.auc,
                "low": run.interval.low,
                "high": run.interval.high,
                "p_value": run.test.p_value if run.test else None,
                "seconds": run.seconds,
                "brier": brier(each, run),
                "chosen": run.chosen,
            }
            for run in each.runs
        ],
    }
