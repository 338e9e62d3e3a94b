# SPDX-License-Identifier: BSD-3-Clause
"""The full-kernel RankSVM: products with the kernel, and how time grows.

Drawn data of ten features, about a fifth of the rows positive; rbf kernel of width
1 / 10; one thread, CPU time. The usual form is truncated Newton with CG on ``alpha K +
K H K`` and the same exact search; it stops at our objective plus 1e-4 of it, or is cut
off, and then the ratio shown is more than the true one.
"""

import time

import _suite
import numpy as np
from _growth import growth
from _timing import take_turns
from threadpoolctl import threadpool_limits

from aucmax import KernelRankSVM
from aucmax.features.kernels import Kernel
from aucmax.losses import SquaredHinge

N, QUICK_N = 2500, 400
ALPHAS = [1e-3, 1e-4, 1e-5, 1e-6]
SIZES, QUICK_SIZES = [1000, 2000, 4000, 8000], [300, 600]
MAX_PRODUCTS = 2500
GAP = 1e-4


def measurements(*, quick=False):
    with threadpool_limits(1):
        KernelRankSVM(gamma=0.1, alpha=1e-3).fit(*draw(300))  # compiles
        X, y = draw(QUICK_N if quick else N)
        kernel = Kernel("rbf", 0.1)(X, X)
        for alpha in ALPHAS[:1] if quick else ALPHAS:
            yield compare(X, y, kernel, alpha, 500 if quick else MAX_PRODUCTS)
        yield grow(QUICK_SIZES if quick else SIZES)


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


def compare(X, y, kernel, alpha, max_products):
    start = time.process_time()
    model = KernelRankSVM(gamma=0.1, alpha=alpha).fit(X, y)
    seconds = time.process_time() - start
    target = model.objective_ * (1 + GAP)
    reached = next(step for step in model.history_ if step.value <= target)
    theirs, theirs_seconds, value = usual_form(kernel, y, alpha, target, max_products)
    return _suite.ratio(
        {"ours": [reached.n_passes], "usual": [theirs]},
        "ours",
        "usual",
        what=f"KernelRankSVM, kernel products to a gap of {GAP:g}",
        where=f"{len(y):,} rows, alpha {alpha:g}",
        against="CG on alpha K + K H K",
        kind="own",
        unit="products",
        details={
            "the usual form was": "cut off" if value > target else "done",
            "its gap": f"{max(0.0, value / model.objective_ - 1):.0e}",
            "fit, s": round(seconds, 2),
            "the usual form, s": round(theirs_seconds, 2),
            "share of rows kept": round(len(model.support_) / len(y), 2),
        },
    )


def grow(sizes):
    curve, passes = [], []
    for n in sizes:
        X, y = draw(n)
        model = KernelRankSVM(gamma=0.1, alpha=1e-5)
        run = {"fit": lambda m=model, X=X, y=y: m.fit(X, y)}
        curve.append((n, min(take_turns(run, repeats=2)["fit"])))
        passes.append(round(model.history_[-1].n_passes))
    return growth(
        curve,
        what="KernelRankSVM fit, in n",
        where="drawn rows of 10 features, alpha 1e-05",
        grows="rows",
        details={"products": passes},
    )


if __name__ == "__main__":
    _suite.main(measurements)
