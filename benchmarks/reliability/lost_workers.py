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


def rows():
    X, y = make_classification(N_ROWS, 20, weights=[0.9], random_state=0)
    return da.from_array(X, (BLOCK_ROWS, 20)), da.from_array(y, BLOCK_ROWS), X[:2000]


def wait_for_two(client):
    """Return the process ids of two workers that answer."""
    for _ in range(600):
        # The scheduler may still count one that was killed.
        with contextlib.suppress(OSError):
            pids = sorted(client.run(os.getpid).values())
            if len(pids) == 2:
                return pids
        time.sleep(0.2)
    raise RuntimeError("The cluster has not started a worker again.")


def fit_and_kill(client, model, delay, rng):
    """Return the fitted model, and whether a worker was killed while it was fitted."""
    X, y, _ = rows()
    victim = rng.choice(wait_for_two(client))
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
    return fitted, bool(killed_at) and killed_at[0] < end


def disturb(client, name, n_losses, rng):
    """Return a row of results for one model."""
    X, y, some = rows()
    model = MODELS[name]
    clone(model).fit(X, y)
    start = time.monotonic()
    expected = clone(model).fit(X, y).decision_function(some)
    seconds = time.monotonic() - start
    n_lost, n_same, worst = 0, 0, 0.0
    for _ in range(MOST_TRIES):
        if n_lost == n_losses:
            break
        fitted, was_lost = fit_and_kill(client, model, rng.uniform(0, seconds), rng)
        if was_lost:
            found = fitted.decision_function(some)
            n_lost += 1
            n_same += np.array_equal(found, expected)
            worst = max(worst, float(np.abs(found - expected).max()))
    largest = float(np.abs(expected).max())
    return {
        "model": name,
        "losses": n_lost,
        "same": n_same,
        "largest_difference": worst / largest,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--losses", type=int, default=5, help="of each model")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    rng = random.Random(args.seed)
    found = []
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
        for name in MODELS:
            found.append(disturb(client, name, args.losses, rng))
            print(found[-1], flush=True)
    _records.keep("lost_workers", seed=args.seed, rows=found)
    sys.exit(any(row["largest_difference"] > 1e-9 for row in found))


if __name__ == "__main__":
    main()
