# SPDX-License-Identifier: BSD-3-Clause
"""OPAUC beside the machine's limits, in batches of 1,000 rows through ``partial_fit``.

A row of ``solver="gradient"`` needs one product of a matrix with a vector, whose
fastest of several forms is the limit; River's logistic regression does far less per
row. A row of ``solver="exact"`` needs as many multiplications as one row of a product
of matrices of the same shape. One thread and CPU time; two threads: wall time.
"""

import time

import _river
import _suite
import numba
import numpy as np
from _growth import growth
from _timing import best_times, take_turns

from aucmax import OPAUC

N_ROWS = 1000
FASTMATH = {"reassoc", "contract", "nsz"}
# Features, and the ratio to stay below.
GRADIENT_BARS = {54: 2.0, 123: 2.0, 300: 1.7, 800: 1.7}
RIVER_BAR = 0.15
# Half the rate of a product of matrices.
EXACT_SIZES, EXACT_BAR = (300, 800, 2000), 2.0
# Of the exponent of the cost of one row, over the rows seen before it.
SEEN, QUICK_SEEN, SEEN_BAR = (10_000, 100_000, 1_000_000), (10_000, 20_000), 0.1


def measurements(*, quick=False):
    repeats = 2 if quick else 15
    for d, bar in list(GRADIENT_BARS.items())[: 2 if quick else None]:
        yield beside_product(d, bar, repeats)
    yield from beside_river(repeats)
    yield after_many_rows(QUICK_SEEN if quick else SEEN)
    for d in EXACT_SIZES[: 1 if quick else None]:
        yield from beside_matrix_product(d, repeats)


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


def beside_product(d, bar, repeats):
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
    fastest = min(runs, key=best_times(runs, repeats=repeats).get)
    runs = {"ours": lambda: model.partial_fit(X, y), "limit": runs[fastest]}
    turns = take_turns(runs, repeats=repeats)
    turns["limit"] = [seconds * N_ROWS / n for seconds in turns["limit"]]
    return _suite.ratio(
        turns,
        "ours",
        "limit",
        what='OPAUC(solver="gradient"), a row',
        where=f"{d} features",
        against="product of a matrix with a vector",
        kind="limit",
        unit="us per row",
        per=N_ROWS,
        bar=bar,
        goal=9,
        details={"form of the product": fastest.replace("_", " ")},
    )


def beside_river(repeats):
    if not _river.is_there():
        return
    X, y, _ = draw(54)
    model = OPAUC(solver="gradient").partial_fit(X, y)
    runs = {
        "ours": lambda: model.partial_fit(X, y),
        "river": _river.River(X, y).learn,
    }
    yield _suite.ratio(
        take_turns(runs, repeats=repeats),
        "ours",
        "river",
        what='OPAUC(solver="gradient"), a row',
        where="54 features",
        against=_river.RIVER,
        kind="peer",
        unit="us per row",
        per=N_ROWS,
        bar=RIVER_BAR,
        goal=9,
    )


def after_many_rows(seen):
    X, y, _ = draw(54, 10_000)
    model = OPAUC(solver="gradient")
    curve = []
    for n_seen in seen:
        while getattr(model, "n_samples_seen_", 0) < n_seen:
            model.partial_fit(X, y)
        seconds = []
        for _ in range(100):
            start = time.process_time()
            model.partial_fit(X[:N_ROWS], y[:N_ROWS])
            seconds.append(time.process_time() - start)
        curve.append((n_seen, 1e6 * min(seconds) / N_ROWS))
    return growth(
        curve,
        what='OPAUC(solver="gradient"), a row, in the rows seen before',
        where="54 features",
        grows="rows seen before",
        unit="us per row",
        bar=SEEN_BAR,
    )


def beside_matrix_product(d, repeats):
    X, y, _ = draw(d)
    model = OPAUC().partial_fit(X, y)
    columns, out = X.T.copy(), np.empty((d, d))
    runs = {
        "ours": lambda: model.partial_fit(X, y),
        "product": lambda: np.dot(columns, X, out=out),
    }
    for threads in (1, 2):
        turns = take_turns(
            runs,
            repeats=min(repeats, 7),
            threads=threads,
            clock=time.process_time if threads == 1 else time.perf_counter,
        )
        yield _suite.ratio(
            turns,
            "ours",
            "product",
            what="OPAUC(), a row",
            where=f"{d:,} features" + (", two threads" if threads == 2 else ""),
            against="GEMM of the batch with itself",
            kind="limit",
            unit="us per row",
            per=N_ROWS,
            bar=EXACT_BAR,
        )


if __name__ == "__main__":
    _suite.main(measurements)
