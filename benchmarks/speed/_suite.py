# SPDX-License-Identifier: BSD-3-Clause
"""What a benchmark of this folder is: a generator of measurements, and a command line.

Each script yields `Measurement`s and ends with ``_suite.main(measurements)``. Run by
hand it prints a table; ``run.py`` collects all of them with ``--json``.
"""

import argparse
import inspect
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from itertools import product
from pathlib import Path

from _timing import Turns, print_table

KINDS = ("peer", "limit", "own", "growth", "outcome", "absolute")
# Of kinds that have no other side, `ratio` is the figure itself.
ALONE = ("growth", "outcome", "absolute")


@dataclass(frozen=True)
class Measurement:
    """What ours costs over what the other costs, both in one run; lower is better.

    Parameters
    ----------
    what : str
        Our side: ``"RankSVM fit"``.
    where : str
        The data: ``"covtype, 464,809 x 54, float64"``. With `what` and `against` it
        names the measurement in the results of every run.
    against : str
        The other side: a peer, a limit of the machine, or another form of ours.
    kind : {"peer", "limit", "own", "growth", "outcome", "absolute"}
        What `against` is. The last three have no other side: for ``"growth"`` the
        ratio is an exponent; for ``"outcome"`` a quantity in `unit` that every machine
        should have alike, as products or AUC points; for ``"absolute"`` one that
        depends on the machine, and is compared with no other run unless it has a bar.
    ours, other : float
        Both costs, in `unit`.
    unit : str
        ``"s"``, ``"us per row"``, ``"MB"``.
    ratio, low, high : float
        Of the least costs; the least and the greatest of single turns.
    bar : float or None
        The ratio not to exceed; None where none was set.
    goal : int or None
        The number of the goal in README.md that it belongs to.
    dropped : float or None
        A bar that does not count this time: on twins of the data, in a quick run.
    details : dict
        More to show beside it, as `AUC`.
    curve : list of pairs
        For growth: the size and the cost of each point.
    grows : str
        For growth: what the sizes are, as ``"rows"``.
    script : str
        Where it comes from; filled in by ``run.py``.
    """

    what: str
    where: str
    against: str
    kind: str
    ours: float
    other: float
    unit: str
    ratio: float
    low: float
    high: float
    bar: float | None = None
    goal: int | None = None
    dropped: float | None = None
    details: Mapping[str, object] = field(default_factory=dict)
    curve: list[tuple[float, float]] = field(default_factory=list)
    grows: str = ""
    script: str = ""

    def __post_init__(self):
        if self.kind not in KINDS:
            raise ValueError(f"kind must be one of {KINDS}, got {self.kind!r}.")

    @property
    def key(self):
        return f"{self.what} | {self.where} | {self.against}"

    @property
    def holds(self):
        return self.bar is None or self.ratio <= self.bar


def ratio(
    turns: Turns, ours: str, other: str, *, per: float = 1.0, **rest
) -> Measurement:
    """Return the measurement of two candidates that took turns.

    `per` is the number of rows, or calls, that one turn of each stands for; the
    seconds are divided by it and given in `unit`, "s" or one with us or ns in it.
    """
    scale = {"ms": 1e3, "us": 1e6, "ns": 1e9}.get(rest.get("unit", "s").split()[0], 1)
    mine, theirs = turns[ours], turns[other]
    # Where one had more turns than the other, none belong together.
    paired = zip if len(mine) == len(theirs) else product
    single = [a / b for a, b in paired(mine, theirs)]
    rest = {"unit": "s", "what": ours, "against": other} | rest
    return Measurement(
        ours=scale * min(mine) / per,
        other=scale * min(theirs) / per,
        ratio=min(mine) / min(theirs),
        low=min(single),
        high=max(single),
        **rest,
    )


def absolute(value: float, values: Iterable[float] = (), **rest) -> Measurement:
    """Return the measurement of something that has no other side."""
    values = [*values, value]
    rest = {"against": "", "kind": "absolute"} | rest
    return Measurement(
        ours=value,
        other=1.0,
        ratio=value,
        low=min(values),
        high=max(values),
        **rest,
    )


def outcome(value: float, **rest) -> Measurement:
    """Return the measurement of what every machine should have alike."""
    return absolute(value, **{"kind": "outcome"} | rest)


def bar_if(counts: bool, bar: float | None) -> dict[str, float | None]:
    """Return the bar in the field it belongs to: of those that count, or dropped."""
    return {"bar": bar} if counts else {"dropped": bar}


# What the script running now has left out, in sentences.
LEFT_OUT: list[str] = []


def leave_out(why: str) -> None:
    """Say what is not measured, here and in the results."""
    if why not in LEFT_OUT:
        LEFT_OUT.append(why)
        print(why, flush=True)


def main(measurements: Callable[..., Iterable[Measurement]]) -> None:
    """Be a script: print each measurement as it is made, or write them all as JSON.

    `measurements` may take ``quick``: smaller sizes that show the script works.
    """
    parser = argparse.ArgumentParser(
        description=inspect.getmodule(measurements).__doc__
    )
    parser.add_argument("--quick", action="store_true", help="small sizes, one turn")
    parser.add_argument("--json", type=Path, help="write the measurements here")
    args = parser.parse_args()
    found = []
    for made in measurements(quick=args.quick):
        # At tiny sizes a bar says nothing.
        if args.quick and made.bar is not None:
            made = replace(made, bar=None, dropped=made.bar)
        found.append(made)
        print(sentence(made), flush=True)
    if args.json:
        made = {"measurements": [asdict(m) for m in found], "left_out": LEFT_OUT}
        args.json.write_text(json.dumps(made, indent=1))
    elif found:
        print()
        print_table(HEADERS, map(cells, found))


HEADERS = ["what", "where", "against", "ours", "other", "ratio", "turns", "bar", ""]


def cells(made: Measurement) -> list[object]:
    has_other = made.kind not in ALONE
    return [
        made.what,
        made.where,
        made.against,
        f"{made.ours:.3g} {made.unit}",
        f"{made.other:.3g}" if has_other else "",
        made.ratio,
        f"{made.low:.3g} to {made.high:.3g}",
        "" if made.bar is None else made.bar,
        "" if made.holds else "missed",
    ]


def sentence(made: Measurement) -> str:
    against = f" / {made.against}" if made.against else ""
    bar = "" if made.bar is None else f", bar {made.bar:g}"
    missed = "" if made.holds else ": MISSED"
    more = "".join(f", {name} {value}" for name, value in made.details.items())
    return (
        f"{made.what}{against}, {made.where}: {made.ratio:.3g} "
        f"({made.low:.3g} to {made.high:.3g}){bar}{missed}{more}"
    )
