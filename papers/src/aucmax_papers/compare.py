# SPDX-License-Identifier: BSD-3-Clause
"""Our figures beside those that a paper printed, cell by cell."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from aucmax_papers.cells import Cell, Comparison, Ours, Run
from aucmax_papers.footnotes import (
    Notes,
    cell_text,
    describe_trouble,
    is_taken,
    method_texts,
    set_texts,
)
from aucmax_papers.problem import n_runs
from aucmax_papers.protocol import (
    KEYS,
    Figure,
    Method,
    Paper,
    Printed,
    SetUse,
    Table,
    load_paper,
)
from aucmax_papers.rows import Row
from aucmax_papers.tasks import merge_limits
from aucmax_papers.versions import protocol_version

# Least difference to a printed AUC that counts; a larger printed spread is allowed.
ALLOWANCE = 0.005
# Printed figures are decimal, ours binary: the last bit must not decide.
ROUNDING = 1e-9


def compare(
    paper: Paper,
    rows: Sequence[Row],
    table: str,
    other: Mapping[str, Sequence[Row]] | None = None,
) -> Comparison:
    """Return a table of a paper with our figures in it.

    The runs of one figure are all of one version of the method and of the protocol: of
    today's if there are any, else of the one with the most runs. They all have the same
    parameters, too: what an earlier tuning chose is never mixed in.

    Parameters
    ----------
    paper : Paper
        From :func:`load_paper`. If it is the reduced protocol, only its results count.
    rows : sequence of Row
        Results of this paper; what does not belong to the table is passed over.
    table : str
        Its number in the paper.
    other : dict of str to sequence of Row, default=None
        Results of the papers that columns were copied from, by key.

    Returns
    -------
    comparison : Comparison
        All cells, also those without results.

    Examples
    --------
    >>> from aucmax_papers.compare import compare
    >>> from aucmax_papers.protocol import load_paper
    >>> comparison = compare(load_paper("gao2013"), [], "2")
    >>> cell = comparison.cells["diabetes", "OPAUC", "auc"]
    >>> cell.printed.value, cell.verdict
    (0.8309, 'not run')
    """
    if table not in paper.tables:
        raise ValueError(
            f"{paper.key} has no table {table!r}. Choose of: {', '.join(paper.tables)}."
        )
    entry = paper.tables[table]
    found = {key: _by_cell(given) for key, given in (other or {}).items()}
    found[paper.key] = _by_cell(rows)
    sources = _load_sources(paper, entry)
    notes = Notes()
    set_notes = {s: notes.add(*set_texts(paper, entry, s)) for s in entry.sets}
    method_notes = {
        m: notes.add(*method_texts(paper, entry, paper.methods[m]))
        for m in entry.methods
    }
    cells = {}
    for use in (paper.sets[s] for s in entry.sets):
        for method in (paper.methods[m] for m in entry.methods):
            origin = _find_origin(found, sources, paper, use, method)
            shared = (*set_notes[use.name], *method_notes[method.name])
            for metric in entry.metrics:
                cells[use.name, method.name, metric] = _cell(
                    paper, entry, use, method, metric, origin, notes, shared
                )
    return Comparison(paper, entry, cells, notes.texts, set_notes, method_notes)


def pick_version(
    rows: Iterable[Row], results_version: int | None = None, protocol: str | None = None
) -> tuple[list[Row], bool]:
    """Return the rows of one version and one protocol, and whether they are today's.

    Any will do where that of today is not known.
    """
    groups: dict[tuple[int, str], list[Row]] = {}
    for row in rows:
        groups.setdefault((row.results_version, row.protocol), []).append(row)
    if not groups:
        return [], True

    today = results_version, protocol

    def rank(found: tuple[int, str]) -> tuple[bool, bool, int, tuple[int, str]]:
        is_version, is_protocol = (
            now in (None, then) for now, then in zip(today, found, strict=True)
        )
        return is_version, is_protocol, _count_runs(groups[found]), found

    best = max(groups, key=rank)
    return groups[best], all(rank(best)[:2])


def pick_params(
    rows: Iterable[Row], params_of: Callable[[Row], str] = lambda row: row.params
) -> list[Row]:
    """Return the rows of the parameters with the most runs; if equal, of the last."""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(params_of(row), []).append(row)
    if not groups:
        return []
    return max(
        groups.values(),
        key=lambda its: (_count_runs(its), max(row.key for row in its)),
    )


def _count_runs(rows: Iterable[Row]) -> int:
    """Return how many runs gave a figure, each once."""
    return len(
        {(r.partition, r.run, r.x) for r in rows if not (r.error and np.isnan(r.auc))}
    )


def current_protocol(use: SetUse, method: Method, figure: Figure | None = None) -> str:
    """Return the version of the protocol as it is in the paper's file today."""
    return protocol_version(merge_limits(use, method), method.on(use.name), figure)


_Groups = Mapping[tuple[str, str, str, str], Sequence[Row]]


def _by_cell(rows: Iterable[Row]) -> dict[tuple[str, str, str, str], list[Row]]:
    groups: dict[tuple[str, str, str, str], list[Row]] = {}
    for row in rows:
        if row.stage == "test":
            key = (row.mode, row.set, row.method, row.variant)
            groups.setdefault(key, []).append(row)
    return groups


class _Origin(NamedTuple):
    """Where the figures of a cell come from: rows by variant, and what they should be.

    The versions of today are None, and there are 0 runs, if that is not known.
    """

    rows: dict[str, Sequence[Row]]
    headline: str
    results_version: int | None
    protocol: str | None
    n_expected: int
    is_partitioned: bool


def _load_sources(paper: Paper, table: Table) -> dict[str, Paper]:
    """Return the papers that columns were copied from, as far as they are ours."""
    keys = {paper.methods[m].copied for m in table.methods} & set(KEYS)
    return {key: load_paper(key, fast=paper.is_fast) for key in sorted(keys)}


def _find_origin(
    found: Mapping[str, _Groups],
    sources: Mapping[str, Paper],
    paper: Paper,
    use: SetUse,
    method: Method,
) -> _Origin:
    name, rows = _find_rows(found, paper, use, method)
    home = sources.get(method.copied) if method.copied else paper
    if home is None or name not in home.methods or use.name not in home.sets:
        known = method.headline if method.headline in rows else next(iter(rows), "")
        headline = known or method.headline
        return _Origin(rows, headline, None, None, 0, use.n_partitions > 1)
    there, its = home.sets[use.name], home.methods[name]
    limited = merge_limits(there, its)
    return _Origin(
        rows,
        headline=its.headline,
        results_version=its.results_version,
        protocol=current_protocol(there, its),
        n_expected=limited.n_partitions * n_runs(limited),
        is_partitioned=there.n_partitions > 1,
    )


def _find_rows(
    found: Mapping[str, _Groups], paper: Paper, use: SetUse, method: Method
) -> tuple[str, dict[str, Sequence[Row]]]:
    """Return the rows of a set and a method, by variant, and the name they are under.

    A copied column may have other names in its own paper.
    """
    mode = "fast" if paper.is_fast else "full"
    groups = found.get(method.copied or paper.key, {})
    names = method.copied_as if method.copied else (method.name,)
    for name in names:
        its = {
            variant: groups[mode, use.name, name, variant]
            for variant in ("published", "default")
            if (mode, use.name, name, variant) in groups
        }
        if its:
            return name, its
    return names[0], {}


def _summary(origin: _Origin, variant: str, metric: str) -> Ours:
    rows, is_current = pick_version(
        origin.rows[variant], origin.results_version, origin.protocol
    )
    rows = pick_params(rows)
    values = {
        Run(row.partition, row.run, row.n_test): read_metric(row, metric)
        for row in rows
    }
    values = {run: value for run, value in values.items() if np.isfinite(value)}
    aucs = np.array(list(values.values()) or [np.nan])
    troubled = [row for row in rows if row.error]
    n_failed = sum(bool(np.isnan(row.auc)) for row in troubled)
    return Ours(
        value=float(aucs.max() if metric == "basis_functions" else aucs.mean()),
        std=float(aucs.std()),
        runs=values,
        results_version=rows[0].results_version,
        protocol=rows[0].protocol,
        is_current=is_current,
        versions=tuple(sorted({row.versions for row in rows})),
        n_tried=len(rows),
        n_diverged=len(troubled) - n_failed,
        n_failed=n_failed,
        error=troubled[0].error if troubled else "",
    )


def read_metric(row: Row, metric: str) -> float:
    """Return what a run reached; NaN if it has no such thing."""
    if metric == "auc":
        return row.auc
    if metric in ("train_s", "learn_s"):
        return row.seconds
    if metric == "time_s":
        return row.seconds + row.scoring
    if metric == "basis_functions":
        return float(row.size) if row.size >= 0 else np.nan
    raise ValueError(
        f"The metric {metric!r} is not known. It may be 'auc', 'basis_functions', "
        "'train_s' and 'learn_s' (seconds of fit), or 'time_s' (and of scoring)."
    )


def _cell(
    paper: Paper,
    table: Table,
    use: SetUse,
    method: Method,
    metric: str,
    origin: _Origin,
    notes: Notes,
    shared: tuple[str, ...],
) -> Cell:
    tried = {variant: _summary(origin, variant, metric) for variant in origin.rows}
    headline = origin.headline
    printed = paper.printed.get((table.name, use.printed, method.printed, metric))
    troubles = (describe_trouble(o, v, headline) for v, o in tried.items())
    return Cell(
        set=use.name,
        method=method.name,
        metric=metric,
        printed=printed,
        ours={variant: each for variant, each in tried.items() if each.runs},
        headline=headline,
        verdict=_judge(
            use, method, metric, printed, tried.get(headline), origin.n_expected
        ),
        is_partitioned=origin.is_partitioned,
        is_proposed=method.proposed,
        n_expected=origin.n_expected,
        source=method.copied,
        notes=tuple(
            dict.fromkeys((*shared, *notes.add(cell_text(method, printed), *troubles)))
        ),
    )


def _judge(
    use: SetUse,
    method: Method,
    metric: str,
    printed: Printed | None,
    ours: Ours | None,
    n_expected: int,
) -> str:
    if ours is None:
        return "not run"
    if ours.n_failed == ours.n_tried:
        return "failed"
    if method.copied or is_taken(printed):
        return "copied"
    is_same_problem = use.comparable and use.n_partitions == 1 and metric == "auc"
    if printed is None or not is_same_problem:
        return "not comparable"
    if len(ours.runs) < n_expected:
        return "incomplete"
    allowance = max(printed.std or 0.0, ALLOWANCE) + ROUNDING
    difference = ours.value - printed.value
    if abs(difference) <= allowance:
        return "within"
    return "above" if difference > 0 else "below"
