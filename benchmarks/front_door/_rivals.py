# SPDX-License-Identifier: BSD-3-Clause
"""The tools at hand, each tuned on a small grid inside the training rows."""

from itertools import product

import numpy as np
from scipy import sparse
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, StandardScaler
from sklearn.svm import SVC

SVC_MAX_ROWS = 20_000
SVC_TUNE_ABOVE, SVC_TUNE_ROWS = 6000, 4000
# Boosting takes long to tune on one thread; scikit-learn's the longest.
HGB_TUNE_ROWS = 2000
LGBM_TUNE_ROWS = 10_000
# Above so many rows, one holdout of no more than the second number replaces the folds.
MANY_ROWS, MANY_TUNE_ROWS = 20_000, 50_000
KNN_TUNE_ROWS = 10_000
KNN_MAX_ROWS = 300_000
N_FOLDS = 5
HOLDOUT_SHARE = 0.2
# Few positives are not thinned below this: each fold needs some.
MIN_POS = 10

# The simplest first: of equals, the first is taken.
GRIDS = {
    "lr": [{"C": C} for C in (0.01, 0.1, 1, 10)],
    "svc": [
        {"C": C, "gamma_by_scale": g} for C, g in product((1, 10), (0.25, 1.0, 4.0))
    ],
    "knn": [{"n_neighbors": k} for k in (50, 15, 5)],
    "hgb": [
        {"max_leaf_nodes": leaves, "learning_rate": rate, "max_iter": n_trees}
        for leaves in (15, 31)
        for rate, n_trees in ((0.05, 400), (0.1, 200))
    ],
    "lgbm": [
        {"num_leaves": leaves, "learning_rate": rate, "n_estimators": n_trees}
        for leaves, rate, n_trees in (
            (15, 0.05, 200),
            (15, 0.1, 400),
            (31, 0.05, 200),
            (31, 0.1, 400),
            (63, 0.05, 400),
            (63, 0.1, 400),
        )
    ],
}


def why_not(method, X):
    """Return why a method is left out of a set, or None."""
    if method == "svc" and X.shape[0] > SVC_MAX_ROWS:
        return f"more than {SVC_MAX_ROWS:,} training rows"
    if method == "knn" and X.shape[0] > KNN_MAX_ROWS:
        return f"more than {KNN_MAX_ROWS:,} training rows"
    if method == "hgb" and sparse.issparse(X):
        return "takes no sparse rows; as dense ones they or its histograms take GBs"
    return None


def fit_tuned(method, X, y):
    """Return the model refitted on all rows, its parameters, its score, and how."""
    rows, splits, how = _tuning(method, X, y)
    X_tune, y_tune = (X, y) if rows is None else (X[rows], y[rows])
    grid = GRIDS[method]
    if method == "hgb" and X.shape[0] > HGB_TUNE_ROWS:
        grid = [grid[0], grid[3]]
    means = []
    for params in grid:
        aucs = []
        for train, valid in splits:
            model = _fit(method, params, X_tune[train], y_tune[train])
            aucs.append(roc_auc_score(y_tune[valid], scores(model, X_tune[valid])))
        means.append(float(np.mean(aucs)))
    best = int(np.argmax(means))
    return _fit(method, grid[best], X, y), grid[best], means[best], how


def scores(model, X):
    """Return the scores that rank the rows."""
    if hasattr(model, "decision_function"):
        return model.decision_function(X)
    return model.predict_proba(X)[:, 1]


def _tuning(method, X, y):
    """Return the rows to tune on (None: all), splits of them, and both in words."""
    n = X.shape[0]
    rows, n_folds = None, N_FOLDS
    if method == "svc" and n > SVC_TUNE_ABOVE:
        rows = _sample(y, SVC_TUNE_ROWS)
    elif method == "knn" and n > MANY_ROWS:
        rows = _sample(y, KNN_TUNE_ROWS)
    elif method == "hgb" and n > HGB_TUNE_ROWS:
        rows = _sample(y, min(n, 5 * HGB_TUNE_ROWS if n > MANY_ROWS else HGB_TUNE_ROWS))
        n_folds = 1 if n > MANY_ROWS else N_FOLDS
    elif method == "lgbm" and MANY_ROWS >= n > LGBM_TUNE_ROWS:
        rows = _sample(y, LGBM_TUNE_ROWS)
    elif n > MANY_ROWS:
        rows = _sample(y, MANY_TUNE_ROWS) if n > MANY_TUNE_ROWS else None
        n_folds = 1
    y = y if rows is None else y[rows]
    of = "all" if rows is None else f"{len(rows)} rows"
    if n_folds == 1:
        one = train_test_split(
            np.arange(len(y)), test_size=HOLDOUT_SHARE, stratify=y, random_state=0
        )
        return rows, [one], f"holdout of {of}"
    folds = StratifiedKFold(n_folds, shuffle=True, random_state=0)
    return rows, list(folds.split(y[:, None], y)), f"{n_folds} folds of {of}"


def _sample(y, size):
    """Return numbers of so many rows, with the share of positives kept."""
    rng = np.random.default_rng(0)
    pos, neg = np.flatnonzero(y == 1), np.flatnonzero(y == 0)
    n_pos = min(len(pos), max(MIN_POS, round(size * len(pos) / len(y))))
    drawn = rng.choice(pos, n_pos, replace=False)
    return np.sort(np.r_[drawn, rng.choice(neg, size - n_pos, replace=False)])


def _fit(method, params, X, y):
    scaler = MaxAbsScaler() if sparse.issparse(X) else StandardScaler()
    if method == "lr":
        return make_pipeline(scaler, LogisticRegression(max_iter=2000, **params)).fit(
            X, y
        )
    if method == "svc":
        gamma = params["gamma_by_scale"] * _gamma_scale(scaler.fit_transform(X))
        model = SVC(C=params["C"], gamma=gamma, class_weight="balanced", cache_size=500)
        return make_pipeline(scaler, model).fit(X, y)
    if method == "knn":
        return make_pipeline(scaler, KNeighborsClassifier(**params, n_jobs=1)).fit(X, y)
    if method == "hgb":
        model = HistGradientBoostingClassifier(
            early_stopping=False, random_state=0, **params
        )
        return model.fit(X, y)
    from lightgbm import LGBMClassifier

    return LGBMClassifier(n_jobs=1, random_state=0, verbosity=-1, **params).fit(X, y)


def _gamma_scale(X):
    """Return what SVC takes for gamma="scale"."""
    square = X.multiply(X) if sparse.issparse(X) else X**2
    return 1 / (X.shape[1] * (square.mean() - X.mean() ** 2))
