# SPDX-License-Identifier: BSD-3-Clause
"""One row of the O(d) online learners beside scikit-learn's and River's.

Batches of 1,000 rows go through ``partial_fit``, validation included, of ours and of
``SGDClassifier(loss="log_loss")`` in turns, after 100,000 rows each; River's
``LogisticRegression`` learns the same rows from dicts made before. Last, our cost per
row after 100,000 and 1,000,000 rows. One thread, CPU time. River is left out where it
is not installed.
"""

import argparse
import time

import numpy as np
from _timing import best_times, print_table
from scipy import sparse
from sklearn.linear_model import SGDClassifier

from aucmax.estimators.online_univariate import OnlineUnivariate
from aucmax.estimators.solam import SOLAM

BATCH = 1000
WARM_UP = 100
# Most time of ours over that of the peer.
SKLEARN_BAR, RIVER_BAR = 2.0, 0.02
OURS = {
    "SOLAM": lambda: SOLAM(random_state=0),
    "OnlineUnivariate": lambda: OnlineUnivariate(random_state=0),
}


def draw_dense(n, d):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    y = (X @ rng.standard_normal(d) / np.sqrt(d) + rng.standard_normal(n) > 1).astype(
        int
    )
    return X, y


def draw_sparse(n, d, nnz):
    rng = np.random.default_rng(0)
    # Frequent features first, as words are.
    columns = (d * rng.random((n, nnz)) ** 3).astype(np.int32)
    values = rng.random((n, nnz))
    rows = np.repeat(np.arange(n), nnz)
    X = sparse.csr_matrix((values.ravel(), (rows, columns.ravel())), shape=(n, d))
    y = (X @ rng.standard_normal(d) > 1).astype(int)
    return X, y


def feeder(model, X, y):
    """Return a function that gives the model its next batch; the first is given now."""
    model.partial_fit(X[:BATCH], y[:BATCH], classes=[0, 1])
    n_batches = X.shape[0] // BATCH
    batches = [slice(k * BATCH, (k + 1) * BATCH) for k in range(n_batches)]
    # Slices of CSR matrices are copies, whose cost is not the learner's.
    parts = [(X[part], y[part]) for part in batches]
    state = [0]

    def feed():
        state[0] = (state[0] + 1) % n_batches
        model.partial_fit(*parts[state[0]])

    return feed


def river_feeder(X, y, n=200):
    try:
        from river import linear_model
    except ImportError:
        return None
    names = [f"f{j}" for j in range(X.shape[1])]
    rows = [dict(zip(names, row, strict=True)) for row in X[:n].tolist()]
    labels = [bool(label) for label in y[:n]]
    model = linear_model.LogisticRegression()

    def feed():
        for row, label in zip(rows, labels, strict=True):
            model.learn_one(row, label)

    return feed, n


def compare(label, X, y, *, with_river):
    makers = OURS | {"SGDClassifier": lambda: SGDClassifier(loss="log_loss")}
    candidates = {name: feeder(make(), X, y) for name, make in makers.items()}
    for feed in candidates.values():
        for _ in range(WARM_UP):
            feed()
    n_rows = dict.fromkeys(candidates, BATCH)
    river = river_feeder(X, y) if with_river else None
    if river is not None:
        candidates["River"], n_rows["River"] = river
    seconds = best_times(candidates, repeats=9)
    per_row = {name: 1e9 * seconds[name] / n_rows[name] for name in candidates}
    for name in candidates:
        is_ours = name in OURS
        ratio = per_row[name] / per_row["SGDClassifier"]
        river_ratio = per_row[name] / per_row["River"] if river else "-"
        bars = (SKLEARN_BAR, RIVER_BAR if river else "-") if is_ours else ("-", "-")
        yield label, name, per_row[name], ratio, bars[0], river_ratio, bars[1]


def growth(X, y):
    for name, make in OURS.items():
        model = make()
        feed = feeder(model, X, y)
        for n_before in (100_000, 1_000_000):
            while model.n_samples_seen_ < n_before:
                feed()
            best = np.inf
            for _ in range(20):
                start = time.process_time()
                for _ in range(10):
                    feed()
                best = min(best, time.process_time() - start)
            yield name, n_before, 1e9 * best / (10 * BATCH)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer rows")
    args = parser.parse_args()
    n = 10_000 if args.quick else 50_000
    table = []
    for d in (54, 300):
        table += compare(f"dense {d}", *draw_dense(n, d), with_river=d == 54)
    rows = draw_sparse(n, 50_000, 100)
    table += compare("CSR 50,000, 100 nonzeros", *rows, with_river=False)
    if not any(row[1] == "River" for row in table):
        print("River is not installed and left out: pip install river.")
    headers = ("rows", "learner", "ns / row", "to SGD", "bar", "to River", "bar")
    print_table(headers, table)
    print()
    print_table(
        ("learner, d = 54", "after rows", "ns / row"), growth(*draw_dense(n, 54))
    )


if __name__ == "__main__":
    main()
