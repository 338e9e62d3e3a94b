# SPDX-License-Identifier: BSD-3-Clause
"""Peak memory of a fit beyond the data, each in a process of its own (Linux only).

The process has loaded its library, fitted 2,000 rows and loaded the data before. Fits
that take less than one MB count as one.
"""

import ctypes
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from data import load
from peers import features, label
from sklearn.base import clone
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC, LinearSVC
from timing import Row, row

from aucmax import NBAUC, KernelRankSVM, RankSVM

MEGABYTE = 2**20
GAMMA = 0.05
KERNEL = {"gamma": GAMMA, "alpha": 1e-4, "random_state": 0}
# The set, its rows, our model and the peer.
PAIRS = [
    ("covtype", 100_000, RankSVM(), LogisticRegression(solver="newton-cholesky")),
    ("w8a", 100_000, RankSVM(), LinearSVC()),
    ("ijcnn1", 100_000, NBAUC(400, **KERNEL), features(Nystroem, 400, GAMMA)),
    ("magic04", 4_000, KernelRankSVM(**KERNEL), SVC(gamma=GAMMA)),
]


def rows() -> Iterator[Row]:
    if not Path("/proc/self/clear_refs").exists():
        print("Memory is measured on Linux only.")
        return
    for number, (name, n, ours, peer) in enumerate(PAIRS):
        turn = tuple(in_own_process(number, side) for side in ("ours", "peer"))
        title = load(name).first(n).title
        yield row(label(ours), title, label(peer), [turn], unit="MB")


def in_own_process(number: int, side: str) -> float:
    command = [sys.executable, __file__, str(number), side]
    one_thread = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    found = subprocess.check_output(command, text=True, env=os.environ | one_thread)
    return max(1.0, float(found))


def peak_of_fit(number: int, side: str) -> float:
    """Return the peak of the resident set during a fit, less what was there before."""
    name, n, ours, peer = PAIRS[number]
    model = ours if side == "ours" else peer
    data = load(name).first(n)
    # Copies, so that a part does not keep the whole.
    X, y = data.X.copy(), data.y.copy()
    del data
    load.cache_clear()
    clone(model).fit(X[:2000], y[:2000])
    # Or the fit would use again what was freed, unseen.
    ctypes.CDLL(None).malloc_trim(0)
    # Linux keeps the peak, and sets it to what is resident now when asked to.
    Path("/proc/self/clear_refs").write_text("5")
    before = status("VmRSS")
    model.fit(X, y)
    return (status("VmHWM") - before) / MEGABYTE


def status(key: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * int(next(s for s in lines if s.startswith(key)).split()[1])


if __name__ == "__main__":
    print(peak_of_fit(int(sys.argv[1]), sys.argv[2]))
