# SPDX-License-Identifier: BSD-3-Clause
"""``aucmax compare``: several models on one table."""

from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from aucmax.cli._base import (
    Command,
    check_new,
    examples,
    json_option,
    show_columns,
    show_json,
    split_names,
    tell,
    tell_progress,
)
from aucmax.cli._models import MODELS, ModelName, make_estimator, make_model
from aucmax.cli._options import (
    Finite,
    drop_option,
    force_option,
    format_option,
    is_page,
    plot_option,
    positive_option,
    seed_option,
    separator_option,
    target_option,
)

if TYPE_CHECKING:
    from aucmax.cli._data import Problem
    from aucmax.cli._fitting import OutOfFold


@click.command(
    cls=Command,
    short_help="Compare models by cross-validation.",
    epilog=examples(
        "aucmax compare loans.csv --target default",
        "aucmax compare loans.csv --target default --models auto,logistic,hgb",
        "aucmax compare loans.csv --target default --models nbauc,svc --plot roc.png",
        "aucmax compare rows.svm --models opauc,ranksvm,lightgbm --cv 10 --json",
    ),
)
@click.argument("data")
@target_option
@click.option(
    "--models",
    metavar="A,B",
    multiple=True,
    help=f"Of: {', '.join(MODELS)}. If not given: auto, logistic, nbauc and, where it "
    "is installed, lightgbm, else hgb, which takes no sparse rows.",
)
@click.option(
    "--cv",
    metavar="K",
    type=click.IntRange(min=2),
    default=5,
    show_default=True,
    help="Number of folds, the same for all models.",
)
@drop_option
@positive_option
@click.option(
    "--time-budget",
    metavar="S",
    type=Finite(min=0, min_open=True),
    help="Seconds that each fit of the model auto may take.",
)
@plot_option
@force_option
@seed_option
@format_option
@separator_option
@json_option
def compare(
    data: str,
    target: str | None,
    models: tuple[str, ...],
    cv: int,
    drop: tuple[str, ...],
    positive: str | None,
    time_budget: float | None,
    plot: Path | None,
    force: bool,
    seed: int,
    format: str | None,
    separator: str | None,
    as_json: bool,
) -> None:
    """Compare models on the table DATA by cross-validation.

    Each row is scored by models that did not learn it. In each fold, scores become
    normal quantiles of their ranks; then all folds together give the AUC, its 95%
    interval, and the paired test against the best model (both DeLong). A p-value near
    zero says that a model is worse than the best one by more than chance. The tests
    ignore that the models were fitted to rows in common, so they are a guide.
    """
    given = split_names(models, MODELS) or ()
    names = list(dict.fromkeys(ModelName().convert(n, None, None) for n in given))
    if time_budget is not None and names and "auto" not in names:
        raise click.UsageError(
            "--time-budget is for the model auto, which is not among --models."
        )
    if plot is not None:
        check_new(plot, data, force=force)

    from aucmax.cli._data import open_input, read_problem
    from aucmax.cli._fitting import check_folds

    rows = open_input(data, format, separator, target)
    names = names or _usual_models(rows.format == "libsvm")
    more = {} if time_budget is None else {"time_budget": time_budget}
    estimators = {name: make_estimator(name, {}, seed=seed, **more) for name in names}
    problem = read_problem(rows, drop, positive)
    n_folds = check_folds(cv, problem.is_pos, str(problem.place))
    pipes = {
        name: make_model(name, estimator, is_sparse=not problem.kinds)
        for name, estimator in estimators.items()
    }
    found = {
        name: _run(name, pipe, problem, n_folds, seed) for name, pipe in pipes.items()
    }
    facts = _facts(problem, found, n_folds)
    lines = _rows(facts)
    if plot is not None:
        _plot(plot, problem, found, lines)
        facts["plot"] = str(plot)
    if as_json:
        show_json(facts)
        return
    show_columns(lines)
    if plot is not None:
        tell(f"Wrote {plot}.")


def _usual_models(is_sparse: bool) -> list[str]:
    """Return the models to compare if none is named."""
    boosted = "lightgbm" if find_spec("lightgbm") else "hgb"
    names = ["auto", "logistic", boosted, "nbauc"]
    return [name for name in names if name != "hgb" or not is_sparse]


def _run(
    name: str, pipe: Any, problem: "Problem", n_folds: int, seed: int
) -> "OutOfFold":
    from sklearn.base import clone

    from aucmax.cli._fitting import out_of_fold

    return out_of_fold(
        lambda: clone(pipe),
        problem.X,
        problem.y,
        problem.is_pos,
        n_folds=n_folds,
        seed=seed,
        progress=lambda text: tell_progress(f"{name}, {text}"),
    )


def _facts(
    problem: "Problem", found: Mapping[str, "OutOfFold"], n_folds: int
) -> dict[str, Any]:
    from aucmax.metrics import roc_auc_interval, roc_auc_test

    is_pos = problem.is_pos
    intervals = {n: roc_auc_interval(is_pos, f.scores) for n, f in found.items()}
    best = max(intervals, key=lambda name: intervals[name].auc)
    models = {}
    for name, interval in intervals.items():
        test = roc_auc_test(is_pos, found[name].scores, found[best].scores)
        models[name] = {
            **interval._asdict(),
            "seconds": round(found[name].seconds, 4),
            "difference": test.difference,
            "p_value": test.p_value,
        }
    return {
        "data": problem.source,
        "rows": len(is_pos),
        "positives": int(is_pos.sum()),
        "labels": problem.labels._asdict(),
        "folds": n_folds,
        "best": best,
        "models": models,
    }


def _rows(facts: dict[str, Any]) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = [
        ("model", "AUC", "95% interval", "to best", "p", "seconds per fit")
    ]
    order = sorted(facts["models"].items(), key=lambda item: -item[1]["auc"])
    for name, each in order:
        is_best = name == facts["best"]
        rows.append(
            (
                name,
                f"{each['auc']:.4f}",
                f"{each['low']:.4f} to {each['high']:.4f}",
                "" if is_best else f"{each['difference']:+.4f}",
                "" if is_best else f"{each['p_value']:.2g}",
                f"{each['seconds']:.3g}",
            )
        )
    return rows


def _plot(
    path: Path,
    problem: "Problem",
    found: Mapping[str, "OutOfFold"],
    rows: list[tuple[str, ...]],
) -> None:
    from aucmax.cli._page import Panel, write_figure, write_page
    from aucmax.plots import RocDisplay

    scores = {name: each.scores for name, each in found.items()}
    roc = RocDisplay.from_predictions(problem.is_pos, scores)
    if not is_page(path):
        write_figure(path, roc.figure_)
        return
    size = tuple(roc.figure_.get_size_inches().tolist())
    panels = [Panel("ROC curves, out of fold", roc.plot, size)]
    write_page(path, f"Models on {Path(problem.source).name}", [rows], panels)
