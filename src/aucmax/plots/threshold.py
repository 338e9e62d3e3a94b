# SPDX-License-Identifier: BSD-3-Clause
"""Where to cut a ranking in two, given what errors cost."""

import math
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from aucmax._utils.optional import import_optional
from aucmax._utils.typing import FloatArray
from aucmax.metrics.costs import CostCurve, OperatingPoint, cost_curve
from aucmax.plots._axes import legend_above, style_axes, text_color
from aucmax.plots._models import score_rows
from aucmax.plots._thin import thin_columns
from aucmax.plots.curve import COLORS, _check_option

RATES = ("recall", "precision", "specificity", "f_score")
# Part of the axis left and right of all scores, where all or no rows are positive.
MARGIN = 0.04


class ThresholdDisplay:
    """Expected cost against the threshold, with the best threshold marked.

    Make one with :meth:`from_predictions` or :meth:`from_estimator`.

    Parameters
    ----------
    curve : CostCurve
        From :func:`aucmax.metrics.cost_curve`.

    Attributes
    ----------
    best_threshold_ : float
        Threshold of the least cost, the largest of equals; infinite where it is
        cheapest to call no row positive, or all.
    best_ : OperatingPoint
        The same with ``cost``, ``sensitivity``, ``specificity`` and ``precision``.
    line_ : matplotlib Line2D
        The cost.
    mark_ : matplotlib Line2D
        The best threshold.
    rates_ : dict of str to matplotlib Line2D
        What ``show`` asked for, in the lower axes.
    ax_ : matplotlib Axes
        The axes with the cost.
    rates_ax_ : matplotlib Axes or None
        The axes below with the rates.
    figure_ : matplotlib Figure
        The figure with the axes.

    See Also
    --------
    aucmax.metrics.best_threshold : The number alone.

    Notes
    -----
    Choose the threshold on rows that the model was not trained on, and measure its cost
    on others again: at the best of many thresholds the cost looks lower than it is.

    Examples
    --------
    A missed positive costs as much as twenty false alarms, and one row in a hundred is
    positive where the model will be used::

        display = ThresholdDisplay.from_estimator(
            model, X_valid, y_valid, cost_fn=20, prevalence=0.01, show=("recall",)
        )
        is_positive = model.decision_function(X) >= display.best_threshold_
    """

    line_: Any
    mark_: Any
    rates_: dict[str, Any]
    ax_: Any
    rates_ax_: Any
    figure_: Any

    def __init__(self, curve: CostCurve) -> None:
        self.curve = curve
        self.best_: OperatingPoint = curve.best()
        self.best_threshold_ = self.best_.threshold

    @classmethod
    def from_predictions(  # noqa: PLR0913
        cls,
        y_true: ArrayLike,
        y_score: ArrayLike,
        *,
        cost_fp: float = 1.0,
        cost_fn: float = 1.0,
        prevalence: float | None = None,
        sample_weight: ArrayLike | None = None,
        show: Sequence[str] = (),
        beta: float = 1.0,
        ax: Any = None,
    ) -> Self:
        """Plot the cost of each threshold of scores.

        Parameters
        ----------
        y_true, y_score, cost_fp, cost_fn, prevalence, sample_weight
            As in :func:`aucmax.metrics.cost_curve`.
        show, beta, ax
            As in :meth:`plot`.

        Returns
        -------
        display : ThresholdDisplay
            With the cost drawn.
        """
        curve = cost_curve(
            y_true, y_score, cost_fp=cost_fp, cost_fn=cost_fn, prevalence=prevalence,
            sample_weight=sample_weight,
        )  # fmt: skip
        return cls(curve).plot(ax, show=show, beta=beta)

    @classmethod
    def from_estimator(  # noqa: PLR0913
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        *,
        cost_fp: float = 1.0,
        cost_fn: float = 1.0,
        prevalence: float | None = None,
        sample_weight: ArrayLike | None = None,
        show: Sequence[str] = (),
        beta: float = 1.0,
        ax: Any = None,
    ) -> Self:
        """Plot the cost of each threshold of a fitted model.

        Parameters
        ----------
        estimator : classifier
            With ``decision_function`` or ``predict_proba``.
        X : array-like of shape (n_samples, n_features)
            Rows the model was not trained on.
        y : array-like of shape (n_samples,)
            Their labels.
        cost_fp, cost_fn, prevalence, sample_weight
            As in :func:`aucmax.metrics.cost_curve`.
        show, beta, ax
            As in :meth:`plot`.

        Returns
        -------
        display : ThresholdDisplay
            With the cost drawn.
        """
        return cls.from_predictions(
            y, score_rows(estimator, X), cost_fp=cost_fp, cost_fn=cost_fn,
            prevalence=prevalence, sample_weight=sample_weight, show=show, beta=beta,
            ax=ax,
        )  # fmt: skip

    def plot(
        self, ax: Any = None, *, show: Sequence[str] = (), beta: float = 1.0
    ) -> Self:
        """Draw the cost, and rates below it.

        Parameters
        ----------
        ax : matplotlib Axes or two of them, default=None
            Where to draw; None makes a new figure. With ``show``, the second is for
            the rates.
        show : sequence of {"recall", "precision", "specificity", "f_score"}, default=()
            Rates to draw below the cost.
        beta : float, default=1.0
            Of the F score: how many times as much recall counts as precision.

        Returns
        -------
        self : ThresholdDisplay
            The same object, with ``line_``, ``mark_``, ``rates_``, ``ax_``,
            ``rates_ax_`` and ``figure_``.
        """
        show = (show,) if isinstance(show, str) else tuple(show)
        for name in show:
            _check_option("show", name, RATES)
        rates = {name: self._rate(name, beta) for name in show}
        self.ax_, self.rates_ax_ = _open_pair(ax, bool(show))
        self.figure_ = self.ax_.figure
        ends = self._find_ends()
        self.line_ = self._draw(self.ax_, self.curve.cost, ends, COLORS[0], "cost")
        self._mark(ends)
        self.ax_.set(ylabel="Expected cost per row", xlim=ends)
        self.ax_.set_ylim(bottom=0.0)
        style_axes(self.ax_)
        self.rates_ = {}
        if self.rates_ax_ is not None:
            self._draw_rates(rates, ends, beta)
        (self.rates_ax_ or self.ax_).set_xlabel("Threshold of the score")
        return self

    def _rate(self, name: str, beta: float) -> FloatArray:
        if name == "f_score":
            return self.curve.f_score(beta)
        if name == "specificity":
            return 1 - self.curve.fpr
        return self.curve.tpr if name == "recall" else self.curve.precision

    def _find_ends(self) -> tuple[float, float]:
        """Return the ends of the axis, a little beyond all scores."""
        high, low = float(self.curve.thresholds[1]), float(self.curve.thresholds[-1])
        room = MARGIN * (high - low) or max(0.5, 1e-3 * abs(high))
        return low - room, high + room

    def _draw(
        self, ax: Any, values: FloatArray, ends: tuple[float, float], color: str,
        label: str,
    ) -> Any:  # fmt: skip
        """Draw steps: what holds at a score holds down to the next lower one."""
        scores = self.curve.thresholds[:0:-1].astype(np.float64)
        x = np.concatenate([[ends[0]], scores, [ends[1]]])
        y = np.concatenate([values[-1:], values[::-1]])
        drawn = thin_columns(x, y)
        (line,) = ax.plot(
            x[drawn], y[drawn], drawstyle="steps-pre", color=color, linewidth=1.5,
            label=label,
        )  # fmt: skip
        return line

    def _mark(self, ends: tuple[float, float]) -> None:
        """Mark the best threshold, at an end of the axis if it is infinite."""
        best, ax = self.best_, self.ax_
        place = min(max(best.threshold, ends[0]), ends[1])
        for axes in (ax, self.rates_ax_):
            if axes is not None:
                axes.axvline(place, color=text_color(ax), linewidth=1.0, linestyle="--")
        (self.mark_,) = ax.plot(
            place, best.cost, marker="D", markersize=6, color=COLORS[1], zorder=4,
            linestyle="none", clip_on=False, label=_describe(best),
        )  # fmt: skip
        legend_above(ax, handles=[self.mark_])

    def _draw_rates(
        self, rates: dict[str, FloatArray], ends: tuple[float, float], beta: float
    ) -> None:
        ax = self.rates_ax_
        for name, values in rates.items():
            color = COLORS[RATES.index(name)]
            label = f"F{beta:g}" if name == "f_score" else name
            self.rates_[name] = self._draw(ax, values, ends, color, label)
        ax.set(ylabel="Rate", xlim=ends, ylim=(-0.02, 1.02))
        style_axes(ax)
        legend_above(ax, ncols=len(rates), columnspacing=1.2)


def _open_pair(ax: Any, needs_two: bool) -> tuple[Any, Any]:
    n_needed = 2 if needs_two else 1
    if ax is None:
        pyplot = import_optional("matplotlib.pyplot", "plot")
        _, ax = pyplot.subplots(
            n_needed, sharex=True, layout="constrained",
            figsize=(5.6, 5.4 if needs_two else 3.4),
        )  # fmt: skip
    given = np.ravel(np.asarray(ax, dtype=object))
    if len(given) != n_needed:
        raise ValueError(
            f"ax holds {len(given)} axes, but {n_needed} are needed. Pass two to draw "
            "rates with show=, and one without."
        )
    return given[0], given[1] if needs_two else None


def _describe(best: OperatingPoint) -> str:
    if math.isinf(best.threshold):
        start = f"best: call {'no row' if best.threshold > 0 else 'all rows'} positive"
    else:
        start = f"best threshold {best.threshold:.4g}"
    precision = "undefined" if math.isnan(best.precision) else f"{best.precision:.3f}"
    # Short lines, for small axes.
    return (
        f"{start}, cost {best.cost:.3g}\n"
        f"sensitivity {best.sensitivity:.3f}, specificity {best.specificity:.3f}\n"
        f"precision {precision}"
    )
