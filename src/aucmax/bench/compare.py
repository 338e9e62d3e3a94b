# SPDX-License-Identifier: BSD-3-Clause
"""Our figures beside those that a paper printed, cell by cell."""

from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np

from aucmax.bench.cells import Cell, Comparison, Ours, Run
from aucmax.bench.fingerprint import protocol_version
from aucmax.bench.problem import n_runs
from aucmax.bench.protocol import Figure, Method, Paper, Printed, SetUse, Table
from aucmax.bench.rows import Row
from aucmax.bench.tasks import merge_limits

# Least difference to a printed AUC that counts; a larger printed spread is allowed.
ALLOWANCE = 0.005
# Printed figures are decimal, ours binary: the last bit must not decide.
ROUNDING = 1e-9
CodeOf = Callable[[Method], str]
UNTUNED = "Ours is our estimator as it comes, not tuned by the paper's grid."


def compare(
    paper: Paper,
    rows: Sequence[Row],
    table: str,
    other: Mapping[str, Sequence[Row]] | None = None,
    code_of: CodeOf | None = None,
) -> Comparison:
    """Return a table of a paper with our figures in it.

    The runs of one figure are all of one version of the source and of the protocol: of
    today's if there are any, else of the one with the most runs.

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
    code_of : callable, default=None
        Returns the version of a method's source of today, such as `code_version`;
        without it, any version will do.

    Returns
    -------
    comparison : Comparison
        All cells, also those without results.

    Examples
    --------
    >>> from aucmax.bench.compare import compare
    >>> from aucmax.bench.protocol import load_paper
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
    notes = _Notes()
    set_notes = {s: notes.add(paper.sets[s].why) for s in entry.sets}
    method_notes = {m: _method_notes(notes, paper.methods[m]) for m in entry.methods}
    cells = {}
    for name in entry.sets:
        for method in (paper.methods[m] for m in entry.methods):
            use = paper.sets[name]
            groups = _find(found, paper, use, method)
            for metric in entry.metrics:
                ours = _pick_variants(groups, use, method, metric, code_of)
                extra = notes.add(*(_trouble(each) for each in ours.values()))
                ours = {v: each for v, each in ours.items() if each.runs}
                cells[name, method.name, metric] = _cell(
                    paper, entry, use, method, metric, ours,
                    (*set_notes[name], *method_notes[method.name], *extra),
                )  # fmt: skip
    return Comparison(paper, entry, cells, notes.texts, set_notes, method_notes)


def pick_version(
    rows: Iterable[Row], code: str = "", protocol: str = ""
) -> tuple[list[Row], bool]:
    """Return the rows of one code and one protocol, and whether they are today's."""
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        groups.setdefault((row.code, row.protocol), []).append(row)
    if not groups:
        return [], True

    def rank(version: tuple[str, str]) -> tuple[bool, bool, int, tuple[str, str]]:
        is_code, is_protocol = version[0] == code, version[1] == protocol
        return is_code, is_protocol, len(groups[version]), version

    best = max(groups, key=rank)
    is_current = code in ("", best[0]) and protocol in ("", best[1])
    return groups[best], is_current


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


def _find(
    found: Mapping[str, _Groups], paper: Paper, use: SetUse, method: Method
) -> dict[str, Sequence[Row]]:
    """Return the rows of a set and a method, by variant."""
    mode = "fast" if paper.is_fast else "full"
    groups = found.get(method.copied or paper.key, {})
    # A copied column may have other names in its own paper.
    for name in method.copied_as or (method.name,):
        its = {
            variant: groups[mode, use.name, name, variant]
            for variant in ("published", "default")
            if (mode, use.name, name, variant) in groups
        }
        if its:
            return its
    return {}


def _pick_variants(
    groups: Mapping[str, Sequence[Row]],
    use: SetUse,
    method: Method,
    metric: str,
    code_of: CodeOf | None,
) -> dict[str, Ours]:
    code = protocol = ""
    # What a copied column was run with is in another file.
    if not method.copied:
        code = code_of(method) if code_of else ""
        protocol = current_protocol(use, method)
    return {
        variant: _summary(*pick_version(rows, code, protocol), metric)
        for variant, rows in groups.items()
    }


def _summary(rows: list[Row], is_current: bool, metric: str) -> Ours:
    # Of a run that was tuned twice, the later in the order of the keys.
    by_split = {(row.partition, row.run): row for row in rows}
    values = {
        Run(row.partition, row.run, row.n_test): read_metric(row, metric)
        for row in by_split.values()
    }
    values = {run: value for run, value in values.items() if np.isfinite(value)}
    every = np.array(list(values.values()) or [np.nan])
    troubled = [row for row in by_split.values() if row.error]
    n_failed = sum(bool(np.isnan(row.auc)) for row in troubled)
    return Ours(
        value=float(every.max() if metric == "basis_functions" else every.mean()),
        std=float(every.std()),
        runs=values,
        code=rows[0].code,
        protocol=rows[0].protocol,
        is_current=is_current,
        versions=tuple(sorted({row.versions for row in rows})),
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
    ours: Mapping[str, Ours],
    notes: tuple[str, ...],
) -> Cell:
    printed = paper.printed.get((table.name, use.printed, method.printed, metric))
    headline = method.headline
    if method.copied and headline not in ours and ours:
        headline = next(iter(ours))
    limited = merge_limits(use, method)
    return Cell(
        set=use.name,
        method=method.name,
        metric=metric,
        printed=printed,
        ours=ours,
        headline=headline,
        verdict=_judge(use, method, metric, printed, ours.get(headline)),
        is_partitioned=use.n_partitions > 1,
        is_proposed=method.proposed,
        n_expected=0 if method.copied else limited.n_partitions * n_runs(limited),
        notes=tuple(dict.fromkeys(notes)),
    )


def _judge(
    use: SetUse, method: Method, metric: str, printed: Printed | None, ours: Ours | None
) -> str:
    if ours is None:
        return "not run"
    if method.copied:
        return "copied"
    is_same_problem = use.comparable and use.n_partitions == 1 and metric == "auc"
    if printed is None or not is_same_problem:
        return "not comparable"
    allowance = max(printed.std or 0.0, ALLOWANCE) + ROUNDING
    difference = ours.value - printed.value
    if abs(difference) <= allowance:
        return "within"
    return "above" if difference > 0 else "below"


class _Notes:
    """Footnotes, numbered as they come, equal ones once."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}

    def add(self, *texts: str) -> tuple[str, ...]:
        keys = []
        for text in texts:
            if not text:
                continue
            known = {t: key for key, t in self.texts.items()}
            key = known.get(text, str(len(self.texts) + 1))
            self.texts[key] = text
            keys.append(key)
        return tuple(keys)


def _method_notes(notes: _Notes, method: Method) -> tuple[str, ...]:
    source = method.copied
    copied = f"The paper took this column from {source}; ours are the runs of that one."
    untuned = method.headline == "default" and not source
    return notes.add(copied if source else "", UNTUNED if untuned else "", method.note)


def _trouble(ours: Ours) -> str:
    """Say what went wrong in some runs, if anything."""
    n = len(ours.runs) + ours.n_failed
    parts = []
    if ours.n_diverged:
        parts.append(
            f"{ours.n_diverged} of {n} runs diverged and count as an AUC of 0.5"
        )
    if ours.n_failed:
        parts.append(f"{ours.n_failed} of {n} runs failed and are left out")
    return f"{'; '.join(parts)}: {ours.error}" if parts else ""
