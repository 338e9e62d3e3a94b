# SPDX-License-Identifier: BSD-3-Clause
"""The protocol of the papers on online methods: sets, folds, tuning, tables.

Features are scaled to [-1, 1] on the whole set, as the papers do. Folds are stratified;
training rows come in random order. Parameters are tuned once, on the training part of
the first fold, and kept for all runs, which is what the authors' programs do.
"""

import os
import sys
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed
from scipy import sparse
from sklearn.datasets import load_svmlight_file
from sklearn.model_selection import ParameterGrid, RepeatedStratifiedKFold
from sklearn.preprocessing import MinMaxScaler

from aucmax.metrics import roc_auc

# Number of features and files of each set, per paper where they differ.
SETS = {
    "diabetes": (8, [""]),
    "fourclass": (2, [""]),
    "german": (24, [""]),
    "splice": (60, [".train", ".test"]),
    "usps": (256, [".train", ".test"]),
    "letter": (16, [".train"]),
    "magic04": (10, [""]),
    "a9a": (123, [".train"]),
    "w8a": (300, [".train"]),
    "mnist": (780, [".train"]),
    "connect-4": (126, [""]),
    "ijcnn1": (22, [".train", ".test"]),
    "covtype": (54, [""]),
    "segment": (19, [""]),
    "svmguide1": (4, [".train"]),
    "satimage": (36, [".train"]),
    "vowel": (10, [".train"]),
    "svmguide3": (22, [".train"]),
    "vehicle": (18, [""]),
    "poker": (10, [".train"]),
}
# One cross-validation of fewer rows picks parameters by chance, and is repeated; with
# more rows than this, two of its folds say enough.
FEW_ROWS, MANY_ROWS = 2_000, 10_000


def read(name, *, letter_test=False):
    """Return the rows as they are, CSR, and their labels."""
    folder = os.environ.get("AUCMAX_DATA")
    if not folder:
        print("Set AUCMAX_DATA to the folder that holds NAME.svm.bz2 files.")
        sys.exit(0)
    n_features, parts = SETS[name]
    if name == "letter" and letter_test:
        parts = [".train", ".test"]
    files = [str(Path(folder) / f"{name}{part}.svm.bz2") for part in parts]
    loaded = [load_svmlight_file(file, n_features=n_features) for file in files]
    X = sparse.vstack([rows for rows, _ in loaded], "csr")
    return X, np.concatenate([labels for _, labels in loaded])


def scaled(X):
    """Return the rows dense, each feature in [-1, 1]."""
    return MinMaxScaler((-1, 1)).fit_transform(X.toarray())


def halves(labels, seed):
    """Return the mask of a random half of the classes; all positives if binary."""
    classes = np.unique(labels)
    if len(classes) == 2:
        return labels == classes[1]
    chosen = np.random.default_rng(seed).permutation(classes)[: len(classes) // 2]
    return np.isin(labels, chosen)


def smallest(labels, ratio=50):
    """Return the mask of the smallest class that is not too small."""
    classes, counts = np.unique(labels, return_counts=True)
    eligible = (len(labels) - counts) / counts < ratio
    return labels == classes[eligible][np.argmin(counts[eligible])]


def auc_of(model, X, y, train, test):
    try:
        model.fit(X[train], y[train])
    except FloatingPointError:
        return 0.5
    return roc_auc(y[test], model.decision_function(X[test]))


def tune(make, grid, X, y, rows, *, n_folds=5, seed=0):
    """Return the parameters with the best mean AUC inside ``rows``."""
    n_repeats = 5 if len(rows) < FEW_ROWS else 1
    n_used = 2 if len(rows) > MANY_ROWS else None
    folds = all_folds(y[rows], n_repeats, n_folds, seed)[:n_used]

    def mean_auc(parameters):
        return np.mean(
            [
                auc_of(make(**parameters), X, y, rows[train], rows[test])
                for train, test in folds
            ]
        )

    return max(ParameterGrid(grid), key=mean_auc)


def evaluate(make, parameters, X, y, *, n_trials=5, n_folds=5, n_runs=None, seed=0):
    """Return the AUC of each run of repeated cross-validation."""
    folds = all_folds(y, n_trials, n_folds, seed)[:n_runs]
    return np.array(
        [auc_of(make(**parameters), X, y, train, test) for train, test in folds]
    )


def all_folds(y, n_trials, n_folds, seed):
    splitter = RepeatedStratifiedKFold(
        n_splits=n_folds, n_repeats=n_trials, random_state=seed
    )
    return list(splitter.split(np.zeros(len(y)), y))


def compare(method, X, y, *, n_trials=5, n_runs=None, seed=0):
    """Return AUCs of the tuned and of the default model, and what was tuned."""
    make, grid, default = method
    train, _ = all_folds(y, n_trials, 5, seed)[0]
    best = tune(make, grid, X, y, train, seed=seed)
    runs = {"n_trials": n_trials, "n_runs": n_runs, "seed": seed}
    tuned = evaluate(make, best, X, y, **runs)
    untuned = evaluate(default, {}, X, y, **runs)
    return tuned, untuned, best


HEADER = (
    "| set | method | paper | tuned | difference | within one std or above | untuned "
    "| to tuned | tuned to |\n" + "|---" * 9 + "|"
)


def compared_row(name, method, how, X, y, paper, spread, **runs):
    """Return one line of the table under HEADER."""
    tuned, untuned, best = compare(how, X, y, **runs)
    chosen = ", ".join(f"{k} {v:.3g}" for k, v in sorted(best.items()))
    return (
        f"| {name} | {method} | {paper:.4f} ± {spread:.4f} | "
        f"{tuned.mean():.4f} ± {tuned.std():.4f} | {tuned.mean() - paper:+.4f} | "
        f"{'yes' if tuned.mean() >= paper - spread else '**no**'} | "
        f"{untuned.mean():.4f} | {untuned.mean() - tuned.mean():+.4f} | {chosen} |"
    )


def print_cells(cells, job, *, n_jobs):
    """Print ``job(cell)`` for each, in order, as soon as it is ready."""
    parallel = Parallel(n_jobs=n_jobs, return_as="generator")
    for row in parallel(delayed(job)(cell) for cell in cells):
        print(row, flush=True)
