# SPDX-License-Identifier: BSD-3-Clause
"""What a fresh process pays: imports, and the first fit; CPU time of the whole process.

The first fit is of 2,000 rows of 10 features. "Nothing compiled" has an empty folder
for numba's cache, as on the day of the installation.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator

from timing import QUICK, Goal, Row, Turns, row

TURNS, COMPILE_TURNS = (1, 1) if QUICK else (5, 2)
DATA = """
import numpy as np
rng = np.random.default_rng(0)
X, y = rng.normal(size=(2000, 10)), rng.random(2000) < 0.1
X[y] += 0.5
"""
SCIKIT_LEARN = "from sklearn.linear_model import LogisticRegression"
RANK_SVM = "from aucmax import RankSVM"
FITS = {
    "RankSVM": f"{RANK_SVM}; RankSVM().fit(X, y)",
    "OPAUC": "from aucmax import OPAUC; OPAUC().fit(X, y)",
    "NBAUC(100)": "from aucmax import NBAUC;"
    "NBAUC(100, gamma=0.1, alpha=1e-4, random_state=0).fit(X, y)",
    "LogisticRegression": f"{SCIKIT_LEARN}; LogisticRegression().fit(X, y)",
    "River LogisticRegression": "from river.linear_model import LogisticRegression;"
    "model = LogisticRegression();"
    "[model.learn_one(dict(enumerate(x)), t) for x, t in zip(X.tolist(), y.tolist())]",
}
COMPILE_GOALS = {"RankSVM": 3.0, "OPAUC": 4.0, "NBAUC(100)": 5.0}


def rows() -> Iterator[Row]:
    for ours, peer in (("import aucmax", "import sklearn"), (RANK_SVM, SCIKIT_LEARN)):
        yield row(ours, "fresh process", peer, in_turns(ours, peer))
    data = "fresh process, 2,000 x 10"
    for ours, peer in (
        ("RankSVM", "LogisticRegression"),
        ("OPAUC", "River LogisticRegression"),
    ):
        turns = in_turns(DATA + FITS[ours], DATA + FITS[peer])
        yield row(f"{ours}, first fit", data, peer, turns)
    peer = "LogisticRegression"
    for ours, seconds in COMPILE_GOALS.items():
        turns = in_turns(DATA + FITS[ours], DATA + FITS[peer], compiled=False)
        task, goal = f"{ours}, first fit, nothing compiled", Goal(us=seconds)
        yield row(task, data, peer, turns, goal=goal)


def in_turns(ours: str, peer: str, *, compiled: bool = True) -> Turns:
    if compiled:
        # Fills the cache of compiled code.
        cpu_seconds(ours)
    return [
        (cpu_seconds(ours, compiled=compiled), cpu_seconds(peer))
        for _ in range(TURNS if compiled else COMPILE_TURNS)
    ]


def cpu_seconds(code: str, *, compiled: bool = True) -> float:
    """Return what a process has spent when it has run some code."""
    code += "\nimport time; print(time.process_time())"
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        if not compiled:
            environment["NUMBA_CACHE_DIR"] = folder
        command = [sys.executable, "-c", code]
        return float(subprocess.check_output(command, text=True, env=environment))
