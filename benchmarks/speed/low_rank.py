# SPDX-License-Identifier: BSD-3-Clause
"""OPAUC with rank 50 on text, beside the same steps on dense vectors.

The rival makes one step per row as the paper writes it: the sketch of the opposite
class times the weights and back, by BLAS, over all features. It even adds its rows to
the sketch by nonzeros alone. Rows of sector (55,197 features) from AUCMAX_DATA, or
synthetic ones of that shape. Then 1,355,191 features, as news20.binary has. One thread,
CPU time.
"""

import argparse
import os
import sys
import time

import numpy as np
from _timing import best_times, print_table
from scipy import sparse
from sklearn.datasets import load_svmlight_file
from threadpoolctl import threadpool_limits

from aucmax import OPAUC

BAR = 50
RANK = 50


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


def draw_text(n, d, nnz, seed=0):
    """Unit rows of about nnz words drawn by Zipf's law."""
    rng = np.random.default_rng(seed)
    words = (d ** rng.random((n, nnz)) - 1).astype(np.int64)
    rows = np.repeat(np.arange(n), nnz)
    X = sparse.csr_matrix((np.ones(n * nnz), (rows, words.ravel())), shape=(n, d))
    size = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
    return sparse.csr_matrix(sparse.diags(1 / size) @ X), rng.random(n) < 0.5


def load_sector(n):
    folder = os.environ.get("AUCMAX_DATA")
    if not folder:
        # Repeated words become one: 164 are left of 215.
        return "synthetic", *draw_text(n, 55_197, 215)
    path = os.path.join(folder, "sector.train.svm.bz2")
    if not os.path.exists(path):
        sys.exit(f"{path} is missing; AUCMAX_DATA must hold sector.train.svm.bz2.")
    X, y = load_svmlight_file(path, n_features=55_197)
    order = np.random.default_rng(0).permutation(len(y))[:n]
    return "sector", X[order], y[order] % 2 == 0


def started(X, y, **options):
    model = OPAUC(rank=RANK, random_state=0, **options)
    return model.partial_fit(X, y, classes=[False, True])


def compare(n, n_rival, repeats):
    """Yield lines: our forms and the dense one, on rows after the first ``n``."""
    name, X, y = load_sector(2 * n)
    first, then = slice(0, n), slice(n, 2 * n)
    models = {
        'solver="gradient"': started(X[first], y[first], solver="gradient"),
        'solver="exact"': started(X[first], y[first]),
    }
    dense = DenseForm(X.shape[1], 1e-3, 0.1)
    dense.learn(X[:200], y[:200])
    X_then, y_then = X[then], y[then]
    X_few, y_few = X_then[:n_rival], y_then[:n_rival]
    candidates = {
        key: lambda model=model: model.partial_fit(X_then, y_then)
        for key, model in models.items()
    }
    candidates["dense form"] = lambda: dense.learn(X_few, y_few)
    seconds = best_times(candidates, repeats=repeats)
    per_row = {key: value / len(y_then) for key, value in seconds.items()}
    per_row["dense form"] = seconds["dense form"] / n_rival
    for key, value in per_row.items():
        bar = BAR if "gradient" in key else "-"
        ratio = per_row["dense form"] / value
        nnz = X.nnz / X.shape[0]
        yield name, X.shape[1], nnz, key, 1e6 * value, ratio, bar


def growth(n):
    """Yield lines: time of a row after more and more of them."""
    X, y = draw_text(n, 55_197, 215, seed=1)
    for solver in ("gradient", "exact"):
        model = started(X[:1000], y[:1000], solver=solver)
        times = []
        for part in np.array_split(np.arange(1000, n), 4):
            rows, labels = X[part], y[part]
            start = time.process_time()
            model.partial_fit(rows, labels)
            times.append(1e6 * (time.process_time() - start) / len(part))
        yield f'solver="{solver}"', *times


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def wide(n):
    """Yield lines: memory and time with as many features as news20.binary."""
    # Repeated words become one: 458 are left of 600.
    X, y = draw_text(n, 1_355_191, 600)
    for solver in ("gradient", "exact"):
        before = resident()
        model = started(X[:100], y[:100], solver=solver)
        start = time.process_time()
        model.partial_fit(X[100:-20], y[100:-20])
        per_row = 1e6 * (time.process_time() - start) / (n - 120)
        single = []
        for i in range(n - 20, n):
            start = time.process_time()
            model.partial_fit(X[i : i + 1], y[i : i + 1])
            single.append(1e6 * (time.process_time() - start))
        taken = (resident() - before) / 1e6
        start = time.process_time()
        coef = model.coef_
        seconds = time.process_time() - start
        whole = (2 * (RANK + 2) * 4 * coef.shape[1]) / 1e6
        yield (
            f'solver="{solver}"',
            X.nnz / n,
            per_row,
            float(np.median(single)),
            taken,
            whole,
            seconds,
        )
        del model, coef


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer rows")
    quick = parser.parse_args().quick
    lines = compare(1000 if quick else 3000, 50 if quick else 200, 3)
    headers = ("data", "d", "nnz", "form", "us / row", "dense / this", "bar")
    print_table(headers, lines)
    with threadpool_limits(1):
        print("\nus / row in four quarters of the rows (bar: flat)")
        print_table(("form", "1", "2", "3", "4"), growth(9000 if quick else 33_000))
        print("\n1,355,191 features, sums in float32")
        headers = (
            "form",
            "nnz",
            "us / row",
            "us, calls of one row",
            "MB taken",
            "MB if all features came",
            "coef_, s",
        )
        print_table(headers, wide(2000 if quick else 10_000))


if __name__ == "__main__":
    main()
