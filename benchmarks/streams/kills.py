# SPDX-License-Identifier: BSD-3-Clause
"""Kill a fit with checkpoints at random moments, resume it, compare the models.

    python benchmarks/streams/kills.py --kills 50

Prints for each model how often it was killed, and whether the one that came out at the
end equals that of an uninterrupted fit, bit for bit.
"""

import argparse
import random
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from sklearn.base import clone
from sklearn.datasets import make_classification

from aucmax import NBAUC, OAM, OPAUC, SOLAM, LeastSquaresAUC, RankSVM
from aucmax.io import Checkpoints, load, save
from aucmax.metrics import evaluate_stream

N_ROWS, BATCH_ROWS = 60_000, 3000
MODELS = {
    "OPAUC": OPAUC(),
    "OPAUC, one by one": OPAUC(solver="gradient"),
    "SOLAM, two passes": SOLAM(n_passes=2),
    "OAM": OAM(random_state=0),
    "LeastSquaresAUC": LeastSquaresAUC(),
    "RankSVM": RankSVM(alpha=1e-6, tol=1e-12),
    "NBAUC": NBAUC(100, gamma=0.02, alpha=1e-6, tol=1e-6, random_state=0),
}
TESTED = "OPAUC, tested on each batch first"


def batches():
    X, y = make_classification(N_ROWS, 40, weights=[0.9], random_state=0)
    starts = range(0, N_ROWS, BATCH_ROWS)
    return [(X[k : k + BATCH_ROWS], y[k : k + BATCH_ROWS]) for k in starts]


def fit(name, checkpoint):
    if name != TESTED:
        return clone(MODELS[name]).fit_stream(batches(), checkpoint=checkpoint)
    model = OPAUC()
    for _ in evaluate_stream(model, batches(), checkpoint=checkpoint):
        pass
    return model


def work(name, folder, out):
    print("ready", flush=True)
    save(fit(name, Checkpoints(folder)), out)


def survive(name, n_kills, rng):
    """Return how often the fit was killed, and whether it made no difference."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "model.skops")
        command = [sys.executable, __file__, "--work", name, folder + "/kept", str(out)]
        n_killed = 0
        while not out.exists():
            process = subprocess.Popen(command, stdout=subprocess.PIPE)
            process.stdout.readline()
            try:
                limit = rng.uniform(0, 1.5) if n_killed < n_kills else None
                if process.wait(limit):
                    sys.exit(f"{name} failed.")
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGKILL)
                process.wait()
                n_killed += 1
        X = batches()[0][0]
        resumed, whole = load(out), fit(name, None)
        same = np.array_equal(resumed.decision_function(X), whole.decision_function(X))
        return n_killed, same


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=50, help="of all models together")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--work", nargs=3, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.work:
        work(*args.work)
        return
    rng = random.Random(args.seed)
    total, all_same = 0, True
    names = [*MODELS, TESTED]
    while total < args.kills:
        for name in names:
            n_killed, same = survive(name, min(7, args.kills - total), rng)
            total, all_same = total + n_killed, all_same and same
            print(f"{name}: killed {n_killed} times, same model: {same}", flush=True)
    print(f"{total} kills, {'all models the same' if all_same else 'DIFFERENCES'}")
    sys.exit(not all_same)


if __name__ == "__main__":
    main()
