# SPDX-License-Identifier: BSD-3-Clause
"""What has become slower or faster since the last committed run, by ratio.

Ratios of one run can be compared with those of another, also on another machine;
seconds cannot. A ratio must be a quarter worse, and worse than any turn of the last
run, to count: these machines are shared and noisy.
"""

from dataclasses import dataclass, field

NOTABLE = 1.25


@dataclass(frozen=True)
class Change:
    """A measurement then and now."""

    key: str
    before: float
    now: float


@dataclass(frozen=True)
class Changes:
    """All that differ, and how many were compared; a sentence for people."""

    sentence: str
    slower: list[Change] = field(default_factory=list)
    faster: list[Change] = field(default_factory=list)
    gone: list[str] = field(default_factory=list)
    new: list[str] = field(default_factory=list)


def compare(run, last):
    """Return the changes between two runs; `last` may be None."""
    if last is None:
        return Changes("There is no former run to compare with.")
    if run["quick"] != last["quick"]:
        return Changes("Quick and full runs are not compared with one another.")
    now = {made.key: made for made in run["measurements"] if is_comparable(made)}
    before = {made.key: made for made in last["measurements"] if is_comparable(made)}
    scripts = {made.script for made in run["measurements"]} | set(run["failed"])
    slower, faster = [], []
    common = [key for key in now if key in before]
    for key in common:
        new, old = now[key], before[key]
        change = Change(key, old.ratio, new.ratio)
        if new.ratio > max(NOTABLE * old.ratio, old.high):
            slower.append(change)
        elif new.ratio < min(old.ratio / NOTABLE, old.low):
            faster.append(change)
    return Changes(
        f"Of {len(common)} ratios compared with the run of {last['date']}, "
        f"{len(slower)} are worse by a quarter or more and {len(faster)} better.",
        slower,
        faster,
        [key for key in before if key not in now and before[key].script in scripts],
        [key for key in now if key not in before],
    )


def is_comparable(made):
    # Bandwidth and the like describe the machine; they are not ours.
    return made.kind != "absolute" or made.bar is not None
