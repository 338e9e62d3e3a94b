# SPDX-License-Identifier: BSD-3-Clause
"""NBAUC beside scikit-learn's Nystroem and logistic regression; growth with n.

One thread, CPU time. Needs AUCMAX_DATA with ijcnn1 (train and test) and covtype.
"""

import sys
import time
from pathlib import Path

from _timing import best_times, print_table
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from threadpoolctl import threadpool_limits

from aucmax import NBAUC, SparseKernelAUC

sys.path.insert(0, str(Path(__file__).parents[1]))
from _data import data_folder
from _sets import load


def beside_scikit_learn():
    X, X_test, y, y_test = load("ijcnn1")
    gamma = 1 / X.shape[1]
    models = {
        "NBAUC(1600)": NBAUC(gamma=gamma, alpha=1e-5, random_state=0),
        "SparseKernelAUC(200)": SparseKernelAUC(
            200, gamma=1 / 32, alpha=1e-5, early_stopping=False, random_state=0
        ),
        "Nystroem(400) + LogisticRegression": make_pipeline(
            Nystroem(gamma=gamma, n_components=400, random_state=0),
            LogisticRegression(C=1000, max_iter=1000),
        ),
    }
    times = best_times(
        {name: lambda m=model: m.fit(X, y) for name, model in models.items()},
        repeats=2,
    )
    rival = times["Nystroem(400) + LogisticRegression"]
    print("\nijcnn1, 49,990 rows: CPU seconds of a fit, one thread")
    print_table(
        ["model", "seconds", "/ scikit-learn", "/ NBAUC", "test AUC"],
        [
            [
                name,
                times[name],
                times[name] / rival,
                times[name] / times["NBAUC(1600)"],
                f"{_auc(model, X_test, y_test):.4f}",
            ]
            for name, model in models.items()
        ],
    )


def growth():
    X, _, y, _ = load("covtype")
    print("\ncovtype: CPU seconds of NBAUC(1600) at alpha 1e-5, one thread")
    rows, previous = [], None
    for n in (10_000, 40_000, 160_000, 400_000):
        model = NBAUC(gamma="scale-mean", alpha=1e-5, random_state=0)
        start = time.process_time()
        model.fit(X[:n], y[:n])
        seconds = time.process_time() - start
        passes = model.history_[-1].n_passes
        ratio = "" if previous is None else f"{seconds / previous:.2f}"
        rows.append([n, seconds, ratio, round(passes), 1e6 * seconds / n])
        previous = seconds
    print_table(["rows", "seconds", "x for 4x rows", "passes", "us per row"], rows)


def _auc(model, X, y):
    from aucmax.metrics import roc_auc

    return roc_auc(y, model.decision_function(X))


if __name__ == "__main__":
    data_folder()
    with threadpool_limits(1):
        beside_scikit_learn()
        growth()
