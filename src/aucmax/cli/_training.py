# SPDX-License-Identifier: BSD-3-Clause
"""Models fitted to tables in memory and to streams, and how well they rank."""

import math
import time
from typing import Any, NamedTuple

from sklearn.base import clone

from aucmax.cli._base import tell_progress
from aucmax.cli._data import Problem
from aucmax.cli._fitting import check_folds, is_streamed, learn_in_batches, out_of_fold
from aucmax.cli._models import MODELS, make_model
from aucmax.cli._streamed import FitOptions, Stream
from aucmax.cli._streamed import train as learn_stream
from aucmax.metrics import AUCInterval, roc_auc_interval

# On which rows an AUC was measured.
OUT_OF_FOLD, HELD_OUT = "out of fold", "on rows before they were learned"
LEFT_OUT = "on rows that were left out"


class Fitted(NamedTuple):
    """A fitted model with what is known of it."""

    model: Any
    seconds: float
    interval: AUCInterval | None
    how: str


def train_stream(
    name: str, estimator: Any, stream: Stream, hold: bool, options: FitOptions
) -> Fitted:
    """Fit a pipeline to a stream, and measure it on rows that are left out."""
    model = make_model(name, estimator, is_sparse=not stream.kinds)
    start = time.perf_counter()
    model, interval = learn_stream(model, stream, hold=hold, options=options)
    return Fitted(_quiet(model), time.perf_counter() - start, interval, LEFT_OUT)


def train_auto(
    name: str, model: Any, problem: Problem, n_folds: int, seed: int
) -> Fitted:
    """Fit the model that cross-validates by itself."""
    start = time.perf_counter()
    model.fit(problem.X, problem.y)
    seconds = time.perf_counter() - start
    interval = model.auc_interval_
    # Of a class with one row nothing could be left out to measure by.
    known = None if math.isnan(interval.auc) else interval
    return Fitted(_quiet(model), seconds, known, OUT_OF_FOLD)


def train(
    name: str, estimator: Any, problem: Problem, n_folds: int, seed: int
) -> Fitted:
    """Fit a pipeline to a table, and measure it on rows that it did not learn."""
    X, y, is_pos, *_ = problem
    model = make_model(name, estimator, is_sparse=not problem.kinds)
    start = time.perf_counter()
    if MODELS[name].streams and is_streamed(estimator, len(y)):
        interval = learn_in_batches(model, X, y, is_pos, seed)
        return Fitted(_quiet(model), time.perf_counter() - start, interval, HELD_OUT)
    if n_folds:
        n_folds = check_folds(n_folds, is_pos, str(problem.place))
    model.fit(X, y)
    seconds = time.perf_counter() - start
    if not n_folds:
        return Fitted(_quiet(model), seconds, None, "")
    found = out_of_fold(
        lambda: clone(model),
        X,
        y,
        is_pos,
        n_folds=n_folds,
        seed=seed,
        progress=tell_progress,
    )
    interval = roc_auc_interval(is_pos, found.scores)
    return Fitted(_quiet(model), seconds, interval, OUT_OF_FOLD)


def _quiet(model: Any) -> Any:
    """Return the model, which shall not talk when somebody else fits it again."""
    estimator = model.steps[-1][1] if hasattr(model, "steps") else model
    if estimator.get_params(deep=False).get("verbose") == 1:
        estimator.set_params(verbose=0)
    return model
