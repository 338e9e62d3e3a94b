# SPDX-License-Identifier: BSD-3-Clause
"""Scores of fitted models, one row at a time and many at once, and the AUC of scores.

Models are fitted to 5,000 rows of 30 features. CPU time on one thread, through public
methods, checks and all.
"""

from collections.abc import Iterator
from functools import partial

import numpy as np
from data import draw_dense
from peers import features, label, lightgbm, scores, xgboost
from sklearn.base import BaseEstimator
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from timing import QUICK, Goal, Row, row, take_turns

from aucmax import NBAUC, AUCClassifier, RankSVM
from aucmax.metrics import PrequentialAUC, StreamingAUC, roc_auc

N_FEATURES, FIT_ROWS = 30, 5_000
MILLION = 10_000 if QUICK else 1_000_000
WINDOW, WINDOW_ROWS, WINDOW_READS = 1000, 1000, 10


def rows() -> Iterator[Row]:
    yield from of_models()
    yield from of_metrics()


def of_models() -> Iterator[Row]:
    X, y = draw_dense(FIT_ROWS, N_FEATURES)
    gamma = 1 / N_FEATURES
    linear, logistic = RankSVM().fit(X, y), LogisticRegression().fit(X, y)
    kernel = NBAUC(400, gamma=gamma, alpha=1e-4, random_state=0).fit(X, y)
    ensemble = AUCClassifier(["linear"] if QUICK else "auto", cv=3, random_state=0)
    ensemble.fit(X, y)
    boosted, trees = lightgbm().fit(X, y), xgboost().fit(X, y)
    yield beside(linear, logistic, 1)
    yield beside(kernel, features(Nystroem, 400, gamma).fit(X, y), 1)
    yield beside(ensemble, boosted, 1)
    yield beside(linear, logistic, MILLION)
    yield beside(kernel, boosted, MILLION)
    yield beside(kernel, trees, MILLION)


def beside(ours: BaseEstimator, peer: BaseEstimator, n: int) -> Row:
    X = np.random.default_rng(1).normal(size=(n, N_FEATURES))
    turns = take_turns(partial(scores, ours, X), partial(scores, peer, X))
    data = "one row" if n == 1 else f"{n:,} rows"
    more = {"per": n, "unit": "s per row"}
    return row(f"{label(ours)}, scores", data, label(peer), turns, **more)


def of_metrics() -> Iterator[Row]:
    goal = None if QUICK else Goal(ratio=1 / 15)
    for n, kind in ((10_000, ""), (MILLION, ""), (MILLION, "weighted ")):
        y, values = draw_scores(n)
        weight = np.random.default_rng(1).random(n) if kind else None
        turns = take_turns(
            partial(roc_auc, y, values, sample_weight=weight),
            partial(roc_auc_score, y, values, sample_weight=weight),
        )
        yield row("roc_auc", f"{n:,} {kind}scores", "roc_auc_score", turns, goal=goal)
    yield streaming()
    yield prequential()


def draw_scores(n: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    y = (rng.random(n) < 0.1).astype(int)
    return y, rng.normal(size=n) + y


def streaming() -> Row:
    """Compare the exact AUC of a stream with River's, which has ten thresholds."""
    from river.metrics import ROCAUC

    y, values = draw_scores(10_000)
    probabilities = 1 / (1 + np.exp(-values))
    pairs = [*zip(y.astype(bool).tolist(), probabilities, strict=True)]

    def peer() -> float:
        metric = ROCAUC()
        for label_, score in pairs:
            metric.update(label_, score)
        return metric.get()

    turns = take_turns(lambda: StreamingAUC().update(y, values).auc, peer)
    name, data = "River ROCAUC, ten thresholds", "10,000 scores"
    unit = "s per row"
    return row("StreamingAUC, exact", data, name, turns, per=len(y), unit=unit)


def prequential() -> Row:
    """Compare the AUC of a window after every row; River walks through it each time."""
    from river.metrics import RollingROCAUC

    y, values = draw_scores(WINDOW_ROWS)
    pairs = [*zip(y.astype(bool).tolist(), values.tolist(), strict=True)]
    ours = PrequentialAUC(window=WINDOW).update(y, values)
    peer = RollingROCAUC(window_size=WINDOW)
    for label_, score in pairs:
        peer.update(label_, score)

    def update_peer() -> None:
        for label_, score in pairs[:WINDOW_READS]:
            peer.update(label_, score)
            peer.get()

    turns = take_turns(lambda: ours.update(y, values).auc, update_peer)
    each = [(a / WINDOW_ROWS, b / WINDOW_READS) for a, b in turns]
    data, name = f"window of {WINDOW:,} rows", "River RollingROCAUC"
    return row("PrequentialAUC, after each row", data, name, each, unit="s per row")
