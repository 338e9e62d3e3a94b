# SPDX-License-Identifier: BSD-3-Clause
"""Whether methods differ: t-tests over runs, ranks over sets."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from scipy import stats

from aucmax_papers.cells import Comparison

LEVEL = 0.95
# Means over runs carry the rounding of their sums; ranks must not hang on it.
SAME = 1e-12


class Outcome(NamedTuple):
    """Of a test on one set.

    Attributes
    ----------
    word : str
        "win", "tie" or "loss" of the first method.
    difference : float
        Mean of the first less that of the second.
    p_value : float
        Two-sided.
    n_runs : int
        Runs that both have.
    """

    word: str
    difference: float
    p_value: float
    n_runs: int


class Record(NamedTuple):
    """Wins, ties and losses of the reference against one method.

    Attributes
    ----------
    wins, ties, losses : int
        Numbers of sets.
    outcomes : dict of str to Outcome or None
        By set; None where nothing can be tested.
    """

    wins: int
    ties: int
    losses: int
    outcomes: Mapping[str, Outcome | None]

    def __str__(self) -> str:
        if not any(self.outcomes.values()):
            return "\N{EN DASH}"
        return f"{self.wins}/{self.ties}/{self.losses}"


class Ranks(NamedTuple):
    """Average ranks of methods over sets.

    Attributes
    ----------
    mean : dict of str to float
        By method, best first; 1 is best, ties share the mean of their ranks.
    sets : tuple of str
        Those that all these methods have.
    statistic, p_value : float
        Of Friedman's test that all methods are equal.
    critical_difference : float
        Ranks less than this apart do not differ, by Nemenyi's test.
    left_out : dict of str to str
        Methods with results that have no rank here, and why.
    """

    mean: Mapping[str, float]
    sets: tuple[str, ...]
    statistic: float
    p_value: float
    critical_difference: float
    left_out: Mapping[str, str]


def paired_test(
    first: Mapping[Any, float], second: Mapping[Any, float], level: float = LEVEL
) -> Outcome | None:
    """Return the outcome of a paired t-test over the runs that both methods have.

    Parameters
    ----------
    first, second : dict of run to float
        What each method reached.
    level : float, default=0.95
        Of significance.

    Returns
    -------
    outcome : Outcome or None
        None with fewer than two common runs. If all differences are equal, their sign
        decides.

    Notes
    -----
    The papers test so, and that is why it is here. It is optimistic: the folds of one
    repeat share most of their training rows, so that runs are not independent and the
    spread of the mean is larger than the test believes. A win is a hint, no proof.

    Examples
    --------
    >>> from aucmax_papers.significance import paired_test
    >>> paired_test({0: 0.9, 1: 0.8, 2: 0.7}, {0: 0.8, 1: 0.71, 2: 0.58}).word
    'win'
    """
    common = [run for run in first if run in second]
    if len(common) < 2:
        return None
    ours = np.array([first[run] for run in common])
    theirs = np.array([second[run] for run in common])
    gaps = ours - theirs
    mean = float(gaps.mean())
    if np.ptp(gaps) <= SAME:
        p_value = 1.0 if abs(mean) <= SAME else 0.0
    else:
        p_value = float(stats.ttest_rel(ours, theirs).pvalue)
    if p_value > 1 - level:
        return Outcome("tie", mean, p_value, len(common))
    return Outcome("win" if mean > 0 else "loss", mean, p_value, len(common))


def count_outcomes(comparison: Comparison, level: float = LEVEL) -> dict[str, Record]:
    """Return wins, ties and losses of the table's reference against each other method.

    Runs are paired by partition, number and size of the test; columns that were copied
    from another paper have other splits and are not tested.

    Parameters
    ----------
    comparison : Comparison
        From :func:`compare`.
    level : float, default=0.95
        Of significance; see :func:`paired_test` for how far to trust it.

    Returns
    -------
    records : dict of str to Record
        By method, in the order of the table; empty if it has no reference, or if
        nothing can be tested.
    """
    table = comparison.table
    if not table.reference or "auc" not in table.metrics:
        return {}
    records = {}
    for method in table.methods:
        if method == table.reference:
            continue
        outcomes = {
            name: _test_cells(comparison, name, method, level) for name in table.sets
        }
        words = [outcome.word for outcome in outcomes.values() if outcome]
        wins, ties, losses = (words.count(word) for word in ("win", "tie", "loss"))
        records[method] = Record(wins, ties, losses, outcomes)
    is_tested = any(any(record.outcomes.values()) for record in records.values())
    return records if is_tested else {}


def _test_cells(
    comparison: Comparison, name: str, method: str, level: float
) -> Outcome | None:
    cells = [
        comparison.cells[name, each, "auc"]
        for each in (comparison.table.reference, method)
    ]
    if any(cell.main is None or cell.source for cell in cells):
        return None
    first, second = (cell.main.runs for cell in cells if cell.main is not None)
    return paired_test(first, second, level)


def rank_methods(comparison: Comparison, level: float = LEVEL) -> Ranks | None:
    """Return average ranks by AUC, with the tests of Friedman and Nemenyi.

    Left out are columns that were copied from another paper, which has other splits;
    then methods with results on fewer than half of the sets that have any; then sets
    that not all others have.

    Parameters
    ----------
    comparison : Comparison
        From :func:`compare`.
    level : float, default=0.95
        Of Nemenyi's test.

    Returns
    -------
    ranks : Ranks or None
        None with fewer than three methods or two sets.

    References
    ----------
    Demšar, "Statistical comparisons of classifiers over multiple data sets", JMLR 2006.
    """
    table = comparison.table
    if "auc" not in table.metrics:
        return None
    values, left_out = _rankable(comparison)
    methods = [m for m in table.methods if m in {name for _, name in values}]
    sets = [s for s in table.sets if all((s, m) in values for m in methods)]
    if len(methods) < 3 or len(sets) < 2:
        return None
    aucs = np.array([[values[s, m] for m in methods] for s in sets])
    ranks = stats.rankdata(-np.round(aucs / SAME) * SAME, axis=1)
    if np.ptp(ranks) == 0:  # all equal on every set, which Friedman's test divides by
        statistic, p_value = 0.0, 1.0
    else:
        statistic, p_value = map(float, stats.friedmanchisquare(*ranks.T))
    mean = dict(zip(methods, ranks.mean(axis=0).tolist(), strict=True))
    return Ranks(
        {m: mean[m] for m in sorted(methods, key=lambda m: mean[m])},
        tuple(sets),
        statistic,
        p_value,
        critical_difference(len(methods), len(sets), level),
        left_out,
    )


def _rankable(
    comparison: Comparison,
) -> tuple[dict[tuple[str, str], float], dict[str, str]]:
    """Return mean AUCs by set and method, and which methods are not among them."""
    paper, table = comparison.paper, comparison.table
    found: dict[str, dict[str, float]] = {}
    for m in table.methods:
        cells = [comparison.cells[s, m, "auc"] for s in table.sets]
        found[m] = {cell.set: cell.main.value for cell in cells if cell.main}
    own = [its for m, its in found.items() if not paper.methods[m].copied]
    n_sets = len(set().union(*own))
    values: dict[tuple[str, str], float] = {}
    left_out = {}
    for m, its in found.items():
        if its and paper.methods[m].copied:
            left_out[m] = f"runs of {paper.methods[m].copied}"
        elif its and 2 * len(its) < n_sets:
            left_out[m] = f"run on {len(its)} of {n_sets} sets"
        else:
            values |= {(s, m): value for s, value in its.items()}
    return values, left_out


def critical_difference(n_methods: int, n_sets: int, level: float = LEVEL) -> float:
    """Return how far apart average ranks must be, by Nemenyi's test.

    Examples
    --------
    >>> from aucmax_papers.significance import critical_difference
    >>> round(critical_difference(4, 14), 2)
    1.25
    """
    q = stats.studentized_range.isf(1 - level, n_methods, np.inf) / np.sqrt(2)
    return float(q * np.sqrt(n_methods * (n_methods + 1) / (6 * n_sets)))
