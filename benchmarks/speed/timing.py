# SPDX-License-Identifier: BSD-3-Clause
"""Timing side by side: ours and a peer take turns (ABAB) in one process."""

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median

from threadpoolctl import ThreadpoolController

# Set by `run.py --quick`: does everything run? Small data, one turn.
QUICK = "AUCMAX_BENCH_QUICK" in os.environ
# Turns of a comparison: at most so many, until it has taken so many seconds. Those of
# slow fits go on for longer until there are a few.
MOST_TURNS, SECONDS = (1, 0) if QUICK else (9, 5)
FEW_TURNS, MORE_SECONDS = (1, 0) if QUICK else (3, 20)
# Short calls are repeated until one turn lasts about this long.
TURN_SECONDS, MAX_CALLS = 0.05, 1000
# An AUC counts as lower if it is so by more than this.
AUC_TOLERANCE = 0.0005

Call = Callable[[], object]
# Seconds per call of ours and of the peer, one pair for each turn.
Turns = list[tuple[float, float]]


@dataclass(frozen=True)
class Goal:
    """What a row should reach; None: nothing was asked.

    Parameters
    ----------
    ratio, us : float or None
        The largest ratio, and the largest cost of ours.
    auc : bool
        Whether the test AUC must be no lower than the peer's.
    """

    ratio: float | None = None
    us: float | None = None
    auc: bool = False

    def is_met(self, row: "Row") -> bool:
        return (
            (self.ratio is None or row.ratio <= self.ratio)
            and (self.us is None or row.us <= self.us)
            and (not self.auc or row.auc >= row.peer_auc - AUC_TOLERANCE)
        )


@dataclass(frozen=True)
class Row:
    """Our cost over that of a peer, both measured in one run; lower is better.

    Parameters
    ----------
    task, data, peer : str
        What was done, on which rows, and who else did it.
    us, them : float
        The median cost of each, in `unit`.
    ratio, low, high : float
        Median, least and greatest ratio of single turns.
    unit : {"s", "s wall", "s per row", "MB", "exponent"}
        CPU seconds on one thread, wall seconds with the default threads, and others.
    auc, peer_auc : float or None
        AUC on test rows.
    goal : Goal or None
        None where no goal was set, and on stand-ins for real sets.
    """

    task: str
    data: str
    peer: str
    us: float
    them: float
    ratio: float
    low: float
    high: float
    unit: str = "s"
    auc: float | None = None
    peer_auc: float | None = None
    goal: Goal | None = None


def take_turns(ours: Call, peer: Call, *, wall: bool = False) -> Turns:
    """Return the seconds per call of both, which take turns.

    CPU time with all libraries on one thread, or wall time with the default threads.
    The first call of each is not counted: it fills caches.
    """
    clock = time.perf_counter if wall else time.process_time
    with ThreadpoolController().limit(limits=None if wall else 1):
        calls = [_calls_per_turn(run, clock) for run in (ours, peer)]
        turns: Turns = []
        start = time.perf_counter()
        while _goes_on(len(turns), time.perf_counter() - start):
            pair = zip((ours, peer), calls, strict=True)
            turns.append(tuple(_seconds(run, n, clock) for run, n in pair))
    return turns


def row(task: str, data: str, peer: str, turns: Turns, *, per: int = 1, **rest) -> Row:
    """Return the row of two candidates that took turns; a turn did `per` things."""
    ratios = [ours / theirs for ours, theirs in turns]
    ours, theirs = (median(costs) / per for costs in zip(*turns, strict=True))
    return Row(
        task, data, peer, ours, theirs, median(ratios), min(ratios), max(ratios), **rest
    )


def _goes_on(n_turns: int, spent: float) -> bool:
    most_seconds = MORE_SECONDS if n_turns < FEW_TURNS else SECONDS
    return n_turns == 0 or (n_turns < MOST_TURNS and spent < most_seconds)


def _calls_per_turn(run: Call, clock: Callable[[], float]) -> int:
    # The first call may compile, so a short one is timed once more.
    if _seconds(run, 1, clock) > 1:
        return 1
    least = TURN_SECONDS / MAX_CALLS
    return max(1, round(TURN_SECONDS / max(least, _seconds(run, 1, clock))))


def _seconds(run: Call, n_calls: int, clock: Callable[[], float]) -> float:
    start = clock()
    for _ in range(n_calls):
        run()
    return (clock() - start) / n_calls
