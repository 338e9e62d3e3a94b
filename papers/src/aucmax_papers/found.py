# SPDX-License-Identifier: BSD-3-Clause
"""Results that are there already, of the same version and the same protocol."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from aucmax_papers.rows import Row
from aucmax_papers.tasks import Task
from aucmax_papers.versions import protocol_version

# Errors of the machine, not of the model.
TRANSIENT = (
    "MemoryError",
    "OSError",
    "Dataset",
    "PermissionError",
    "FileNotFoundError",
)


class Found:
    """What need not be run again.

    Parameters
    ----------
    mode : str
        "full" or "fast".
    versions : dict of str to int
        The present version of the results of each method.
    """

    def __init__(self, mode: str, versions: Mapping[str, int]) -> None:
        self._mode, self._versions = mode, versions
        self._rows: dict[Any, dict[tuple[int, float], Row]] = {}

    def add(self, row: Row) -> None:
        """Take in a result, unless it is of another version or is to be tried again."""
        version = self._versions.get(row.method)
        is_ours = row.mode == self._mode and row.results_version == version
        # A candidate that cannot be fitted is not chosen; anything else is tried again.
        is_final = row.stage == "tune" and not row.error.startswith(TRANSIENT)
        if is_ours and (is_final or not is_failure(row)):
            rows = self._rows.setdefault(_identity_of_row(row), {})
            rows[row.inner, row.x] = row

    def has(self, task: Task) -> bool:
        """Say whether all results of a task are there."""
        rows = self._rows.get(_identity(task), {})
        if task.figure is not None:
            is_there = any(x == task.x for _, x in rows)
            return bool(rows) if task.figure.vary == "online" else is_there
        return len(rows) >= task.n_rows or any(map(is_failure, rows.values()))

    def mean_auc(self, task: Task) -> float:
        """Return the mean over the results of a task that `has` them."""
        return float(np.mean([row.auc for row in self._rows[_identity(task)].values()]))


def is_failure(row: Row) -> bool:
    """Say whether it gave no AUC; curves over time may begin without one."""
    return bool(np.isnan(row.auc)) and row.error != ""


def _identity(task: Task) -> tuple[Any, ...]:
    return (
        protocol_version(task.use, task.method, task.figure),
        task.stage,
        task.use.name,
        task.method.name,
        task.variant,
        task.partition,
        task.run,
        task.params,
    )


def _identity_of_row(row: Row) -> tuple[Any, ...]:
    return (
        row.protocol,
        row.stage,
        row.set,
        row.method,
        row.variant,
        row.partition,
        row.run,
        row.params,
    )
