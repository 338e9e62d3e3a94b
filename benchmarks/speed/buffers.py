# SPDX-License-Identifier: BSD-3-Clause
"""Time per row of the methods that keep a buffer, beside bare reads of that buffer.

A row of OAM is compared with all N buffered rows of the other class, so its limit is
one read of N rows of d values; one of OILK with the 2 N of both classes, and it reads
half of their 2 N x 2 N kernel values. The limit is the time of a bare sum over as many
values, in the cache. In the sequential form every pair with a loss also reads and
writes the weights. "no relation" has labels that nothing can be learned from, so that
almost all pairs have one. One thread, CPU time.
"""

from functools import partial

import _suite
import numba
import numpy as np
from _timing import take_turns
from scipy import sparse

from aucmax.solvers.online.oam import OAMLearner, SparseOAMLearner
from aucmax.solvers.online.oilk import OILKLearner

N = 100
N_ROWS = 500
# Features, and the ratio to stay below. With few features the loop over pairs itself
# takes longer than reading them.
DENSE_BARS = {10: None, 22: None, 123: 6, 1000: 4}
# Features and nonzeros of a row.
SPARSE = [(123, 14), (62_061, 80)]


def measurements(*, quick=False):
    repeats = 1 if quick else 5
    for d, bar in list(DENSE_BARS.items())[: 1 if quick else None]:
        yield from dense(d, bar, repeats)
    for d, n_nonzero in SPARSE[: 1 if quick else None]:
        yield from in_csr(d, n_nonzero, repeats)


@numba.njit(nogil=True, fastmath=True)
def read(values, n_times):
    total = 0.0
    for _ in range(n_times):
        for i in range(values.shape[0]):
            total += values[i]
        values[0] = total * 0.0
    return total


def dense(d, bar, repeats):
    rng = np.random.default_rng(0)
    X, is_pos = rng.normal(size=(N_ROWS, d)), rng.random(N_ROWS) < 0.5
    for label, shift in (("no relation", 0.0), ("learnable", 2.0)):
        Z = X.copy()
        Z[:, 0] += shift * is_pos
        learners = {
            "OAM": oam(d, True),
            'OAM(update="gradient")': oam(d, False),
            "OILK": oilk(d),
        }
        values = dict.fromkeys(learners, N * d) | {"OILK": 2 * N * d + 2 * N * N}
        where = f"{d} features, {label}"
        yield from beside_reads(learners, Z, is_pos, values, where, bar, repeats)


def in_csr(d, n_nonzero, repeats):
    rng = np.random.default_rng(0)
    columns = np.concatenate(
        [np.sort(rng.choice(d, n_nonzero, replace=False)) for _ in range(N_ROWS)]
    ).astype(np.int32)
    indptr = np.arange(N_ROWS + 1, dtype=np.int32) * n_nonzero
    X = sparse.csr_matrix((rng.random(len(columns)), columns, indptr), (N_ROWS, d))
    is_pos = rng.random(N_ROWS) < 0.5
    learners = {
        "OAM": oam(d, True, kind=SparseOAMLearner),
        'OAM(update="gradient")': oam(d, False, kind=SparseOAMLearner),
    }
    values = dict.fromkeys(learners, N * n_nonzero)
    where = f"CSR, {n_nonzero} nonzeros of {d:,} features, no relation"
    yield from beside_reads(learners, X, is_pos, values, where, None, repeats)


def oam(n_features, is_sequential, *, kind=OAMLearner):
    return kind(
        n_features,
        is_sequential=is_sequential,
        buffer_size=N,
        step_size=None,
        average=True,
        rng=np.random.default_rng(0),
    )


def oilk(n_features):
    return OILKLearner(
        n_features, budget=N, gamma=1.0 / n_features, rng=np.random.default_rng(0)
    )


def beside_reads(learners, X, is_pos, values, where, bar, repeats):
    # The calls before the clock starts fill the buffers.
    runs = {
        name: partial(learner.learn, X, is_pos) for name, learner in learners.items()
    }
    for size in set(values.values()):
        runs[f"read {size}"] = partial(read, np.zeros(size), N_ROWS)
    turns = take_turns(runs, repeats=repeats)
    for name in learners:
        yield _suite.ratio(
            turns,
            name,
            f"read {values[name]}",
            what=f"{name}, a row",
            where=where,
            against="reading the buffer",
            kind="limit",
            unit="us per row",
            per=N_ROWS,
            bar=bar,
        )


if __name__ == "__main__":
    _suite.main(measurements)
