# SPDX-License-Identifier: BSD-3-Clause
"""One visit of a random pair beside a bare read of its two rows.

The limit is a loop that reads and sums the same random rows, both rows of a pair at
once, measured in the same run. Blocks are counted per pair of rows they read. One
thread, CPU time.
"""

import _suite
import numba
import numpy as np
from _timing import take_turns

from aucmax.solvers.pair_sgd import PairSGD

D = 1600
ROWS, QUICK_ROWS = 200_000, 2_000
VISITS, QUICK_VISITS = 200_000, 2_000
# Positives, and negatives, per step, and the ratio to stay below.
BARS = {1: 1.15, 8: None}


def measurements(*, quick=False):
    n, n_visits = (QUICK_ROWS, QUICK_VISITS) if quick else (ROWS, VISITS)
    for dtype in (np.float32, np.float64):
        turns = measure(n, dtype, n_visits, repeats=2 if quick else 7)
        for size, bar in BARS.items():
            yield _suite.ratio(
                turns,
                f"blocks of {size}",
                "read",
                what=f"pair SGD visit, blocks of {size} x {size}",
                where=f"{n:,} x {D:,}, {np.dtype(dtype).name}",
                against="reading the two rows",
                kind="limit",
                unit="us per visit",
                per=n_visits,
                bar=bar,
                goal=None if bar is None else 8,
            )


@numba.njit(nogil=True, fastmath=True)
def read_pairs(rows, pos, neg):
    total = 0.0
    for k in range(pos.shape[0]):
        first, second = rows[pos[k]], rows[neg[k]]
        part = rows.dtype.type(0)
        for j in range(rows.shape[1]):
            part += first[j] + second[j]
        total += part
    return total


def draw_rows(n, dtype):
    rng = np.random.default_rng(0)
    rows = np.empty((n, D), dtype=dtype)
    for low in range(0, n, 2000):
        part = rows[low : low + 2000]
        part[:] = rng.standard_normal(part.shape, dtype=np.float32)
    rows /= np.sqrt(D)
    return rows


def measure(n, dtype, n_visits, repeats):
    rows = draw_rows(n, dtype)
    rng = np.random.default_rng(1)
    pos = rng.integers(n // 2, size=n_visits)
    neg = n // 2 + rng.integers(n - n // 2, size=n_visits)
    candidates = {"read": lambda: read_pairs(rows, pos, neg)}
    for size in BARS:
        # Rows of length one with random labels: nearly every pair stays active.
        sgd = PairSGD(rows, alpha=1e-6, step_size=0.01, block_size=size)
        candidates[f"blocks of {size}"] = lambda sgd=sgd: sgd.visit(rows, pos, neg)
    return take_turns(candidates, repeats=repeats)


if __name__ == "__main__":
    _suite.main(measurements)
