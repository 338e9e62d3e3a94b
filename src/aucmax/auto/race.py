# SPDX-License-Identifier: BSD-3-Clause
"""Candidates are fitted fold by fold; those far behind or out of time drop out."""

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.exceptions import FitFailedWarning

from aucmax._utils.typing import BoolArray, FloatArray, IntArray, Matrix, is_sparse
from aucmax.auto.families import Group, block_scores, threads_for
from aucmax.auto.sampling import Fold, balanced_subsample
from aucmax.auto.weights import MAX_DISTANCE, distances_to_best
from aucmax.metrics.auc import roc_auc

# Of more training rows than the first number, a part decides who drops out early.
FULL_HEAT_ROWS, HEAT_ROWS = 20_000, 10_000
# A candidate is dropped if it is surely behind, and by so much that it cannot help.
LEAST_GAP = 0.01
# Until its speed is known, a machine counts as this much slower than an ordinary one.
FIRST_RATIO = 2.0
# What is planned for takes longer now and then.
MARGIN = 1.2
# What a final fit takes compared with one of a fold.
REFIT_COST = 1.4


class Clock:
    """How much of the time is left; without a budget there is no end of it."""

    def __init__(self, budget: float | None) -> None:
        self.budget = budget
        self._start = time.perf_counter()

    @property
    def spent(self) -> float:
        """Seconds since the start."""
        return time.perf_counter() - self._start

    @property
    def left(self) -> float:
        """Seconds until the budget is used up."""
        # A twentieth is kept for what comes after the last fit.
        return np.inf if self.budget is None else 0.95 * self.budget - self.spent


class Pace:
    """How fast this machine is, compared with what groups say they cost."""

    def __init__(self) -> None:
        self.cost = 0.1
        self.spent = FIRST_RATIO * self.cost

    def learn(self, cost: float, seconds: float) -> None:
        """Take note of a fit."""
        self.cost += cost
        self.spent += seconds

    def seconds(self, cost: float) -> float:
        """Return what a fit of this cost will take."""
        return MARGIN * cost * self.spent / self.cost


def row_width(X: Matrix) -> float:
    """Return the number of values per row, of sparse rows those that are not zero."""
    return float(X.nnz / X.shape[0] if is_sparse(X) else X.shape[1])


@dataclass(eq=False)
class Lane:
    """One group in the race: its models and scores so far.

    Attributes
    ----------
    group : Group
        Not fitted.
    scores : list of ndarray
        For each fold, the raw scores of the rows left out, one column per member.
    models : list of Group
        The fitted models of the folds, as far as they are kept.
    seconds : list of float
        Time of each fold.
    first_aucs : list of float
        AUC of each member in the first heat.
    expected : float
        Seconds that all folds will take, if there is a budget and none has been run.
    spent : float
        Seconds so far, also of what was not kept.
    note : str
        Why it dropped out; empty if it did not.
    """

    group: Group
    scores: list[FloatArray] = field(default_factory=list)
    models: list[Group] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    first_aucs: list[float] = field(default_factory=list)
    expected: float = 0.0
    spent: float = 0.0
    note: str = ""


class TrainingSet(NamedTuple):
    """Rows, which of them are positive, and which columns hold categories."""

    X: Matrix
    is_pos: BoolArray
    is_categorical: BoolArray

    def take(self, rows: IntArray) -> "TrainingSet":
        """Return some of the rows."""
        return self._replace(X=self.X[rows], is_pos=self.is_pos[rows])


@dataclass(frozen=True, eq=False)
class Track:
    """The rows the race is run on, and the rules."""

    data: TrainingSet
    folds: Sequence[Fold]
    clock: Clock
    pace: Pace
    n_jobs: int | None
    keeps_models: bool
    tell: Callable[[str], None]
    seed: int

    def run(self, groups: Sequence[Group]) -> list[Lane]:
        """Return a lane for each group; those with a note have dropped out."""
        lanes = [Lane(group) for group in groups]
        if len(self.folds[0].train) > FULL_HEAT_ROWS:
            self._short_heat(lanes)
        else:
            self._first_fold(lanes)
        running = [lane for lane in lanes if not lane.note]
        for number, lane in enumerate(running):
            # The first one is run in any case: something must come out.
            if number and self._to_come(lane) > self.clock.left:
                lane.note = "stopped: no time left"
            elif len(lane.scores) < len(self.folds):
                self._run_folds(lane, self.folds[len(lane.scores) :])
        return lanes

    def final_models(self, lane: Lane) -> list[Group]:
        """Return a model of all rows or, if time is up, those of the folds."""
        if lane.models and REFIT_COST * max(lane.seconds) > self.clock.left:
            return lane.models
        self.tell(f"{lane.group.members[0]}: fitted to all rows")
        try:
            with threads_for(len(self.data.is_pos)):
                model = clone(lane.group)
                return [model.fit(*self.data)]
        # Of any kind: one candidate that fails must not cost the others.
        except Exception as error:
            _warn(lane, error)
            return lane.models

    def _first_fold(self, lanes: Sequence[Lane]) -> None:
        """Run the first fold of all and drop those far behind."""
        promised = 0.0
        for number, lane in enumerate(lanes):
            if number and self._expect(lane) + promised > self.clock.left:
                lane.note = "not tried: no time left"
                continue
            self._run_folds(lane, self.folds[:1])
            promised += self._to_come(lane)
        _drop_stragglers(lanes, self.data.is_pos[self.folds[0].test])

    def _short_heat(self, lanes: Sequence[Lane]) -> None:
        """Drop those far behind on a part of very many rows.

        More rows help boosted trees most, and a part says little about them: but for
        one as a yardstick, they need not run.
        """
        fold = Fold(*(self._part(rows) for rows in self.folds[0]))
        boosting = [lane for lane in lanes if lane.group.family == "boosting"]
        promised = 0.0
        for number, lane in enumerate(lanes):
            lane.expected = self._expect(lane)
            if number and lane.expected + promised > self.clock.left:
                lane.note = "not tried: no time left"
                continue
            promised += lane.expected
            if lane not in boosting[1:]:
                self._run_folds(lane, [fold])
        _drop_stragglers(lanes, self.data.is_pos[fold.test])
        for lane in lanes:
            lane.scores, lane.models, lane.seconds = [], [], []
        for lane in boosting:
            if "behind" in lane.note:
                lane.note = ""

    def _part(self, rows: IntArray) -> IntArray:
        return rows[balanced_subsample(self.data.is_pos[rows], HEAT_ROWS, self.seed)]

    def _expect(self, lane: Lane) -> float:
        """Return the seconds that all folds will take, if there is a budget."""
        if self.clock.budget is None:
            return 0.0
        cost = lane.group.cost(len(self.folds[0].train), row_width(self.data.X))
        return self.pace.seconds(cost) * len(self.folds)

    def _to_come(self, lane: Lane) -> float:
        """Return the seconds that are left to do."""
        if not lane.seconds:
            return lane.expected
        n_missing = len(self.folds) - len(lane.seconds)
        return n_missing * sum(lane.seconds) / len(lane.seconds)

    def _run_folds(self, lane: Lane, folds: Sequence[Fold]) -> None:
        tasks = [
            delayed(_fit_fold)(
                lane.group,
                *self.data,
                fold,
                self.keeps_models,
            )
            for fold in folds
        ]
        n_jobs = self.n_jobs if len(tasks) > 1 else 1
        try:
            results = Parallel(n_jobs=n_jobs)(tasks)
        # Of any kind: one candidate that fails must not cost the others.
        except Exception as error:
            lane.note = _warn(lane, error)
            return
        for fold, (model, scores, seconds) in zip(folds, results, strict=True):
            cost = lane.group.cost(len(fold.train), row_width(self.data.X))
            self.pace.learn(cost, seconds)
            lane.scores.append(scores)
            lane.seconds.append(seconds)
            lane.spent += seconds
            if self.keeps_models:
                lane.models.append(model)
        self.tell(
            f"{lane.group.members[0]}: {len(folds)} of {len(self.folds)} folds in "
            f"{sum(seconds for _, _, seconds in results):.1f} s, "
            f"{self.clock.spent:.0f} s in all"
        )


def _warn(lane: Lane, error: Exception) -> str:
    note = f"failed: {type(error).__name__}: {str(error).rstrip('.')}"
    warnings.warn(
        f"{lane.group.members[0]} {note}. It is left out.",
        FitFailedWarning,
        stacklevel=2,
    )
    return note


def _fit_fold(
    group: Group,
    X: Matrix,
    is_pos: BoolArray,
    is_categorical: BoolArray,
    fold: Fold,
    keeps_model: bool,
) -> tuple[Group | None, FloatArray, float]:
    start = time.perf_counter()
    with threads_for(len(fold.train)):
        model = clone(group).fit(X[fold.train], is_pos[fold.train], is_categorical)
        scores = block_scores(model, X[fold.test])
    if not np.isfinite(scores).all():
        raise FloatingPointError("some scores are not finite")
    seconds = time.perf_counter() - start
    # A model that is not kept need not travel back from another process.
    return model if keeps_model else None, scores, seconds


def _drop_stragglers(lanes: Sequence[Lane], is_pos: BoolArray) -> None:
    """Drop the groups none of whose members is near the best in what has been run."""
    running = [lane for lane in lanes if lane.scores and not lane.note]
    if not running:
        return
    scores = np.hstack([lane.scores[0] for lane in running])
    aucs = np.array([roc_auc(is_pos, column) for column in scores.T])
    is_behind = (distances_to_best(scores, is_pos) > MAX_DISTANCE) & (
        aucs < aucs.max() - LEAST_GAP
    )
    first = 0
    for lane in running:
        last = first + lane.scores[0].shape[1]
        lane.first_aucs = aucs[first:last].tolist()
        if is_behind[first:last].all():
            lane.note = "dropped early: far behind the best"
        first = last
