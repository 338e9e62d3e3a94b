# SPDX-License-Identifier: BSD-3-Clause
"""The unit of work: one model, its parameters, one split; and what comes of it."""

import functools
import json
import time
import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone

from aucmax._utils.threads import one_blas_thread
from aucmax._utils.typing import BoolArray, IntArray, Matrix
from aucmax.metrics import roc_auc
from aucmax.metrics.online_curve import auc_curve
from aucmax_papers.methods import build, count_pairs
from aucmax_papers.problem import Problem, draw_at_most, load_problem
from aucmax_papers.protocol import Figure, Method, SetUse, limited
from aucmax_papers.rows import Row
from aucmax_papers.versions import protocol_version, versions

NO_VALUE = -1.0
# Enough to load whatever is compiled, before the clock runs.
WARM_UP_ROWS = 200
DIVERGED_AUC = 0.5
LIMITS = (
    "max_train",
    "max_rows",
    "n_runs",
    "tune_rows",
    "n_inner_used",
    "n_partitions",
)


@dataclass(frozen=True, slots=True, eq=False)
class Task:
    """What to run.

    Attributes
    ----------
    paper, mode : str
        Key, and "full" or "fast".
    use, method : SetUse, Method
        With limits merged: see `merge_limits`.
    variant, stage : str
        As in `Row`.
    partition, run : int
        Which split; of "tune", every inner split of run 0.
    params : str
        JSON.
    figure : Figure or None
        What else is varied; its value is ``x``.
    """

    paper: str
    mode: str
    use: SetUse
    method: Method
    variant: str
    stage: str
    partition: int
    run: int
    params: str
    figure: Figure | None = None
    x: float = NO_VALUE

    @property
    def n_rows(self) -> int:
        """Return how many results it has: one, or one per inner split."""
        if self.stage == "tune":
            every = self.use.n_inner_folds * self.use.n_inner_repeats
            return min(every, self.use.n_inner_used or every)
        return 1


def merge_limits(use: SetUse, method: Method) -> SetUse:
    """Return the set with the smaller of its and the method's limits."""
    return limited(use, {name: getattr(method, name) for name in LIMITS})


def evaluate(task: Task) -> list[Row]:
    """Return the results of a task.

    A model that diverges has an AUC of one half; any other error is kept in the result,
    with an AUC of NaN, and the run goes on.
    """
    with one_blas_thread(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return _evaluate(task)
        except (
            Exception
        ) as error:  # of any kind: hours of other results must not be lost
            return [_row(task, -1, f"{type(error).__name__}: {error}")]


def _evaluate(task: Task) -> list[Row]:
    problem = load_problem(task.use, task.partition)
    if task.figure is not None and task.figure.vary == "online":
        return _follow(task, task.figure, problem)
    if task.stage == "tune":
        splits = problem.inner_splits(task.use.tune_rows)
        return [_fit(task, problem, *splits[i], inner=i) for i in range(len(splits))]
    train, test = problem.split(task.run)
    return [_fit(task, problem, train, test, inner=-1)]


def _fit(
    task: Task, problem: Problem, train: IntArray, test: IntArray, *, inner: int
) -> Row:
    train = _limited(task, train)
    if task.figure is not None and task.figure.vary == "n_rows":
        order = np.random.default_rng(task.run).permutation(len(train))
        train = train[order[: int(task.x)]]
    X_train, X_test = problem.take(train, test)
    y_train, y_test = problem.is_pos[train], problem.is_pos[test]
    params = json.loads(task.params)
    n_pairs = _tuned_pairs(task, problem)
    model = build(
        task.method, task.variant, params, X_train, y_train, task.run, n_pairs
    )
    _warm_up(task.method.name, task.variant, model, X_train, y_train)
    auc, error, scored = DIVERGED_AUC, "", np.nan
    start = time.process_time()
    try:
        model.fit(X_train, y_train)
        fitted = time.process_time()
        scores = model.decision_function(X_test)
        scored = time.process_time()
        auc = roc_auc(y_test, scores)
    except FloatingPointError as diverged:
        fitted, error = time.process_time(), str(diverged)
    return replace(
        _row(task, inner),
        auc=auc,
        seconds=fitted - start,
        scoring=scored - fitted,
        size=_size(model),
        n_train=len(train),
        n_test=len(test),
        error=error,
    )


def _limited(task: Task, train: IntArray) -> IntArray:
    """Return as many of the training rows as the set and the method take."""
    train = draw_at_most(train, task.use.max_train, task.run)
    return draw_at_most(train, round(task.method.train_share * len(train)), task.run)


def _tuned_pairs(task: Task, problem: Problem) -> float | None:
    """Return the number of pairs that a C refers to which was tuned on fewer rows.

    The same C beside the sum over many more pairs would be another penalty: what was
    tuned is its ratio to the mean.
    """
    if task.stage == "tune" or task.variant != "published" or not task.use.tune_rows:
        return None
    tuned = _limited(task, problem.tuning_rows(task.use.tune_rows))
    if len(tuned) >= len(_limited(task, problem.split(task.run)[0])):
        return None
    return count_pairs(problem.is_pos[tuned])


def _follow(task: Task, figure: Figure, problem: Problem) -> list[Row]:
    """Return one result per point of a curve over time."""
    order = np.random.default_rng(task.run).permutation(len(problem.is_pos))
    order = order[: figure.max_rows or None]
    X, y = problem.X[order], problem.is_pos[order]
    params = json.loads(task.params)
    model = build(task.method, task.variant, params, X, y, task.run)
    curve = auc_curve(model, X, y, grid=int(task.x))
    return [
        replace(_row(task, i), x=float(t), auc=float(auc), n_train=int(t))
        for i, (t, auc) in enumerate(zip(curve.n_rows, curve.auc, strict=True))
    ]


@functools.cache
def _warmed() -> set[tuple[str, str]]:
    return set()


def _warm_up(name: str, variant: str, model: Any, X: Matrix, is_pos: BoolArray) -> None:
    """Fit a few rows once per process: compiled code is loaded then."""
    if (name, variant) in _warmed():
        return
    _warmed().add((name, variant))
    few = np.concatenate(
        [np.flatnonzero(mask)[: WARM_UP_ROWS // 2] for mask in (is_pos, ~is_pos)]
    )
    try:
        clone(model).fit(X[few], is_pos[few]).decision_function(X[few])
    except (ValueError, FloatingPointError):
        return  # too few rows for it; the clock then includes loading, once


def _size(model: Any) -> int:
    basis = getattr(model, "basis_", None)
    return -1 if basis is None else int(basis.shape[0])


def _row(task: Task, inner: int, error: str = "") -> Row:
    """Return a result without measured values."""
    return Row(
        paper=task.paper,
        mode=task.mode,
        results_version=task.method.results_version,
        protocol=protocol_version(task.use, task.method, task.figure),
        stage=task.stage,
        set=task.use.name,
        method=task.method.name,
        variant=task.variant,
        partition=task.partition,
        run=task.run,
        inner=inner,
        params=task.params,
        x=task.x,
        auc=np.nan,
        seconds=np.nan,
        scoring=np.nan,
        size=-1,
        n_train=0,
        n_test=0,
        seed=task.run,
        error=error,
        versions=versions(),
    )
