# SPDX-License-Identifier: BSD-3-Clause
"""A demonstration: AUCClassifier beside the tools at hand, on real data."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import cpu_count, parallel_config
from threadpoolctl import threadpool_limits

from aucmax._utils.typing import FloatArray
from aucmax.datasets.bundled import Bundle, load_bundled
from aucmax.demo.models import OURS, describe_grid, make_models
from aucmax.metrics.delong import AUCInterval, AUCTest, roc_auc_interval, roc_auc_test

# glass is left to the quick run: nine positives among its test rows decide nothing.
SETS = ("german", "satimage", "vehicle")
QUICK_SETS = ("glass",)
MOST_THREADS = 4


@dataclass(frozen=True, eq=False)
class ModelRun:
    """One model on one set.

    Attributes
    ----------
    name : str
        Of the model.
    chosen : str
        Parameters that its own cross-validation chose; empty for ours.
    scores : ndarray of shape (n_test,)
        Of the test rows.
    probabilities : ndarray of shape (n_test,) or None
        Of the positive class; None if the model has none.
    interval : AUCInterval
        Test AUC with its 95% interval.
    test : AUCTest or None
        Paired test: the AUC of ours less that of this one. None for ours.
    seconds : float
        Time of ``fit``, with all tuning.
    """

    name: str
    chosen: str
    scores: FloatArray
    probabilities: FloatArray | None
    interval: AUCInterval
    test: AUCTest | None
    seconds: float


@dataclass(frozen=True, eq=False)
class SetRun:
    """All models on one set; ours comes first.

    Attributes
    ----------
    data : Bundle
        The set.
    runs : tuple of ModelRun
        One per model.
    expected : AUCInterval
        What ours expected from the training rows alone.
    leaderboard : tuple of Entry
        The candidates of ours.
    explanation : str
        What ours says of itself, one sentence or more per line.
    """

    data: Bundle
    runs: tuple[ModelRun, ...]
    expected: AUCInterval
    leaderboard: tuple[Any, ...]
    explanation: str

    @property
    def ours(self) -> ModelRun:
        """The run of AUCClassifier."""
        return self.runs[0]

    @property
    def rivals(self) -> tuple[ModelRun, ...]:
        """The other runs."""
        return self.runs[1:]


def run_demo(
    *,
    sets: Sequence[str] | None = None,
    is_quick: bool = False,
    tell: Callable[[str], object] = lambda line: None,
) -> Iterator[SetRun]:
    """Fit all models to each set, and give what they reached on its test rows.

    Parameters
    ----------
    sets : sequence of str, default=None
        Names of bundled sets; None is three, or one if quick.
    is_quick : bool, default=False
        Whether to try fewer candidates, in fewer folds.
    tell : callable, default=does nothing
        Called with a line before each fit.

    Yields
    ------
    set_run : SetRun
        One after the other.

    Examples
    --------
    All of it, which takes a minute or two::

        for each in run_demo(tell=print):
            print(each.data.name, each.ours.interval)
    """
    if sets is None:
        sets = QUICK_SETS if is_quick else SETS
    warm_up()
    for name in sets:
        data = load_bundled(name)
        yield run_set(data, make_models(is_quick=is_quick), tell)


def warm_up() -> None:
    """Load or compile machine code, which is no part of a fit."""
    rows, labels = [[float(i), float(i % 3)] for i in range(20)], [0, 1] * 10
    ours = make_models(is_quick=True)[OURS]
    ours.fit(rows, labels)


def run_set(
    data: Bundle,
    models: Mapping[str, Any],
    tell: Callable[[str], object] = lambda line: None,
) -> SetRun:
    """Fit models to the training rows of a set and score its test rows.

    Parameters
    ----------
    data : Bundle
        The set.
    models : dict of str to classifier
        By name; the first one is ours, with which the others are compared.
    tell : callable, default=does nothing
        Called with a line before each fit.

    Returns
    -------
    set_run : SetRun
        What they reached.
    """
    runs: list[ModelRun] = []
    for name, model in models.items():
        tell(f"{data.name}: {name} ...")
        runs.append(_run_model(data, name, model, runs[0].scores if runs else None))
    ours = next(iter(models.values()))
    return SetRun(
        data=data,
        runs=tuple(runs),
        expected=ours.auc_interval_,
        leaderboard=tuple(ours.leaderboard_),
        explanation=ours.explain(),
    )


def _run_model(
    data: Bundle, name: str, model: Any, reference: FloatArray | None
) -> ModelRun:
    started = time.perf_counter()
    # Folds run side by side. Inside a fit of so few rows threads gain nothing, and lose
    # much where cores are busy.
    with (
        threadpool_limits(1),
        parallel_config("threading", n_jobs=min(MOST_THREADS, cpu_count())),
    ):
        model.fit(data.X, data.y)
    seconds = time.perf_counter() - started
    probabilities = None
    if hasattr(model, "predict_proba"):
        probabilities = np.asarray(model.predict_proba(data.X_test))[:, 1]
    if hasattr(model, "decision_function"):
        scores = np.asarray(model.decision_function(data.X_test))
    elif probabilities is not None:
        scores = probabilities
    return ModelRun(
        name=name,
        chosen=describe_grid(model),
        scores=scores,
        probabilities=probabilities,
        interval=roc_auc_interval(data.y_test, scores),
        test=None
        if reference is None
        else roc_auc_test(data.y_test, reference, scores),
        seconds=seconds,
    )
