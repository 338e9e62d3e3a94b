# SPDX-License-Identifier: BSD-3-Clause
"""Fits and scores that need little memory, and AUCs on rows that were not learned."""

import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri
from scipy.stats import rankdata
from sklearn.model_selection import StratifiedKFold

from aucmax._utils.typing import BoolArray, FloatArray, IntArray
from aucmax.cli._base import tell
from aucmax.metrics import AUCInterval, roc_auc_interval

# Rows that are prepared, learned or scored at a time.
BATCH_ROWS = 20_000
# From here on, online learners take a table in batches.
STREAMED_ROWS = 100_000
# Rows from which their columns' medians, scales and categories are found.
SAMPLE_ROWS = 100_000
# Rows, as a share and at most, that are scored before they are learned.
HELD_SHARE, MOST_HELD = 0.2, 50_000


class OutOfFold(NamedTuple):
    """Scores of each row by a model that did not learn it, and seconds per fit."""

    scores: FloatArray
    seconds: float


def take(X: Any, rows: Any) -> Any:
    """Return rows of a table or a matrix."""
    return X.iloc[rows] if hasattr(X, "iloc") else X[rows]


def _batches(rows: IntArray) -> Iterator[IntArray]:
    for start in range(0, len(rows), BATCH_ROWS):
        yield rows[start : start + BATCH_ROWS]


def in_batches(function: Callable[[Any], Any], X: Any) -> NDArray[Any]:
    """Return the values of a function of rows, computed for some rows at a time."""
    n = X.shape[0]
    parts = [slice(k, k + BATCH_ROWS) for k in range(0, n, BATCH_ROWS)]
    return np.concatenate([np.asarray(function(take(X, part))) for part in parts])


def score_rows(model: Any, X: Any) -> FloatArray:
    """Return one score per row; higher means more likely positive."""
    if hasattr(model, "decision_function"):
        scores = in_batches(model.decision_function, X)
    elif hasattr(model, "predict_proba"):
        scores = in_batches(lambda rows: model.predict_proba(rows)[:, 1], X)
    else:
        raise ValueError(
            f"A {type(model).__name__} gives neither scores nor probabilities. Take a "
            "classifier."
        )
    if scores.ndim != 1:
        raise ValueError("The model has more than two classes; two are needed.")
    return scores


def is_streamed(estimator: Any, n_rows: int) -> bool:
    """Say whether an online learner takes a table of this size in batches."""
    return (
        n_rows > STREAMED_ROWS
        and hasattr(estimator, "partial_fit")
        and getattr(estimator, "n_passes", 1) == 1
    )


def learn_in_batches(
    model: Any, X: Any, y: NDArray[Any], is_pos: BoolArray, seed: int
) -> AUCInterval:
    """Fit a pipeline batch by batch; return its AUC on rows before it learned them.

    The table is not copied: the preparation is found from a sample, and each batch is
    prepared when its turn comes. Rows come in random order, held-out ones last.
    """
    prepare, estimator = (step for _, step in model.steps)
    rng = np.random.default_rng(seed)
    held, rest = _hold_out(is_pos, rng)
    classes = np.unique(y)
    prepare.fit(take(X, rest[:SAMPLE_ROWS]))

    def learn(rows: IntArray) -> None:
        for part in _batches(rows):
            Z = prepare.transform(take(X, part))
            estimator.partial_fit(Z, y[part], classes=classes)

    learn(rest)
    interval = roc_auc_interval(is_pos[held], score_rows(model, take(X, held)))
    learn(held)
    return interval


def _hold_out(is_pos: BoolArray, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
    """Return rows to hold out, of both classes, and the others, in random order."""
    share = min(HELD_SHARE, MOST_HELD / len(is_pos))
    is_held = np.zeros(len(is_pos), dtype=bool)
    for rows in (np.flatnonzero(is_pos), np.flatnonzero(~is_pos)):
        n_held = max(1, int(share * len(rows)))
        is_held[rng.choice(rows, n_held, replace=False)] = True
    order = rng.permutation(len(is_pos))
    return order[is_held[order]], order[~is_held[order]]


def out_of_fold(
    make: Callable[[], Any],
    X: Any,
    y: NDArray[Any],
    is_pos: BoolArray,
    *,
    n_folds: int,
    seed: int,
    progress: Callable[[str], None],
) -> OutOfFold:
    """Score each row by a model fitted to the other folds.

    Scores of different models have no common scale. In each fold they are replaced by
    the normal quantiles of their ranks; then all rows make one ranking.
    """
    folds = StratifiedKFold(n_folds, shuffle=True, random_state=seed)
    scores = np.empty(len(y))
    seconds = []
    for k, (train, test) in enumerate(folds.split(is_pos, is_pos), start=1):
        progress(f"fold {k} of {n_folds}")
        start = time.perf_counter()
        model = make().fit(take(X, train), y[train])
        seconds.append(time.perf_counter() - start)
        ranks = rankdata(score_rows(model, take(X, test)))
        scores[test] = ndtri((ranks - 0.5) / len(test))
    return OutOfFold(scores, float(np.mean(seconds)))


def check_folds(n_folds: int, is_pos: BoolArray, what: str) -> int:
    """Return how many folds can have rows of both classes in each."""
    n_pos = int(np.count_nonzero(is_pos))
    smaller = min(n_pos, len(is_pos) - n_pos)
    if smaller < 2:
        raise ValueError(
            f"{what} has one row only in one of its classes. Two of each are needed "
            "to cross-validate."
        )
    if smaller < n_folds:
        tell(
            f"Note: {smaller} folds instead of {n_folds}, because a class has only "
            f"{smaller} rows."
        )
    return min(n_folds, smaller)
