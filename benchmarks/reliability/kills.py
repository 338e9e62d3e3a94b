# SPDX-License-Identifier: BSD-3-Clause
"""Kill fits with checkpoints, resume them, compare the models bit by bit.

    python benchmarks/reliability/kills.py

Every estimator with ``fit_stream`` takes part. Most kills wait for a new checkpoint, or
some, and then strike within milliseconds; the others strike at any time.
"""

import argparse
import copy
import multiprocessing
import random
import sys
import tempfile
import time
from pathlib import Path

import _records
import numpy as np
from sklearn.base import clone
from sklearn.datasets import make_classification

import aucmax
from aucmax import (
    KNNOAM,
    NBAUC,
    OAM,
    OILK,
    OPAUC,
    SOLAM,
    AdaOAM,
    LeastSquaresAUC,
    OnlineUnivariate,
    RankSVM,
)
from aucmax.io import Checkpoints, load, save
from aucmax.metrics import evaluate_stream

N_ROWS, BATCH_ROWS, N_COLUMNS = 24_000, 1000, 20
MODELS = {
    "OPAUC": OPAUC(),
    "OPAUC(solver='gradient')": OPAUC(solver="gradient"),
    "OPAUC(rank=5)": OPAUC(rank=5, random_state=0),
    "OPAUC(reduce='projection')": OPAUC(
        reduce="projection", n_components=3, random_state=0
    ),
    "AdaOAM": AdaOAM(),
    "OAM": OAM(random_state=0),
    "OAM(update='gradient')": OAM(update="gradient", random_state=0),
    "SOLAM(n_passes=2)": SOLAM(n_passes=2),
    "OnlineUnivariate": OnlineUnivariate(),
    "OILK": OILK(random_state=0),
    "KNNOAM": KNNOAM(random_state=0),
    "KNNOAM(reduce=OnlinePCA)": KNNOAM(reduce=aucmax.OnlinePCA(2), random_state=0),
    "LeastSquaresAUC": LeastSquaresAUC(),
    "RankSVM": RankSVM(alpha=1e-6, tol=1e-12),
    "NBAUC": NBAUC(60, gamma=0.02, alpha=1e-6, tol=1e-9, random_state=0),
}
TESTED = "evaluate_stream of OPAUC"
# So long a fit may take; one that is not killed and takes longer has failed.
PATIENCE = 300


def batches():
    X, y = make_classification(N_ROWS, N_COLUMNS, weights=[0.9], random_state=0)
    starts = range(0, N_ROWS, BATCH_ROWS)
    return [(X[k : k + BATCH_ROWS], y[k : k + BATCH_ROWS]) for k in starts]


def fit(name, checkpoint=None):
    if name != TESTED:
        return clone(MODELS[name]).fit_stream(batches(), checkpoint=checkpoint)
    model = OPAUC()
    for _ in evaluate_stream(model, batches(), checkpoint=checkpoint):
        pass
    return model


def work(name, folder, out):
    save(fit(name, Checkpoints(folder)), out)


def survive(name, n_kills, rng):
    """Return the kills, how many of them came after a checkpoint, and the model."""
    context = multiprocessing.get_context("forkserver")
    killed = after = 0
    with tempfile.TemporaryDirectory() as folder:
        kept, out = Path(folder, "kept"), Path(folder, "model.skops")
        kept.mkdir()
        while not out.exists():
            process = context.Process(target=work, args=(name, kept, out), daemon=True)
            process.start()
            if killed < n_kills:
                wait_for_moment(process, kept, rng, is_first=not killed)
            else:
                process.join(PATIENCE)
            is_alive = process.is_alive()
            process.kill()
            process.join()
            if is_alive:
                killed += 1
                after += bool(list(kept.glob("*.skops")))
            elif process.exitcode:
                raise RuntimeError(f"{name} failed with exit code {process.exitcode}")
            if out.exists() and killed < n_kills:
                # It was done before it was killed often enough: from the start again.
                for file in [out, *kept.iterdir()]:
                    file.unlink()
        return killed, after, load(out)


def wait_for_moment(process, kept, rng, *, is_first):
    """Return when it is time to kill, or the process has ended."""
    if is_first or rng.random() < 0.7:
        before = newest(kept)
        count = rng.randint(1, 4)
        while process.is_alive() and newest(kept) < before + count:
            time.sleep(0.001)
        process.join(rng.uniform(0, 0.02))
    else:
        process.join(rng.uniform(0, 1.5))


def newest(kept):
    numbers = [int(file.name[11:19]) for file in kept.glob("checkpoint-*.skops")]
    return max(numbers, default=0)


def is_same(model, whole):
    """Say whether scores are the same bits, also after both have learned more rows."""
    (X, y), *_ = batches()
    model, whole = copy.deepcopy(model), copy.deepcopy(whole)
    same = np.array_equal(model.decision_function(X), whole.decision_function(X))
    if hasattr(model, "partial_fit"):
        model.partial_fit(X, y)
        whole.partial_fit(X, y)
        same &= np.array_equal(model.decision_function(X), whole.decision_function(X))
    return bool(same)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=13, help="of each model")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", nargs="+", default=[*MODELS, TESTED])
    args = parser.parse_args()
    known = {type(model).__name__ for model in MODELS.values()}
    able = {n for n in aucmax.__all__ if hasattr(getattr(aucmax, n), "fit_stream")}
    if able - known:
        sys.exit(f"Not among the models: {', '.join(sorted(able - known))}.")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["aucmax.io.models", "aucmax", "skops.io", "numba"])
    rng = random.Random(args.seed)
    rows, failed = [], False
    for name in args.only:
        whole = fit(name)
        killed, after, model = survive(name, args.kills, rng)
        same = is_same(model, whole)
        failed |= not same
        rows.append(
            {"model": name, "kills": killed, "after_checkpoint": after, "same": same}
        )
        print(rows[-1], flush=True)
    if args.only == [*MODELS, TESTED]:
        _records.keep("kills", seed=args.seed, rows=rows)
    sys.exit(failed)


if __name__ == "__main__":
    main()
