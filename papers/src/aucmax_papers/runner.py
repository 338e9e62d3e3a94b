# SPDX-License-Identifier: BSD-3-Clause
"""Run a paper: tune, test, keep every result, go on where the last run stopped."""

import os
import time
import warnings
from collections.abc import Collection, Iterable
from itertools import chain, groupby
from typing import Any, NamedTuple

from joblib import Parallel, cpu_count, delayed, effective_n_jobs

from aucmax.datasets import DatasetUnavailable
from aucmax_papers.cost import cost_of
from aucmax_papers.found import Found, is_failure
from aucmax_papers.missing import explain_missing, find_missing
from aucmax_papers.orphans import exit_with_parent
from aucmax_papers.plan import Cell, plan
from aucmax_papers.progress import Progress
from aucmax_papers.protocol import load_paper
from aucmax_papers.records import Paper
from aucmax_papers.rows import Row
from aucmax_papers.steps import Steps
from aucmax_papers.store import Store
from aucmax_papers.tasks import Task, evaluate

__all__ = ["Summary", "run"]


class Summary(NamedTuple):
    """What a run did.

    Attributes
    ----------
    n_done, n_reused : int
        Numbers of tasks that were run, and of those whose results were there.
    n_failed : int
        Of those that were run, how many gave no AUC.
    missing : dict of str to str
        Sets that are not at hand, and how to get them.
    seconds : float
        How long it took.
    error : str
        What the first failure was.
    """

    n_done: int
    n_reused: int
    n_failed: int
    missing: dict[str, str]
    seconds: float
    error: str = ""


def run(  # noqa: PLR0913
    key: str,
    *,
    results: str | os.PathLike[str],
    fast: bool = False,
    tables: Collection[str] | None = None,
    figures: Collection[str] | None = None,
    sets: Collection[str] | None = None,
    methods: Collection[str] | None = None,
    n_jobs: int | None = None,
    download: bool = False,
    progress: bool = False,
) -> Summary:
    """Run a paper's experiments, or a part of them.

    Every result is kept at once. What is there already, of the same version and
    protocol, is not run again: a run that was stopped, by whatever means, goes on where
    it was, and ends with the same tables.

    Parameters
    ----------
    key : str
        Key of the paper, such as "gao2013".
    results : path-like
        Folder for the results; each paper has its own inside.
    fast : bool, default=False
        Whether to run the reduced protocol: fewer repeats, fewer rows.
    tables, figures : collection of str, default=None
        Their numbers in the paper. None is all, unless the other one is given.
    sets, methods : collection of str, default=None
        Only these. None is all.
    n_jobs : int, default=None
        How many processes; None is one per core, and more are not used.
    download : bool, default=False
        Whether to download sets that are not at hand; without, they are left out.
    progress : bool, default=False
        Whether to draw a bar with the time left on standard error.

    Returns
    -------
    summary : Summary
        Counts, and which sets were not at hand.

    Raises
    ------
    ValueError
        If there is no such paper, table, figure, set or method.
    DatasetUnavailable
        If not one of the sets is at hand.
    """
    start = time.monotonic()
    paper = load_paper(key, fast=fast)
    cells = plan(paper, tables=tables, figures=figures, sets=sets, methods=methods)
    missing = find_missing({cell.use for cell in cells}, download=download)
    if all(cell.use.name in missing for cell in cells):
        raise DatasetUnavailable(explain_missing(missing))
    cells = [cell for cell in cells if cell.use.name not in missing]
    with Store(results, key) as store:
        work = _Work(paper, store, _n_processes(n_jobs), progress)
        work.do(cells)
    seconds = time.monotonic() - start
    return Summary(
        work.n_done, work.n_reused, work.n_failed, missing, seconds, work.error
    )


def _n_processes(n_jobs: int | None) -> int:
    """Return how many processes: no more than cores, which would be in the way."""
    asked: int = effective_n_jobs(-1 if n_jobs is None else n_jobs)
    return min(asked, int(cpu_count()))


class _Work:
    """A run at work: what is to do, and how far it is."""

    def __init__(self, paper: Paper, store: Store, n_jobs: int, progress: bool) -> None:
        self.n_done = self.n_reused = self.n_failed = 0
        self.error = ""
        self._store, self._n_jobs = store, n_jobs
        self._progress = Progress(paper.key, shown=progress)
        mode = "fast" if paper.is_fast else "full"
        # Read once: an edit while the run is at work does not change what is running.
        versions = {m.name: m.results_version for m in paper.methods.values()}
        self._found = Found(mode, versions)
        self._steps = Steps(paper.key, mode, self._found)
        for row in store.rows():
            self._found.add(row)

    def do(self, cells: list[Cell]) -> None:
        """Run all cells, set by set: first what tunes, then what is tuned."""
        self._progress.expect(
            sum(cost_of(task) for cell in cells for task in self._steps.expected(cell))
        )
        # One by one: in larger batches, what is done would wait for the rest.
        pool = Parallel(self._n_jobs, return_as="generator_unordered", batch_size=1)
        with self._progress, pool:
            for _, group in groupby(cells, key=lambda cell: cell.use.name):
                batch = list(group)
                for tasks in (self._steps.to_tune, self._steps.tuned):
                    self._run(pool, chain.from_iterable(map(tasks, batch)))

    def _run(self, pool: Any, tasks: Iterable[Task]) -> None:
        new = []
        for task in tasks:
            if self._found.has(task):
                self.n_reused += 1
                self._progress.skip(cost_of(task))
            else:
                new.append(task)
        # The longest first, so that no process waits for the last.
        new.sort(key=cost_of, reverse=True)
        results = pool(delayed(_evaluated)(task, os.getpid()) for task in new)
        try:
            for task, rows in results:
                self._take(task, rows)
        except BaseException:
            with warnings.catch_warnings():
                # joblib would count what it drops; the next run does it again.
                warnings.simplefilter("ignore")
                results.close()
            raise
        self._store.flush()

    def _take(self, task: Task, rows: list[Row]) -> None:
        self._store.add(rows)
        for row in rows:
            self._found.add(row)
        self.n_done += 1
        failed = [row for row in rows if is_failure(row)]
        if failed:
            self.n_failed += 1
            self.error = self.error or f"{_name(task)}: {failed[0].error}"
        self._progress.advance(cost_of(task), _name(task))


def _name(task: Task) -> str:
    return f"{task.use.name}, {task.method.name}, {task.stage}"


def _evaluated(task: Task, run: int) -> tuple[Task, list[Row]]:
    exit_with_parent(run)
    return task, evaluate(task)
