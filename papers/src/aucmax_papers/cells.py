# SPDX-License-Identifier: BSD-3-Clause
"""Records of a comparison: what a paper printed, what we reached, and the verdict."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from aucmax_papers.protocol import Paper, Printed, Table


class Run(NamedTuple):
    """Which split a result belongs to; equal ones had the same test rows."""

    partition: int
    run: int
    n_test: int


@dataclass(frozen=True, slots=True)
class Ours:
    """What one variant of a method reached on one set.

    Attributes
    ----------
    value : float
        Mean over the runs; of basis functions, the most.
    std : float
        Standard deviation, divisor n.
    runs : dict of Run to float
        Each run.
    results_version : int
        Which version of the method they are all of.
    protocol : str
        Which version of the protocol.
    is_current : bool
        Whether these are the versions of today.
    versions : tuple of str
        Of the libraries.
    n_tried, n_diverged, n_failed : int
        How many runs there were, how many of them count as one half, and how many gave
        nothing at all.
    error : str
        What the first of these said.
    """

    value: float
    std: float
    runs: Mapping[Run, float]
    results_version: int
    protocol: str
    is_current: bool
    versions: tuple[str, ...]
    n_tried: int
    n_diverged: int
    n_failed: int
    error: str

    @property
    def spread(self) -> tuple[float, float, float]:
        """Return the least, the median and the most."""
        values = np.array(list(self.runs.values()))
        return float(values.min()), float(np.median(values)), float(values.max())


@dataclass(frozen=True, slots=True)
class Cell:
    """One set, one method, one metric.

    Attributes
    ----------
    set, method, metric : str
        Names within the paper.
    printed : Printed or None
        What the paper printed, if anything.
    ours : dict of str to Ours
        By variant; without those that were not run.
    headline : str
        Which variant is compared with the paper.
    verdict : str
        "above", "within", "below", "incomplete", "not comparable", "copied", "failed"
        or "not run". "within" is no further from the paper than the allowance: its
        printed standard deviation, and 0.005 at least. "incomplete" would be one of
        these three, but has fewer runs than the protocol. "copied" is a figure that
        the paper has from elsewhere.
    is_partitioned : bool
        Whether the runs are random halves of the classes.
    is_proposed : bool
        Whether the method is one that the papers propose.
    n_expected : int
        How many runs the protocol has; 0 if that is not known.
    source : str
        Key of the paper whose runs these are, if it is another one.
    notes : tuple of str
        Keys of the footnotes, those of its set and its method among them.
    """

    set: str
    method: str
    metric: str
    printed: Printed | None
    ours: Mapping[str, Ours]
    headline: str
    verdict: str
    is_partitioned: bool
    is_proposed: bool
    n_expected: int
    source: str
    notes: tuple[str, ...]

    @property
    def main(self) -> Ours | None:
        """Return the variant that is compared with the paper."""
        return self.ours.get(self.headline)

    @property
    def other(self) -> Ours | None:
        """Return the other variant."""
        return next((o for v, o in self.ours.items() if v != self.headline), None)

    @property
    def difference(self) -> float | None:
        """Return ours less the paper's."""
        if self.main is None or self.printed is None:
            return None
        return self.main.value - self.printed.value

    @property
    def ratio(self) -> float | None:
        """Return ours in terms of the paper's."""
        if self.main is None or self.printed is None or self.printed.value == 0:
            return None
        return self.main.value / self.printed.value

    @property
    def n_runs(self) -> int:
        """Return how many runs there are."""
        return len(self.main.runs) if self.main else 0

    @property
    def is_partial(self) -> bool:
        """Say whether there are runs, and fewer than the protocol has."""
        return 0 < self.n_runs < self.n_expected

    @property
    def is_stale(self) -> bool:
        """Say whether it is of another method version or protocol than today's."""
        return self.main is not None and not self.main.is_current

    @property
    def is_comparable(self) -> bool:
        """Say whether it counts."""
        return self.verdict in ("above", "within", "below")


class Counts(NamedTuple):
    """How many cells can be compared, and how many of them are not below the paper."""

    n_comparable: int
    n_within: int


@dataclass(frozen=True, slots=True)
class Comparison:
    """A table of a paper, with ours.

    Attributes
    ----------
    paper, table : Paper, Table
        Which.
    cells : dict
        By set, method and metric, in the order of the paper's file.
    notes : dict of str to str
        Footnotes by key.
    set_notes, method_notes : dict of str to tuple of str
        Keys of the footnotes of sets and methods.
    """

    paper: Paper
    table: Table
    cells: Mapping[tuple[str, str, str], Cell]
    notes: Mapping[str, str]
    set_notes: Mapping[str, tuple[str, ...]]
    method_notes: Mapping[str, tuple[str, ...]]

    @property
    def counts(self) -> Counts:
        """Return the counts over all methods."""
        return count_cells(self.cells.values())

    @property
    def proposed_counts(self) -> Counts:
        """Return the counts over the methods that the papers propose."""
        return count_cells(cell for cell in self.cells.values() if cell.is_proposed)

    @property
    def versions(self) -> tuple[str, ...]:
        """Return the versions of the libraries."""
        return tuple(sorted({text for ours in self._all() for text in ours.versions}))

    @property
    def n_stale(self) -> int:
        """Return how many cells are not of today's method version and protocol."""
        return sum(
            any(not ours.is_current for ours in cell.ours.values())
            for cell in self.cells.values()
        )

    @property
    def left_out(self) -> tuple[str, ...]:
        """Return the sets that the paper's table has and this one has not."""
        ours = {self.paper.sets[name].printed for name in self.table.sets}
        theirs = [key[1] for key in self.paper.printed if key[0] == self.table.name]
        return tuple(name for name in dict.fromkeys(theirs) if name not in ours)

    @property
    def has_results(self) -> bool:
        """Say whether anything was run, be it in vain."""
        return any(c.ours or c.verdict != "not run" for c in self.cells.values())

    def _all(self) -> Iterable[Ours]:
        return (ours for cell in self.cells.values() for ours in cell.ours.values())


def count_cells(cells: Iterable[Cell]) -> Counts:
    """Return how many of the cells count, and how many of these are not below."""
    verdicts = [cell.verdict for cell in cells if cell.is_comparable]
    return Counts(len(verdicts), sum(v != "below" for v in verdicts))
