# SPDX-License-Identifier: BSD-3-Clause
"""Exact nearest neighbours among rows that keep coming, beside static indexes.

1. A stream in batches of 500, each batch queried (k = floor(2 log2 t)) and then stored,
   against one static cKDTree of all rows, queried once with every row and the final k:
   as scipy builds it by default, which the bar is for, and with cells cut in halves.
2. Queries against all rows of sets with many features, beside scikit-learn's brute
   force, which leaves out ties and measures in another order.
3. Inserts, one row at a time and 500 at a time.
4. Growth with the number of rows, and what a second thread brings.

Features are scaled to [-1, 1]. One thread and CPU time; two threads: wall time.
"""

import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import _suite
import numpy as np
from _data import load
from _growth import growth
from _timing import take_turns
from scipy import sparse
from scipy.spatial import cKDTree
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import MinMaxScaler

from aucmax.neighbors.auto import make_index

BATCH = 500
STREAM_BAR, BRUTE_BAR, INSERT_BAR, THREADS_BAR = 1.0, 1.2, 20.0, 1 / 1.6
# Rows of a stream: the static tree of all 141,691 of ijcnn1 takes more than a minute.
MAX_STREAM = 50_000
STREAMS, WIDE = ("ijcnn1", "magic04"), ("a9a", "usps80")
# Features of drawn rows, and how many rows.
INSERT_FEATURES, INSERT_ROWS = (10, 22, 123), 100_000
GROWTH_ROWS = {3: (10_000, 100_000), 10: (10_000, 100_000, 1_000_000)}
THREADED, THREADED_ROWS = (("brute", 22), ("brute", 123), ("tree", 4)), 100_000


def measurements(*, quick=False):
    repeats = 1 if quick else 3
    few = slice(1 if quick else None)
    for name in STREAMS[few]:
        yield from streams(*scaled(name, quick))
    for name in WIDE[few]:
        yield from wide(*scaled(name, quick), repeats)
    for d in INSERT_FEATURES[few]:
        yield from inserts(d, 2_000 if quick else INSERT_ROWS)
    for d, sizes in list(GROWTH_ROWS.items())[few]:
        yield from in_rows(d, (1_000, 2_000) if quick else sizes, repeats)
    for backend, d in THREADED[few]:
        yield threads(backend, d, 2_000 if quick else THREADED_ROWS, repeats)


def scaled(name, quick):
    data = load(name, standardise=False, quick=quick)
    X = sparse.vstack([data.X, data.X_test]).toarray()
    X = MinMaxScaler((-1, 1)).fit_transform(X)
    return data.name, X[np.random.default_rng(0).permutation(len(X))]


def n_nearest(t):
    return max(1, int(2 * np.log2(t)))


def stream(X):
    index = make_index(X.shape[1])
    for low in range(0, len(X), BATCH):
        rows = X[low : low + BATCH]
        if low:
            index.query(rows, n_nearest(low))
        index.insert(rows)


def static(X, **options):
    tree = cKDTree(X, **options)
    for low in range(0, len(X), BATCH):
        tree.query(X[low : low + BATCH], n_nearest(len(X)))


def streams(name, X):
    X = X[:MAX_STREAM]
    stream(X[:3000])
    # A tree cannot grow: it has all rows at once, and is asked for more neighbours.
    asked = "asked for all rows with the final k"
    bars = {
        f"static cKDTree, {asked}": STREAM_BAR,
        f"static cKDTree(balanced_tree=False), {asked}": None,
    }
    default, halves = bars
    turns = take_turns(
        {
            "ours": partial(stream, X),
            default: partial(static, X),
            halves: partial(static, X, balanced_tree=False),
        },
        repeats=1,
        warm_up=False,
    )
    for against, bar in bars.items():
        yield _suite.ratio(
            turns,
            "ours",
            against,
            what="neighbours in a stream",
            where=f"{name}, {len(X):,} x {X.shape[1]}",
            kind="peer",
            bar=bar,
        )


def wide(name, X, repeats):
    k, queries = n_nearest(len(X)), X[:BATCH]
    index = make_index(X.shape[1])
    index.insert(X)
    peer = NearestNeighbors(n_neighbors=k, algorithm="brute").fit(X)
    runs = {
        "ours": partial(index.query, queries, k),
        "scikit-learn brute force": partial(peer.kneighbors, queries),
    }
    where = f"{name}, {len(X):,} x {X.shape[1]}"
    for n_threads, clock in ((1, time.process_time), (2, time.perf_counter)):
        yield _suite.ratio(
            take_turns(runs, repeats=repeats, threads=n_threads, clock=clock),
            "ours",
            "scikit-learn brute force",
            what="neighbours of a row",
            where=where if n_threads == 1 else f"{where}, two threads",
            kind="peer",
            unit="us per query",
            per=BATCH,
            bar=BRUTE_BAR,
        )


def inserts(d, n_rows):
    X = np.random.default_rng(0).uniform(-1, 1, size=(n_rows, d))
    for backend in ("brute", "tree"):
        insert_micros(X[:2000], backend, 1)
        one, many = (insert_micros(X, backend, size) for size in (1, BATCH))
        yield _suite.absolute(
            one,
            what=f"insert of one row, {backend}",
            where=f"{n_rows:,} x {d}",
            unit="us per row",
            bar=INSERT_BAR,
            details={f"by {BATCH}": round(many, 2)},
        )


def insert_micros(X, backend, size):
    index = make_index(X.shape[1], backend=backend)
    start = time.process_time()
    for low in range(0, len(X), size):
        index.insert(X[low : low + size])
    return 1e6 * (time.process_time() - start) / len(X)


def in_rows(d, sizes, repeats):
    for backend in ("brute", "tree"):
        curve, alone, memory = [], [], []
        for n in sizes:
            X = np.random.default_rng(0).normal(size=(n, d))
            k, queries = n_nearest(n), X[:BATCH]
            index = make_index(d, backend=backend)
            index.insert(X)
            runs = {
                "many": partial(index.query, queries, k),
                "one": partial(index.query, queries[:1], k),
            }
            turns = take_turns(runs, repeats=repeats)
            curve.append((n, 1e6 * min(turns["many"]) / BATCH))
            alone.append(round(1e6 * min(turns["one"])))
            memory.append(round(index.memory_usage() / X.nbytes, 2))
        yield growth(
            curve,
            what=f"neighbours of a row, {backend}, in n",
            grows="rows stored",
            where=f"normal rows of {d} features",
            unit="us per query",
            bar=1.1,
            details={"us in a call of its own": alone, "memory / rows": memory},
        )


def sort_in_threads(values, n_threads):
    with ThreadPoolExecutor(n_threads) as pool:
        list(pool.map(np.sort, [values] * 4))


def threads(backend, d, n_rows, repeats):
    X = np.random.default_rng(0).normal(size=(n_rows, d))
    index = make_index(d, backend=backend)
    index.insert(X)
    run = partial(index.query, X[: 4 * BATCH], n_nearest(n_rows))
    values = np.random.default_rng(0).normal(size=10 * n_rows)
    turns, sorting = {}, {}
    for n_threads in (1, 2):
        runs = {"ours": run, "sort": partial(sort_in_threads, values, n_threads)}
        found = take_turns(
            runs, repeats=repeats, threads=n_threads, clock=time.perf_counter
        )
        turns[n_threads], sorting[n_threads] = found["ours"], min(found["sort"])
    return _suite.ratio(
        turns,
        2,
        1,
        what=f"neighbours of many rows, {backend}, two threads",
        where=f"normal rows, {n_rows:,} x {d}",
        against="one thread",
        kind="own",
        bar=THREADS_BAR,
        # What two threads bring at all just now.
        details={"np.sort in two threads": round(sorting[2] / sorting[1], 2)},
    )


if __name__ == "__main__":
    _suite.main(measurements)
