# SPDX-License-Identifier: BSD-3-Clause
"""``aucmax evaluate``: how well a model ranks rows with labels."""

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from aucmax.cli._base import (
    Command,
    check_new,
    examples,
    finite_or_none,
    interval_text,
    json_option,
    show_columns,
    show_json,
    tell,
)
from aucmax.cli._options import (
    Finite,
    force_option,
    format_option,
    is_page,
    plot_option,
    separator_option,
    target_option,
    trust_option,
)

if TYPE_CHECKING:
    from aucmax.cli._data import Problem
    from aucmax.metrics import CostCurve, OperatingPoint


def _parse_costs(
    ctx: click.Context, param: click.Parameter, value: str | None
) -> tuple[float, float] | None:
    if value is None:
        return None
    try:
        cost_fp, cost_fn = (float(part) for part in value.split(","))
        # Not by their least and largest, between which nan may be.
        is_cost = [0 <= cost < math.inf for cost in (cost_fp, cost_fn)]
        if all(is_cost) and cost_fp + cost_fn > 0:
            return cost_fp, cost_fn
    except ValueError:
        pass
    raise click.BadParameter(
        "give two finite numbers from 0 on, not both 0, such as 1,20: the cost of a "
        "negative called positive, and of a positive called negative; got "
        f"{value!r}."
    )


@click.command(
    cls=Command,
    short_help="Measure how well a model ranks.",
    epilog=examples(
        "aucmax evaluate loans.skops new.csv --target default",
        "aucmax evaluate loans.skops new.csv --target default --plot report.html",
        "aucmax evaluate loans.skops new.csv --target default --costs 1,20 --json",
    ),
)
@click.argument("model")
@click.argument("data")
@target_option
@click.option(
    "--max-fpr",
    metavar="F",
    type=Finite(0, 1, min_open=True),
    default=0.1,
    show_default=True,
    help="Largest false positive rate of the partial AUC.",
)
@click.option(
    "--costs",
    metavar="FP,FN",
    callback=_parse_costs,
    help="Cost of a negative called positive, and of a positive called negative, for "
    "the best threshold; if not given, both classes weigh the same.",
)
@plot_option
@force_option
@trust_option
@format_option
@separator_option
@json_option
def evaluate(
    model: str,
    data: str,
    target: str | None,
    max_fpr: float,
    costs: tuple[float, float] | None,
    plot: Path | None,
    force: bool,
    trust: tuple[str, ...],
    format: str | None,
    separator: str | None,
    as_json: bool,
) -> None:
    """Measure how well the model in the file MODEL ranks the rows of the table DATA.

    Use rows that the model was not trained on. Prints the AUC with its 95% interval
    (DeLong), the partial AUC, and the threshold of the least cost.
    """
    if plot is not None:
        check_new(plot, data, model, force=force)
    from aucmax.cli._data import open_input
    from aucmax.cli._fitting import score_rows
    from aucmax.cli._trained import open_model, read_test
    from aucmax.metrics import cost_curve, partial_auc, roc_auc_interval

    rows = open_input(data, format, separator, target)
    estimator, expected = open_model(model, trust)
    tested = read_test(expected, rows)
    is_pos, scores = tested.is_pos, score_rows(estimator, tested.X)
    n_pos = int(is_pos.sum())
    cost_fp, cost_fn = costs or (1.0, (len(is_pos) - n_pos) / n_pos)
    curve = cost_curve(is_pos, scores, cost_fp=cost_fp, cost_fn=cost_fn)
    best = curve.best()
    interval = roc_auc_interval(is_pos, scores)
    facts: dict[str, Any] = {
        "model": model,
        "data": tested.source,
        "rows": len(is_pos),
        "positives": n_pos,
        "labels": expected.labels._asdict(),
        "auc": interval._asdict(),
        "partial_auc": {
            "max_fpr": max_fpr,
            "area": partial_auc(is_pos, scores, max_fpr=max_fpr),
            "standardized": partial_auc(
                is_pos, scores, max_fpr=max_fpr, standardize=True
            ),
        },
        "best": {
            "cost_fp": cost_fp,
            "cost_fn": cost_fn,
            **{key: finite_or_none(value) for key, value in best._asdict().items()},
        },
    }
    weighed = "both classes weighing the same"
    if costs is not None:
        weighed = f"costs {cost_fp:.4g} and {cost_fn:.4g}"
    lines = _rows(facts, best, weighed)
    if plot is not None:
        _plot(plot, Path(model).stem, tested, scores, lines, curve)
        facts["plot"] = str(plot)
    if as_json:
        show_json(facts)
        return
    show_columns(lines)
    if plot is not None:
        tell(f"Wrote {plot}.")


def _rows(
    facts: dict[str, Any], best: "OperatingPoint", weighed: str
) -> list[tuple[str, str]]:
    auc, part = facts["auc"], facts["partial_auc"]
    if math.isinf(best.threshold):
        where = f"call {'no row' if best.threshold > 0 else 'all rows'} positive"
    else:
        where = f"{best.threshold:.6g}"
    return [
        ("rows", f"{facts['rows']:,}"),
        ("positives", f"{facts['positives']:,} ({facts['labels']['positive']})"),
        ("AUC", f"{interval_text(auc['auc'], auc['low'], auc['high'])}, 95% interval"),
        (
            "partial AUC",
            f"{part['area']:.4f} of {part['max_fpr']:g}, false positive rate up to "
            f"{part['max_fpr']:g}; standardized {part['standardized']:.4f}",
        ),
        ("best threshold", f"{where}, with {weighed}"),
        ("sensitivity", f"{best.sensitivity:.4f}"),
        ("specificity", f"{best.specificity:.4f}"),
        ("precision", _number(best.precision)),
    ]


def _number(value: float) -> str:
    return "undefined" if math.isnan(value) else f"{value:.4f}"


def _plot(
    path: Path,
    title: str,
    tested: "Problem",
    scores: Any,
    rows: list[tuple[str, str]],
    curve: "CostCurve",
) -> None:
    from aucmax.cli._page import Panel, write_figure, write_page
    from aucmax.plots import RocDisplay, ThresholdDisplay

    is_pos = tested.is_pos
    roc = RocDisplay.from_predictions(is_pos, scores)
    if not is_page(path):
        write_figure(path, roc.figure_)
        return
    panels = [
        Panel("ROC curve", roc.plot, (4.6, 4.6)),
        Panel("Scores of the classes", _histograms(tested, scores, curve), (5.6, 4.0)),
        Panel("Cost of each threshold", ThresholdDisplay(curve).plot, (5.6, 4.0)),
    ]
    write_page(path, f"{title} on {Path(tested.source).name}", [rows], panels)


def _histograms(tested: "Problem", scores: Any, curve: "CostCurve") -> Any:
    """Return what draws the scores, with the labels of the file."""
    from aucmax.plots import ScoreDisplay

    best = finite_or_none(curve.best().threshold)
    shown = ScoreDisplay.from_predictions(tested.is_pos, scores, threshold=best)
    for name in ("label_neg", "label_pos", "label_threshold"):
        text = getattr(shown, name) or ""
        text = text.replace("y = False", tested.labels.negative)
        setattr(shown, name, text.replace("y = True", tested.labels.positive))
    return shown.plot
