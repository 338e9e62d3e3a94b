# SPDX-License-Identifier: BSD-3-Clause
"""Targets: every estimator and every metric on drawn rows."""

import inspect

import numpy as np
from estimator_list import ESTIMATORS, quick
from fuzz import problems
from fuzz.judging import Wrong
from scipy import sparse

from aucmax import AUCClassifier, metrics

OUTPUTS = ["decision_function", "predict_proba", "transform"]
SINGLE = [each for each in ESTIMATORS if not isinstance(each, AUCClassifier)]
FAMILIES = ["linear", "kernel", "boosting", "forest"]


def fit_case(rng, folder):
    estimator = quick(rng.choice(SINGLE), random_state=rng.randrange(99))
    X, y, weight = draw_problem(rng)
    fit(estimator, "fit", X, y, weight)
    check_scores(rng, estimator, X)


def stream_case(rng, folder):
    """Feed batches by turns; the columns may change once."""
    learners = [each for each in SINGLE if hasattr(each, "partial_fit")]
    estimator = quick(rng.choice(learners), random_state=rng.randrange(99))
    d = rng.choice(problems.WIDTHS)
    classes = rng.choice([None, [0, 1]])
    for _ in range(rng.choice([1, 2, 5])):
        X = problems.draw_rows(rng, d=d if rng.random() < 0.97 else None)
        y = problems.draw_labels(rng, len(X))
        weight = problems.draw_weights(rng, len(X))
        X = problems.dress(rng, X)
        fit(estimator, "partial_fit", X, y, weight, classes)
    check_scores(rng, estimator, X)


def fit_stream_case(rng, folder):
    learners = [each for each in SINGLE if hasattr(each, "fit_stream")]
    estimator = quick(rng.choice(learners), random_state=rng.randrange(99))
    d = rng.choice(problems.WIDTHS)
    batches = []
    for _ in range(rng.choice([0, 1, 2, 5])):
        X = problems.draw_rows(rng, d=d if rng.random() < 0.97 else None)
        y = problems.draw_labels(rng, len(X))
        batches.append((problems.dress(rng, X) if rng.random() < 0.5 else X, y))
    estimator.fit_stream(batches)
    check_scores(rng, estimator, batches[-1][0])


def classifier_case(rng, folder):
    estimator = AUCClassifier(
        families=[rng.choice(FAMILIES)],
        cv=2,
        time_budget=rng.choice([0.01, 1.0, 2.0]),
        random_state=rng.randrange(99),
        calibrate=rng.random() < 0.7,
        ensemble=rng.random() < 0.7,
    )
    X, y, weight = draw_problem(rng)
    fit(estimator, "fit", X, y, weight)
    check_scores(rng, estimator, X)


def metrics_case(rng, folder):
    n = rng.choice(problems.SIZES)
    y = problems.draw_labels(rng, n)
    score = problems.draw_rows(rng, n, 1)[:, 0]
    other = problems.draw_rows(rng, n, 1)[:, 0]
    weight = problems.draw_weights(rng, n)
    if rng.random() < 0.3:
        score = problems.dress(rng, score[:, None])
        if isinstance(score, np.ndarray):
            score = score.ravel()
    name = rng.choice([*METRICS])
    found = METRICS[name](rng, y, score, other, weight)
    numbers = np.asarray(found, dtype=float)
    if not np.isfinite(numbers).all():
        raise Wrong(f"{name} returns {numbers[~np.isfinite(numbers)][0]}")
    if name.endswith(" in [0, 1]") and not ((numbers >= 0) & (numbers <= 1)).all():
        raise Wrong(f"{name} returns {numbers}")


METRICS = {
    "roc_auc in [0, 1]": lambda rng, y, s, o, w: metrics.roc_auc(y, s, sample_weight=w),
    "partial_auc": lambda rng, y, s, o, w: metrics.partial_auc(
        y,
        s,
        max_fpr=rng.choice([None, 0.1, 1.0, 1e-9]),
        min_tpr=rng.choice([None, None, 0.5]),
        standardize=rng.random() < 0.5,
        sample_weight=w,
    ),
    "roc_auc_interval": lambda rng, y, s, o, w: metrics.roc_auc_interval(
        y, s, level=rng.choice([0.95, 0.5, 1 - 1e-12])
    ),
    "roc_auc_test": lambda rng, y, s, o, w: metrics.roc_auc_test(y, s, o).p_value,
    "roc_curve in [0, 1]": lambda rng, y, s, o, w: _curve(y, s, w),
    "roc_band": lambda rng, y, s, o, w: _band(rng, y, s),
    "best_threshold": lambda rng, y, s, o, w: _threshold(rng, y, s, w),
    "cost_curve": lambda rng, y, s, o, w: (
        metrics.cost_curve(y, s, sample_weight=w).cost
    ),
    "StreamingAUC in [0, 1]": lambda rng, y, s, o, w: (
        metrics.StreamingAUC().update(y, s, sample_weight=w).auc
    ),
    "PrequentialAUC in [0, 1]": lambda rng, y, s, o, w: (
        metrics.PrequentialAUC().update(y, s).auc
    ),
}


def _curve(y, score, weight):
    curve = metrics.roc_curve(y, score, sample_weight=weight)
    return np.r_[curve.fpr, curve.tpr]


def _threshold(rng, y, score, weight):
    found = metrics.best_threshold(
        y,
        score,
        cost_fp=rng.choice([1.0, 1e308, 1e-308]),
        prevalence=rng.choice([None, 0.5]),
        sample_weight=weight,
    )
    # Infinite if all rows are best called negative, or positive.
    return 0.0 if np.isinf(found) else found


def _band(rng, y, score):
    kind = rng.choice(["pointwise", "simultaneous"])
    band = metrics.roc_band(y, score, kind=kind)
    return np.r_[band.low, band.high]


def draw_problem(rng):
    if rng.random() < 0.03:
        X = problems.wide_rows(rng, rng.choice([3, 40]))
        n = X.shape[0]
    else:
        X = problems.draw_rows(rng)
        n = len(X)
        X = problems.dress(rng, X)
    return X, problems.draw_labels(rng, n), problems.draw_weights(rng, n)


def fit(estimator, method, X, y, weight, classes=None):
    call = getattr(estimator, method)
    known = inspect.signature(call).parameters
    given = {"sample_weight": weight, "classes": classes}
    given = {k: v for k, v in given.items() if k in known and v is not None}
    if hasattr(estimator, "transform") and not hasattr(estimator, "decision_function"):
        call(X)
    else:
        call(X, y, **given)


def check_scores(rng, estimator, X):
    """Raise if finite rows have scores that are not finite."""
    name = type(estimator).__name__
    for method in OUTPUTS:
        if not hasattr(estimator, method):
            continue
        found = getattr(estimator, method)(X)
        values = found.data if sparse.issparse(found) else np.asarray(found)
        if not np.isfinite(values).all() and problems.is_finite(X):
            raise Wrong(f"{name}.{method} is not finite for rows that are")
    if hasattr(estimator, "predict"):
        estimator.predict(X)
