# SPDX-License-Identifier: BSD-3-Clause
"""A full linear fit beside LogisticRegression(solver="newton-cholesky"), and a path.

Real data, standardised, 80/20. RankSVM is fitted to a relative objective accuracy of
1e-3, which is checked against a fit to 1e-10; alpha is 1 / (C * n) of the rival's
C = 1, so that both penalise alike. Both sides take turns in this process.
"""

import argparse
import time

import numpy as np
from _data import load
from _timing import best_times, print_table
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from aucmax import RankSVM
from aucmax.design import LocalDesign
from aucmax.losses import SquaredHinge
from aucmax.solvers.path import regularisation_path


def compare(name, dtype, threads, repeats):
    X, X_test, y, y_test = load(name)
    X, X_test = X.astype(dtype), X_test.astype(dtype)
    alpha = 1 / len(y)
    ours = RankSVM(alpha=alpha, tol=1e-3)
    theirs = LogisticRegression(solver="newton-cholesky")
    design, weight = LocalDesign(X), np.ones(len(y))

    def path():
        return list(
            regularisation_path(
                design,
                y,
                weight,
                loss=SquaredHinge(),
                alphas=list(np.logspace(0, np.log10(alpha), 20)),
                tol=1e-3,
            )
        )

    times = best_times(
        {
            "ours": lambda: ours.fit(X, y),
            "theirs": lambda: theirs.fit(X, y),
            "path": path,
        },
        repeats=repeats,
        threads=threads,
        clock=time.process_time if threads == 1 else time.perf_counter,
    )
    optimum = RankSVM(alpha=alpha, tol=1e-10).fit(X.astype(float), y).objective_
    return [
        name,
        np.dtype(dtype).name,
        threads,
        times["ours"],
        times["theirs"],
        times["ours"] / times["theirs"],
        0.5,
        times["path"] / times["ours"],
        4,
        f"{ours.objective_ / optimum - 1:.0e}",
        f"{ours.history_[-1].n_passes:.0f}",
        f"{roc_auc_score(y_test, ours.decision_function(X_test)):.4f}",
        f"{roc_auc_score(y_test, theirs.decision_function(X_test)):.4f}",
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--sets", nargs="+", default=["magic04", "connect-4", "covtype"]
    )
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    rows = [
        compare(name, dtype, threads, arguments.repeats)
        for name in arguments.sets
        for dtype in (np.float64, np.float32)
        for threads in (1, 2)
    ]
    headers = ["data", "dtype", "threads", "ours s", "LR s", "ours / LR", "bar"]
    headers += ["path of 20 / fit", "bar", "objective off by", "passes"]
    headers += ["AUC ours", "AUC LR"]
    print_table(headers, rows)
    print("One thread: CPU seconds. Two threads: wall seconds.")


if __name__ == "__main__":
    main()
