# SPDX-License-Identifier: BSD-3-Clause
"""Run a paper: tune, test, keep every result, go on where the last run stopped."""

import json
import os
import time
import warnings
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, groupby
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, cpu_count, delayed, effective_n_jobs

from aucmax.bench.fingerprint import code_version, protocol_version
from aucmax.bench.problem import n_runs
from aucmax.bench.progress import Progress
from aucmax.bench.protocol import Figure, Method, Paper, SetUse, load_paper
from aucmax.bench.rows import Row, dump_params
from aucmax.bench.store import Store
from aucmax.bench.tasks import Task, evaluate, merge_limits
from aucmax.datasets import DatasetUnavailable, fetch, info
from aucmax.datasets.store import select

NOTHING = dump_params({})
LOCAL_PLACES = ("mirror", "cache", "package")
# What a task costs besides its rows.
LEAST_SECONDS = 0.005
# Errors of the machine, not of the model.
TRANSIENT = (
    "MemoryError",
    "OSError",
    "Dataset",
    "PermissionError",
    "FileNotFoundError",
)


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


@dataclass(frozen=True, slots=True)
class Cell:
    """One method on one set: what has to be run for it."""

    use: SetUse
    method: Method
    variant: str
    in_table: bool
    figures: tuple[Figure, ...]

    @property
    def is_tuned(self) -> bool:
        """Say whether there is anything to choose."""
        return self.variant == "published" and len(self.method.candidates()) > 1


def run(
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

    Every result is kept at once. What is there already, of the same code and the same
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
        raise DatasetUnavailable(_explain_missing(missing))
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


def plan(
    paper: Paper,
    *,
    tables: Collection[str] | None = None,
    figures: Collection[str] | None = None,
    sets: Collection[str] | None = None,
    methods: Collection[str] | None = None,
) -> list[Cell]:
    """Return what has to be run, set by set.

    Parameters
    ----------
    paper : Paper
        The protocol.
    tables, figures, sets, methods : collection of str, default=None
        As in `run`.

    Returns
    -------
    cells : list of Cell
        In the order of the paper's sets.

    Raises
    ------
    ValueError
        If a name is unknown, or nothing is left.
    """
    check_names(paper, tables=tables, figures=figures, sets=sets, methods=methods)
    if tables is None and figures is None:
        tables, figures = paper.tables, paper.figures
    shown = [paper.tables[name] for name in tables or ()]
    drawn = [paper.figures[name] for name in figures or ()]
    cells = []
    for use in paper.sets.values():
        for method in paper.methods.values():
            if use.name not in (sets or paper.sets) or method.copied:
                continue
            if method.name not in (methods or paper.methods):
                continue
            in_table = any(
                use.name in t.sets and method.name in t.methods for t in shown
            )
            figured = tuple(
                f for f in drawn if use.name in f.sets and method.name in f.methods
            )
            limited, there = merge_limits(use, method), method.on(use.name)
            for variant in method.variants:
                its = figured if variant == method.variants[0] else ()
                if in_table or its:
                    cells.append(Cell(limited, there, variant, in_table, its))
    lenders = {paper.methods[name].copied for name in methods or ()} - {""}
    if not cells and lenders:
        raise ValueError(
            f"{paper.key} copied these columns from {', '.join(sorted(lenders))}. Run "
            "them there."
        )
    if not cells:
        raise ValueError(
            f"{paper.key} has nothing to run for this choice: none of these methods is "
            "run on any of these sets for these tables and figures"
            f"{' in its fast form' if paper.is_fast else ''}. Choose more of them."
        )
    return cells


def check_names(
    paper: Paper,
    *,
    tables: Collection[str] | None = None,
    figures: Collection[str] | None = None,
    sets: Collection[str] | None = None,
    methods: Collection[str] | None = None,
) -> None:
    """Raise ValueError if the paper has no such table, figure, set or method."""
    choices: tuple[tuple[str, Collection[str] | None, Collection[str]], ...] = (
        ("table", tables, paper.tables),
        ("figure", figures, paper.figures),
        ("set", sets, paper.sets),
        ("method", methods, paper.methods),
    )
    for what, chosen, known in choices:
        for name in chosen or ():
            if name not in known:
                raise ValueError(
                    f"{paper.key} has no {what} {name!r}"
                    f"{' in its fast form' if paper.is_fast else ''}. Choose of: "
                    f"{', '.join(known)}."
                )


def find_missing(uses: Iterable[SetUse], *, download: bool = False) -> dict[str, str]:
    """Return the sets that are not at hand, and how to get them.

    Parameters
    ----------
    uses : iterable of SetUse
        The sets to look for.
    download : bool, default=False
        Whether to try to get them. Some take gigabytes, so not unasked.

    Returns
    -------
    missing : dict of str to str
        What to do, by the names of the sets.
    """
    missing = {}
    for use in sorted(uses, key=lambda use: use.name):
        if is_at_hand(use):
            continue
        if not download:
            missing[use.name] = _how_to_get(use)
            continue
        try:
            for part in _parts(use):
                fetch(use.data, part)
        except DatasetUnavailable as error:
            missing[use.name] = str(error)
    return missing


def is_at_hand(use: SetUse) -> bool:
    """Say whether the files of a set are on this computer; nothing is downloaded."""
    chosen = info(use.data)
    places = chosen.where()
    return all(
        places[part.name] in LOCAL_PLACES
        for name in _parts(use)
        for part in select(chosen, name or "all")
    )


def _how_to_get(use: SetUse) -> str:
    about = info(use.data)
    files = [part.file for name in _parts(use) for part in select(about, name or "all")]
    return (
        f"{use.data} is not at hand. Download it with: aucmax datasets fetch "
        f"{use.data}; or put {' and '.join(files)} into the folder that the variable "
        f"AUCMAX_DATA names. Its home is {about.source}."
    )


def _explain_missing(missing: dict[str, str]) -> str:
    name, how = next(iter(missing.items()))
    return (
        f"None of the sets that this needs is at hand ({', '.join(missing)}). Name the "
        "folder that holds their files in the variable AUCMAX_DATA, or let them be "
        f"downloaded (--download, or download=True). For {name}: {how}"
    )


def _parts(use: SetUse) -> list[str | None]:
    if use.split == "given":
        return ["train", "test"]
    return [None if use.part == "all" else use.part]


class _Work:
    """A run at work: what was found, what is to do, how far it is."""

    def __init__(self, paper: Paper, store: Store, n_jobs: int, progress: bool) -> None:
        self.n_done = self.n_reused = self.n_failed = 0
        self.error = ""
        self._mode = "fast" if paper.is_fast else "full"
        self._paper, self._store, self._n_jobs = paper, store, n_jobs
        self._progress = Progress(paper.key, shown=progress)
        # Read once: an edit while the run is at work does not change what is running.
        self._codes = {m.name: code_version(m) for m in paper.methods.values()}
        self._found: dict[Any, dict[tuple[int, float], Row]] = {}
        for row in store.rows():
            self._remember(row)

    def do(self, cells: list[Cell]) -> None:
        """Run all cells, set by set: first what tunes, then what is tuned."""
        self._progress.expect(
            sum(_cost(task) for cell in cells for task in self._all_tasks(cell))
        )
        # One by one: in larger batches, what is done would wait for the rest.
        pool = Parallel(self._n_jobs, return_as="generator_unordered", batch_size=1)
        with self._progress, pool:
            for _, group in groupby(cells, key=lambda cell: cell.use.name):
                batch = list(group)
                for tasks in (self._to_tune, self._tuned):
                    self._run(pool, chain.from_iterable(map(tasks, batch)))

    def _run(self, pool: Any, tasks: Iterator[Task]) -> None:
        new = []
        for task in tasks:
            if self._is_done(task):
                self.n_reused += 1
                self._progress.skip(_cost(task))
            else:
                new.append(task)
        # The longest first, so that no process waits for the last.
        new.sort(key=_cost, reverse=True)
        results = pool(delayed(_evaluated)(task) for task in new)
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
            self._remember(row)
        self.n_done += 1
        failed = [row for row in rows if _is_failure(row)]
        if failed:
            self.n_failed += 1
            self.error = self.error or f"{_name(task)}: {failed[0].error}"
        self._progress.advance(_cost(task), _name(task))

    def _all_tasks(self, cell: Cell) -> Iterator[Task]:
        yield from self._to_tune(cell)
        yield from self._with(cell, NOTHING)

    def _to_tune(self, cell: Cell) -> Iterator[Task]:
        if cell.is_tuned and (cell.in_table or any(f.tuned for f in cell.figures)):
            for candidate in cell.method.candidates():
                yield self._task(cell, "tune", params=dump_params(candidate))

    def _tuned(self, cell: Cell) -> Iterator[Task]:
        best = self._best(cell)
        return iter(()) if best is None else self._with(cell, best)

    def _with(self, cell: Cell, params: str) -> Iterator[Task]:
        """Yield what the tables and figures need, with parameters that are chosen."""
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
        n_rows = _n_train(cell.use)
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
            self._paper.key,
            self._mode,
            cell.use,
            cell.method,
            cell.variant,
            stage,
            code=self._codes[cell.method.name],
            **{"partition": 0, "run": 0, **rest},
        )

    def _best(self, cell: Cell) -> str | None:
        """Return the candidate with the best mean AUC over the inner folds.

        None as long as one of them has no result, so that no table ever mixes two
        choices, and if not one could be fitted.
        """
        tasks = list(self._to_tune(cell))
        if not tasks:
            only = cell.method.candidates()[0] if cell.variant == "published" else {}
            return dump_params(only)
        if not all(self._is_done(task) for task in tasks):
            return None
        means = [
            np.mean([row.auc for row in self._found[_identity(task)].values()])
            for task in tasks
        ]
        if np.isnan(means).all():
            return None
        return tasks[int(np.nanargmax(means))].params

    def _remember(self, row: Row) -> None:
        is_ours = row.mode == self._mode and row.code == self._codes.get(row.method)
        # A candidate that cannot be fitted is not chosen; anything else is tried again.
        is_final = row.stage == "tune" and not row.error.startswith(TRANSIENT)
        if is_ours and (is_final or not _is_failure(row)):
            rows = self._found.setdefault(_identity_of_row(row), {})
            rows[row.inner, row.x] = row

    def _is_done(self, task: Task) -> bool:
        rows = self._found.get(_identity(task), {})
        if task.figure is not None:
            is_there = any(x == task.x for _, x in rows)
            return bool(rows) if task.figure.vary == "online" else is_there
        return len(rows) >= task.n_rows or any(map(_is_failure, rows.values()))


def _is_failure(row: Row) -> bool:
    """Say whether it gave no AUC; curves over time may begin without one."""
    return bool(np.isnan(row.auc)) and row.error != ""


def _name(task: Task) -> str:
    return f"{task.use.name}, {task.method.name}, {task.stage}"


def _evaluated(task: Task) -> tuple[Task, list[Row]]:
    return task, evaluate(task)


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


def _varied(params: str, figure: Figure, value: Any) -> str:
    """Return the parameters at one point of a figure."""
    varied = {**json.loads(params), **figure.fixed}
    if figure.vary not in ("n_rows", "online"):
        varied[figure.vary] = value
    return dump_params(varied)


def _cost(task: Task) -> float:
    """Return roughly how many seconds a task takes; only the ratios matter."""
    n_train = _n_train(task.use)
    if task.stage == "tune":
        n_train = min(n_train, task.use.tune_rows or n_train)
    if task.figure is not None and task.figure.vary == "online":
        n_train = min(n_train, task.figure.max_rows or n_train) * task.x
    seconds = task.method.cost * n_train * (info(task.use.data).n_features + 5) / 1e6
    return LEAST_SECONDS + seconds * task.n_rows


def _n_train(use: SetUse) -> float:
    """Return how many rows a run trains on."""
    rows = {name: part.n_rows for name, part in info(use.data).parts.items()}
    if use.split == "given":
        n_train: float = rows["train"]
    else:
        n_rows = rows.get(use.part, sum(rows.values()))
        n_train = min(n_rows, use.max_rows or n_rows) * (1 - 1 / use.n_folds)
    return min(n_train, use.max_train or n_train)
