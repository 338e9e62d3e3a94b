# SPDX-License-Identifier: BSD-3-Clause
"""Tables for the commands: columns by name, kinds of values, and labels."""

import difflib
import shlex
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import click
import numpy as np
from numpy.typing import NDArray

from aucmax._utils.optional import import_optional
from aucmax._utils.typing import BoolArray
from aucmax.cli._base import count, tell
from aucmax.cli._words import told_in_options
from aucmax.io import Table, read_table
from aucmax.io._errors import short
from aucmax.io.source import OPENERS, STDIN, from_path
from aucmax.io.table import LIBSVM

# Names and values shown in a message.
SHOWN = 8
# Letters of each.
LONGEST = 60
# With more whole numbers than this, a target is taken for a quantity.
MOST_CLASSES = 20

Choose = Callable[[Sequence[str], str], list[str]]


class Labels(NamedTuple):
    """The two classes, as they are written in the file."""

    negative: str
    positive: str
    # Whether every label but the positive one is negative.
    is_rest: bool = False


class Problem(NamedTuple):
    """A table to learn from or to test with."""

    X: Any
    # To train with: labels of the file if the larger one is positive, else booleans.
    y: NDArray[Any]
    is_pos: BoolArray
    labels: Labels
    # What the columns hold, by name; empty for sparse rows, which have no names.
    kinds: dict[str, str]
    source: str
    # What to call the labels.
    what: str

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.y)

    @property
    def n_pos(self) -> int:
        """Number of positives."""
        return int(self.is_pos.sum())

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return int(self.X.shape[1])


def is_libsvm(data: str, format: str | None) -> bool:
    """Say whether a file has labels of its own."""
    return kind_of(data, format) in LIBSVM


def kind_of(data: str, format: str | None) -> str:
    """Return the format of a file; of one whose name does not say, how it ends."""
    if format is not None:
        return format
    if data == STDIN:
        return "csv"
    path = Path(data)
    if path.suffix == ".zip" and path.is_file():
        # The name of the file in it says what it holds.
        return from_path(path).suffix.lstrip(".").lower()
    path = path.with_suffix("") if path.suffix in OPENERS else path
    return path.suffix.lstrip(".").lower()


def read_rows(
    data: str,
    *,
    format: str | None,
    separator: str | None,
    target: str | None,
    choose: Choose,
    text: Collection[str] = (),
    can_drop: bool = False,
) -> Table:
    """Read the columns that are chosen, and the target if one is named.

    Parameters
    ----------
    data : str
        A file, or "-" for the standard input.
    format : str or None
        Of the file; None: what its name says.
    separator : str or None
        What is between the columns of a text; None: what its format says.
    target : str or None
        The column with the labels.
    choose : callable
        Takes the names of all other columns and what to call the file; returns the
        names of the columns to read, in order.
    text : collection of str
        Columns that stay text, whatever their values look like in this file.
    can_drop : bool
        Whether the command has an option to leave out columns.

    Returns
    -------
    table : Table
        Columns and labels.
    """
    source = "the standard input" if data == STDIN else str(Path(data))

    def columns(names: Sequence[str]) -> list[str]:
        # Before all else, so that a column that nobody wants costs and breaks nothing.
        named = _named(names, source)
        return choose([name for name in named if name != target], source)

    with told_in_options(can_drop=can_drop):
        return read_table(
            _opened(data),
            target=target,
            format=format,
            columns=None if is_libsvm(data, format) else columns,
            text=text,
            separator=separator,
        )


def _opened(data: str) -> Any:
    if data == STDIN and sys.stdin is None:
        raise ValueError("The standard input is closed. Give a file, or pipe one in.")
    return data


def _named(names: Sequence[str], source: str) -> list[str]:
    if "" in names:
        tell(
            f"Note: column {names.index('') + 1} of {source} has no name; it is left "
            "out."
        )
    return [name for name in names if name]


def all_but(drop: Sequence[str]) -> Choose:
    """Return what chooses all columns but these."""

    def choose(names: Sequence[str], source: str) -> list[str]:
        for name in drop:
            if name not in names:
                raise ValueError(
                    f"{source} has no column {short(name)} to drop. "
                    + _nearest(name, names)
                )
        return [name for name in names if name not in drop]

    return choose


def exactly(
    features: Sequence[str], keep: Sequence[str] = (), target: str | None = None
) -> Choose:
    """Return what chooses these columns, and says what else there is."""

    def choose(names: Sequence[str], source: str) -> list[str]:
        missing = [name for name in features if name not in names]
        if missing:
            n_columns = count(len(missing), "column")
            raise ValueError(
                f"{source} lacks {n_columns} of the model: {_shown(missing)}. It has: "
                f"{_shown(names)}."
            )
        for name in keep:
            if name not in names:
                raise ValueError(
                    f"{source} has no column {short(name)} to keep. "
                    + _nearest(name, names)
                )
        wanted = list(dict.fromkeys([*features, *keep]))
        extra = [name for name in names if name not in wanted]
        if target in extra:
            extra.remove(target)
            tell(
                f"Note: column {short(target)} of {source}, the target of the model, "
                "is left out."
            )
        if extra:
            n_columns = count(len(extra), "column")
            tell(
                f"Note: {n_columns} of {source} unknown to the model: {_shown(extra)}."
            )
        return wanted

    return choose


def _nearest(name: str, names: Sequence[str]) -> str:
    near = difflib.get_close_matches(name, names, SHOWN, 0.5)
    return (
        f"The nearest names: {_shown(near)}." if near else f"It has: {_shown(names)}."
    )


def _shown(names: Sequence[Any]) -> str:
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(map(brief, names[:SHOWN])) + more


def brief(value: Any) -> str:
    """Return a name or a label as it is; of a long one the beginning, in quotes."""
    text = str(value)
    return text if len(text) <= LONGEST else short(text)


def kinds_of(X: Any) -> dict[str, str]:
    """Return what the columns hold, by name: number, date or text; {} for an array."""
    if not hasattr(X, "dtypes"):
        return {}
    return {name: _kind_of(X[name]) for name in X.columns}


def _kind_of(column: Any) -> str:
    if column.dtype.kind in "biuf":
        return "number"
    return "date" if column.dtype.kind in "mM" else "text"


def as_kinds(
    X: Any, kinds: Mapping[str, str], source: str, *, can_drop: bool = False
) -> Any:
    """Return the columns with values of these kinds; raise if some cannot be."""
    if not kinds:
        return X
    changed = {}
    for name, kind in kinds.items():
        column = X[name]
        if kind == "text":
            if not _is_text(column):
                changed[name] = _to_text(column)
        elif _kind_of(column) != kind:
            changed[name] = _to_kind(column, kind, source)
        elif column.dtype.kind == "f" and np.isinf(column.to_numpy()).any():
            row = int(np.flatnonzero(np.isinf(column.to_numpy()))[0])
            way_out = ", or leave the column out with --drop" if can_drop else ""
            raise ValueError(
                f"Column {short(name)} of {source} holds infinity in row {row}, "
                f"counted from 0. Replace it{way_out}."
            )
    return X.assign(**changed) if changed else X


def _is_text(column: Any) -> bool:
    pandas = import_optional("pandas", "io")
    if column.dtype.kind != "O" or isinstance(column.dtype, pandas.CategoricalDtype):
        return False
    # Missing values may be among them.
    return pandas.api.types.infer_dtype(column, skipna=True) in ("string", "empty")


def _to_text(column: Any) -> Any:
    values = column.astype(object)
    return values.where(values.isna(), values.map(label_text))


def _to_kind(column: Any, kind: str, source: str) -> Any:
    pandas = import_optional("pandas", "io")
    if column.isna().all():
        return column.astype("float64" if kind == "number" else "M8[s]")
    convert = pandas.to_numeric if kind == "number" else pandas.to_datetime
    held = _kind_of(column)
    found = {"number": "numbers", "date": "dates", "text": "text"}[held]
    try:
        if held != "text":
            raise ValueError("a number is no date, and a date no number")
        return convert(column)
    except (ValueError, TypeError):
        example = column.dropna().iloc[0]
        raise ValueError(
            f"Column {short(column.name)} of {source} holds {found}, such as "
            f"{brief(example)}, where the model learned from {kind}s. Mend it."
        ) from None


def label_text(value: Any) -> str:
    """Return a label as files have it.

    Examples
    --------
    >>> from aucmax.cli._data import label_text
    >>> label_text(1.0), label_text(True), label_text("yes"), label_text(0.5)
    ('1', 'true', 'yes', '0.5')
    """
    if isinstance(value, bool | np.bool_):
        return str(value).lower()
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    return str(value)


def read_problem(
    data: str,
    *,
    format: str | None,
    separator: str | None,
    target: str | None,
    drop: Sequence[str],
    positive: str | None,
) -> Problem:
    """Read a table to learn from."""
    table = read_rows(
        data,
        format=format,
        separator=separator,
        target=target,
        choose=all_but(drop),
        can_drop=True,
    )
    what = what_labels(target, table.source)
    labels, is_pos, y = find_labels(np.asarray(table.y), positive, what)
    if positive is None:
        _tell_of_positive(y, is_pos, labels, what)
    kinds = kinds_of(table.X)
    X = as_kinds(table.X, kinds, table.source, can_drop=True)
    return Problem(X, y, is_pos, labels, kinds, table.source, what)


def _tell_of_positive(
    y: NDArray[Any], is_pos: BoolArray, labels: Labels, what: str
) -> None:
    """Say which label is positive if it may well be the wrong one."""
    n_pos = int(is_pos.sum())
    # Numbers and true and false have a customary order, and text has none.
    if y.dtype.kind in "biufM" or 2 * n_pos <= len(y):
        return
    tell(
        f"Note: the positive label of {what.removeprefix('The label of ')} is "
        f"{brief(labels.positive)}, the last one in the alphabet, which {n_pos:,} of "
        f"{count(len(y), 'row')} have. If {brief(labels.negative)} shall be ranked "
        f"high, add --positive {shlex.quote(labels.negative)}."
    )


def what_labels(target: str | None, source: str) -> str:
    """Return what to call the labels of a file."""
    of = "The label" if target is None else short(target)
    return f"{of} of {source}"


def find_labels(
    y: NDArray[Any], positive: str | None, what: str
) -> tuple[Labels, BoolArray, NDArray[Any]]:
    """Return the classes, which rows are positive, and labels to train with."""
    values = np.unique(y)
    texts = [label_text(value) for value in values]
    if len(values) == 1:
        raise ValueError(
            f"{what} is {brief(texts[0])} in all rows. Rows of two classes are needed."
        )
    if positive is None and _looks_continuous(values):
        raise ValueError(
            f"{what} looks continuous: it has {len(values):,} values, from {texts[0]} "
            f"to {texts[-1]}, where two classes are needed. Make a column of two "
            "classes from it, such as whether it is above a limit, and name that with "
            "--target. If the values are classes, name the positive one with "
            "--positive; all others are negative then."
        )
    if positive is None and len(values) > 2:
        raise ValueError(
            f"{what} has {len(values)} values, {_shown(texts)}, where two are needed. "
            "Name the positive one with --positive; all others are negative then."
        )
    if positive is None:
        positive = texts[-1]
    if positive not in texts:
        raise ValueError(
            f"{what} has no value {short(positive)} to be positive. It has "
            f"{_shown(texts)}."
        )
    is_pos = np.asarray(y == values[texts.index(positive)])
    is_rest = len(values) > 2
    others = [text for text in texts if text != positive]
    labels = Labels(f"not {positive}" if is_rest else others[0], positive, is_rest)
    is_larger = not is_rest and texts[-1] == positive
    return labels, is_pos, y if is_larger else is_pos


def _looks_continuous(values: NDArray[Any]) -> bool:
    """Say whether labels seem to be quantities rather than classes."""
    if len(values) <= 2 or values.dtype.kind not in "iufmM":
        return False
    is_whole = values.dtype.kind != "f" or (values == np.rint(values)).all()
    return len(values) > MOST_CLASSES or not is_whole


def which_positive(y: NDArray[Any], labels: Labels, what: str) -> BoolArray:
    """Return which rows are positive, of labels that a model has learned."""
    values = np.unique(y)
    texts = [label_text(value) for value in values]
    known = {labels.negative, labels.positive}
    unknown = [] if labels.is_rest else [text for text in texts if text not in known]
    if unknown:
        raise ValueError(
            f"{what} holds {_shown(unknown)}, but the model knows "
            f"{brief(labels.negative)} and {brief(labels.positive)} only. Leave these "
            "rows out, or name another column."
        )
    is_pos = np.zeros(len(y), dtype=bool)
    if labels.positive in texts:
        is_pos = np.asarray(y == values[texts.index(labels.positive)])
    if is_pos.all() or not is_pos.any():
        raise ValueError(
            f"{what} is {_shown(texts)} in all rows. For an AUC, rows of both "
            f"{brief(labels.negative)} and {brief(labels.positive)} are needed."
        )
    return is_pos


def need_target(data: str, format: str | None, target: str | None) -> None:
    """End the command if a file needs a target and none is named, or the reverse."""
    if is_libsvm(data, format):
        if target is not None:
            raise click.UsageError(
                f"{data} is in LIBSVM's format, which has the labels first. Leave out "
                "--target."
            )
    elif target is None:
        raise click.UsageError("Name the column with the labels: --target NAME.")
