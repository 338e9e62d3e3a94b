# SPDX-License-Identifier: BSD-3-Clause
"""Peak extra memory of a fit, in vectors of n floats beyond X; the bar is twelve.

Each fit runs in a process of its own, after a small one has loaded every library and
compiled every kernel.
"""

import os
import subprocess
import sys

import _suite
import numpy as np
from _memory import CAN_READ, ENVIRONMENT, WHY_NOT, peak_beyond

from aucmax import RankSVM

BAR = 12
CASES = [
    (1_000_000, 20, "float64", "C"),
    (1_000_000, 20, "float32", "C"),
    (1_000_000, 20, "float64", "F"),
    (464_809, 54, "float64", "C"),
    (200_000, 200, "float64", "C"),
]
QUICK_CASES = [(20_000, 20, "float64", "C")]


def measurements(*, quick=False):
    if not CAN_READ:
        _suite.leave_out(WHY_NOT)
        return
    environment = os.environ | ENVIRONMENT
    for case in QUICK_CASES if quick else CASES:
        command = [sys.executable, __file__, "child", *map(str, case)]
        n, d, dtype, order = case
        yield _suite.absolute(
            float(subprocess.check_output(command, text=True, env=environment)),
            what="RankSVM fit, memory beyond X",
            where=f"{n:,} x {d}, {dtype}, order {order}",
            unit="vectors of n floats",
            bar=BAR,
        )


def child(n, d, dtype, order):
    """Print the peak of the resident set above what was there before the fit."""
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
    print(peak_beyond(lambda: RankSVM(alpha=1e-4).fit(X, y)) / (8 * n))


if __name__ == "__main__":
    if sys.argv[1:2] == ["child"]:
        n, d, *form = sys.argv[2:]
        child(int(n), int(d), *form)
    else:
        _suite.main(measurements)
