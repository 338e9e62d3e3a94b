# SPDX-License-Identifier: BSD-3-Clause
"""Per set what each method reached, from the lines of the results file."""

from dataclasses import dataclass
from statistics import fmean, stdev

from _store import OURS, RIVALS
from _tasks import SETS

METHODS = [*RIVALS, OURS]
# In points of AUC: what one set may be behind, and where nothing is left to gain.
MARGIN = 0.5
CEILING = 99.95


@dataclass(frozen=True, slots=True)
class Cell:
    """A method on a set: AUC and spread in percent, CPU seconds of one split."""

    aucs: list
    spread: float
    seconds: float
    tuned: str

    @property
    def auc(self):
        return fmean(self.aucs)


@dataclass(frozen=True, slots=True)
class SetResult:
    """All that is known of one set."""

    name: str
    facts: dict
    cells: dict
    skipped: dict

    @property
    def best(self):
        """The rival with the highest AUC, or None while there is none."""
        rivals = [method for method in RIVALS if method in self.cells]
        return max(rivals, key=lambda m: self.cells[m].auc, default=None)

    @property
    def is_whole(self):
        """Whether every method has been run or is left out for a reason."""
        return all(m in self.cells or m in self.skipped for m in METHODS)

    @property
    def is_easy(self):
        return all(cell.auc >= CEILING for cell in self.cells.values())

    def lead(self, rival):
        """Return ours minus a rival, in points."""
        return self.cells[OURS].auc - self.cells[rival].auc


def summarise(rows):
    """Return one SetResult for every set of which there is anything."""
    results = []
    for name in SETS:
        of_set = [row for row in rows.values() if row["set"] == name]
        if not of_set:
            continue
        cells, skipped = {}, {}
        for method in METHODS:
            mine = [row for row in of_set if row["method"] == method]
            if mine and "skipped" in mine[0]:
                skipped[method] = mine[0]["skipped"]
            elif mine and len(mine) == mine[0]["n_splits"]:
                cells[method] = _cell(mine)
        if cells:
            results.append(SetResult(name, of_set[0], cells, skipped))
    return results


def _cell(rows):
    aucs = [100 * row["auc"] for row in sorted(rows, key=lambda row: row["split"])]
    spread = stdev(aucs) if len(aucs) > 1 else 100 * rows[0]["se"]
    return Cell(aucs, spread, fmean(row["fit_cpu"] for row in rows), rows[0]["tuned"])
