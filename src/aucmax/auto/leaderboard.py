# SPDX-License-Identifier: BSD-3-Clause
"""What each candidate reached, as a table."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from aucmax.saved import saved_as

HEAD = ("candidate", "family", "AUC", "95% interval", "seconds", "weight", "")


@saved_as("LeaderboardEntry")
@dataclass(frozen=True)
class Entry:
    """One candidate.

    Attributes
    ----------
    name, family : str
        What it is.
    auc, low, high : float
        AUC of rows left out of training, with its 95% DeLong interval; NaN if it was
        not tried. Of a candidate that was dropped, of its first fold.
    seconds : float
        Time of all its folds; candidates fitted together share it equally.
    weight : float
        Its share in the model.
    note : str
        Why it dropped out, if it did.
    """

    name: str
    family: str
    auc: float
    low: float
    high: float
    seconds: float
    weight: float
    note: str = ""


@saved_as("Leaderboard")
class Leaderboard:
    """Entries from the best AUC to the worst; prints as a table.

    Examples
    --------
    >>> from aucmax.auto.leaderboard import Entry, Leaderboard
    >>> Leaderboard([Entry("linear", "linear", 0.8, 0.75, 0.85, 1.2, 1.0)])
    candidate  family  AUC     95% interval      seconds  weight
    linear     linear  0.8000  [0.7500, 0.8500]      1.2    1.00
    """

    def __init__(self, entries: list[Entry]) -> None:
        # NaN, for what was not tried, comes last.
        self.entries = sorted(
            entries, key=lambda e: -e.auc if e.auc == e.auc else float("inf")
        )

    def __iter__(self) -> Iterator[Entry]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    def __getitem__(self, number: int) -> Entry:
        return self.entries[number]

    def to_dict(self) -> list[dict[str, Any]]:
        """Return one dictionary per entry, for ``pandas.DataFrame`` or JSON."""
        return [asdict(entry) for entry in self.entries]

    def __repr__(self) -> str:
        rows = [HEAD, *(_cells(entry) for entry in self.entries)]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = []
        for number, row in enumerate(rows):
            cells = [
                cell.rjust(width) if number and column in (4, 5) else cell.ljust(width)
                for column, (cell, width) in enumerate(zip(row, widths, strict=True))
            ]
            lines.append("  ".join(cells).rstrip())
        return "\n".join(lines)


def _cells(entry: Entry) -> tuple[str, ...]:
    has_interval = entry.low == entry.low
    auc = f"{entry.auc:.4f}" if entry.auc == entry.auc else ""
    interval = f"[{entry.low:.4f}, {entry.high:.4f}]" if has_interval else ""
    return (
        entry.name,
        entry.family,
        auc,
        interval,
        f"{entry.seconds:.1f}",
        f"{entry.weight:.2f}" if entry.weight else "",
        entry.note,
    )
