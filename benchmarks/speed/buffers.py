# SPDX-License-Identifier: BSD-3-Clause
"""Time per row of the methods that keep a buffer, beside bare reads of that buffer.

A row of OAM is compared with all N buffered rows of the other class, so its limit is
one read of N rows of d values; one of OILK with the 2 N of both classes, and it reads
half of their 2 N x 2 N kernel values. The limit is the time of a bare sum over as many
values, in the cache. In the sequential form every pair with a loss also reads and
writes the weights. "no relation" has labels that nothing can be learned from, so that
almost all pairs have one. One thread, CPU time.
"""

import argparse
from functools import partial

import numba
import numpy as np
from _timing import best_times, print_table
from scipy import sparse

from aucmax.solvers.online.oam import OAMLearner, SparseOAMLearner
from aucmax.solvers.online.oilk import OILKLearner

N = 100
# Features, and the ratios to stay below: OAM sequential, gradient, OILK. With few
# features the loop over pairs itself takes longer than reading them.
DENSE = [(10, None), (22, None), (123, (6, 6, 6)), (1000, (4, 4, 4))]
# Features and nonzeros of a row.
SPARSE = [(123, 14), (62_061, 80)]
N_ROWS = 500


@numba.njit(nogil=True, fastmath=True)
def read(values, n_times):
    total = 0.0
    for _ in range(n_times):
        for i in range(values.shape[0]):
            total += values[i]
        values[0] = total * 0.0
    return total


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


def candidates(learners, X, is_pos):
    """What to time; the calls before the clock starts fill the buffers."""
    return {
        name: partial(learner.learn, X, is_pos) for name, learner in learners.items()
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    repeats = parser.parse_args().repeats
    rng = np.random.default_rng(0)
    rows = []
    for d, bars in DENSE:
        X, is_pos = rng.normal(size=(N_ROWS, d)), rng.random(N_ROWS) < 0.5
        for label, shift in (("no relation", 0.0), ("learnable", 2.0)):
            Z = X.copy()
            Z[:, 0] += shift * is_pos
            flat = np.zeros(N * d)
            both = np.zeros(2 * N * d + 2 * N * N)
            learners = {
                "OAM sequential": oam(d, True),
                "OAM gradient": oam(d, False),
                "OILK": oilk(d),
            }
            runs = candidates(learners, Z, is_pos)
            runs["read"] = partial(read, flat, N_ROWS)
            runs["read both"] = partial(read, both, N_ROWS)
            times = best_times(runs, repeats=repeats)
            for k, name in enumerate(learners):
                limit = times["read both" if name == "OILK" else "read"]
                rows.append(
                    [
                        f"dense {d}",
                        label,
                        name,
                        1e6 * times[name] / N_ROWS,
                        1e6 * limit / N_ROWS,
                        times[name] / limit,
                        "-" if bars is None else bars[k],
                    ]
                )
    for d, n_nonzero in SPARSE:
        columns = np.concatenate(
            [np.sort(rng.choice(d, n_nonzero, replace=False)) for _ in range(N_ROWS)]
        )
        indptr = np.arange(N_ROWS + 1) * n_nonzero
        X = sparse.csr_matrix(
            (rng.random(len(columns)), columns, indptr), shape=(N_ROWS, d)
        )
        X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
        is_pos = rng.random(N_ROWS) < 0.5
        flat = np.zeros(N * n_nonzero)
        learners = {
            "OAM sequential": oam(d, True, kind=SparseOAMLearner),
            "OAM gradient": oam(d, False, kind=SparseOAMLearner),
        }
        runs = candidates(learners, X, is_pos)
        runs["read"] = partial(read, flat, N_ROWS)
        times = best_times(runs, repeats=repeats)
        for name in learners:
            rows.append(
                [
                    f"{n_nonzero} of {d}",
                    "no relation",
                    name,
                    1e6 * times[name] / N_ROWS,
                    1e6 * times["read"] / N_ROWS,
                    times[name] / times["read"],
                    "-",
                ]
            )
    headers = ["features", "rows", "method", "us per row", "read us", "ratio", "bar"]
    print_table(headers, rows)


if __name__ == "__main__":
    main()
