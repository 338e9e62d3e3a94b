# SPDX-License-Identifier: BSD-3-Clause
"""One visit of a random pair beside a bare read of its two rows.

The limit is a loop that reads and sums the same random rows, both rows of a pair at
once, measured in the same run. Blocks are counted per pair of rows they read. One
thread, CPU time.
"""

import argparse

import numba
import numpy as np
from _timing import best_times, print_table

from aucmax.solvers.pair_sgd import PairSGD

BAR = 1.15
BLOCK_SIZES = (1, 8)


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


def draw_rows(n, d, dtype):
    rng = np.random.default_rng(0)
    rows = np.empty((n, d), dtype=dtype)
    for low in range(0, n, 2000):
        part = rows[low : low + 2000]
        part[:] = rng.standard_normal(part.shape, dtype=np.float32)
    rows /= np.sqrt(d)
    return rows


def measure(n, d, dtype, n_visits, repeats):
    rows = draw_rows(n, d, dtype)
    rng = np.random.default_rng(1)
    pos = rng.integers(n // 2, size=n_visits)
    neg = n // 2 + rng.integers(n - n // 2, size=n_visits)
    candidates = {"read": lambda: read_pairs(rows, pos, neg)}
    for size in BLOCK_SIZES:
        # Rows of length one with random labels: nearly every pair stays active.
        sgd = PairSGD(d, alpha=1e-6, step_size=0.01, block_size=size)
        candidates[f"{size}x{size}"] = lambda sgd=sgd: sgd.visit(rows, pos, neg)
    seconds = best_times(candidates, repeats=repeats)
    for name, second in seconds.items():
        ratio = second / seconds["read"]
        bar = BAR if name == "1x1" and d == 1600 else "-"
        yield np.dtype(dtype).name, n, d, name, 1e6 * second / n_visits, ratio, bar


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--quick", action="store_true", help="100,000 rows, fewer visits"
    )
    args = parser.parse_args()
    n = 100_000 if args.quick else 200_000
    n_visits = 80_000 if args.quick else 200_000
    table = []
    for dtype in (np.float32, np.float64):
        table += measure(n, 1600, dtype, n_visits, repeats=3 if args.quick else 7)
    headers = ("rows", "n", "d", "step", "us / visit", "ratio to read", "bar")
    print_table(headers, table)


if __name__ == "__main__":
    main()
