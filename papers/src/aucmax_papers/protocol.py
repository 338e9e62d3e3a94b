# SPDX-License-Identifier: BSD-3-Clause
"""What a paper did, read from its file: sets, methods, grids, folds, and its figures.

Each paper is one file, ``protocols/<key>.toml``; all figures printed in the papers'
tables are in ``protocols/printed.csv``. This module turns them into the records of
`aucmax_papers.records` and complains of whatever it does not understand.
"""

import csv
import functools
import tomllib
from collections.abc import Mapping
from dataclasses import fields, replace
from importlib import resources
from typing import Any

from aucmax_papers.records import (
    Figure,
    Method,
    Paper,
    Printed,
    SetUse,
    Table,
    limited,
)

# The records too: modules whose text is part of a result's version have them from here.
__all__ = [
    "KEYS",
    "PROTOCOLS",
    "Figure",
    "Method",
    "Paper",
    "Printed",
    "SetUse",
    "Table",
    "expand",
    "limited",
    "load_paper",
    "parse_paper",
]

PROTOCOLS = resources.files("aucmax_papers") / "protocols"
KEYS = tuple(
    sorted(
        file.name.removesuffix(".toml")
        for file in PROTOCOLS.iterdir()
        if file.name.endswith(".toml")
    )
)
SCALINGS = ("range", "zscore", "center", "unit")
SPLITS = ("folds", "holdout", "given")
# How a paper writes its penalty, and what the alpha of our estimators is then.
PENALTIES = ("alpha", "half", "sum", "half-sum")


def load_paper(key: str, *, fast: bool = False) -> Paper:
    """Return the protocol of a paper.

    Parameters
    ----------
    key : str
        Such as "gao2013".
    fast : bool, default=False
        Whether to return the reduced protocol.

    Returns
    -------
    paper : Paper
        Sets, methods, tables and figures.

    Examples
    --------
    >>> from aucmax_papers import load_paper
    >>> paper = load_paper("gao2013")
    >>> paper.methods["OPAUC"].estimator
    'OPAUC'
    >>> paper.printed["2", "diabetes", "OPAUC", "auc"].value
    0.8309
    """
    if key not in KEYS:
        raise ValueError(f"There is no paper {key!r}. Choose one of {', '.join(KEYS)}.")
    return parse_paper(
        key, (PROTOCOLS / f"{key}.toml").read_text(encoding="utf-8"), fast=fast
    )


def parse_paper(key: str, text: str, *, fast: bool = False) -> Paper:
    """Return the protocol that a TOML text describes."""
    raw = tomllib.loads(text)
    limits = raw.pop("fast", {})
    common = raw.pop("protocol", {})
    sets = {
        name: _record(SetUse, f"sets.{name}", {"name": name, **common, **entry})
        for name, entry in raw.pop("sets").items()
    }
    methods = {
        name: _record(Method, f"methods.{name}", {"name": name, **entry})
        for name, entry in raw.pop("methods").items()
    }
    tables = {
        name: _record(Table, f"tables.{name}", {"name": name, **entry})
        for name, entry in raw.pop("tables", {}).items()
    }
    figures = {
        name: _record(Figure, f"figures.{name}", {"name": name, **entry})
        for name, entry in raw.pop("figures", {}).items()
    }
    paper = Paper(
        key=key,
        is_fast=fast,
        sets=sets,
        methods=methods,
        tables=tables,
        figures=figures,
        printed=_printed().get(key, {}),
        **{name: raw.pop(name) for name in ("title", "authors", "venue", "link")},
        about=raw.pop("about", ""),
    )
    if raw:
        raise ValueError(f"{key}.toml has {', '.join(raw)}, which means nothing here.")
    _check(paper)
    return _reduced(paper, limits) if fast else paper


def _reduced(paper: Paper, limits: Mapping[str, Any]) -> Paper:
    """Return the paper with the limits of ``--fast`` on every set and figure."""
    limits = dict(limits)
    left_out = limits.pop("without", ())
    points, runs = limits.pop("n_points", 0), limits.pop("n_figure_runs", 1)
    sets = {
        name: limited(use, limits)
        for name, use in paper.sets.items()
        if name not in left_out
    }
    tables = {
        name: replace(table, sets=tuple(s for s in table.sets if s in sets))
        for name, table in paper.tables.items()
    }
    figures = {
        name: replace(
            figure,
            sets=tuple(s for s in figure.sets if s in sets),
            values=_thinned(figure.values, points),
            n_runs=min(figure.n_runs, runs),
        )
        for name, figure in paper.figures.items()
    }
    return replace(paper, sets=sets, tables=tables, figures=figures)


def _thinned(values: tuple[Any, ...], n: int) -> tuple[Any, ...]:
    """Return about n of the values, the ends among them."""
    if not n or len(values) <= n or n < 2:
        return values
    return tuple(values[round(i * (len(values) - 1) / (n - 1))] for i in range(n))


def _record(kind: Any, where: str, entry: dict[str, Any]) -> Any:
    known = {f.name for f in fields(kind)}
    if unknown := set(entry) - known:
        raise ValueError(
            f"[{where}] has {', '.join(sorted(unknown))}. Known: "
            f"{', '.join(sorted(known))}."
        )
    entry = {
        name: tuple(value)
        if isinstance(value, list) and name not in ("grid", "values")
        else value
        for name, value in entry.items()
    }
    if "grid" in entry:
        grids = entry["grid"] if isinstance(entry["grid"], list) else [entry["grid"]]
        entry["grid"] = tuple(
            {name: expand(values) for name, values in grid.items()} for grid in grids
        )
    if "values" in entry:
        entry["values"] = expand(entry["values"])
    if kind is SetUse:
        entry = {"data": entry["name"], "printed": entry["name"]} | entry
    if kind is Method:
        entry = {"printed": entry["name"], "copied_as": (entry["name"],)} | entry
    return kind(**entry)


def expand(values: Any) -> tuple[Any, ...]:
    """Return the values of a grid.

    Parameters
    ----------
    values : list or dict
        The values, or powers: ``{base = 2, from = -10, to = 2, step = 4}``, times
        ``times`` if given.

    Returns
    -------
    values : tuple
        One by one.

    Examples
    --------
    >>> from aucmax_papers.protocol import expand
    >>> expand({"base": 2, "from": -1, "to": 1})
    (0.5, 1.0, 2.0)
    """
    if isinstance(values, dict):
        exponents = range(values["from"], values["to"] + 1, values.get("step", 1))
        times = values.get("times", 1.0)
        return tuple(times * float(values["base"]) ** k for k in exponents)
    return tuple(values)


def _check(paper: Paper) -> None:
    """Complain of names that do not exist, before hours are spent."""
    for use in paper.sets.values():
        _choose(f"sets.{use.name}", "split", [use.split], SPLITS)
        _choose(f"sets.{use.name}", "scaling", use.scaling, SCALINGS)
    for method in paper.methods.values():
        _choose(f"methods.{method.name}", "penalty", [method.penalty], PENALTIES)
        where = f"methods.{method.name}"
        _choose(where, "headline", [method.headline], method.variants)
        _choose(where, "by_set", method.by_set, paper.sets)
    shown: list[Table | Figure] = [*paper.tables.values(), *paper.figures.values()]
    for item in shown:
        _choose(item.name, "sets", item.sets, paper.sets)
        _choose(item.name, "methods", item.methods, paper.methods)


def _choose(where: str, what: str, chosen: Any, known: Any) -> None:
    if unknown := [name for name in chosen if name not in known]:
        raise ValueError(
            f"[{where}] {what} = {unknown!r}, but it must be of {', '.join(known)}."
        )


@functools.cache
def _printed() -> dict[str, dict[tuple[str, str, str, str], Printed]]:
    by_paper: dict[str, dict[tuple[str, str, str, str], Printed]] = {}
    text = (PROTOCOLS / "printed.csv").read_text(encoding="utf-8")
    for row in csv.DictReader(text.splitlines()):
        key = (row["table"], row["dataset"], row["method"], row["metric"])
        by_paper.setdefault(row["paper"], {})[key] = Printed(
            float(row["value"]), float(row["std"]) if row["std"] else None, row["note"]
        )
    return by_paper
