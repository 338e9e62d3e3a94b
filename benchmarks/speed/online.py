# SPDX-License-Identifier: BSD-3-Clause
"""One row of the O(d) online learners beside scikit-learn's and River's.

Batches of 1,000 rows go through ``partial_fit``, validation included, of ours and of
``SGDClassifier(loss="log_loss")`` in turns, after 100,000 rows each; River's
``LogisticRegression`` learns the same rows from dicts made before. Last, our cost per
row after more and more rows. One thread, CPU time.
"""

import time

import _river
import _suite
import numpy as np
from _data import draw_frequent
from _growth import growth
from _timing import take_turns
from sklearn.linear_model import SGDClassifier

from aucmax import SOLAM, OnlineUnivariate

BATCH = 1000
# Batches given before the clock starts.
WARM_UP, QUICK_WARM_UP = 100, 3
RIVER_ROWS = 200
# Most time of ours over that of the peer.
SKLEARN_BAR, RIVER_BAR = 2.0, 0.02
# Of the exponent of the cost of one row, over the rows seen before it.
SEEN, QUICK_SEEN, SEEN_BAR = (10_000, 100_000, 1_000_000), (10_000, 20_000), 0.1
OURS = {
    "SOLAM": lambda: SOLAM(random_state=0),
    "OnlineUnivariate": lambda: OnlineUnivariate(random_state=0),
}


def measurements(*, quick=False):
    n = 5_000 if quick else 50_000
    for d in (54, 300):
        yield from beside_peers(
            f"{d} features", *draw_dense(n, d), with_river=d == 54, quick=quick
        )
    where = "CSR, 100 nonzeros of 50,000 features"
    yield from beside_peers(
        where, *draw_sparse(n, 50_000, 100), with_river=False, quick=quick
    )
    for name, make in OURS.items():
        yield after_many_rows(name, make(), *draw_dense(n, 54), quick=quick)


def draw_dense(n, d):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    score = X @ rng.standard_normal(d) / np.sqrt(d) + rng.standard_normal(n)
    return X, (score > 1).astype(int)


def draw_sparse(n, d, nnz):
    rng = np.random.default_rng(0)
    X = draw_frequent(n, d, nnz, rng)
    return X, (X @ rng.standard_normal(d) > 1).astype(int)


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


def beside_peers(where, X, y, *, with_river, quick):
    makers = OURS | {"SGDClassifier": lambda: SGDClassifier(loss="log_loss")}
    candidates = {name: feeder(make(), X, y) for name, make in makers.items()}
    for feed in candidates.values():
        for _ in range(QUICK_WARM_UP if quick else WARM_UP):
            feed()
    peers = {"SGDClassifier": ("scikit-learn SGDClassifier.partial_fit", SKLEARN_BAR)}
    with_river = with_river and _river.is_there()
    if with_river:
        candidates["River"] = _river.River(X[:RIVER_ROWS], y[:RIVER_ROWS]).learn
        peers["River"] = (_river.RIVER, RIVER_BAR)
    turns = take_turns(candidates, repeats=2 if quick else 9)
    if with_river:
        turns["River"] = [s * BATCH / RIVER_ROWS for s in turns["River"]]
    for name in OURS:
        for peer, (against, bar) in peers.items():
            yield _suite.ratio(
                turns,
                name,
                peer,
                what=f"{name}, a row",
                where=where,
                against=against,
                kind="peer",
                unit="ns per row",
                per=BATCH,
                bar=bar,
            )


def after_many_rows(name, model, X, y, *, quick):
    feed = feeder(model, X, y)
    curve = []
    for n_seen in QUICK_SEEN if quick else SEEN:
        while model.n_samples_seen_ < n_seen:
            feed()
        seconds = []
        for _ in range(2 if quick else 20):
            start = time.process_time()
            for _ in range(10):
                feed()
            seconds.append(time.process_time() - start)
        curve.append((n_seen, 1e9 * min(seconds) / (10 * BATCH)))
    return growth(
        curve,
        what=f"{name}, a row, in the rows seen before",
        where="54 features",
        grows="rows seen before",
        unit="ns per row",
        bar=SEEN_BAR,
    )


if __name__ == "__main__":
    _suite.main(measurements)
