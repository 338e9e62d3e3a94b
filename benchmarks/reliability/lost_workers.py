# SPDX-License-Identifier: BSD-3-Clause
"""Kill a worker of a Dask cluster in the middle of a fit; compare the models.

python benchmarks/reliability/lost_workers.py
"""

import argparse
import contextlib
import logging
import os
import random
import signal
import sys
import threading
import time

import _records
import dask.array as da
import distributed
import numpy as np
from sklearn.base import clone
from sklearn.datasets import make_classification

from aucmax.distributed import (
    DaskLeastSquaresAUC,
    DaskNBAUC,
    DaskOPAUC,
    DaskRankSVM,
)

MODELS = {
    "DaskRankSVM": DaskRankSVM(alpha=1e-5, tol=1e-10),
    "DaskLeastSquaresAUC": DaskLeastSquaresAUC(),
    "DaskLeastSquaresAUC(solver='cg')": DaskLeastSquaresAUC(solver="cg"),
    "DaskNBAUC": DaskNBAUC(50, gamma=0.02, alpha=1e-4, random_state=0),
    "DaskOPAUC": DaskOPAUC(alpha=0.1),
}
N_ROWS, BLOCK_ROWS = 40_000, 4000
# A fit that ends before its worker is killed is made again, so often.
MOST_TRIES = 40
# Sums of blocks may be taken in another order. Relative to the largest score.
TOLERANCE = 1e-9


def rows():
    X, y = make_classification(N_ROWS, 20, weights=[0.9], random_state=0)
    return da.from_array(X, (BLOCK_ROWS, 20)), da.from_array(y, BLOCK_ROWS), X[:2000]


@contextlib.contextmanager
def two_workers():
    """A client of two workers that are processes."""
    with (
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            dashboard_address=":0",
            silence_logs=logging.CRITICAL,
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        client.wait_for_workers(2, timeout=120)
        yield client


def fit_and_kill(client, model, delay, rng):
    """Return the fitted model, and whether a worker was killed while it was fitted."""
    X, y, some = rows()
    # Workers import what they need before time is measured.
    clone(model).fit(X[:BLOCK_ROWS], y[:BLOCK_ROWS])
    victim = rng.choice(sorted(client.run(os.getpid).values()))
    killed_at = []

    def kill():
        os.kill(victim, signal.SIGKILL)
        killed_at.append(time.monotonic())

    timer = threading.Timer(delay, kill)
    timer.start()
    try:
        fitted = clone(model).fit(X, y)
        end = time.monotonic()
    finally:
        timer.cancel()
        timer.join()
    was_lost = bool(killed_at) and killed_at[0] < end
    return np.asarray(fitted.decision_function(some)), was_lost


def disturb(name, n_losses, rng):
    """Return a row of results for one model."""
    X, y, some = rows()
    model = MODELS[name]
    with two_workers():
        clone(model).fit(X, y)
        start = time.monotonic()
        expected = np.asarray(clone(model).fit(X, y).decision_function(some))
        seconds = time.monotonic() - start
    n_lost, n_same, worst = 0, 0, 0.0
    for _ in range(MOST_TRIES):
        if n_lost == n_losses:
            break
        with two_workers() as client:
            found, was_lost = fit_and_kill(client, model, rng.uniform(0, seconds), rng)
        if was_lost:
            n_lost += 1
            n_same += np.array_equal(found, expected)
            worst = max(worst, float(np.abs(found - expected).max()))
    return {
        "model": name,
        "losses": n_lost,
        "same": n_same,
        "largest_difference": worst / float(np.abs(expected).max()),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--losses", type=int, default=5, help="of each model")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    rng = random.Random(args.seed)
    found = []
    for name in MODELS:
        found.append(disturb(name, args.losses, rng))
        print(found[-1], flush=True)
    _records.keep("lost_workers", seed=args.seed, rows=found)
    sys.exit(any(row["largest_difference"] > TOLERANCE for row in found))


if __name__ == "__main__":
    main()
