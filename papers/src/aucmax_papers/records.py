# SPDX-License-Identifier: BSD-3-Clause
"""What a paper did, as frozen records: sets, methods, tables and figures."""

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any


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
    results_version : int
        Raised by hand when a change of the code may change its figures: older results
        then count as old, and `run` makes them again.
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
    results_version: int = 1
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


def limited(use: SetUse, limits: Mapping[str, int]) -> SetUse:
    """Return the set with the smaller of its own limits and these; 0 is none."""
    smaller: dict[str, Any] = {}
    for name, limit in limits.items():
        own = getattr(use, name)
        smaller[name] = min(own, limit) if own and limit else own or limit
    return replace(use, **smaller)
