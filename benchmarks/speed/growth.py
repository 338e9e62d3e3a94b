# SPDX-License-Identifier: BSD-3-Clause
"""How the time of a RankSVM fit grows with rows and with features.

Drawn data, ten per cent positives, alpha 1e-4, tol 1e-3; one thread, CPU time. The last
column is the exponent between a line and the one before it: 1 is linear.
"""

import math

import numpy as np
from _timing import best_times, print_table

from aucmax import RankSVM

ROWS = [(10_000, 30), (30_000, 30), (100_000, 30), (300_000, 30), (1_000_000, 30)]
FEATURES = [(50_000, 10), (50_000, 30), (50_000, 100), (50_000, 300), (50_000, 1000)]


def draw(n, d):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    y = rng.random(n) < 0.1
    X[y] += 2.0 / np.sqrt(d)
    return X, y


def main():
    for sizes, changing in ((ROWS, 0), (FEATURES, 1)):
        lines, last = [], None
        for size in sizes:
            X, y = draw(*size)
            model = RankSVM(alpha=1e-4, tol=1e-3)
            run = {"fit": lambda m=model, X=X, y=y: m.fit(X, y)}
            seconds = best_times(run)["fit"]
            exponent = "-"
            if last is not None:
                growth = math.log(size[changing] / last[0][changing])
                exponent = math.log(seconds / last[1]) / growth
            passes = f"{model.history_[-1].n_passes:.0f}"
            lines.append([*size, seconds, passes, exponent])
            last = size, seconds
        print_table(["rows", "features", "seconds", "passes", "exponent"], lines)
        print()


if __name__ == "__main__":
    main()
