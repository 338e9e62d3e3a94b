# SPDX-License-Identifier: BSD-3-Clause
"""NBAUC within a memory budget: what it takes beyond the data, and what that costs.

The same fit with room for all features of the rows, and with a small part of that; each
in a process of its own, one thread. What a process takes is the peak of its resident
set during the fit, less what it had before. The budget is for the features of the rows
and the rest of the fit comes on top, so it is no bar; that both models score alike is.
"""

import json
import os
import subprocess
import sys
import time

import _suite
import numpy as np
from _data import load
from _memory import CAN_READ, ENVIRONMENT, MEGABYTE, WHY_NOT, peak_beyond
from threadpoolctl import threadpool_limits

from aucmax import NBAUC

MAX_ROWS, LANDMARKS = 100_000, 1600
QUICK_LANDMARKS = 300
SCORES_BAR = 1e-5
# Megabytes; all features of the rows take 610.
BUDGETS, QUICK_BUDGETS = (4000, 250), (4000, 1)


def measurements(*, quick=False):
    if not CAN_READ:
        _suite.leave_out(WHY_NOT)
        return
    budgets = QUICK_BUDGETS if quick else BUDGETS
    found = [in_own_process(budget, quick) for budget in budgets]
    everything, part = found
    for budget, result in zip(budgets, found, strict=True):
        yield _suite.absolute(
            result["peak"] / MEGABYTE,
            what=f'NBAUC fit, memory_budget="{budget}MB"',
            where=result["where"],
            unit="MB",
            details={"AUC": round(100 * result["auc"], 3)},
        )
    yield _suite.ratio(
        {"part": [part["seconds"]], "everything": [everything["seconds"]]},
        "part",
        "everything",
        what=f'NBAUC fit, memory_budget="{budgets[1]}MB"',
        where=part["where"],
        against=f'memory_budget="{budgets[0]}MB"',
        kind="own",
    )
    first, second = np.array(everything["scores"]), np.array(part["scores"])
    yield _suite.outcome(
        float(np.abs(first - second).max() / np.ptp(first)),
        what="NBAUC scores, difference by memory_budget",
        where=part["where"],
        unit="of their range",
        bar=SCORES_BAR,
    )


def in_own_process(budget, quick):
    command = [sys.executable, __file__, "child", str(budget), str(int(quick))]
    environment = os.environ | ENVIRONMENT
    return json.loads(subprocess.check_output(command, text=True, env=environment))


def child(budget, quick):
    data = load("covtype", quick=quick).first(MAX_ROWS)
    X, X_test, y, y_test = data
    model = NBAUC(
        QUICK_LANDMARKS if quick else LANDMARKS,
        gamma="scale-mean",
        alpha=1e-6,
        memory_budget=f"{budget}MB",
        random_state=0,
    )
    with threadpool_limits(1):
        model.fit(X[:1000], y[:1000])  # compiles
        start = time.process_time()
        peak = peak_beyond(lambda: model.fit(X, y))
        seconds = time.process_time() - start
        result = {
            "where": data.where,
            "seconds": seconds,
            "peak": peak,
            "auc": float(model.score(X_test, y_test)),
            "scores": model.decision_function(X_test[:2000]).tolist(),
        }
    print(json.dumps(result))


if __name__ == "__main__":
    if sys.argv[1:2] == ["child"]:
        child(int(sys.argv[2]), bool(int(sys.argv[3])))
    else:
        _suite.main(measurements)
