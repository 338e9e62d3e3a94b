# SPDX-License-Identifier: BSD-3-Clause
"""Work for processes that a test kills, and processes that start in no time.

They are forked from one that has imported everything, which takes two seconds.
"""

import multiprocessing
import time

IMPORTED = [
    "aucmax.estimators.least_squares_auc",
    "aucmax.estimators.opauc",
    "aucmax.estimators.rank_svm",
    "aucmax.io",
    "numba",
    "skops.io",
]


def start_fork(work, *args):
    """Return a process that does some work of this file."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(IMPORTED)
    process = context.Process(target=work, args=args, daemon=True)
    process.start()
    return process


def batches(n=1200, size=100):
    from sklearn.datasets import make_classification

    X, y = make_classification(n, weights=[0.8], random_state=0)
    return [(X[k : k + size], y[k : k + size]) for k in range(0, n, size)]


def fit(model, folder, out):
    """Keep every state, slowly, so that a kill hits the fit at work."""
    from aucmax.io import Checkpoints, save

    class Slow(Checkpoints):
        def offer(self, state):
            super().offer(state)
            time.sleep(0.02)

    save(model.fit_stream(batches(), checkpoint=Slow(folder)), out)
