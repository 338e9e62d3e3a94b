# SPDX-License-Identifier: BSD-3-Clause
"""``aucmax predict``: scores of new rows."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from aucmax.cli._base import Command, check_new, examples, fail, tell
from aucmax.cli._options import (
    force_option,
    format_option,
    separator_option,
    trust_option,
)

# What makes a spreadsheet take text for a formula.
FORMULAS = ("=", "+", "-", "@", "\t", "\r", "\n")
NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")


@click.command(
    cls=Command,
    short_help="Score the rows of a table by a model.",
    epilog=examples(
        "aucmax predict loans.skops new.csv > scores.csv",
        "aucmax predict loans.skops new.csv --proba --label --keep id --out scores.csv",
        "aucmax predict loans.skops - < new.csv | head",
    ),
)
@click.argument("model")
@click.argument("data")
@click.option(
    "--out",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write to this CSV file instead.",
)
@force_option
@click.option("--proba", is_flag=True, help="Add the probability to be positive.")
@click.option("--label", is_flag=True, help="Add the label that the model decides for.")
@click.option(
    "--keep",
    metavar="COL",
    multiple=True,
    help="Copy this column of DATA, as it is; may be given several times. For a "
    "spreadsheet, see --escape-formulas.",
)
@click.option(
    "--escape-formulas",
    is_flag=True,
    help="Put ' before kept text, labels and names that begin with = + - @ or a tab, "
    "so that no spreadsheet runs them. Numbers stay.",
)
@trust_option
@format_option
@separator_option
def predict(
    model: str,
    data: str,
    out: Path | None,
    force: bool,
    proba: bool,
    label: bool,
    keep: tuple[str, ...],
    escape_formulas: bool,
    trust: tuple[str, ...],
    format: str | None,
    separator: str | None,
) -> None:
    """Score the rows of the table DATA by the model in the file MODEL, as CSV.

    Higher scores are more likely positive. Columns are found by their names, in any
    order; others are left out. DATA may be -, which is a CSV on the standard input.
    """
    if twice := {"score", "probability", "label"}.intersection(keep):
        raise click.UsageError(
            f"--keep {twice.pop()} would give two columns of that name. Rename it in "
            "DATA."
        )
    if out is not None:
        check_new(out, data, model, force=force)
    elif sys.stdout is None:
        fail("The standard output is closed. Name a file with --out.")
    from aucmax.cli._data import open_input
    from aucmax.cli._trained import open_model, read_for
    from aucmax.io._atomic import replacing

    estimator, expected = open_model(model, trust)
    if proba and not hasattr(estimator, "predict_proba"):
        raise ValueError(
            f"{model} gives scores but no probabilities. Leave out --proba, or fit "
            "with --model auto."
        )
    rows = open_input(data, format, separator, None, needs_target=False)
    table, kept = read_for(expected, rows, keep)
    texts = expected.labels[:2]
    if escape_formulas:
        texts = _escape(texts[0]), _escape(texts[1])
        kept = kept if kept is None else kept.map(_escape).rename(columns=_escape)
    parts = _score(estimator, texts, table.X, kept, proba, label)
    if out is None:
        _write(parts, sys.stdout)
        return
    with replacing(out) as draft, draft.open("w", encoding="utf-8", newline="") as file:
        _write(parts, file)
    tell(f"Wrote {out}.")


def _escape(value: Any) -> Any:
    """Return a value that is no formula."""
    is_formula = isinstance(value, str) and value.startswith(FORMULAS)
    return f"'{value}" if is_formula and not NUMBER.fullmatch(value) else value


def _score(
    model: Any, texts: tuple[str, str], X: Any, kept: Any, proba: bool, label: bool
) -> Iterator[Any]:
    """Yield frames with the columns to write, some rows at a time."""
    import pandas

    from aucmax.cli._fitting import BATCH_ROWS, score_rows, take

    for start in range(0, X.shape[0], BATCH_ROWS):
        part = slice(start, start + BATCH_ROWS)
        rows = take(X, part)
        columns: dict[str, Any] = {}
        if kept is not None:
            columns |= dict(kept.iloc[part].items())
        columns["score"] = score_rows(model, rows)
        if proba:
            columns["probability"] = model.predict_proba(rows)[:, 1]
        if label:
            is_pos = model.predict(rows) == model.classes_[1]
            columns["label"] = pandas.Series(texts)[is_pos.astype(int)].to_numpy()
        yield pandas.DataFrame(columns)


def _write(parts: Iterator[Any], file: Any) -> None:
    for number, part in enumerate(parts):
        part.to_csv(file, index=False, header=number == 0, lineterminator="\n")
    file.flush()
