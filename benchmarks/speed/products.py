# SPDX-License-Identifier: BSD-3-Clause
"""One curvature product, and one value and gradient, beside the machine's limits.

The limit of a product is two reads of X, by the fastest of several loops over it in
the same run; that of a value and gradient is the same plus one ``np.argsort``. One
thread, CPU time.
"""

import _suite
import numpy as np
from _reading import fastest, readers
from _timing import take_turns
from threadpoolctl import threadpool_limits

from aucmax.design import LocalDesign
from aucmax.losses import SquaredHinge

# Rows, features, and the ratios to stay below (product, value and gradient).
SHAPES = [
    (464_809, 54, 1.4, 1.25),
    (200_000, 100, None, 1.25),
    (80_000, 500, 1.15, 1.25),
    (40_000, 1600, 1.15, 1.25),
]
QUICK_SHAPES = [(5_000, 54, 1.4, 1.25)]


def measurements(*, quick=False):
    for n, d, *bars in QUICK_SHAPES if quick else SHAPES:
        for dtype in (np.float64, np.float32):
            yield from beside_limits(n, d, dtype, bars, repeats=2 if quick else 15)


def beside_limits(n, d, dtype, bars, repeats):
    turns = measure(n, d, dtype, repeats)
    one_read, reader = fastest(turns)
    reads = [2 * seconds for seconds in one_read]
    turns["two reads of X"] = reads
    turns["two reads of X and an argsort"] = [
        sum(both) for both in zip(reads, turns["argsort"], strict=True)
    ]
    pairs = {
        "curvature product": ("two reads of X", "sweep", bars[0]),
        "value and gradient": ("two reads of X and an argsort", "loss", bars[1]),
    }
    for what, (limit, part, bar) in pairs.items():
        yield _suite.ratio(
            turns,
            what,
            limit,
            where=f"{n:,} x {d:,}, {np.dtype(dtype).name}",
            kind="limit",
            unit="ms",
            bar=bar,
            goal=None if bar is None else 4,
            details={
                "loss alone, ms": round(1e3 * min(turns[part]), 2),
                "read by": reader,
            },
        )


def measure(n, d, dtype, repeats):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d), dtype=dtype)
    is_pos = rng.random(n) < 0.1
    weight, coef = np.ones(n), rng.normal(size=d) / np.sqrt(d)
    loss = SquaredHinge()
    with threadpool_limits(1):
        design = LocalDesign(X)
    scores = design.scores(coef)
    terms = loss.evaluate(scores, is_pos, weight)
    shifted = scores - is_pos

    # As the solver does: vectors of scores go to memory that is already there.
    one, other = np.empty((2, n))

    def product():
        design.scores(coef, out=one)
        return design.adjoint(terms.hess_dot(one, out=other))

    def value_and_gradient():
        point = loss.evaluate(design.scores(coef, out=one), is_pos, weight)
        return design.adjoint(point.grad)

    return take_turns(
        {
            **readers([X]),
            "argsort": lambda: np.argsort(shifted),
            "curvature product": product,
            "value and gradient": value_and_gradient,
            "loss": lambda: loss.evaluate(scores, is_pos, weight),
            "sweep": lambda: terms.hess_dot(scores, out=other),
        },
        repeats=repeats,
    )


if __name__ == "__main__":
    _suite.main(measurements)
