# SPDX-License-Identifier: BSD-3-Clause
"""Model files: what a model expects of a table, and what its labels are."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from aucmax.cli._base import count, tell
from aucmax.cli._data import Problem, TableInput, all_but, refuse_name
from aucmax.io import Table, UntrustedModel, load, read_metadata
from aucmax.io._errors import short
from aucmax.io.tables.labels import Labels, label_text, match_labels, shown
from aucmax.io.tables.schema import conform
from aucmax.io.tables.table import read_sources


class Expected(NamedTuple):
    """What a model expects of a table.

    Attributes
    ----------
    names : tuple of str
        Its columns; empty if it knows them by their place only.
    n_features : int or None
        How many there are, if that is known.
    kinds : dict of str to str
        What they hold, if that is known.
    labels : Labels
        The two classes.
    target : str or None
        The column that had them, if that is known.
    """

    names: tuple[str, ...]
    n_features: int | None
    kinds: dict[str, str]
    labels: Labels
    target: str | None = None


def expects(problem: Any) -> Expected:
    """Return what a model that learned from these rows, or a stream, expects."""
    names = tuple(problem.kinds)
    return Expected(names, problem.n_features, problem.kinds, problem.labels)


def open_model(path: str, trust: Sequence[str]) -> tuple[Any, Expected]:
    """Load a model, and what it expects, whether the command or Python saved it."""
    told = read_metadata(path).get("metadata")
    try:
        model = load(path, trusted=list(trust))
    except UntrustedModel as error:
        options = " ".join(f"--trust {name}" for name in error.types)
        raise ValueError(
            f"{path} was not loaded, because it names {', '.join(error.types)}, whose "
            f"code might do harm. If you trust whoever made it, add {options}."
        ) from error
    classes = getattr(model, "classes_", None)
    if classes is None or len(classes) != 2:
        raise ValueError(
            f"{path} holds a {type(model).__name__} that is no fitted classifier of "
            "two classes."
        )
    names = tuple(str(name) for name in getattr(model, "feature_names_in_", ()))
    told = told if isinstance(told, dict) else {}
    expected = Expected(
        names,
        getattr(model, "n_features_in_", None),
        _checked_kinds(told.get("columns"), names),
        _labels(told.get("labels"), classes),
        told.get("target"),
    )
    return model, expected


def _checked_kinds(kinds: Any, names: Sequence[str]) -> dict[str, str]:
    """Return the kinds if they are of these columns; they come from a file."""
    if not isinstance(kinds, dict) or set(kinds) != set(names):
        return {}
    return {name: str(kinds[name]) for name in names}


def _labels(told: Any, classes: Any) -> Labels:
    if isinstance(told, dict) and set(told) == set(Labels._fields):
        return Labels(
            str(told["negative"]), str(told["positive"]), bool(told["is_rest"])
        )
    return Labels(label_text(classes[0]), label_text(classes[1]))


def columns_of(
    expected: Expected, rows: TableInput, keep: Sequence[str], names: Sequence[str]
) -> list[str]:
    """Return the columns of a model, and those to keep; say what else there is."""
    names, source, target = all_but(rows, (), names), rows.name, expected.target
    if not expected.names:
        return names
    if missing := [name for name in expected.names if name not in names]:
        raise ValueError(
            f"{source} lacks {count(len(missing), 'column')} of the model: "
            f"{shown(missing)}. It has: {shown(names)}."
        )
    for name in keep:
        if name not in names:
            refuse_name(rows, name, names, "to keep")
    wanted = list(dict.fromkeys([*expected.names, *keep]))
    extra = [name for name in names if name not in wanted]
    if target in extra:
        extra.remove(target)
        tell(
            f"Note: column {short(target)} of {source}, the target of the model, is "
            "left out."
        )
    if extra:
        n_columns = count(len(extra), "column")
        tell(f"Note: {n_columns} of {source} unknown to the model: {shown(extra)}.")
    return wanted


def read_for(
    expected: Expected, rows: TableInput, keep: Sequence[str] = ()
) -> tuple[Table, Any]:
    """Read the columns of a model, and others to keep.

    Returns
    -------
    table : Table
        With the features of the model in its order, and labels if there is a target.
    kept : DataFrame or None
        The columns to keep.
    """
    # Codes such as 01 must not become numbers because all of this file look like it.
    parsed = [name for name, kind in expected.kinds.items() if kind != "text"]
    known = [name for name in expected.kinds if name not in parsed]
    if rows.format == "libsvm" and (expected.names or keep):
        raise ValueError(
            f"{rows.name} is in LIBSVM's format, whose columns have no names, but "
            "names are needed here. Give a table with names."
        )
    columns = partial(columns_of, expected, rows, keep)
    table = read_sources(
        rows.sources,
        rows.format,
        target=rows.target,
        columns=None if rows.format == "libsvm" else columns,
        text={*known, *(name for name in keep if name not in parsed)},
        separator=rows.separator,
    )
    kept = table.X[list(keep)] if keep else None
    if expected.names:
        X = table.X[list(expected.names)]
        X = conform(X, table.kinds, expected.kinds, table.source)
    else:
        X = _fit_width(table, keep, expected.n_features)
    return replace(table, X=X, names=expected.names), kept


def read_test(expected: Expected, rows: TableInput) -> Problem:
    """Read rows with labels to test a model with."""
    table, _ = read_for(expected, rows)
    is_pos = match_labels(np.asarray(table.y), expected.labels, rows.labels)
    return Problem(
        table.X, is_pos, is_pos, expected.labels, expected.kinds, rows.labels
    )


def _fit_width(table: Table, keep: Sequence[str], wanted: int | None) -> Any:
    """Return rows with as many columns as the model has, which has no names."""
    if not table.names:
        X: Any = table.X
        if wanted is not None and X.shape[1] > wanted:
            tell(
                f"Note: {table.source} has features up to {X.shape[1]}; those above "
                f"{wanted} are unknown to the model."
            )
        if wanted is not None and X.shape[1] != wanted:
            X = X.copy()
            X.resize((X.shape[0], wanted))
        return X
    X = table.X[[name for name in table.names if name not in keep]]
    if wanted is not None and X.shape[1] != wanted:
        raise ValueError(
            f"The model has {count(wanted, 'column')} without names, and "
            f"{table.source} has {X.shape[1]:,}. Give the same columns in the same "
            "order."
        )
    try:
        return X.to_numpy(dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"The model learned from numbers only, but {table.source} holds text: "
            f"{error}."
        ) from error
