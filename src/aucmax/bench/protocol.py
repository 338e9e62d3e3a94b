# SPDX-License-Identifier: BSD-3-Clause
"""What a paper did, as data: sets, methods, grids, folds, and what it printed.

Each paper is one file, ``papers/<key>.toml``; all figures printed in the papers' tables
are in ``papers/printed.csv``. This module turns them into frozen records and complains
of whatever it does not understand.
"""

import csv
import functools
import itertools
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from importlib import resources
from typing import Any

PAPERS = resources.files("aucmax.bench") / "papers"
KEYS = tuple(
    sorted(
        file.name.removesuffix(".toml")
        for file in PAPERS.iterdir()
        if file.name.endswith(".toml")
    )
)
SCALINGS = ("range", "zscore", "center", "unit")
SPLITS = ("folds", "holdout", "given")
# How a paper writes its penalty, and what the alpha of our estimators is then.
PENALTIES = ("alpha", "half", "sum", "half-sum")


@dataclass(frozen=True, slots=True)
class SetUse:
    """How a paper used a data set.

    Attributes
    ----------
    name : str
        Name within the paper; ``data`` is that of the registry, ``printed`` that in the
        paper's tables (both are ``name`` unless given).
    part : str
        "all", "train" or the like.
    positive : str or list of float
        Labels of the positive class; or "larger" of two labels, "smallest" class with
        less than 50 negatives per positive, "largest" class, or "halves": a random half
        of the classes.
    n_partitions : int
        How many random halves; each is run once. 1 if nothing is random.
    scaling : list of str
        Steps in order: "range" (features to [-1, 1] on the whole set), "zscore" (on
        training rows), "center" (each row's own mean to 0), "unit" (rows of length 1).
    split : str
        "folds" (stratified, repeated), "holdout" (random test rows, repeated), "given"
        (the files train and test).
    n_folds, n_repeats : int
        Of the folds; "holdout" leaves one in ``n_folds`` rows for the test.
    n_runs : int
        Only so many of these runs; 0 is all.
    n_inner_folds, n_inner_used : int
        Folds inside the training rows to tune by; how many of them are used (0: all).
    n_inner_repeats : int
        How often these folds are drawn.
    tune_rows : int
        Tune on at most so many training rows; 0 is all.
    max_train, max_rows : int
        Train on at most so many rows; use at most so many of the set. 0 is all.
    comparable : bool
        Whether the paper's figure belongs to the same problem.
    why : str
        If not, why; or how the protocol here is smaller than the paper's.
    """

    name: str
    data: str = ""
    printed: str = ""
    part: str = "all"
    positive: Any = "larger"
    n_partitions: int = 1
    scaling: tuple[str, ...] = ("range",)
    split: str = "folds"
    n_folds: int = 5
    n_repeats: int = 5
    n_runs: int = 0
    n_inner_folds: int = 5
    n_inner_used: int = 0
    n_inner_repeats: int = 1
    tune_rows: int = 0
    max_train: int = 0
    max_rows: int = 0
    comparable: bool = True
    why: str = ""


@dataclass(frozen=True, slots=True)
class Method:
    """How a paper, and we, made a model.

    Attributes
    ----------
    name : str
        Name within the file; ``printed`` is that in the paper's tables (``name`` unless
        given).
    estimator : str
        Name in aucmax; empty if there is only a default.
    fixed : dict
        Parameters that are not tuned.
    grid : list of dict
        Values to try, by parameter; the union of several grids. "C" and "lambda" become
        ``alpha`` by ``penalty``, "sigma" becomes ``gamma = 1 / (2 sigma^2)``,
        "gamma_scale" is ``gamma`` in units of one over the mean squared distance of a
        training row to their mean, "passes" is the number of passes, whatever the
        estimator calls it.
    penalty : str
        How the paper writes "C" or "lambda": "alpha" as we do; "half" beside half the
        mean of the loss, so that alpha is twice lambda; "sum": C times the sum over
        pairs, so that alpha = 1 / (C n_pos n_neg); "half-sum": half of that sum.
    before : dict
        A transformer to put in front: its name in aucmax as ``estimator``, and its
        parameters.
    default : dict or None
        Parameters of the variant "default", which is not tuned: our estimator as it
        comes. None leaves it out. ``default_estimator`` is another class, if need be.
    by_set : dict of str to dict
        Parameters of both variants on one set only.
    headline : str
        Which variant is compared with the paper: "published" (tuned by the grid) or
        "default".
    max_train, max_rows, n_runs, tune_rows, n_inner_used, n_partitions : int
        As in `SetUse`; the smaller one counts. 0 sets no limit.
    train_share : float
        Train on this share of the rows that the set trains on.
    proposed : bool
        Whether it is one of the methods the five papers propose.
    copied : str
        The key of the paper that this column was copied from; ours come from there,
        from the first of the methods ``copied_as`` that has a figure for the set.
    cost : float
        Seconds per 10^6 values of the training rows, roughly, for the time left.
    note : str
        What differs from the paper.
    """

    name: str
    printed: str = ""
    estimator: str = ""
    fixed: Mapping[str, Any] = field(default_factory=dict)
    grid: tuple[Mapping[str, tuple[Any, ...]], ...] = ()
    penalty: str = "alpha"
    before: Mapping[str, Any] = field(default_factory=dict)
    default: Mapping[str, Any] | None = None
    default_estimator: str = ""
    by_set: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    headline: str = "published"
    max_train: int = 0
    max_rows: int = 0
    n_runs: int = 0
    tune_rows: int = 0
    n_inner_used: int = 0
    n_partitions: int = 0
    train_share: float = 1.0
    proposed: bool = False
    copied: str = ""
    copied_as: tuple[str, ...] = ()
    cost: float = 1.0
    note: str = ""

    @property
    def variants(self) -> tuple[str, ...]:
        """Return "published", "default" or both."""
        if self.default is None:
            return ("published",)
        return ("published", "default") if self.estimator else ("default",)

    def on(self, name: str) -> "Method":
        """Return the method with what is said of one set."""
        own = self.by_set.get(name, {})
        default = None if self.default is None else {**self.default, **own}
        return replace(self, fixed={**self.fixed, **own}, default=default, by_set={})

    def candidates(self) -> list[dict[str, Any]]:
        """Return every combination of the grid, in its order."""
        return [
            dict(zip(grid, values, strict=True))
            for grid in self.grid
            for values in itertools.product(*grid.values())
        ] or [{}]


@dataclass(frozen=True, slots=True)
class Table:
    """A table of the paper: which sets and methods, and what it shows."""

    name: str
    caption: str
    sets: tuple[str, ...]
    methods: tuple[str, ...]
    metrics: tuple[str, ...] = ("auc",)
    reference: str = ""
    percent: bool = False
    digits: int = 4
    note: str = ""


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure of the paper: a score against something that varies.

    Attributes
    ----------
    name, caption : str
        Number in the paper, and what is shown.
    sets, methods : tuple of str
        Panels, and lines in each.
    vary : str
        A parameter as in the grids; "n_rows", of which the model learns only the first
        so many; or "online": the AUC over all rows so far, as `auc_curve` has it.
    values : tuple
        Of ``vary``; for "online", how many points.
    fixed : dict
        Further parameters; the rest is tuned as in the tables (``tuned``) or left.
    tuned : bool
        Whether the other parameters are those the tables tuned.
    n_runs : int
        How many runs are averaged.
    max_rows : int
        "online" follows at most so many rows; 0 is all.
    x : str
        What the axis shows: "value", or "seconds" or "size" of the fitted models.
    log : bool
        Whether that axis is logarithmic.
    """

    name: str
    caption: str
    sets: tuple[str, ...]
    methods: tuple[str, ...]
    vary: str
    values: tuple[Any, ...]
    fixed: Mapping[str, Any] = field(default_factory=dict)
    tuned: bool = True
    n_runs: int = 5
    max_rows: int = 0
    x: str = "value"
    label: str = ""
    log: bool = False
    note: str = ""


@dataclass(frozen=True, slots=True)
class Printed:
    """A figure as the paper printed it."""

    value: float
    std: float | None
    note: str


@dataclass(frozen=True, slots=True)
class Paper:
    """One paper.

    Attributes
    ----------
    key, title, authors, venue, link : str
        What it is.
    about : str
        What of its protocol we had to guess or change, in a few sentences.
    is_fast : bool
        Whether this is the reduced protocol of ``--fast``.
    sets, methods, tables, figures : dict
        By name.
    printed : dict
        Figures in the tables, by (table, set, method, metric).
    """

    key: str
    title: str
    authors: str
    venue: str
    link: str
    about: str
    is_fast: bool
    sets: dict[str, SetUse]
    methods: dict[str, Method]
    tables: dict[str, Table]
    figures: dict[str, Figure]
    printed: dict[tuple[str, str, str, str], Printed]


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
    >>> from aucmax.bench import load_paper
    >>> paper = load_paper("gao2013")
    >>> paper.methods["OPAUC"].estimator
    'OPAUC'
    >>> paper.printed["2", "diabetes", "OPAUC", "auc"].value
    0.8309
    """
    if key not in KEYS:
        raise ValueError(f"There is no paper {key!r}. Choose one of {', '.join(KEYS)}.")
    return parse_paper(
        key, (PAPERS / f"{key}.toml").read_text(encoding="utf-8"), fast=fast
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


def limited(use: SetUse, limits: Mapping[str, int]) -> SetUse:
    """Return the set with the smaller of its own limits and these; 0 is none."""
    smaller: dict[str, Any] = {}
    for name, limit in limits.items():
        own = getattr(use, name)
        smaller[name] = min(own, limit) if own and limit else own or limit
    return replace(use, **smaller)


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
    >>> from aucmax.bench.protocol import expand
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
    text = (PAPERS / "printed.csv").read_text(encoding="utf-8")
    for row in csv.DictReader(text.splitlines()):
        key = (row["table"], row["dataset"], row["method"], row["metric"])
        by_paper.setdefault(row["paper"], {})[key] = Printed(
            float(row["value"]), float(row["std"]) if row["std"] else None, row["note"]
        )
    return by_paper
