# SPDX-License-Identifier: BSD-3-Clause
"""Products with the rows until the objective is near its minimum: ours, and plain.

Plain is truncated Newton: CG without a preconditioner, stopped by the forcing rule
``min(0.1, sqrt(|g| / |g0|))`` or after 250 steps, from zero, with the same search.
A product is a pass over the rows and one over their transpose. Needs AUCMAX_DATA.
"""

import argparse
import sys
import time
from pathlib import Path

import numpy as np
from _data import data_folder
from _timing import print_table
from threadpoolctl import threadpool_limits

sys.path.insert(0, str(Path(__file__).parents[1]))
from _sets import load

from aucmax.design import LocalDesign
from aucmax.features.nystroem import Nystroem
from aucmax.losses import SquaredHinge
from aucmax.solvers._descent import Descent
from aucmax.solvers.nonlinear_cg import nonlinear_cg

GAPS = (1e-3, 1e-4)
MAX_PRODUCTS = 600


class PlainNewton(Descent):
    """Truncated Newton as in the papers; yields (products, objective)."""

    def run(self, alpha):
        self.place(np.zeros(self.design.shape[1]))
        first = np.linalg.norm(self.loss_grad)
        while self.n_passes < 2 * MAX_PRODUCTS:
            grad = self.loss_grad + alpha * self.coef
            size = np.linalg.norm(grad)
            if size <= 1e-9 * first:
                return
            direction = self.direction(grad, alpha, min(0.1, np.sqrt(size / first)))
            scores = self.design.scores(direction, out=self._work[0])
            slope = float(grad @ direction)
            self._search(direction, scores, alpha=alpha, slope=slope, tol=0.01)
            yield self.n_passes / 2, self.objective(alpha)

    def direction(self, grad, alpha, forcing):
        coef, residual = np.zeros_like(grad), -grad
        step, norm = residual.copy(), float(grad @ grad)
        target = forcing**2 * norm
        for _ in range(250):
            product = self.design.adjoint(
                self.terms.hess_dot(self.design.scores(step)).copy()
            )
            self.n_passes += 2
            product += alpha * step
            length = norm / float(step @ product)
            coef += length * step
            residual -= length * product
            previous, norm = norm, float(residual @ residual)
            if norm <= target:
                break
            step = residual + (norm / previous) * step
        return coef


def first_below(trace, limit):
    return next(((p, t) for p, value, t in trace if value <= limit), None)


def compare(name, alpha, design, y):
    weight = np.ones(len(y))
    trace, start = [], time.process_time()

    def note(step):
        trace.append((step.n_passes / 2, step.value, time.process_time() - start))

    result = nonlinear_cg(
        design, y, weight, loss=SquaredHinge(), alpha=alpha, tol=1e-7, on_step=note
    )
    start, plain_trace = time.process_time(), []
    plain = PlainNewton(design, y, weight, loss=SquaredHinge())
    best = result.value
    for products, value in plain.run(alpha):
        plain_trace.append((products, value, time.process_time() - start))
        if value <= best * (1 + GAPS[-1]):
            break
    best = min(best, plain_trace[-1][1])
    row = [name, f"{alpha:.0e}"]
    for gap in GAPS:
        ours = first_below(trace, best * (1 + gap))
        theirs = first_below(plain_trace, best * (1 + gap))
        bound = "" if theirs else "<"
        theirs = theirs or (plain_trace[-1][0], plain_trace[-1][2])
        row += [f"{ours[0]:.1f}", f"{'>' if bound else ''}{theirs[0]:.0f}"]
        row += [
            f"{bound}{ours[0] / theirs[0]:.2f}",
            f"{bound}{ours[1] / theirs[1]:.2f}",
        ]
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--sets",
        default="usps,magic04,ijcnn1,connect-4,covtype",
        help="comma-separated",
    )
    parser.add_argument("--alphas", default="1e-2,1e-4,1e-6,1e-8")
    options = parser.parse_args()
    data_folder()
    rows = []
    for name in options.sets.split(","):
        X, _, y, _ = load(name, cap=80_000)
        features = Nystroem(
            1600, gamma="scale-mean", dtype="float32", random_state=0
        ).fit_transform(X)
        design = LocalDesign(features)
        for alpha in map(float, options.alphas.split(",")):
            rows.append(compare(name, alpha, design, y))
            print(*rows[-1], flush=True)
    print()
    headers = ["data", "alpha"]
    for gap in GAPS:
        headers += [f"ours to {gap:g}", "plain", "products", "CPU"]
    print_table(headers, rows)


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
