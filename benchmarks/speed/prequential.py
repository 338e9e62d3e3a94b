# SPDX-License-Identifier: BSD-3-Clause
"""PrequentialAUC, up to date after every row, against sorting the window for each row.

One thread, CPU time, 10 % positives. River's RollingROCAUC keeps a sorted window and
walks through it whenever the AUC is read, so it is timed with a read after each row and
with one in 100.
"""

import functools
import itertools

import _suite
import numpy as np
from _timing import take_turns

from aucmax.metrics import PrequentialAUC, roc_auc

N_ROWS, N_SORTED, N_FADING = 50_000, 100, 400_000
WINDOWS = (100, 1000, 10_000)
# For the longest window: a hundredth of the time of sorting, one microsecond a row.
SORTING_BAR, ROW_BAR = 1 / 100, 1.0
PASTS = ({"window": 100_000}, {"fading": 0.999}, {"fading": 0.9999}, {})


def measurements(*, quick=False):
    windows = WINDOWS[:1] if quick else WINDOWS
    n_rows = 1_000 if quick else N_ROWS
    for window, kind in itertools.product(windows, ("continuous", "tied")):
        yield from beside_others(window, kind, n_rows, 1 if quick else 3)
    y, scores = draw(5_000 if quick else N_FADING, "continuous")
    for past in PASTS:
        yield from by_call(past, y, scores)


def draw(n, kind):
    rng = np.random.default_rng(0)
    y = (rng.random(n) < 0.1).astype(int)
    scores = rng.normal(size=n) + y
    return y, np.round(scores, 2) if kind == "tied" else scores


def beside_others(window, kind, n_rows, repeats):
    y, scores = draw(window + n_rows, kind)
    candidates = {
        "ours": Ours(y, scores, window),
        "sorting the window": Sorting(y, scores, window),
        **river(y, scores, window),
    }
    turns = take_turns(
        {name: each.add for name, each in candidates.items()}, repeats=repeats
    )
    turns = {
        name: [seconds / candidates[name].n_rows for seconds in turns[name]]
        for name in turns
    }
    is_long = window == max(WINDOWS)
    shared = {
        "what": "PrequentialAUC, a row",
        "where": f"window of {window:,}, {kind} scores",
        "unit": "us per row",
    }
    for name in list(candidates)[1:]:
        is_sorting = name == "sorting the window"
        yield _suite.ratio(
            turns,
            "ours",
            name,
            kind="own" if is_sorting else "peer",
            bar=SORTING_BAR if is_long and is_sorting else None,
            **shared,
        )
    if is_long:
        micros = [1e6 * seconds for seconds in turns["ours"]]
        yield _suite.absolute(min(micros), micros, bar=ROW_BAR, **shared)


def by_call(past, y, scores):
    """Yield what a row costs in a long batch and in a call of its own."""
    metric = PrequentialAUC(**past).update(y, scores)
    kept = ", ".join(f"{key} {value:g}" for key, value in past.items()) or "all rows"
    for size in (len(y) // 40, 1):
        part = y[-size:], scores[-size:]
        run = {"ours": lambda part=part: metric.update(*part)}
        micros = [1e6 * seconds / size for seconds in take_turns(run)["ours"]]
        yield _suite.absolute(
            min(micros),
            micros,
            what="PrequentialAUC, a row",
            where=f"{kept}, {'one row' if size == 1 else f'{size:,} rows'} a call",
            unit="us per row",
        )


class Ours:
    """The tree holds the pairs of the window after each row."""

    def __init__(self, y, scores, window):
        self.metric = PrequentialAUC(window=window).update(y[:window], scores[:window])
        self.y, self.scores = y[window:], scores[window:]
        self.n_rows = len(self.y)

    def add(self):
        return self.metric.update(self.y, self.scores).auc


class Sorting:
    """The AUC of each window from scratch, with the fastest AUC we have."""

    def __init__(self, y, scores, window):
        self.y, self.scores, self.window = y, scores, window
        self.n_rows = N_SORTED

    def add(self):
        for end in range(self.window, self.window + N_SORTED):
            part = slice(end - self.window, end)
            roc_auc(self.y[part], self.scores[part])


class River:
    """One row per call, and the AUC read in one out of ``every`` rows."""

    def __init__(self, metric, rows, window, every):
        self.metric, self.every = metric, every
        for label, score in rows[:window]:
            self.metric.update(label, score)
        self.rows = rows[window : window + (100 if every == 1 else 5000)]
        self.n_rows = len(self.rows)

    def add(self):
        for number, (label, score) in enumerate(self.rows, start=1):
            self.metric.update(label, score)
            if number % self.every == 0:
                self.metric.get()


@functools.cache
def river_metric():
    try:
        from river.metrics import RollingROCAUC
    except ImportError:
        _suite.leave_out("River is not installed.")
        return None
    return RollingROCAUC


def river(y, scores, window):
    metric = river_metric()
    if metric is None:
        return {}
    rows = list(zip(y.astype(bool).tolist(), scores.tolist(), strict=True))
    return {
        f"River RollingROCAUC, {label}": River(
            metric(window_size=window), rows, window, every
        )
        for label, every in (("read each row", 1), ("read one in 100", 100))
    }


if __name__ == "__main__":
    _suite.main(measurements)
