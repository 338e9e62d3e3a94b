# SPDX-License-Identifier: BSD-3-Clause
"""What has become slower or faster since the last committed run.

Ratios of one run can be compared with those of another; seconds cannot. Another kind
of processor moves ratios too, so that is said. A ratio must be a quarter worse, and
worse than any turn of the last run, to count: these machines are shared and noisy. One
turn that went badly excuses no more than a half. Exponents, AUC points and gaps may be
zero or less, so that no factor means anything: they are compared by their difference.
"""

from dataclasses import dataclass, field

NOTABLE, MOST_EXCUSED = 1.25, 1.5
# The least difference that counts, by unit.
DIFFERENCES = {"AUC points": 0.1, "of the objective": 1e-4, "of their range": 1e-6}
EXPONENTS = 0.1


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
        least, most = usual_range(old)
        change = Change(key, old.ratio, new.ratio)
        if new.ratio > most:
            slower.append(change)
        elif new.ratio < least:
            faster.append(change)
    sentence = (
        f"Of {len(common)} figures compared with the run of {last['date']}, "
        f"{len(slower)} are notably worse and {len(faster)} better."
    )
    then, now_on = (each["machine"]["processor"] for each in (last, run))
    if then != now_on:
        sentence += f" That was on another processor ({then}; this is {now_on})."
    return Changes(
        sentence,
        slower,
        faster,
        [key for key in before if key not in now and before[key].script in scripts],
        [key for key in now if key not in before],
    )


def usual_range(old):
    """Return the least and the most that a new figure may be to count as the same."""
    step = EXPONENTS if old.kind == "growth" else DIFFERENCES.get(old.unit)
    if step is None and old.ratio <= 0:
        step = EXPONENTS
    if step is not None:
        return old.ratio - step, old.ratio + step
    return (
        min(old.ratio / NOTABLE, max(old.low, old.ratio / MOST_EXCUSED)),
        max(old.ratio * NOTABLE, min(old.high, old.ratio * MOST_EXCUSED)),
    )


def is_comparable(made):
    # Bandwidth and the like describe the machine; they are not ours.
    return made.kind != "absolute" or made.bar is not None
