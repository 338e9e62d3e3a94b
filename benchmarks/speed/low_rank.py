# SPDX-License-Identifier: BSD-3-Clause
"""OPAUC with rank 50 on text, beside the same steps on dense vectors.

The dense form makes one step per row as the paper writes it: the sketch of the opposite
class times the weights and back, by BLAS, over all features. It even adds its rows to
the sketch by nonzeros alone. Rows of sector, 55,197 features; then as many features as
news20.binary has, 1,355,191. One thread, CPU time.
"""

import time

import _suite
import numpy as np
from _data import draw_words, load
from _growth import growth
from _memory import CAN_READ, MEGABYTE, WHY_NOT, peak_beyond
from _timing import take_turns
from threadpoolctl import threadpool_limits

from aucmax import OPAUC

BAR, SEEN_BAR = 1 / 50, 0.1
RANK = 50
# Rows given to ours and to the dense form in one turn.
ROWS, DENSE_ROWS = 2500, 200
QUICK_ROWS, QUICK_DENSE_ROWS = 500, 10
SEEN, QUICK_SEEN = (2_000, 8_000, 32_000), (400, 1_200)
WIDE, WIDE_ROWS, QUICK_WIDE_ROWS = 1_355_191, 10_000, 500
SOLVERS = ("gradient", "exact")


def measurements(*, quick=False):
    with threadpool_limits(1):
        yield from beside_dense_form(quick=quick)
        for solver in SOLVERS:
            yield after_many_rows(solver, QUICK_SEEN if quick else SEEN)
        # As many features as news20.binary has; repeated words become one: of 600, 458.
        n = QUICK_WIDE_ROWS if quick else WIDE_ROWS
        X, y = draw_text(n, WIDE, 600)
        where = f"drawn text, {WIDE:,} features, {X.nnz / n:.0f} nonzeros, {n:,} rows"
        for solver in SOLVERS:
            yield wide_time(solver, where, X, y)
        if not CAN_READ:
            _suite.leave_out(WHY_NOT)
            return
        # Last, as it changes how memory is given back.
        for solver in SOLVERS:
            yield _suite.absolute(
                peak_beyond(lambda solver=solver: learn(X, y, solver)) / MEGABYTE,
                what=f"{named(solver)}, memory",
                where=where,
                unit="MB",
            )


class DenseForm:
    """The centred low-rank update on dense vectors."""

    def __init__(self, n_features, alpha, step_size):
        self.ridge, self.step_size = alpha / 2, step_size
        self.coef = np.zeros(n_features)
        self.sketch = np.zeros((2, n_features, RANK))
        self.total = np.zeros((2, n_features))
        self.drawn, self.count = np.zeros((2, RANK)), np.zeros(2)
        self.rng = np.random.default_rng(0)

    def learn(self, X, y):
        for i in range(X.shape[0]):
            own, other = int(y[i]), 1 - int(y[i])
            part = slice(X.indptr[i], X.indptr[i + 1])
            index, values = X.indices[part], X.data[part]
            draw = self.rng.standard_normal(RANK) / np.sqrt(RANK)
            count = self.count[other]
            if count > 0:
                mean, sketch = self.total[other] / count, self.sketch[other]
                centre = mean @ self.coef
                seen = sketch.T @ self.coef - self.drawn[other] * centre
                pull = values @ self.coef[index] - centre - (2 * own - 1)
                grad = sketch @ (seen / count)
                grad -= (self.drawn[other] @ seen / count + pull) * mean
                grad[index] += pull * values
                self.coef *= 1 - self.step_size * self.ridge
                self.coef -= self.step_size * grad
            self.sketch[own, index] += np.outer(values, draw)
            self.total[own, index] += values
            self.drawn[own] += draw
            self.count[own] += 1


def draw_text(n, d, n_words):
    rng = np.random.default_rng(1)
    return draw_words(n, d, n_words, rng), rng.random(n) < 0.5


def named(solver):
    return f'OPAUC(rank={RANK}, solver="{solver}")'


def started(X, y, solver):
    model = OPAUC(rank=RANK, solver=solver, random_state=0)
    return model.partial_fit(X, y, classes=[False, True])


def beside_dense_form(*, quick):
    """Yield our forms beside the dense one, on rows after the first ones."""
    n, n_dense = (QUICK_ROWS, QUICK_DENSE_ROWS) if quick else (ROWS, DENSE_ROWS)
    data = load("sector", standardise=False, quick=quick)
    X, y = data.X, data.y
    nnz = X.nnz / X.shape[0]
    then = X[n : 2 * n], y[n : 2 * n]
    few = X[n : n + n_dense], y[n : n + n_dense]
    dense = DenseForm(X.shape[1], 1e-3, 0.1)
    dense.learn(X[:n_dense], y[:n_dense])
    candidates = {"dense": lambda: dense.learn(*few)}
    for solver in SOLVERS:
        model = started(X[:n], y[:n], solver)
        candidates[solver] = lambda model=model: model.partial_fit(*then)
    turns = take_turns(candidates, repeats=1 if quick else 3)
    turns["dense"] = [seconds * n / n_dense for seconds in turns["dense"]]
    for solver in SOLVERS:
        yield _suite.ratio(
            turns,
            solver,
            "dense",
            what=f"{named(solver)}, a row",
            where=f"{data.name}, {X.shape[1]:,} features, {nnz:.0f} nonzeros",
            against="the dense form",
            kind="own",
            unit="us per row",
            per=n,
            bar=BAR,
        )


def after_many_rows(solver, seen):
    n_timed = seen[0]
    X, y = draw_text(seen[-1] + n_timed, 55_197, 215)
    model = started(X[:100], y[:100], solver)
    curve, low = [], 100
    for n_seen in seen:
        model.partial_fit(X[low:n_seen], y[low:n_seen])
        low = n_seen + n_timed
        rows, labels = X[n_seen:low], y[n_seen:low]
        start = time.process_time()
        model.partial_fit(rows, labels)
        curve.append((n_seen, 1e6 * (time.process_time() - start) / n_timed))
    return growth(
        curve,
        what=f"{named(solver)}, a row, in the rows seen before",
        where="drawn text, 55,197 features",
        grows="rows seen before",
        unit="us per row",
        bar=SEEN_BAR,
    )


def learn(X, y, solver):
    """Return the seconds of one long batch, then of calls with one row each."""
    n, seconds = X.shape[0], []
    model = started(X[:100], y[:100], solver)
    for low, high in [(100, n - 20), *((i, i + 1) for i in range(n - 20, n))]:
        rows, labels = X[low:high], y[low:high]
        start = time.process_time()
        model.partial_fit(rows, labels)
        seconds.append(time.process_time() - start)
    return seconds


def wide_time(solver, where, X, y):
    together, *alone = learn(X, y, solver)
    return _suite.absolute(
        1e6 * together / (X.shape[0] - 120),
        what=f"{named(solver)}, a row",
        where=where,
        unit="us per row",
        details={"us in a call of its own": round(1e6 * float(np.median(alone)))},
    )


if __name__ == "__main__":
    _suite.main(measurements)
