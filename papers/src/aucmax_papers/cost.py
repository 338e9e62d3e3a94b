# SPDX-License-Identifier: BSD-3-Clause
"""Roughly how long a task takes: for the time left, and to begin with the longest."""

from aucmax.datasets import info
from aucmax_papers.records import SetUse
from aucmax_papers.tasks import Task

# What a task costs besides its rows.
LEAST_SECONDS = 0.005


def cost_of(task: Task) -> float:
    """Return roughly how many seconds a task takes; only the ratios matter."""
    n_train = count_train(task.use)
    if task.stage == "tune":
        n_train = min(n_train, task.use.tune_rows or n_train)
    if task.figure is not None and task.figure.vary == "online":
        n_train = min(n_train, task.figure.max_rows or n_train) * task.x
    seconds = task.method.cost * n_train * (info(task.use.data).n_features + 5) / 1e6
    return LEAST_SECONDS + seconds * task.n_rows


def count_train(use: SetUse) -> float:
    """Return how many rows a run trains on."""
    rows = {name: part.n_rows for name, part in info(use.data).parts.items()}
    if use.split == "given":
        n_train: float = rows["train"]
    else:
        n_rows = rows.get(use.part, sum(rows.values()))
        n_train = min(n_rows, use.max_rows or n_rows) * (1 - 1 / use.n_folds)
    return min(n_train, use.max_train or n_train)
