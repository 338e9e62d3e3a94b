# SPDX-License-Identifier: BSD-3-Clause
"""OPAUC beside the machine's limits, in batches of 1,000 rows through ``partial_fit``.

A row of ``solver="gradient"`` needs one product of a matrix with a vector, whose
fastest of several forms is the limit; River's logistic regression, which does far less
per row, is shown where it is installed. A row of ``solver="exact"`` needs as many
multiplications as one row of a product of matrices of the same shape.
"""

import argparse
import time

import numba
import numpy as np
from _timing import best_times, print_table

from aucmax import OPAUC

N_ROWS = 1000
FASTMATH = {"reassoc", "contract", "nsz"}
# Features, and the ratio to stay below.
GRADIENT_BARS = {54: 2.0, 123: 2.0, 300: 1.7, 800: 1.7}
RIVER_BAR = 0.15
# Share of the rate of a product of matrices to stay above.
EXACT_BAR = 0.5


@numba.njit(nogil=True, fastmath=FASTMATH)
def by_one_row(pair, vector, out, n):
    d = len(vector)
    for t in range(n):
        matrix = pair[t % 2]
        for i in range(d):
            total = 0.0
            for j in range(d):
                total += matrix[i, j] * vector[j]
            out[i] = total


@numba.njit(nogil=True, fastmath=FASTMATH)
def by_four_rows(pair, vector, out, n):
    d = len(vector)
    for t in range(n):
        matrix = pair[t % 2]
        for i in range(0, d - d % 4, 4):
            one, two, three, four = 0.0, 0.0, 0.0, 0.0
            for j in range(d):
                v = vector[j]
                one += matrix[i, j] * v
                two += matrix[i + 1, j] * v
                three += matrix[i + 2, j] * v
                four += matrix[i + 3, j] * v
            out[i], out[i + 1], out[i + 2], out[i + 3] = one, two, three, four
        for i in range(d - d % 4, d):
            total = 0.0
            for j in range(d):
                total += matrix[i, j] * vector[j]
            out[i] = total


@numba.njit(nogil=True, fastmath=FASTMATH)
def by_four_columns(pair, vector, out, n):
    d = len(vector)
    for t in range(n):
        matrix = pair[t % 2]
        for j in range(d):
            out[j] = 0.0
        for i in range(0, d - d % 4, 4):
            one, two, three, four = vector[i : i + 4]
            for j in range(d):
                out[j] += (matrix[i, j] * one + matrix[i + 1, j] * two) + (
                    matrix[i + 2, j] * three + matrix[i + 3, j] * four
                )
        for i in range(d - d % 4, d):
            for j in range(d):
                out[j] += matrix[i, j] * vector[i]


def by_blas(pair, vector, out, n):
    for t in range(n):
        np.dot(pair[t % 2], vector, out=out)


LIMITS = [by_one_row, by_four_rows, by_four_columns, by_blas]


def draw(d, n=N_ROWS):
    rng = np.random.default_rng(0)
    return rng.normal(size=(n, d)), rng.random(n) < 0.3, rng


def gradient(repeats):
    rows = [[d, *gradient_steps(d, repeats), bar] for d, bar in GRADIENT_BARS.items()]
    print("Gradient steps, microseconds per row, one thread")
    print_table(["features", "ours", "product", "its form", "ratio", "bar"], rows)


def gradient_steps(d, repeats):
    X, y, rng = draw(d)
    pair = rng.normal(size=(2, d, d))
    pair += pair.transpose(0, 2, 1).copy()
    vector, out = rng.normal(size=d), np.empty(d)
    # A turn of each lasts about as long.
    n = min(N_ROWS, max(100, 10**7 // d**2))
    model = OPAUC(solver="gradient").partial_fit(X, y)
    runs = {
        limit.__name__: lambda limit=limit: limit(pair, vector, out, n)
        for limit in LIMITS
    }
    runs["ours"] = lambda: model.partial_fit(X, y)
    times = best_times(runs, repeats=repeats)
    ours = times.pop("ours") / N_ROWS
    fastest = min(times, key=times.get)
    limit = times[fastest] / n
    return 1e6 * ours, 1e6 * limit, fastest, ours / limit


def river(repeats):
    try:
        from river import linear_model
    except ImportError:
        print("\nRiver is not installed: not compared.")
        return
    X, y, _ = draw(54)
    model = OPAUC(solver="gradient").partial_fit(X, y)
    peer = linear_model.LogisticRegression()
    records = [dict(enumerate(row)) for row in X.tolist()]
    labels = y.tolist()

    def learn():
        for record, label in zip(records, labels, strict=True):
            peer.learn_one(record, label)

    runs = {"ours": lambda: model.partial_fit(X, y), "river": learn}
    times = best_times(runs, repeats=repeats)
    print("\nAgainst River's LogisticRegression.learn_one, 54 features, us per row")
    ours, theirs = 1e6 * times["ours"] / N_ROWS, 1e6 * times["river"] / N_ROWS
    print_table(
        ["ours", "river", "ratio", "bar"], [[ours, theirs, ours / theirs, RIVER_BAR]]
    )


def growth(repeats):
    X, y, _ = draw(54, 10_000)
    model = OPAUC(solver="gradient")
    rows = []
    for n_seen in (10_000, 100_000, 1_000_000):
        while getattr(model, "n_samples_seen_", 0) < n_seen:
            model.partial_fit(X, y)
        seconds = np.inf
        for _ in range(10 * repeats):
            start = time.process_time()
            model.partial_fit(X[:N_ROWS], y[:N_ROWS])
            seconds = min(seconds, time.process_time() - start)
        rows.append([n_seen, 1e6 * seconds / N_ROWS])
    print("\nAfter many rows, 54 features")
    print_table(["rows before", "us per row"], rows)


def exact(repeats):
    rows = []
    for d in (300, 800, 2000):
        X, y, _ = draw(d)
        model = OPAUC().partial_fit(X, y)
        columns, out = X.T.copy(), np.empty((d, d))
        runs = {
            "ours": lambda model=model, X=X, y=y: model.partial_fit(X, y),
            "product": lambda c=columns, X=X, out=out: np.dot(c, X, out=out),
        }
        for threads in (1, 2):
            times = best_times(
                runs, repeats=repeats, threads=threads, clock=time.perf_counter
            )
            rates = [N_ROWS * d**2 / times[key] / 1e9 for key in runs]
            rows.append([d, threads, *rates, rates[0] / rates[1], EXACT_BAR])
    print("\nMoments of 'exact', 1e9 multiplications and additions per second")
    print_table(["features", "threads", "ours", "product", "share", "bar"], rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=20)
    repeats = parser.parse_args().repeats
    for part in (gradient, river, growth, exact):
        part(repeats)


if __name__ == "__main__":
    main()
