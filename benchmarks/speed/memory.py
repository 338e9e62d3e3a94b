# SPDX-License-Identifier: BSD-3-Clause
"""Peak extra memory of a fit, in vectors of n floats beyond X; the bar is twelve.

Each fit runs in a process of its own, after a small one has loaded every library and
compiled every kernel. A thread reads the resident set of the process while it fits.
"""

import argparse
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

from _timing import print_table

BAR = 12
CASES = [
    (1_000_000, 20, "float64", "C"),
    (1_000_000, 20, "float32", "C"),
    (1_000_000, 20, "float64", "F"),
    (464_809, 54, "float64", "C"),
    (200_000, 200, "float64", "C"),
]


def resident_bytes():
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def child(n, d, dtype, order):
    """Print the peak of the resident set above what was there before the fit."""
    import numpy as np

    from aucmax import RankSVM

    rng = np.random.default_rng(0)

    def draw(rows):
        X = np.empty((rows, d), dtype=dtype, order=order)
        for low in range(0, rows, 10_000):
            part = X[low : low + 10_000]
            part[:] = rng.standard_normal(part.shape, dtype=dtype)
        y = rng.random(rows) < 0.1
        X[y, : d // 2] += 0.3
        return X, y

    RankSVM().fit(*draw(6000))
    X, y = draw(n)
    peak, done = 0, threading.Event()
    before = resident_bytes()

    def watch():
        nonlocal peak
        while not done.is_set():
            peak = max(peak, resident_bytes())
            time.sleep(0.0005)

    watcher = threading.Thread(target=watch)
    watcher.start()
    RankSVM(alpha=1e-4).fit(X, y)
    done.set()
    watcher.join()
    print((peak - before) / (8 * n))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--child", nargs=4)
    arguments = parser.parse_args()
    if arguments.child:
        n, d, dtype, order = arguments.child
        child(int(n), int(d), dtype, order)
        return
    rows = []
    for case in CASES:
        command = [sys.executable, __file__, "--child", *map(str, case)]
        vectors = float(subprocess.check_output(command, text=True))
        n, d, dtype, order = case
        rows.append([f"{n} x {d}", dtype, order, vectors, BAR])
    print_table(["rows x features", "dtype", "order", "vectors of n", "bar"], rows)


if __name__ == "__main__":
    main()
