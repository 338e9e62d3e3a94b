# SPDX-License-Identifier: BSD-3-Clause
"""The full-kernel RankSVM: products with the kernel, and how time grows.

Drawn data of ten features, about a fifth of the rows positive; rbf kernel of width
1 / 10; one thread, CPU time. The usual form is truncated Newton with CG on ``alpha K +
K H K`` and the same exact search; it stops at our objective plus 1e-4 of it, or after
``--max-products``.
"""

import argparse
import math
import time

import numpy as np
from _timing import best_times, print_table
from threadpoolctl import threadpool_limits

from aucmax import KernelRankSVM
from aucmax.features.kernels import Kernel
from aucmax.losses import SquaredHinge

N = 4000
ALPHAS = [1e-3, 1e-4, 1e-5, 1e-6]
SIZES = [1000, 2000, 4000, 8000]


def draw(n):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 10))
    signal = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * rng.normal(size=n)
    return X, signal > 0.8


def usual_form(kernel, is_pos, alpha, target, max_products):
    """Return the products and seconds to ``target``, and the objective reached."""
    start = time.process_time()
    n, loss, weight = len(kernel), SquaredHinge(), np.ones(len(kernel))
    coef, scores, n_products = np.zeros(n), np.zeros(n), 0
    terms = loss.evaluate(scores, is_pos, weight)
    while True:
        value = terms.value + alpha / 2 * coef @ scores
        if value <= target or n_products >= max_products:
            return n_products, time.process_time() - start, value
        grad = kernel @ (alpha * coef + terms.grad)
        direction, along = np.zeros(n), np.zeros(n)
        residual = step = -grad
        norm = first = residual @ residual
        n_products += 1
        for _ in range(250):
            image = kernel @ step
            product = kernel @ (alpha * step + terms.hess_dot(image))
            n_products += 2
            length = norm / (step @ product)
            direction, along = direction + length * step, along + length * image
            residual = residual - length * product
            last, norm = norm, residual @ residual
            if norm <= 1e-2 * first or n_products >= max_products:
                break
            step = residual + norm / last * step
        t, low, high = 1.0, 0.0, np.inf
        slope = grad @ direction
        for _ in range(60):
            terms = loss.evaluate(scores + t * along, is_pos, weight)
            ridge = alpha * (coef + t * direction) @ along
            slope_t = terms.grad @ along + ridge
            if abs(slope_t) <= 0.01 * abs(slope):
                break
            low, high = (t, high) if slope_t < 0 else (low, t)
            curvature = along @ terms.hess_dot(along) + alpha * direction @ along
            t -= slope_t / curvature
            if not low < t < high:
                t = 0.5 * (low + high) if high < np.inf else 4 * low
        coef, scores = coef + t * direction, scores + t * along


def compare(max_products):
    X, y = draw(N)
    kernel = Kernel("rbf", 0.1)(X, X)
    lines = []
    for alpha in ALPHAS:
        start = time.process_time()
        model = KernelRankSVM(gamma=0.1, alpha=alpha).fit(X, y)
        seconds = time.process_time() - start
        target = model.objective_ * (1 + 1e-4)
        reached = next(step for step in model.history_ if step.value <= target)
        passes = reached.n_passes
        theirs, theirs_seconds, value = usual_form(
            kernel, y, alpha, target, max_products
        )
        gap = max(0.0, value / model.objective_ - 1)
        line = [f"{alpha:.0e}", passes, theirs, theirs / passes, f"{gap:.1e}"]
        share = f"{len(model.support_) / N:.2f}"
        lines.append([*line, seconds, theirs_seconds, share])
    print(
        f"{N} rows; a gap above 1e-4: the usual form was cut off, the ratio is larger"
    )
    headers = ["alpha", "products", "usual form", "ratio", "its gap"]
    print_table([*headers, "fit s", "usual form s", "support"], lines)


def grow():
    lines, last = [], None
    for n in SIZES:
        X, y = draw(n)
        model = KernelRankSVM(gamma=0.1, alpha=1e-5)
        run = {"fit": lambda m=model, X=X, y=y: m.fit(X, y)}
        seconds = best_times(run, repeats=2)["fit"]
        exponent = "-"
        if last is not None:
            exponent = math.log(seconds / last[1]) / math.log(n / last[0])
        lines.append([n, seconds, model.history_[-1].n_passes, exponent])
        last = n, seconds
    print("\nalpha 1e-5; the exponent is that between two lines, 2 being quadratic")
    print_table(["rows", "fit s", "products", "exponent"], lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--max-products", type=int, default=3000)
    max_products = parser.parse_args().max_products
    with threadpool_limits(1):
        KernelRankSVM(gamma=0.1, alpha=1e-3).fit(*draw(400))  # compiles
        compare(max_products)
        grow()


if __name__ == "__main__":
    main()
