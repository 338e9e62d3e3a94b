# SPDX-License-Identifier: BSD-3-Clause
"""How the time of a fit grows: with the rows, the features, and the nonzeros.

Drawn data, ten per cent positives; one thread, CPU time, the least of three runs at
each size, with cold caches. Exponents are fitted to sizes whose rows no cache holds.
Solvers that would need more steps on some sizes than on others take a fixed number of
them, or their time is given per pass over the rows, and once more as a whole, which has
no bar; where neither is so, the passes are shown. What sorts has the bar of what is
linear: n log n is an exponent of 1.08 here. `np.argsort`, `np.take` in random order, a
sum of X by numpy and SciPy's product of CSR with a vector have no bar; they show what
leaving the caches alone adds. RankSVM has none in the features: its preconditioner
multiplies a sample of the rows by itself, which is quadratic in them.
"""

import time
import warnings
from functools import partial

import _suite
import numpy as np
from _growth import growth
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from aucmax import (
    NBAUC,
    NSAUC,
    OAM,
    OPAUC,
    RFAUC,
    SOLAM,
    SPDAM,
    AdaOAM,
    LeastSquaresAUC,
    OnlineUnivariate,
    RankSVM,
    SparseKernelAUC,
    UnivariateAUC,
)
from aucmax.metrics import StreamingAUC, roc_auc, roc_auc_interval

BAR = 1.1
ROWS, ROWS_FROM, FEATURES = (10_000, 30_000, 100_000, 300_000, 1_000_000), 100_000, 50
WIDTHS, WIDTHS_FROM, WIDE_ROWS = (10, 30, 100, 300, 1000), 100, 20_000
# OPAUC is quadratic in the features.
FEW_ROWS = 3_000
# Rows and nonzeros of each.
LONGER = [(20_000, nnz) for nnz in (100, 300, 1000, 3000)]
MORE = [(n, 50) for n in (30_000, 100_000, 300_000, 1_000_000)]
SPARSE_FEATURES, NNZ_FROM = 50_000, 5e6
KERNEL = {"gamma": 0.01, "alpha": 1e-4, "random_state": 0}
# So small that it is never reached.
NEVER = 1e-15
HINGE = 'RankSVM(loss="hinge"), 15 steps'


def measurements(*, quick=False):
    with warnings.catch_warnings():
        # Of solvers whose steps are fixed.
        warnings.simplefilter("ignore", ConvergenceWarning)
        yield from in_rows(quick=quick)
        yield from in_features(quick=quick)
        yield from in_nonzeros("longer rows", LONGER, quick=quick)
        yield from in_nonzeros("more rows", MORE, quick=quick)


def in_rows(*, quick):
    models = {
        "RankSVM": RankSVM(alpha=1e-4, tol=1e-3),
        HINGE: RankSVM(alpha=1e-2, loss="hinge", max_iter=15, tol=NEVER),
        "LeastSquaresAUC": LeastSquaresAUC(),
        "UnivariateAUC": UnivariateAUC(alpha=1e-4, tol=1e-3),
        "SPDAM, 2 passes": SPDAM(max_iter=2, tol=NEVER, random_state=0),
        "NBAUC(100)": NBAUC(100, **KERNEL),
        "RFAUC(100)": RFAUC(100, **KERNEL),
        "SparseKernelAUC(5)": SparseKernelAUC(
            5, n_candidates=20, early_stopping=False, **KERNEL
        ),
        "NSAUC(100), 5 passes": NSAUC(
            100, max_passes=5, early_stopping=False, step_size=0.1, **KERNEL
        ),
        "OPAUC": OPAUC(random_state=0),
        'OPAUC(solver="gradient")': OPAUC(solver="gradient", random_state=0),
        "SOLAM": SOLAM(random_state=0),
        "OnlineUnivariate": OnlineUnivariate(random_state=0),
        "OAM": OAM(random_state=0),
        "AdaOAM": AdaOAM(random_state=0),
        "roc_auc": Metric(roc_auc),
        "roc_auc, weighted": Metric(
            lambda y, scores: roc_auc(y, scores, sample_weight=WEIGHT[: len(y)])
        ),
        "roc_auc_interval": Metric(roc_auc_interval),
        "StreamingAUC, one batch": Metric(
            lambda y, scores: StreamingAUC(classes=BOTH).update(y, scores).auc
        ),
    }
    limits = {
        "np.argsort": Metric(lambda y, scores: np.argsort(scores)),
        "np.take in random order": Metric(
            lambda y, scores: np.take(scores, SHUFFLED[len(y)])
        ),
        "np.sum of X": Sum(),
    }
    sizes, least = ((500, 1000), 0) if quick else (ROWS, ROWS_FROM)
    for n in sizes:
        SHUFFLED[n] = np.random.default_rng(0).permutation(n)
    yield from grow(
        models | limits,
        {n: draw(n, FEATURES) for n in sizes},
        "in n",
        f"{FEATURES} features",
        grows="rows",
        least=least,
        bars=dict.fromkeys(models, BAR),
    )


def in_features(*, quick):
    models = {
        "RankSVM": RankSVM(alpha=1e-4, tol=1e-3),
        "SOLAM": SOLAM(random_state=0),
        'OPAUC(solver="gradient")': FewRows(),
    }
    sizes, least = ((5, 10), 0) if quick else (WIDTHS, WIDTHS_FROM)
    n = 1_000 if quick else WIDE_ROWS
    yield from grow(
        models | {"np.sum of X": Sum()},
        {d: draw(n, d) for d in sizes},
        "in d",
        f"{n:,} rows",
        grows="features",
        least=least,
        bars={"SOLAM": BAR},
    )


def in_nonzeros(how, sizes, *, quick):
    models = {
        "RankSVM": RankSVM(tol=1e-3),
        HINGE: RankSVM(alpha=1e-2, loss="hinge", max_iter=15, tol=NEVER),
        "LeastSquaresAUC": LeastSquaresAUC(tol=1e-4),
        "UnivariateAUC": UnivariateAUC(tol=1e-3),
        # Of one row each, steps would take as long as there are features.
        "SPDAM(batch_size=0.1), 2 passes": SPDAM(
            batch_size=0.1, max_iter=2, tol=NEVER, random_state=0
        ),
        "SOLAM": SOLAM(random_state=0),
        "OnlineUnivariate": OnlineUnivariate(random_state=0),
        "OAM": OAM(random_state=0),
        "OPAUC(rank=50)": OPAUC(rank=50, random_state=0),
    }
    if quick:
        sizes = [(n // 100, nnz) for n, nnz in sizes[:2]]
    yield from grow(
        models | {"X @ coef by SciPy": Product()},
        {n * nnz: draw_sparse(n, nnz) for n, nnz in sizes},
        f"in nnz, {how}",
        f"CSR, {SPARSE_FEATURES:,} features",
        grows=f"nonzeros, by {how}",
        least=0 if quick else NNZ_FROM,
        bars=dict.fromkeys(models, BAR),
        per_pass=["RankSVM", HINGE, "LeastSquaresAUC", "UnivariateAUC"],
    )


REPEATS = 3
# More than caches hold.
OTHER = np.ones(2**24)
BOTH = (False, True)
# A random order of each number of rows.
SHUFFLED = {}
SCORES, WEIGHT = np.random.default_rng(0).standard_normal((2, max(ROWS)))
WEIGHT = np.abs(WEIGHT)


class Metric:
    """A metric of given scores, in the form of a model; X only tells how many."""

    def __init__(self, metric):
        self.metric = metric

    def fit(self, X, y):
        self.metric(y, SCORES[: len(y)])


class Sum(Metric):
    """One read of X, in the form of a model."""

    def __init__(self):
        super().__init__(None)

    def fit(self, X, y):
        X.sum()


class Product(Metric):
    """One product of X with a vector, in the form of a model."""

    def __init__(self):
        super().__init__(None)

    def fit(self, X, y):
        X @ np.ones(X.shape[1])


class FewRows:
    """OPAUC by gradient steps on the first rows."""

    def fit(self, X, y):
        model = OPAUC(solver="gradient", random_state=0)
        model.fit(X[:FEW_ROWS], y[:FEW_ROWS])


def draw(n, d):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    y = rng.random(n) < 0.1
    X[y] += 2.0 / np.sqrt(d)
    return X, y


def draw_sparse(n, nnz):
    """Rows of exactly so many nonzeros, one from each of as many equal spans."""
    rng = np.random.default_rng(0)
    span = SPARSE_FEATURES // nnz
    columns = span * np.arange(nnz) + (span * rng.random((n, nnz)) ** 3).astype(int)
    values = 1.0 + rng.random((n, nnz))
    values /= np.linalg.norm(values, axis=1, keepdims=True)
    indptr = np.arange(0, n * nnz + 1, nnz, dtype=np.int32)
    parts = values.ravel(), columns.ravel().astype(np.int32), indptr
    X = sparse.csr_matrix(parts, (n, SPARSE_FEATURES))
    score = X @ rng.standard_normal(SPARSE_FEATURES) + rng.standard_normal(n)
    return X, score > np.quantile(score, 0.9)


def grow(models, data, what, where, *, grows, least, bars, per_pass=()):
    """Yield the growth of each model, of some per pass too; `data` is X, y by size."""
    curves, passes = {name: [] for name in models}, {name: [] for name in models}
    for model in models.values():
        model.fit(*next(iter(data.values())))  # compiles
    for size, (X, y) in data.items():
        for name, model in models.items():
            curves[name].append((size, least_seconds(partial(model.fit, X, y))))
            passes[name].append(n_passes(model))
    for name, model in models.items():
        title = name if isinstance(model, Metric) else f"{name} fit"
        details = {"passes": passes[name]} if n_passes(model) else {}
        shared = {"where": where, "grows": grows, "least": least, "details": details}
        bar = bars.get(name)
        if name in per_pass:
            pairs = zip(curves[name], passes[name], strict=True)
            yield growth(
                [(size, cost / taken) for (size, cost), taken in pairs],
                what=f"{title}, per pass, {what}",
                unit="s per pass",
                bar=bar,
                **shared,
            )
            bar = None
        yield growth(curves[name], what=f"{title}, {what}", bar=bar, **shared)


def least_seconds(run):
    """Return the least CPU time of some runs.

    One after the other: memory that other methods gave back meanwhile may have to come
    from the host of a virtual machine again, which takes longer than some of the fits.
    But each finds the caches full of something else, or small sizes would have a lead.
    """
    seconds = []
    with threadpool_limits(1):
        run()
        for _ in range(REPEATS):
            OTHER.sum()
            start = time.process_time()
            run()
            seconds.append(time.process_time() - start)
    return min(seconds)


def n_passes(model):
    """Return the trips over the rows of the last fit, or None if it does not tell."""
    last = (getattr(model, "history_", None) or [None])[-1]
    return round(last.n_passes) if hasattr(last, "n_passes") else None


if __name__ == "__main__":
    _suite.main(measurements)
