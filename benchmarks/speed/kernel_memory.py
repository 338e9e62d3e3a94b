# SPDX-License-Identifier: BSD-3-Clause
"""NBAUC on all of covtype: peak memory, and the same model within a small budget.

Each fit runs in a process of its own. Needs AUCMAX_DATA with covtype.
"""

import json
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from _data import data_folder
from _timing import print_table

sys.path.insert(0, str(Path(__file__).parents[1]))
from _sets import load

BUDGETS = ("4GB", "1GB")


def fit(budget):
    from aucmax import NBAUC

    X, X_test, y, y_test = load("covtype")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    model = NBAUC(gamma="scale-mean", alpha=1e-6, memory_budget=budget, random_state=0)
    start = time.perf_counter()
    model.fit(X, y)
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    scores = model.decision_function(X_test)
    result = {
        "rows": len(y),
        "seconds": seconds,
        "before": before / 1e6,
        "peak": peak / 1e6,
        "auc": model.score(X_test, y_test),
        "objective": model.objective_,
        "scores": scores[:2000].tolist(),
    }
    print(json.dumps(result))


def main():
    data_folder()
    results = []
    for budget in BUDGETS:
        done = subprocess.run(
            [sys.executable, __file__, budget], check=True, capture_output=True
        )
        results.append(json.loads(done.stdout))
    first = np.array(results[0]["scores"])
    rows = [
        [
            budget,
            result["rows"],
            result["seconds"],
            result["before"],
            result["peak"],
            f"{result['auc']:.5f}",
            f"{result['objective']:.8f}",
            float(np.abs(result["scores"] - first).max() / np.ptp(first)),
        ]
        for budget, result in zip(BUDGETS, results, strict=True)
    ]
    headers = ["budget", "rows", "s", "GB before", "peak GB", "AUC", "objective"]
    print_table([*headers, "scores differ by"], rows)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        fit(sys.argv[1])
    else:
        main()
