# SPDX-License-Identifier: BSD-3-Clause
"""What a fresh process pays: the import, and the first fit with a warm cache.

Bars: ``import aucmax`` adds 0.1 s to ``import sklearn``; a first ``RankSVM().fit``
spends under 1 s outside the arithmetic (the same fit again is the arithmetic).
"""

import subprocess
import sys

from _timing import print_table

IMPORT = """
import time
start = time.perf_counter()
import sklearn{extra}
print(time.perf_counter() - start)
"""

FIRST_FIT = """
import numpy as np
import sklearn
rng = np.random.default_rng(0)
X, y = rng.normal(size=(2000, 10)), rng.random(2000) < 0.1
import time
start = time.perf_counter()
import aucmax
model = aucmax.RankSVM()
model.fit(X, y)
first = time.perf_counter() - start
start = time.perf_counter()
model.fit(X, y)
print(first - (time.perf_counter() - start))
"""


def seconds(code, repeats=5):
    """Return the least of what the code prints, in fresh processes; the first warms."""
    runs = [
        float(subprocess.check_output([sys.executable, "-c", code], text=True))
        for _ in range(repeats + 1)
    ]
    return min(runs[1:])


def main():
    plain = seconds(IMPORT.format(extra=""))
    both = seconds(IMPORT.format(extra=", aucmax"))
    fit = seconds(FIRST_FIT)
    print_table(
        ["what", "seconds", "bar"],
        [
            ["import sklearn", plain, "-"],
            ["import aucmax on top", both - plain, 0.1],
            ["first RankSVM().fit, warm cache, beyond a second one", fit, 1],
        ],
    )


if __name__ == "__main__":
    main()
