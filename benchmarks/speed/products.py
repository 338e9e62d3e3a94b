# SPDX-License-Identifier: BSD-3-Clause
"""One curvature product, and one value and gradient, beside the machine's limits.

The limit of a product is two reads of X at the bandwidth of a bare sum over it,
measured in the same run; that of a value and gradient is the same plus one
``np.argsort``. One thread, CPU time.
"""

import argparse

import numba
import numpy as np
from _timing import best_times, print_table
from threadpoolctl import threadpool_limits

from aucmax.design import LocalDesign
from aucmax.losses import SquaredHinge

# Rows, features, and the ratios to stay below (product, value and gradient).
SHAPES = [
    (464_809, 54, 1.4, 1.25),
    (200_000, 100, None, None),
    (80_000, 500, 1.15, 1.25),
    (40_000, 1600, 1.15, 1.25),
]


@numba.njit(nogil=True, fastmath=True)
def read(values):
    total = values.dtype.type(0)
    for i in range(values.shape[0]):
        total += values[i]
    return total


def measure(n, d, dtype, repeats):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d), dtype=dtype)
    is_pos = rng.random(n) < 0.1
    weight, coef = np.ones(n), rng.normal(size=d) / np.sqrt(d)
    flat, loss = X.ravel(), SquaredHinge()
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

    times = best_times(
        {
            "read": lambda: read(flat),
            "argsort": lambda: np.argsort(shifted),
            "product": product,
            "gradient": value_and_gradient,
            "loss": lambda: loss.evaluate(scores, is_pos, weight),
            "sweep": lambda: terms.hess_dot(scores, out=other),
        },
        repeats=repeats,
    )
    limit = 2 * times["read"]
    return (
        times,
        times["product"] / limit,
        times["gradient"] / (limit + times["argsort"]),
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=3)
    repeats = parser.parse_args().repeats
    rows = []
    for n, d, product_bar, gradient_bar in SHAPES:
        for dtype in (np.float64, np.float32):
            times, product, gradient = measure(n, d, dtype, repeats)
            rows.append(
                [
                    f"{n} x {d}",
                    np.dtype(dtype).name,
                    *(1e3 * times[key] for key in times),
                    product,
                    product_bar or "-",
                    gradient,
                    gradient_bar or "-",
                ]
            )
    headers = ["rows x features", "dtype", "read ms", "argsort ms", "product ms"]
    headers += ["value+grad ms", "loss ms", "sweep ms"]
    headers += ["product / limit", "bar", "value+grad / limit", "bar"]
    print_table(headers, rows)


if __name__ == "__main__":
    main()
