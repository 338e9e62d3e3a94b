# SPDX-License-Identifier: BSD-3-Clause
"""How the time of a fit grows: with the rows, the features, and the nonzeros.

Drawn data, ten per cent positives; one thread, CPU time, all methods in turns at each
size. Exponents are fitted to the sizes where arithmetic dominates. Solvers that would
need more steps on some sizes than on others take a fixed number of them, or their time
is given per pass over the rows; where neither is so, the passes are shown.
"""

import warnings

import _suite
import numpy as np
from _growth import growth
from _timing import take_turns
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from aucmax import (
    NBAUC,
    NSAUC,
    OAM,
    OPAUC,
    SOLAM,
    SPDAM,
    AdaOAM,
    LeastSquaresAUC,
    OnlineUnivariate,
    RankSVM,
    UnivariateAUC,
)
from aucmax.metrics import roc_auc

BAR = 1.1
ROWS, ROWS_FROM, FEATURES = (10_000, 30_000, 100_000, 300_000, 1_000_000), 100_000, 50
WIDTHS, WIDTHS_FROM, WIDE_ROWS = (10, 30, 100, 300, 1000), 100, 20_000
# OPAUC is quadratic in the features.
FEW_ROWS = 3_000
# Rows and nonzeros of each.
LONGER = [(20_000, nnz) for nnz in (10, 30, 100, 300)]
MORE = [(n, 50) for n in (10_000, 30_000, 100_000, 300_000)]
SPARSE_FEATURES, NNZ_FROM = 50_000, 6e5
KERNEL = {"gamma": 0.01, "alpha": 1e-4, "random_state": 0}
# So small that it is never reached.
NEVER = 1e-15


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
        'RankSVM(loss="hinge"), 15 steps': RankSVM(
            alpha=1e-2, loss="hinge", max_iter=15, tol=NEVER
        ),
        "LeastSquaresAUC": LeastSquaresAUC(),
        "UnivariateAUC": UnivariateAUC(alpha=1e-4, tol=1e-3),
        "SPDAM, 2 passes": SPDAM(max_iter=2, tol=NEVER, random_state=0),
        "NBAUC(100)": NBAUC(100, **KERNEL),
        "NSAUC(100), 5 passes": NSAUC(
            100, max_passes=5, early_stopping=False, step_size=0.1, **KERNEL
        ),
        "OPAUC": OPAUC(random_state=0),
        'OPAUC(solver="gradient")': OPAUC(solver="gradient", random_state=0),
        "SOLAM": SOLAM(random_state=0),
        "OnlineUnivariate": OnlineUnivariate(random_state=0),
        "OAM": OAM(random_state=0),
        "AdaOAM": AdaOAM(random_state=0),
        "roc_auc": Metric(),
    }
    sizes, least = ((500, 1000), 0) if quick else (ROWS, ROWS_FROM)
    yield from grow(
        models,
        {n: draw(n, FEATURES) for n in sizes},
        "in n",
        f"{FEATURES} features",
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
        models,
        {d: draw(n, d) for d in sizes},
        "in d",
        f"{n:,} rows",
        least=least,
        bars={"RankSVM": BAR, "SOLAM": BAR},
        per_pass=["RankSVM"],
    )


def in_nonzeros(how, sizes, *, quick):
    models = {
        "RankSVM": RankSVM(tol=1e-3),
        "SOLAM": SOLAM(random_state=0),
        "OnlineUnivariate": OnlineUnivariate(random_state=0),
        "OPAUC(rank=50)": OPAUC(rank=50, random_state=0),
    }
    if quick:
        sizes = [(n // 100, nnz) for n, nnz in sizes[:2]]
    yield from grow(
        models,
        {n * nnz: draw_sparse(n, nnz) for n, nnz in sizes},
        f"in nnz, {how}",
        f"CSR, {SPARSE_FEATURES:,} features",
        least=0 if quick else NNZ_FROM,
        bars=dict.fromkeys(models, BAR),
        per_pass=["RankSVM"],
    )


class Metric:
    """The AUC of given scores, in the form of a model; X only tells how many."""

    scores = np.random.default_rng(0).standard_normal(max(ROWS))

    def fit(self, X, y):
        self.auc_ = roc_auc(y, self.scores[: len(y)])


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


def grow(models, data, what, where, *, least, bars, per_pass=()):
    """Yield one measurement for each model; `data` has X and y by size."""
    curves, passes = {name: [] for name in models}, {name: [] for name in models}
    for model in models.values():
        model.fit(*next(iter(data.values())))  # compiles
    for size, (X, y) in data.items():
        runs = {
            name: lambda m=model, X=X, y=y: m.fit(X, y)
            for name, model in models.items()
        }
        is_large = X.shape[0] > 100_000
        turns = take_turns(runs, repeats=2 if is_large else 3, warm_up=not is_large)
        for name, model in models.items():
            taken = n_passes(model)
            passes[name].append(taken)
            cost = min(turns[name]) / (taken if name in per_pass else 1)
            curves[name].append((size, cost))
    for name, model in models.items():
        yield growth(
            curves[name],
            least=least,
            what=f"{name} fit, {what}" if name != "roc_auc" else f"roc_auc, {what}",
            where=where,
            unit="s per pass" if name in per_pass else "s",
            bar=bars.get(name),
            details={"passes": passes[name]} if n_passes(model) else {},
        )


def n_passes(model):
    """Return the trips over the rows of the last fit, or None if it does not tell."""
    last = (getattr(model, "history_", None) or [None])[-1]
    return round(last.n_passes) if hasattr(last, "n_passes") else None


if __name__ == "__main__":
    _suite.main(measurements)
