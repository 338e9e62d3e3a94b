# SPDX-License-Identifier: BSD-3-Clause
"""From the race to one model: weights, the final fits, and what was found out."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtri
from sklearn.base import clone

from aucmax._utils.state import expect, expect_number, expect_type, is_plain_number
from aucmax._utils.typing import BoolArray, FloatArray, IntArray, Matrix
from aucmax.auto.families import Group, block_scores, threads_for
from aucmax.auto.leaderboard import Entry, Leaderboard
from aucmax.auto.race import Clock, Lane, Pace, Track, TrainingSet, row_width
from aucmax.auto.sampling import (
    balanced_subsample,
    is_number,
    is_one_enough,
    make_folds,
)
from aucmax.auto.scales import Scale, normal_scores
from aucmax.auto.weights import combine
from aucmax.metrics.auc import roc_auc
from aucmax.metrics.delong import AUCInterval, roc_auc_interval
from aucmax.metrics.threshold import balanced_threshold
from aucmax.saved import saved_as

# Less does not pay for a fit.
LEAST_WEIGHT = 0.01
# DeLong leaves out that other training rows would have given another model.
WIDENING = 1.2
# No budget is so small that fewer rows are used.
LEAST_ROWS = 1500


@saved_as("EnsemblePart")
@dataclass(frozen=True, eq=False)
class Part:
    """One group in the mixture: its models, and the scale and weight of its members."""

    models: list[Group]
    columns: list[int]
    scales: list[Scale]
    weights: list[float]

    def check_state(self) -> None:
        """Raise ValueError unless the arrays of a loaded object fit together."""
        expect(len(expect_type(self, "models", list)) > 0, self, "it has no models")
        members = zip(self.columns, self.scales, self.weights, strict=True)
        fits = all(
            type(column) is int and isinstance(scale, Scale) and is_plain_number(weight)
            for column, scale, weight in members
        )
        expect(fits, self, "a member has no column, scale or weight")

    def scores(self, X: Matrix) -> FloatArray:
        """Return the weighted sum of normal scores, mean over the models."""
        total = np.zeros(X.shape[0])
        for model in self.models:
            raw = block_scores(model, X)
            for column, scale, weight in zip(
                self.columns, self.scales, self.weights, strict=True
            ):
                total += weight * scale(raw[:, column])
        return total / len(self.models)


@saved_as("Ensemble")
@dataclass(frozen=True, eq=False)
class Ensemble:
    """A weighted sum of normal scores of several models."""

    parts: list[Part]
    threshold: float

    def check_state(self) -> None:
        """Raise ValueError unless the arrays of a loaded object fit together."""
        parts = expect_type(self, "parts", list)
        fits = all(isinstance(part, Part) for part in parts)
        expect(fits, self, "a part is none")
        expect_number(self, "threshold")

    def scores(self, X: Matrix) -> FloatArray:
        """Return the scores of the rows."""
        total = np.zeros(X.shape[0])
        with threads_for(X.shape[0]):
            for part in self.parts:
                total += part.scores(X)
        return total


@dataclass(frozen=True, eq=False)
class Fitted:
    """What comes out of a fit.

    ``scores`` and ``is_pos`` are of rows left out of training; ``odds`` are the odds of
    a positive among all rows, divided by those among these; ``fit_report`` are facts
    for the explanation.
    """

    ensemble: Ensemble
    leaderboard: Leaderboard
    interval: AUCInterval
    scores: FloatArray
    is_pos: BoolArray
    odds: float
    fit_report: dict[str, Any]


def fit_ensemble(
    data: TrainingSet,
    choose: Callable[[int], Sequence[Group]],
    *,
    mixes: bool,
    cv: Any,
    clock: Clock,
    n_jobs: int | None,
    tell: Callable[[str], None],
    seed: int,
) -> Fitted:
    """Run the race, weigh the candidates and fit those that count to all rows."""
    all_pos, pace = data.is_pos, Pace()
    if is_number(cv):
        data = _within_budget(data, choose, clock, pace, seed)
    is_pos = data.is_pos
    folds = make_folds(data.X, is_pos, cv, seed)
    if not folds:
        return _without_folds(data, choose(len(is_pos)))
    groups = choose(len(folds[0].train))
    keeps_models = clock.budget is not None
    track = Track(data, folds, clock, pace, n_jobs, keeps_models, tell, seed)
    lanes = track.run(groups)
    finished = [lane for lane in lanes if not lane.note]
    if not finished:
        raise ValueError(f"No candidate could be fitted: {lanes[0].note}.")
    rows, order = np.unique(
        np.concatenate([fold.test for fold in folds]), return_inverse=True
    )
    truth = is_pos[rows]
    scores = np.hstack([_normal_scores(lane, order) for lane in finished])
    weights = _weigh(scores, truth, finished, mixes)
    mixture = scores @ weights
    parts = _final_parts(track, finished, weights)
    interval = _widened(roc_auc_interval(truth, mixture), truth)
    threshold = balanced_threshold(mixture, truth, np.ones(len(truth)))
    fit_report = {
        "n_rows": len(all_pos),
        "n_used": len(is_pos),
        "n_positive": int(np.count_nonzero(all_pos)),
        "n_folds": len(folds),
        "share_left_out": len(folds[0].test) / len(is_pos),
        "keeps_fold_models": any(len(part.models) > 1 for part in parts),
        "best_auc": max(roc_auc(truth, column) for column in scores.T),
    }
    return Fitted(
        Ensemble(parts, threshold),
        _leaderboard(lanes, finished, scores, truth, weights),
        interval,
        mixture,
        truth,
        _odds(all_pos) / _odds(truth),
        fit_report,
    )


def _within_budget(
    data: TrainingSet,
    choose: Callable[[int], Sequence[Group]],
    clock: Clock,
    pace: Pace,
    seed: int,
) -> TrainingSet:
    """Return as many rows as the cheapest two families can do in half of the time."""
    is_pos = data.is_pos
    n, width = len(is_pos), row_width(data.X)
    if clock.budget is None:
        return data
    groups = choose(n)
    boosting = [group for group in groups if group.family == "boosting"]
    cheap = [groups[0], *boosting[:1]]
    for group in cheap:
        # The first time also loads compiled code: the second one counts.
        for n_rows in (LEAST_ROWS // 5, LEAST_ROWS):
            rows = balanced_subsample(is_pos, n_rows, seed)
            start = clock.spent
            # Of any kind: it will fail again, and be told, when its turn comes.
            with suppress(Exception), threads_for(n_rows):
                clone(group).fit(*data.take(rows))
        pace.learn(group.cost(len(rows), width), clock.spent - start)
    n_least = int(min(np.count_nonzero(is_pos), np.count_nonzero(~is_pos)))

    def takes(n_kept: int) -> float:
        is_one = is_one_enough(n_kept, min(n_least, n_kept // 2))
        cost = sum(group.cost(n_kept, width) for group in cheap)
        return (2 if is_one else 6) * pace.seconds(cost)

    n_kept = n
    while n_kept > LEAST_ROWS and takes(n_kept) > 0.5 * clock.left:
        n_kept = max(int(0.8 * n_kept), LEAST_ROWS)
    rows = balanced_subsample(is_pos, n_kept, seed)
    return data if len(rows) == n else data.take(rows)


def _without_folds(data: TrainingSet, groups: Sequence[Group]) -> Fitted:
    """Fit the plainest candidate where a class of one row leaves nothing to test on."""
    group, is_pos = clone(groups[0]).fit(*data), data.is_pos
    raw = group.scores(data.X)[:, 0]
    scale = Scale.of_scores(raw)
    scores = scale(raw)
    name = group.members[0]
    note = "the only one: a class has a single row"
    entry = Entry(name, group.family, np.nan, np.nan, np.nan, 0.0, 1.0, note)
    threshold = balanced_threshold(scores, is_pos, np.ones(len(is_pos)))
    return Fitted(
        Ensemble([Part([group], [0], [scale], [1.0])], threshold),
        Leaderboard([entry]),
        AUCInterval(np.nan, 0.0, 1.0, np.nan),
        scores,
        is_pos,
        1.0,
        {
            "n_rows": len(is_pos),
            "n_used": len(is_pos),
            "n_positive": int(np.count_nonzero(is_pos)),
            "n_folds": 0,
        },
    )


def _normal_scores(lane: Lane, order: IntArray) -> FloatArray:
    """Return normal scores of the members, made fold by fold, one line per row.

    ``order`` tells which row each score belongs to: where folds are repeated, a row has
    several, and counts once with their mean.
    """
    scores = np.vstack(
        [
            np.column_stack([normal_scores(column) for column in scores.T])
            for scores in lane.scores
        ]
    )
    total = np.zeros((order.max() + 1, scores.shape[1]))
    np.add.at(total, order, scores)
    mean: FloatArray = total / np.bincount(order)[:, None]
    return mean


def _odds(is_pos: BoolArray) -> float:
    n_pos = np.count_nonzero(is_pos)
    return float(n_pos / (len(is_pos) - n_pos))


def _weigh(
    scores: FloatArray, truth: BoolArray, lanes: Sequence[Lane], mixes: bool
) -> FloatArray:
    if mixes:
        families = [lane.group.family for lane in lanes for _ in lane.group.members]
        weights = combine(scores, truth, families)
        weights[weights < LEAST_WEIGHT] = 0.0
        total: FloatArray = weights / weights.sum()
        return total
    weights = np.zeros(scores.shape[1])
    weights[np.argmax([roc_auc(truth, column) for column in scores.T])] = 1.0
    return weights


def _final_parts(
    track: Track, lanes: Sequence[Lane], weights: FloatArray
) -> list[Part]:
    """Fit what counts to all rows, the heaviest first, while there is time."""
    parts = []
    first = 0
    for lane in lanes:
        members = range(len(lane.group.members))
        mine = weights[first : first + len(members)]
        first += len(members)
        if mine.any():
            columns = [k for k in members if mine[k] > 0.0]
            raw = np.vstack(lane.scores)
            scales = [Scale.of_scores(raw[:, k]) for k in columns]
            parts.append((lane, columns, scales, [float(mine[k]) for k in columns]))
    parts.sort(key=lambda part: -sum(part[3]))
    fitted = [
        Part(models, columns, scales, chosen)
        for lane, columns, scales, chosen in parts
        if (models := track.final_models(lane))
    ]
    if not fitted:
        raise ValueError("No candidate could be fitted to all rows.")
    return fitted


def _leaderboard(
    lanes: Sequence[Lane],
    finished: Sequence[Lane],
    scores: FloatArray,
    truth: BoolArray,
    weights: FloatArray,
) -> Leaderboard:
    entries = []
    column = 0
    for lane in lanes:
        share = lane.spent / len(lane.group.members)
        for number, name in enumerate(lane.group.members):
            auc = lane.first_aucs[number] if lane.first_aucs else np.nan
            low = high = np.nan
            weight = 0.0
            if lane in finished:
                auc, low, high, _ = roc_auc_interval(truth, scores[:, column])
                weight = float(weights[column])
                column += 1
            entries.append(
                Entry(name, lane.group.family, auc, low, high, share, weight, lane.note)
            )
    return Leaderboard(entries)


def _widened(interval: AUCInterval, truth: BoolArray) -> AUCInterval:
    if interval.std_error == 0.0:
        return _without_errors(interval.auc, truth)
    std_error = WIDENING * interval.std_error
    reach = float(ndtri(0.975)) * std_error
    low, high = max(0.0, interval.auc - reach), min(1.0, interval.auc + reach)
    return AUCInterval(interval.auc, low, high, std_error)


def _without_errors(auc: float, truth: BoolArray) -> AUCInterval:
    """Return an interval where DeLong's has no width.

    Of k rows none was wrong: so far as is known with 95% confidence, the share of
    wrong ones may be up to ``1 - 0.025 ** (1 / k)``.
    """
    k = min(np.count_nonzero(truth), np.count_nonzero(~truth))
    reach = float(1.0 - 0.025 ** (1.0 / k))
    if 0.0 < auc < 1.0:
        reach = 1.0  # all rows have the same score: nothing is known
    low, high = max(0.0, auc - reach), min(1.0, auc + reach)
    return AUCInterval(auc, low, high, 0.0)
