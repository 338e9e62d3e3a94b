# SPDX-License-Identifier: BSD-3-Clause
"""Timing side by side: candidates take turns, and the fastest turn of each counts."""

import time
from collections.abc import Callable, Iterable, Mapping

import numpy as np
from threadpoolctl import threadpool_limits

# Short calls are repeated until one turn lasts about this long.
TURN_SECONDS = 0.02
MAX_CALLS = 100

# Seconds per call of each candidate, one for each of its turns.
Turns = dict[str, list[float]]


def take_turns(
    candidates: Mapping[str, Callable[[], object]],
    *,
    repeats: int = 3,
    threads: int | None = 1,
    clock: Callable[[], float] = time.process_time,
    warm_up: bool = True,
    touch: int = 0,
) -> Turns:
    """Return the seconds per call of each candidate in each of its turns.

    The first call of each is not timed; it compiles and fills caches. Without
    `warm_up` every call counts, as suits what takes many seconds. The default clock is
    the CPU time of this process, which other processes disturb least.

    Before each turn, so many bytes are written and given back. Memory that was free for
    some seconds may have to come from the host of a virtual machine again, which would
    count against whoever asks first.
    """
    with threadpool_limits(threads):
        calls = {
            name: _n_calls(run, clock) if warm_up else 1
            for name, run in candidates.items()
        }
        turns: Turns = {name: [] for name in candidates}
        for _ in range(repeats):
            for name, run in candidates.items():
                np.ones(touch, np.uint8)
                start = clock()
                for _ in range(calls[name]):
                    run()
                turns[name].append((clock() - start) / calls[name])
    return turns


def best_times(
    candidates: Mapping[str, Callable[[], object]], **options: object
) -> dict[str, float]:
    """Return the least seconds per call of each candidate, which take turns."""
    return {name: min(t) for name, t in take_turns(candidates, **options).items()}


def print_table(headers: Iterable[str], rows: Iterable[Iterable[object]]) -> None:
    """Print rows in aligned columns; floats get three significant digits."""
    table = [list(headers), *([_text(cell) for cell in row] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for row in table:
        cells = (c.rjust(w) for c, w in zip(row, widths, strict=True))
        print("  ".join(cells), flush=True)


def _n_calls(run: Callable[[], object], clock: Callable[[], float]) -> int:
    run()
    start = clock()
    run()
    seconds = max(clock() - start, TURN_SECONDS / MAX_CALLS)
    return max(1, round(TURN_SECONDS / seconds))


def _text(cell: object) -> str:
    if not isinstance(cell, float):
        return str(cell)
    return f"{cell:.0f}" if abs(cell) >= 100 else f"{cell:.3g}"
