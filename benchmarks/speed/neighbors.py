# SPDX-License-Identifier: BSD-3-Clause
"""Exact nearest neighbours among rows that keep coming, beside static indexes.

1. A stream in batches of 500, each batch queried (k = floor(2 log2 t)) and then stored,
   against one static cKDTree of all rows, queried once with every row and the final k:
   as scipy builds it by default, which the bar is for, and with cells cut in halves.
2. Queries against all rows of sets with many features, beside scikit-learn's brute
   force, which leaves out ties and measures in another order.
3. Inserts, one row at a time and 500 at a time.
4. Growth with the number of rows, and what a second thread brings.

Features are scaled to [-1, 1]. One thread and CPU time unless it says otherwise. Sets
are read from the folder AUCMAX_DATA.
"""

import argparse
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np
from _timing import best_times, print_table
from scipy.spatial import cKDTree
from sklearn.neighbors import NearestNeighbors
from threadpoolctl import threadpool_limits

from aucmax.neighbors.auto import make_index

sys.path.insert(0, str(Path(__file__).parents[1]))
from _sets import problem
from sklearn.preprocessing import MinMaxScaler

BATCH = 500
STREAM_BAR, BRUTE_BAR, INSERT_BAR, THREADS_BAR = 1.0, 1.2, 20.0, 1.6


def load(name):
    X = MinMaxScaler((-1, 1)).fit_transform(problem(name).X)
    return X[np.random.default_rng(0).permutation(len(X))]


def n_nearest(t):
    return max(1, int(2 * np.log2(t)))


def stream(X, backend):
    index = make_index(X.shape[1], backend=backend)
    for low in range(0, len(X), BATCH):
        rows = X[low : low + BATCH]
        if low:
            index.query(rows, n_nearest(low))
        index.insert(rows)


def static(X, **options):
    tree = cKDTree(X, **options)
    for low in range(0, len(X), BATCH):
        tree.query(X[low : low + BATCH], n_nearest(len(X)))


def once(run):
    start = time.process_time()
    run()
    return time.process_time() - start


def print_streams(names, n_rows):
    rows = []
    for name in names:
        X = load(name)[:n_rows]
        runs = [
            *(partial(stream, X, backend) for backend in ("auto", "brute", "tree")),
            partial(static, X),
            partial(static, X, balanced_tree=False),
        ]
        with threadpool_limits(1):
            stream(X[:3000], "brute")
            stream(X[:3000], "tree")
            auto, brute, tree, balanced, midpoint = map(once, runs)
        rows.append(
            [
                name,
                len(X),
                auto,
                brute,
                tree,
                balanced,
                midpoint,
                auto / balanced,
                STREAM_BAR,
            ]
        )
    print("\nStreams, seconds")
    headers = ["data", "rows", "auto", "brute", "tree", "static", "static, halves"]
    print_table([*headers, "auto / static", "bar"], rows)


def print_brute(names, repeats):
    rows = []
    for name in names:
        X = load(name)
        k, queries = n_nearest(len(X)), X[:BATCH]
        index = make_index(X.shape[1])
        index.insert(X)
        peer = NearestNeighbors(n_neighbors=k, algorithm="brute").fit(X)
        runs = {
            "ours": partial(index.query, queries, k),
            "peer": partial(peer.kneighbors, queries),
        }
        for threads, clock in ((1, time.process_time), (2, time.perf_counter)):
            times = best_times(runs, repeats=repeats, threads=threads, clock=clock)
            micro = [1e6 * times[name] / BATCH for name in runs]
            rows.append(
                [name, *X.shape, threads, *micro, micro[0] / micro[1], BRUTE_BAR]
            )
    print("\nQueries against all rows, microseconds each; two threads: wall time")
    headers = ["data", "rows", "features", "threads", "ours", "scikit-learn"]
    print_table([*headers, "ratio", "bar"], rows)


def insert_seconds(X, backend, size):
    index = make_index(X.shape[1], backend=backend)
    start = time.process_time()
    for low in range(0, len(X), size):
        index.insert(X[low : low + size])
    return 1e6 * (time.process_time() - start) / len(X)


def print_inserts(n_rows):
    rows = []
    for d in (10, 22, 123):
        X = np.random.default_rng(0).uniform(-1, 1, size=(n_rows, d))
        for backend in ("brute", "tree"):
            insert_seconds(X[:3000], backend, 1)
            times = [insert_seconds(X, backend, size) for size in (1, BATCH)]
            rows.append([backend, n_rows, d, *times, INSERT_BAR])
    print("\nInserts, microseconds per row")
    headers = ["index", "rows", "features", "one by one", f"by {BATCH}", "bar"]
    print_table(headers, rows)


def print_growth(sizes, repeats):
    rows = []
    for d, n in sizes:
        X = np.random.default_rng(0).normal(size=(n, d))
        k, queries = n_nearest(n), X[:BATCH]
        times, memory = [], []
        for backend in ("brute", "tree"):
            index = make_index(d, backend=backend)
            index.insert(X)
            runs = {
                "many": partial(index.query, queries, k),
                "one": partial(index.query, queries[:1], k),
            }
            best = best_times(runs, repeats=repeats)
            times += [1e6 * best["many"] / BATCH, 1e6 * best["one"]]
            memory.append(index.memory_usage() / X.nbytes)
        rows.append([d, n, *times, *memory])
    print("\nGrowth, normal rows, microseconds per query; memory by that of the rows")
    headers = ["features", "rows", f"brute by {BATCH}", "one", f"tree by {BATCH}"]
    print_table([*headers, "one", "brute memory", "tree memory"], rows)


def sort_in_threads(values, threads):
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(np.sort, [values] * 4))


def print_threads(n_rows, repeats):
    rows = []
    for backend, d in (("brute", 22), ("brute", 123), ("tree", 4)):
        X = np.random.default_rng(0).normal(size=(n_rows, d))
        index = make_index(d, backend=backend)
        index.insert(X)
        runs = {"ours": partial(index.query, X[: 4 * BATCH], n_nearest(n_rows))}
        one, two = (
            best_times(runs, repeats=repeats, threads=threads, clock=time.perf_counter)[
                "ours"
            ]
            for threads in (1, 2)
        )
        rows.append([backend, n_rows, d, 1e3 * one, 1e3 * two, one / two, THREADS_BAR])
    # What two threads bring at all just now.
    values = np.random.default_rng(0).normal(size=1_000_000)
    runs = {n: partial(sort_in_threads, values, n) for n in (1, 2)}
    times = best_times(runs, repeats=repeats, clock=time.perf_counter)
    row = ["(np.sort)", len(values), "", 1e3 * times[1], 1e3 * times[2]]
    rows.append([*row, times[1] / times[2], ""])
    print("\nThreads, milliseconds of wall time; needs a quiet machine")
    headers = ["index", "rows", "features", "one", "two", "gain", "bar"]
    print_table(headers, rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer rows")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--rows", type=int, help="rows of the streams")
    parser.add_argument(
        "--only", choices=["stream", "brute", "insert", "growth", "threads"]
    )
    arguments = parser.parse_args()
    quick, repeats = arguments.quick, arguments.repeats
    names = ["ijcnn1"] if quick else ["ijcnn1", "magic04"]
    sizes = [(d, n) for d in (3, 10, 50) for n in (10_000, 100_000)]
    parts = {
        "stream": partial(
            print_streams, names, arguments.rows or (20_000 if quick else None)
        ),
        "brute": partial(print_brute, ["a9a", "usps"], repeats),
        "insert": partial(print_inserts, 20_000 if quick else 100_000),
        "growth": partial(
            print_growth, sizes if quick else [*sizes, (10, 1_000_000)], repeats
        ),
        "threads": partial(print_threads, 20_000 if quick else 100_000, repeats),
    }
    for name, run in parts.items():
        if arguments.only in (None, name):
            run()


if __name__ == "__main__":
    main()
