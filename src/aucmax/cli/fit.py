# SPDX-License-Identifier: BSD-3-Clause
"""``aucmax fit``: from a table to a model file."""

import glob
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from aucmax.cli._base import (
    Command,
    check_new,
    examples,
    is_watched,
    json_option,
    show_json,
    write_bytes,
)
from aucmax.cli._models import (
    DASK_MODELS,
    IN_BATCHES,
    MODELS,
    ModelName,
    Setting,
    make_estimator,
    told_settings,
)
from aucmax.cli._options import (
    Finite,
    drop_option,
    force_option,
    format_option,
    positive_option,
    seed_option,
    separator_option,
    stream_options,
    target_option,
)

if TYPE_CHECKING:
    pass

FOLDS = 5
FILE = click.Path(dir_okay=False, path_type=Path)


class Folds(click.IntRange):
    """A number of folds, which is not one."""

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """Return the number, or end the command."""
        if super().convert(value, param, ctx) == 1:
            raise click.UsageError(
                "One fold leaves no rows to learn from. Give --cv 2."
            )
        return super().convert(value, param, ctx)


@click.command(
    cls=Command,
    short_help="Train a model from a table, and save it.",
    epilog=examples(
        "aucmax fit loans.csv --target default",
        "aucmax fit loans.csv --target default --test new.csv --card loans.md",
        "aucmax fit loans.csv --target grade --positive D --drop id --time-budget 60",
        "aucmax fit rows.parquet --target y --model nbauc --set n_landmarks=400",
        "aucmax fit big.csv --target y --model opauc --out big.skops --force --json",
        "aucmax fit 'parts/*.parquet' --target y --model ranksvm --checkpoint kept",
    ),
)
@click.argument("data")
@target_option
@click.option(
    "--model",
    "name",
    metavar="NAME",
    type=ModelName(),
    default="auto",
    show_default=True,
    help=f"One of: {', '.join(MODELS)}.",
)
@click.option(
    "--set",
    "settings",
    metavar="NAME=VALUE",
    type=Setting(),
    multiple=True,
    help="A parameter of the model; may be given several times.",
)
@drop_option
@positive_option
@click.option("--test", metavar="FILE", help="Rows to measure the AUC with.")
@click.option(
    "--out",
    metavar="FILE",
    type=FILE,
    help="File of the model; DATA's name with .skops, in this folder, if not given; "
    "model.skops for a pattern.",
)
@click.option("--card", metavar="FILE", type=FILE, help="Also describe it, here.")
@force_option
@click.option(
    "--time-budget",
    metavar="S",
    type=Finite(min=0, min_open=True),
    help="Seconds that the model auto may take.",
)
@click.option(
    "--cv",
    metavar="K",
    type=Folds(min=0),
    help=f"Folds to measure the AUC with, 0 for none; {FOLDS} if not given, none with "
    "--test. The model auto has its own; online learners of very many rows are "
    "measured on a part of them before they learn it.",
)
@stream_options
@seed_option
@format_option
@separator_option
@json_option
def fit(
    data: str,
    target: str | None,
    name: str,
    settings: tuple[tuple[str, Any], ...],
    drop: tuple[str, ...],
    positive: str | None,
    test: str | None,
    out: Path | None,
    card: Path | None,
    force: bool,
    time_budget: float | None,
    cv: int | None,
    stream: bool,
    checkpoint: Path | None,
    every: int | None,
    dask_scheduler: str | None,
    seed: int,
    format: str | None,
    separator: str | None,
    as_json: bool,
) -> None:
    """Train a model from the table DATA, say how well it ranks, and save it.

    DATA is a file: CSV with names in its first line, TSV, lines of JSON, Parquet,
    Arrow, Feather or LIBSVM; - is a CSV on the standard input. Columns may hold
    numbers, text and dates, and values may be missing. The AUC is that of rows which
    the model did not learn.

    With --stream, DATA may be larger than memory, and a folder or a pattern of files.
    Medians, scales and categories are then those of 50,000 to 100,000 rows from all
    over it, or of all if there are no more; text that is not among them counts as
    missing.
    """
    stream = stream or checkpoint is not None or dask_scheduler is not None
    if every is not None and checkpoint is None:
        raise click.UsageError("--every N is for --checkpoint DIR only.")
    if stream:
        _check_stream(name, data, cv, checkpoint, dask_scheduler)
    if time_budget is not None and name != "auto":
        raise click.UsageError("--time-budget is for --model auto only.")
    chosen = dict(settings)

    from aucmax.cli._data import Problem, open_alike, open_input, read_problem
    from aucmax.cli._fit_report import (
        card_of,
        facts_of,
        show_fit,
        tell_trust,
        test_facts,
    )
    from aucmax.cli._streamed import FitOptions, Stream, open_stream
    from aucmax.cli._trained import expects, read_test
    from aucmax.cli._training import train, train_auto, train_stream
    from aucmax.io import save

    rows = open_input(data, format, separator, target)
    test_rows = None if test is None else open_alike(test, format, separator, rows)
    out = out or Path(f"{_stem(data)}.skops")
    check_new(out, data, test, card, force=force)
    if card is not None:
        check_new(card, data, test, force=force)
    more = {} if time_budget is None else {"time_budget": time_budget}
    estimator = make_estimator(
        name, chosen, seed=seed, verbose=int(is_watched()), **more
    )
    problem: Problem | Stream
    problem = (open_stream if stream else read_problem)(rows, drop, positive)
    # Before the fit, which may take long.
    tested = None if test_rows is None else read_test(expects(problem), test_rows)
    n_folds = (0 if test else FOLDS) if cv is None else cv
    with told_settings(name, chosen):
        if isinstance(problem, Problem):
            learn = train_auto if name == "auto" else train
            result = learn(name, estimator, problem, n_folds, seed)
        else:
            options = FitOptions(
                checkpoint, every or 1, dask_scheduler, DASK_MODELS.get(name)
            )
            result = train_stream(name, estimator, problem, n_folds > 0, options)
    facts = facts_of(name, chosen, target, problem, result)
    if tested is not None:
        facts["test"] = test_facts(result.model, tested)
    save(result.model, out, metadata=facts | {"columns": problem.kinds})
    facts["out"] = str(out)
    tell_trust(out)
    if card is not None:
        write_bytes(card, card_of(result.model, problem, tested, facts).encode())
        facts["card"] = str(card)
    if as_json:
        show_json(facts)
    else:
        show_fit(facts, result.model)


def _stem(data: str) -> str:
    """Return the name of a file up to its first dot; "model" where there is none."""
    path = Path(data)
    has_no_name = data == "-" or (glob.has_magic(path.name) and not path.exists())
    return "model" if has_no_name else path.name.partition(".")[0] or "model"


def _check_stream(
    name: str,
    data: str,
    cv: int | None,
    checkpoint: Path | None,
    dask_scheduler: str | None,
) -> None:
    """End the command if something cannot be had of a table that is read in batches."""
    if name not in IN_BATCHES:
        raise click.UsageError(
            f"{name} needs all rows in memory. With --stream, --checkpoint or "
            f"--dask-scheduler, choose --model among: {', '.join(IN_BATCHES)}."
        )
    if data == "-":
        raise click.UsageError(
            "The standard input can be read only once. Give a file, a folder or a "
            "pattern."
        )
    if cv:
        raise click.UsageError(
            "--cv K is for tables in memory. With --stream some rows are held out "
            "instead; --cv 0 learns them all."
        )
    if dask_scheduler is not None and name not in DASK_MODELS:
        raise click.UsageError(
            f"{name} does not run on a cluster. Choose --model among: "
            f"{', '.join(DASK_MODELS)}."
        )
    if checkpoint is not None and dask_scheduler is not None:
        raise click.UsageError("A cluster keeps no checkpoints. Leave one of them out.")
