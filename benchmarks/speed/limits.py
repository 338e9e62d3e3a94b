# SPDX-License-Identifier: BSD-3-Clause
"""What this machine can do, and how near to it our loops are.

First the machine: reading, copying, products of matrices, sorting, reading in random
order. Then loops of ours beside what they cannot do without: a loss of all pairs beside
the sort in it, the exact AUC beside sorting the scores of each class, one pass of a
solver over sparse rows beside reading their entries, and nearest neighbours beside
the product of matrices that their distances are. Dense passes, fits, embeddings and
moments are held against their limits in ``products.py``, ``linear_limits.py``,
``embedding.py`` and ``opauc.py``.
CPU time of one thread, except where it says two: then wall time.
"""

import os
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import _suite
import numba
import numpy as np
from _data import draw_frequent
from _reading import fastest, read, readers
from _timing import take_turns

from aucmax._kernels.order import argsort
from aucmax.design import LocalDesign
from aucmax.losses import Hinge, SquaredHinge
from aucmax.metrics import StreamingAUC, roc_auc
from aucmax.neighbors.auto import make_index

REPEATS = 5
# Much more than the last cache holds.
BIG_BYTES = 400 * 2**20


def measurements(*, quick=False):
    yield from memory(quick=quick)
    yield from products(quick=quick)
    yield from sorting(quick=quick)
    yield from score_loops(quick=quick)
    yield from sparse_passes(quick=quick)
    yield from neighbours(quick=quick)


def rate(turns, name, amount, **rest):
    """Return what is done per second: the greatest, and those of all turns."""
    rates = [amount / seconds for seconds in turns[name]]
    return _suite.absolute(max(rates), rates, what=name, **rest)


def memory(*, quick):
    n = (2**20 if quick else BIG_BYTES) // 8
    a, b, out = np.ones(n), np.ones(n), np.zeros(n)
    picked = np.random.default_rng(0).integers(0, n, size=n // 16)
    kinds = {
        "copy": (partial(np.copyto, out, a), 2 * a.nbytes),
        "triad": (partial(triad, a, b, out), 3 * a.nbytes),
    }
    where = f"{a.nbytes / 2**20:.0f} MB of float64"
    runs = {name: run for name, (run, _) in kinds.items()}
    turns = take_turns(readers([a.reshape(-1, 1024)]) | runs, repeats=REPEATS)
    turns["read"], _ = fastest(turns)
    yield rate(turns, "read", a.nbytes / 1e9, where=where, unit="GB/s")
    for name, (_, n_bytes) in kinds.items():
        yield rate(turns, name, n_bytes / 1e9, where=where, unit="GB/s")
    if has_two_cores():
        name = "read, two threads"
        turns = take_turns(
            {name: partial(two_threads, a)}, repeats=REPEATS, clock=time.perf_counter
        )
        yield rate(turns, name, a.nbytes / 1e9, where=where, unit="GB/s")
    else:
        _suite.leave_out("This process has one core: nothing runs in two threads.")
    name = "read in random order"
    turns = take_turns({name: partial(np.take, a, picked)}, repeats=REPEATS)
    where = f"values of {where}"
    yield rate(turns, name, len(picked) / 1e6, where=where, unit="million/s")


def has_two_cores():
    affinity = getattr(os, "sched_getaffinity", None)
    return (len(affinity(0)) if affinity else os.cpu_count()) > 1


@numba.njit(nogil=True)
def triad(a, b, out):
    for i in range(a.shape[0]):
        out[i] = a[i] + 3.0 * b[i]


def two_threads(a):
    with ThreadPoolExecutor(2) as pool:
        return sum(pool.map(read, np.array_split(a, 2)))


def products(*, quick):
    n, d = (256, 64) if quick else (8192, 1600)
    for dtype in (np.float64, np.float32):
        for inner in (d, 54):
            A = np.ones((n, inner), dtype)
            B = np.ones((inner, d), dtype)
            out = np.empty((n, d), dtype)
            for threads, clock in ((1, time.process_time), (2, time.perf_counter)):
                if threads == 2 and not has_two_cores():
                    continue
                name = "matrix product" + (", two threads" if threads == 2 else "")
                turns = take_turns(
                    {name: partial(np.matmul, A, B, out=out)},
                    repeats=1 if quick else 3,
                    threads=threads,
                    clock=clock,
                )
                where = f"{n} x {inner} x {d}, {np.dtype(dtype).name}"
                amount = 2e-9 * n * inner * d
                yield rate(turns, name, amount, where=where, unit="GFLOP/s")


def sorting(*, quick):
    rng = np.random.default_rng(0)
    for power in (4,) if quick else (5, 6, 7):
        for dtype in (np.float64, np.float32):
            values = rng.standard_normal(10**power).astype(dtype)
            turns = take_turns(
                {
                    "np.sort": partial(np.sort, values),
                    "np.argsort": partial(np.argsort, values),
                },
                repeats=REPEATS if power < 7 else 2,
                warm_up=power < 7,
            )
            for name in turns:
                where = f"{10**power:,} of {np.dtype(dtype).name}"
                yield rate(turns, name, 10**power / 1e6, where=where, unit="million/s")


def score_loops(*, quick):
    rng = np.random.default_rng(0)
    for n in (10_000,) if quick else (100_000, 1_000_000):
        is_pos = rng.random(n) < 0.1
        scores = rng.standard_normal(n) + is_pos
        weight = np.ones(n)
        pos, neg = scores[is_pos], scores[~is_pos]
        ours = {
            "SquaredHinge.evaluate": partial(
                SquaredHinge().evaluate, scores, is_pos, weight
            ),
            "Hinge.evaluate": partial(Hinge().evaluate, scores, is_pos, weight),
            "roc_auc": partial(roc_auc, is_pos, scores),
            "StreamingAUC, one batch": partial(one_batch, is_pos.astype(int), scores),
        }
        limits = {
            "np.argsort of the scores": partial(np.argsort, scores),
            "our argsort of the scores": partial(argsort, scores),
            "np.sort of each class": lambda p=pos, q=neg: (np.sort(p), np.sort(q)),
        }
        turns = take_turns(ours | limits, repeats=2 if quick else REPEATS)
        for name in ours:
            # Our losses sort in a quicker way than numpy does.
            sorts = [limit for limit in limits if "argsort" in limit]
            for limit in ["np.sort of each class"] if name == "roc_auc" else sorts:
                yield _suite.ratio(
                    turns,
                    name,
                    limit,
                    where=f"{n:,} scores, 10 % positives",
                    kind="limit",
                )


def one_batch(y, scores):
    return StreamingAUC().update(y, scores).auc


def sparse_passes(*, quick):
    """X @ w and X.T @ u of CSR rows beside reading their values and columns once."""
    shapes = {"as w8a": (50_000, 300, 12), "as text": (20_000, 47_000, 73)}
    for label, (n, d, per_row) in shapes.items():
        n = 2_000 if quick else 4 * n
        rng = np.random.default_rng(0)
        X = draw_frequent(n, d, per_row, rng)
        coef, vector = rng.standard_normal(d), rng.standard_normal(n)
        design = LocalDesign(X)
        turns = take_turns(
            {
                "CSR scores": partial(design.scores, coef),
                "CSR adjoint": partial(design.adjoint, vector),
                **readers([X.data, X.indices]),
            },
            repeats=2 if quick else REPEATS,
        )
        turns["reading"], _ = fastest(turns)
        where = f"{label}: {n:,} x {d:,}, {per_row} entries per row"
        for name in ("CSR scores", "CSR adjoint"):
            yield _suite.ratio(
                turns,
                name,
                "reading",
                where=where,
                against="reading values and columns",
                kind="limit",
            )


def neighbours(*, quick):
    """All rows compared: a query is one row of a product of matrices."""
    n, n_asked, d, k = (2_000, 100, 123, 20) if quick else (30_000, 500, 123, 30)
    rows = np.random.default_rng(0).standard_normal((n, d))
    asked = rows[:n_asked].copy()
    index = make_index(d, backend="brute")
    index.insert(rows)
    columns = np.ascontiguousarray(rows.T)
    out = np.empty((n_asked, n))
    narrow = asked.astype(np.float32), columns.astype(np.float32)
    out32 = out.astype(np.float32)
    turns = take_turns(
        {
            "query": partial(index.query, asked, k),
            "product of matrices, float64": partial(np.matmul, asked, columns, out=out),
            "product of matrices, float32": partial(np.matmul, *narrow, out=out32),
        },
        repeats=2 if quick else REPEATS,
    )
    for dtype in ("float64", "float32"):
        yield _suite.ratio(
            turns,
            "query",
            f"product of matrices, {dtype}",
            per=n_asked,
            unit="us per query",
            what="exact neighbours, all rows compared",
            where=f"{n:,} rows of {d} features, {k} nearest",
            kind="limit",
        )


if __name__ == "__main__":
    _suite.main(measurements)
