# SPDX-License-Identifier: BSD-3-Clause
"""The demonstration as one HTML file that needs nothing else."""

import math
import os
import platform
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import joblib
import sklearn

import aucmax
from aucmax.demo.models import (
    LIGHT,
    N_FOLDS,
    OURS,
    QUICK_FAMILIES,
    QUICK_FOLDS,
    describe_grid,
    make_models,
)
from aucmax.demo.plots import (
    draw_aucs,
    draw_reliability,
    draw_roc,
    draw_scores,
)
from aucmax.demo.run import SetRun
from aucmax.demo.text import (
    LEVEL,
    best_auc,
    brier,
    chance_of_one,
    count,
    describe_all,
    describe_outcome,
    describe_rows,
    mean_aucs,
    show_interval,
    show_p,
)
from aucmax.plots.page import open_template, style_sheet, write_page

NONE = "\N{EN DASH}"
MINUS = "\N{MINUS SIGN}"


def write_demo(
    sets: Sequence[SetRun], path: str | os.PathLike[str], *, is_quick: bool = False
) -> Path:
    """Write the page: tables, plots, and what AUCClassifier says of itself.

    Parameters
    ----------
    sets : sequence of SetRun
        From :func:`aucmax.demo.run.run_demo`.
    path : path-like
        The file; it is written whole or not at all.
    is_quick : bool, default=False
        Whether the run was a quick one, which the page says.

    Returns
    -------
    path : Path
        The file.

    Examples
    --------
    As ``aucmax demo`` does::

        write_demo(list(run_demo()), "aucmax-demo/demo.html")
    """
    template = open_template("aucmax.demo", "page.html.j2")
    means = mean_aucs(sets)
    n_tests = sum(len(each.rivals) for each in sets)
    text = template.render(
        css=style_sheet(),
        is_quick=is_quick,
        ours=OURS,
        summary=describe_all(sets) if len(sets) > 1 else "",
        means={name: f"{auc:.3f}" for name, auc in means.items()},
        best_mean=max(means, key=lambda name: means[name]),
        sets=[_section(each) for each in sets],
        grids=_grids(is_quick),
        has_light=LIGHT in means,
        n_folds=QUICK_FOLDS if is_quick else N_FOLDS,
        families=list(QUICK_FAMILIES),
        level=LEVEL,
        tests=count(n_tests, "test"),
        chance=f"{chance_of_one(n_tests):.0%}",
        versions=_versions(LIGHT in means),
    )
    return write_page(path, text)


def _section(each: SetRun) -> dict[str, Any]:
    heaviest = max(entry.weight for entry in each.leaderboard)
    return {
        "data": each.data,
        "rows": describe_rows(each),
        "n_columns": each.data.X.shape[1],
        "outcome": describe_outcome(each),
        "lines": [_line(each, run) for run in each.runs],
        "aucs": draw_aucs(each),
        "roc": draw_roc(each),
        "scores": draw_scores(each),
        "reliability": draw_reliability(each),
        "expected": show_interval(each.expected),
        "measured": f"{each.ours.interval.auc:.3f}",
        "is_inside": each.expected.low <= each.ours.interval.auc <= each.expected.high,
        "explanation": each.explanation.splitlines(),
        "leaderboard": [_candidate(entry, heaviest) for entry in each.leaderboard],
        "n_mixed": sum(entry.weight > 0 for entry in each.leaderboard),
    }


def _line(each: SetRun, run: Any) -> dict[str, Any]:
    error = brier(each, run)
    difference = f"{run.test.difference:+.3f}" if run.test else NONE
    return {
        "run": run,
        "interval": show_interval(run.interval),
        "is_best": run.interval.auc == best_auc(each),
        "difference": difference.replace("-", MINUS),
        "p_value": show_p(run.test.p_value) if run.test else NONE,
        "is_significant": run.test is not None and run.test.p_value < LEVEL,
        "brier": NONE if error is None else f"{error:.3f}",
        "seconds": f"{run.seconds:.1f}",
        "chosen": run.chosen or "by itself",
    }


def _candidate(entry: Any, heaviest: float) -> dict[str, Any]:
    has_interval = not math.isnan(entry.low)
    return {
        "entry": entry,
        "auc": NONE if math.isnan(entry.auc) else f"{entry.auc:.3f}",
        "interval": f"[{entry.low:.3f}, {entry.high:.3f}]" if has_interval else NONE,
        "seconds": f"{entry.seconds:.1f}",
        "weight": f"{entry.weight:.2f}" if entry.weight else "",
        "share": round(100 * entry.weight / heaviest, 1),
    }


def _grids(is_quick: bool) -> dict[str, str]:
    models = make_models(is_quick=is_quick)
    return {name: grid for name, m in models.items() if (grid := describe_grid(m))}


def _versions(has_light: bool) -> str:
    parts = [f"aucmax {aucmax.__version__}", f"scikit-learn {sklearn.__version__}"]
    if has_light:
        parts.append(f"LightGBM {version('lightgbm')}")
    parts.append(f"Python {platform.python_version()}")
    parts.append(f"{joblib.cpu_count()} cores")
    return ", ".join(parts)
