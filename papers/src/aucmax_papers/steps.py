# SPDX-License-Identifier: BSD-3-Clause
"""The tasks of one method on one set: first those that tune, then those tuned."""

import json
from collections.abc import Iterator
from typing import Any

import numpy as np

from aucmax_papers.cost import count_train
from aucmax_papers.found import Found
from aucmax_papers.plan import Cell
from aucmax_papers.problem import n_runs
from aucmax_papers.records import Figure
from aucmax_papers.rows import dump_params
from aucmax_papers.tasks import Task

NOTHING = dump_params({})


class Steps:
    """Makes the tasks of a cell; what is tuned depends on what was found.

    Parameters
    ----------
    paper, mode : str
        Key, and "full" or "fast".
    found : Found
        Results so far, to choose parameters by.
    """

    def __init__(self, paper: str, mode: str, found: Found) -> None:
        self._paper, self._mode, self._found = paper, mode, found

    def expected(self, cell: Cell) -> Iterator[Task]:
        """Yield as many tasks as there will be; their parameters are not chosen yet."""
        yield from self.to_tune(cell)
        yield from self._with(cell, NOTHING)

    def to_tune(self, cell: Cell) -> Iterator[Task]:
        """Yield a task for each candidate, if there is anything to choose."""
        if cell.is_tuned and (cell.in_table or any(f.tuned for f in cell.figures)):
            for candidate in cell.method.candidates():
                yield self._task(cell, "tune", params=dump_params(candidate))

    def tuned(self, cell: Cell) -> Iterator[Task]:
        """Yield what the tables and figures need, with the best parameters.

        Nothing as long as these are not known.
        """
        best = self._best(cell)
        return iter(()) if best is None else self._with(cell, best)

    def _with(self, cell: Cell, params: str) -> Iterator[Task]:
        if cell.in_table:
            for partition in range(cell.use.n_partitions):
                for number in range(n_runs(cell.use)):
                    yield self._task(
                        cell, "test", params=params, partition=partition, run=number
                    )
        for figure in cell.figures:
            yield from self._figure(cell, figure, params)

    def _figure(self, cell: Cell, figure: Figure, params: str) -> Iterator[Task]:
        start = params if figure.tuned else NOTHING
        n_rows = count_train(cell.use)
        for value in figure.values:
            if figure.vary == "n_rows" and value > n_rows:
                continue
            varied = _varied(start, figure, value)
            for number in range(figure.n_runs):
                yield self._task(
                    cell,
                    f"figure {figure.name}",
                    params=varied,
                    run=number,
                    figure=figure,
                    x=float(value),
                )

    def _task(self, cell: Cell, stage: str, **rest: Any) -> Task:
        return Task(
            self._paper,
            self._mode,
            cell.use,
            cell.method,
            cell.variant,
            stage,
            **{"partition": 0, "run": 0, **rest},
        )

    def _best(self, cell: Cell) -> str | None:
        """Return the candidate with the best mean AUC over the inner folds.

        None as long as one of them has no result, so that no table ever mixes two
        choices, and if not one could be fitted.
        """
        tasks = list(self.to_tune(cell))
        if not tasks:
            only = cell.method.candidates()[0] if cell.variant == "published" else {}
            return dump_params(only)
        if not all(self._found.has(task) for task in tasks):
            return None
        means = [self._found.mean_auc(task) for task in tasks]
        if np.isnan(means).all():
            return None
        return tasks[int(np.nanargmax(means))].params


def _varied(params: str, figure: Figure, value: Any) -> str:
    """Return the parameters at one point of a figure."""
    varied = {**json.loads(params), **figure.fixed}
    if figure.vary not in ("n_rows", "online"):
        varied[figure.vary] = value
    return dump_params(varied)
