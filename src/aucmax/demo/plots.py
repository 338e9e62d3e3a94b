# SPDX-License-Identifier: BSD-3-Clause
"""The plots of the demonstration, as SVG in the colours of the page."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from aucmax._utils.typing import FloatArray, IntArray
from aucmax.demo.run import SetRun
from aucmax.metrics.band import roc_band
from aucmax.metrics.roc import roc_curve
from aucmax.plots import RocDisplay, RocModel, ScoreDisplay, draw_svg
from aucmax.plots.boxes import color_at
from aucmax.plots.page import style_sheet, write_page

# Inches; a panel is as wide as a phone.
PANEL_WIDTH = 3.7
PANEL_SIZE = (PANEL_WIDTH, 3.9)
DOT_HEIGHT, DOT_MARGIN = 0.3, 0.62
# Of the picture of all sets side by side.
WIDE_PANEL, WIDE_NAMES, TITLE_HEIGHT = 2.35, 1.5, 0.4
# Bins of probabilities have this many rows at least, or are joined with the next.
LEAST_ROWS = 5
N_BINS = 10
Z_95 = 1.959964
# Least range of the AUC that an axis shows; noise of a thousandth should not fill it.
SMALLEST_SPAN = 0.02
# For a file of its own; the variables are those of the page.
ALONE = "svg { color: var(--ink); background: var(--paper); }"


class Reliability(NamedTuple):
    """Predicted and observed shares of positives, in bins of the prediction."""

    predicted: FloatArray
    observed: FloatArray
    low: FloatArray
    high: FloatArray
    n_rows: IntArray


def measure_reliability(y_true: ArrayLike, probabilities: ArrayLike) -> Reliability:
    """Compare probabilities with how often the event came.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels, 0 or 1.
    probabilities : array-like of shape (n_samples,)
        Of label 1.

    Returns
    -------
    reliability : Reliability
        Means per bin, of ten bins of equal width, of which those with few rows are
        joined; ``low`` and ``high`` are Wilson's 95% interval of ``observed``.

    Examples
    --------
    >>> from aucmax.demo.plots import measure_reliability
    >>> found = measure_reliability([0] * 15 + [0, 1] * 10, [0.25] * 15 + [0.5] * 20)
    >>> found.predicted.tolist(), found.observed.tolist(), found.n_rows.tolist()
    ([0.25, 0.5], [0.0, 0.5], [15, 20])
    """
    y = np.asarray(y_true, dtype=np.float64)
    p = np.asarray(probabilities, dtype=np.float64)
    order = np.argsort(p, kind="stable")
    y, p = y[order], p[order]
    # A probability at an edge counts above it.
    edges = np.searchsorted(p, np.arange(1, N_BINS) / N_BINS)
    starts = [0]
    for edge in edges:
        if edge - starts[-1] >= LEAST_ROWS and len(p) - edge >= LEAST_ROWS:
            starts.append(int(edge))
    n = np.diff([*starts, len(p)])
    share = np.add.reduceat(y, starts) / n
    middle = (share + Z_95**2 / (2 * n)) / (1 + Z_95**2 / n)
    reach = np.sqrt(share * (1 - share) / n + (Z_95 / (2 * n)) ** 2)
    reach *= Z_95 / (1 + Z_95**2 / n)
    return Reliability(
        predicted=np.add.reduceat(p, starts) / n,
        observed=share,
        # Rounding must not leave [0, 1], nor the observed share outside.
        low=np.clip(middle - reach, 0.0, share),
        high=np.clip(middle + reach, share, 1.0),
        n_rows=n,
    )


def draw_roc(each: SetRun) -> str:
    """Return the ROC curves, that of ours with its band."""
    y = each.data.y_test
    models = {
        run.name: RocModel(
            roc_curve(y, run.scores),
            run.interval.auc,
            band=roc_band(y, run.scores) if run is each.ours else None,
        )
        for run in each.runs
    }
    display = RocDisplay(models)

    def draw(ax: Any) -> None:
        # Where curves meet, ours is seen.
        display.plot(ax).line_.set(zorder=4, linewidth=2.2)
        # A page has each identifier once, but these would be the same.
        for line in display.lines_.values():
            line.set_gid(None)

    return draw_svg(
        draw,
        size=PANEL_SIZE,
        name=f"roc-{each.data.name}",
        title=f"ROC curves on {each.data.name}",
    )


def draw_scores(each: SetRun) -> str:
    """Return the histograms of the scores of ours."""

    def draw(ax: Any) -> None:
        ScoreDisplay.from_predictions(
            each.data.y_test, each.ours.scores, bins=24, threshold=0.0, ax=ax
        )
        ax.set_xlabel(f"Score of {each.ours.name}")

    return draw_svg(
        draw,
        size=PANEL_SIZE,
        name=f"scores-{each.data.name}",
        title=f"Scores of both classes on {each.data.name}",
    )


def draw_reliability(each: SetRun) -> str:
    """Return how often events came that ours gave some probability."""
    if each.ours.probabilities is None:
        raise ValueError(f"{each.ours.name} has no probabilities to draw.")
    found = measure_reliability(each.data.y_test, each.ours.probabilities)

    def draw(ax: Any) -> None:
        ax.plot([0, 1], [0, 1], color="0.6", linewidth=1.0, linestyle="--")
        reach = [found.observed - found.low, found.high - found.observed]
        ax.errorbar(
            found.predicted, found.observed, reach, color=color_at(0), linewidth=1.6,
            elinewidth=1.0, capsize=2.5, marker="o", markersize=4.5,
        )  # fmt: skip
        ax.set(xlabel="Predicted probability", ylabel="Share of positives")
        ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
        ax.grid(axis="both", color="0.92")
        ax.set_axisbelow(True)
        ax.spines[["top", "right"]].set_visible(False)

    return draw_svg(
        draw,
        size=PANEL_SIZE,
        name=f"reliability-{each.data.name}",
        title=f"Predicted and observed shares of positives on {each.data.name}",
    )


def draw_aucs(each: SetRun) -> str:
    """Return the AUCs of one set with their intervals."""
    return draw_svg(
        lambda ax: _draw_dots(ax, each),
        size=(PANEL_WIDTH, DOT_MARGIN + DOT_HEIGHT * len(each.runs)),
        name=f"auc-{each.data.name}",
        title=f"Test AUC with 95% intervals on {each.data.name}",
    )


def write_picture(sets: Sequence[SetRun], path: str | os.PathLike[str]) -> Path:
    """Write the AUCs of all sets side by side into an SVG file of its own.

    Parameters
    ----------
    sets : sequence of SetRun
        From :func:`aucmax.demo.run.run_demo`.
    path : path-like
        The file; it is written whole or not at all.

    Returns
    -------
    path : Path
        The file, which is readable by day and by night.

    Examples
    --------
    The one in the README::

        write_picture(list(run_demo()), "docs/_static/demo.svg")
    """

    def draw(ax: Any) -> None:
        figure = ax.figure
        ax.remove()
        figure.get_layout_engine().set(wspace=0.08)
        axes = figure.subplots(1, len(sets), squeeze=False)[0]
        for i, (each, part) in enumerate(zip(sets, axes, strict=True)):
            _draw_dots(part, each, has_names=i == 0)
            part.set_title(_describe(each))

    height = DOT_MARGIN + TITLE_HEIGHT + DOT_HEIGHT * len(sets[0].runs)
    svg = draw_svg(
        draw,
        size=(WIDE_NAMES + WIDE_PANEL * len(sets), height),
        name="demo",
        title="Test AUC with 95% intervals",
    )
    start = svg.index(">", svg.index("<svg")) + 1
    variables = style_sheet().partition("* {")[0]
    style = f"<style>\n{variables}{ALONE}\n</style>"
    return write_page(path, f"{svg[:start]}\n{style}{svg[start:]}\n")


def _describe(each: SetRun) -> str:
    y = np.concatenate([each.data.y, each.data.y_test])
    return f"{each.data.name}\n{len(y):,} rows, {y.mean():.0%} positive"


def _draw_dots(ax: Any, each: SetRun, *, has_names: bool = True) -> None:
    for place, run in enumerate(each.runs):
        color = color_at(place)
        auc, low, high, _ = run.interval
        ax.hlines(place, low, high, color=color, linewidth=2.0)
        ax.plot(auc, place, marker="o", markersize=6.5, color=color, clip_on=False)
    ours = each.ours.interval.auc
    # From top to bottom: who is right of it has the higher AUC.
    ax.axvline(ours, color=color_at(0), linewidth=0.8, linestyle=":", zorder=0)
    names = [run.name for run in each.runs]
    ax.set_yticks(range(len(names)), names if has_names else [""] * len(names))
    ax.set_ylim(len(names) - 0.4, -0.6)
    lows = min(run.interval.low for run in each.runs)
    highs = max(run.interval.high for run in each.runs)
    room = max(0.04 * (highs - lows), 0.5 * (SMALLEST_SPAN - (highs - lows)))
    ax.set_xlim(lows - room, highs + room)
    ax.locator_params(axis="x", nbins=4)
    ax.set_xlabel("Test AUC, 95% interval")
    ax.tick_params(axis="y", length=0)
    ax.grid(axis="x", color="0.92")
    ax.set_axisbelow(True)
    ax.spines[["top", "right", "left"]].set_visible(False)
