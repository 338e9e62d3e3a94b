# SPDX-License-Identifier: BSD-3-Clause
"""ROC curves with what is known of them: bands, intervals and tests."""

import itertools
from collections.abc import Mapping
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from aucmax.metrics.auc import roc_auc
from aucmax.metrics.band import ROCBand, roc_band
from aucmax.metrics.delong import AUCInterval, AUCTest, roc_auc_interval, roc_auc_test
from aucmax.metrics.roc import ROCCurve, roc_curve
from aucmax.plots._axes import legend_above, open_axes, style_axes, text_size
from aucmax.plots._models import by_name, name_model, score_rows
from aucmax.plots._p_values import write_p_values
from aucmax.plots._thin import thin_rising
from aucmax.plots.curve import COLORS, _check_option

# Marks what is drawn, so that several displays share axes.
CHANCE, CURVE, BAND = "aucmax-chance", "aucmax-roc", "aucmax-band"
# With more models, bands hide each other.
MOST_BANDS = 2
# Inches, of a figure without texts outside the axes, and beside such texts.
SIDE, ROOM = 4.6, 0.3
# Below this standard error a fourth digit says something.
SMALL_ERROR = 5e-4


class RocModel(NamedTuple):
    """What is drawn of one model, the last two only where they are not None."""

    curve: ROCCurve
    auc: float
    interval: AUCInterval | None = None
    band: ROCBand | None = None


class RocDisplay:
    """ROC curves of one or several models, with bands, intervals of the AUC and tests.

    Make one with :meth:`from_predictions` or :meth:`from_estimator`.

    Parameters
    ----------
    models : dict of str to RocModel
        Curve, AUC, interval and band by the names of the models.
    tests : dict of (str, str) to AUCTest, default=None
        Comparison of each model with each one after it; None for no table.
    level : float, default=0.95
        Coverage of intervals and bands, for the legend.
    band : str, default="pointwise"
        Kind of the bands, for the legend.

    Attributes
    ----------
    line_ : matplotlib Line2D
        The curve of the first model.
    lines_ : dict of str to matplotlib Line2D
        The curves.
    bands_ : dict of str to matplotlib collection
        The bands; empty without.
    table_ : matplotlib artist or None
        The p-values under the axes.
    ax_ : matplotlib Axes
        The axes with the curves.
    figure_ : matplotlib Figure
        The figure with the axes.

    See Also
    --------
    aucmax.metrics.roc_band : What the bands mean.
    aucmax.metrics.roc_auc_test : The test.

    Examples
    --------
    One model, then two on the same rows::

        RocDisplay.from_estimator(model, X_test, y_test).figure_.savefig("roc.png")
        scores = {"linear": linear.decision_function(X), "kernel": kernel_scores}
        RocDisplay.from_predictions(y, scores, band="joint").figure_.savefig("two.png")
    """

    line_: Any
    lines_: dict[str, Any]
    bands_: dict[str, Any]
    table_: Any
    ax_: Any
    figure_: Any

    def __init__(
        self,
        models: Mapping[str, RocModel],
        tests: Mapping[tuple[str, str], AUCTest] | None = None,
        *,
        level: float = 0.95,
        band: str = "pointwise",
    ) -> None:
        self.models = dict(models)
        self.tests = dict(tests or {})
        self.level = level
        self.band = band
        if not self.models:
            raise ValueError("There is no model to plot. Pass at least one.")
        pairs = itertools.combinations(self.models, 2)
        if self.tests and (missing := [p for p in pairs if p not in self.tests]):
            raise ValueError(
                f"tests has no comparison of {missing[0]}. Pass one for each pair of "
                "models, in their order, or None."
            )

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_score: ArrayLike | Mapping[str, ArrayLike],
        *,
        sample_weight: ArrayLike | None = None,
        name: str | None = None,
        level: float = 0.95,
        band: str = "auto",
        ax: Any = None,
    ) -> Self:
        """Plot the curves of scores.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            Labels, of any two values; the larger one is positive.
        y_score : array-like of shape (n_samples,) or dict of str to array-like
            Finite scores, or those of several models for the same rows, by name.
        sample_weight : array-like of shape (n_samples,), default=None
            How often each row counts. Curve and AUC are exact; there are no intervals,
            bands and tests then, which count rows that were drawn.
        name : str, default=None
            Of the model in the legend, if there is one only.
        level : float, default=0.95
            Coverage of intervals and bands.
        band : {"auto", "pointwise", "joint", "none"}, default="auto"
            Kind of :func:`aucmax.metrics.roc_band` around each curve: of each point, or
            of the whole curve. "auto" is pointwise for one or two models.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        display : RocDisplay
            With the curves drawn.
        """
        _check_option("band", band, ("auto", "pointwise", "joint", "none"))
        scores = by_name(y_score, name)
        if band == "auto":
            band = "pointwise" if len(scores) <= MOST_BANDS else "none"
        if sample_weight is not None:
            models = {
                key: RocModel(
                    roc_curve(y_true, s, sample_weight=sample_weight),
                    roc_auc(y_true, s, sample_weight=sample_weight),
                )
                for key, s in scores.items()
            }
            return cls(models, level=level).plot(ax)
        models = {k: _describe(y_true, s, level, band) for k, s in scores.items()}
        tests = {
            (one, other): roc_auc_test(y_true, scores[one], scores[other])
            for one, other in itertools.combinations(scores, 2)
        }
        return cls(models, tests, level=level, band=band).plot(ax)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        name: str | None = None,
        level: float = 0.95,
        band: str = "auto",
        ax: Any = None,
    ) -> Self:
        """Plot the curves of fitted models.

        Parameters
        ----------
        estimator : classifier or dict of str to classifier
            With ``decision_function`` or ``predict_proba``; several by name.
        X : array-like of shape (n_samples, n_features)
            Rows the models were not trained on.
        y : array-like of shape (n_samples,)
            Their labels.
        sample_weight, name, level, band, ax
            As in :meth:`from_predictions`; the name of one model is its class if None.

        Returns
        -------
        display : RocDisplay
            With the curves drawn.
        """
        if not isinstance(estimator, Mapping):
            name = name_model(estimator) if name is None else name
        scores = {k: score_rows(e, X) for k, e in by_name(estimator, name).items()}
        return cls.from_predictions(
            y, scores, sample_weight=sample_weight, level=level, band=band, ax=ax
        )

    def plot(self, ax: Any = None) -> Self:
        """Draw the curves; on axes that have some, with other colours.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        self : RocDisplay
            The same object, with ``line_``, ``lines_``, ``bands_``, ``table_``, ``ax_``
            and ``figure_``.
        """
        is_new = ax is None
        ax = open_axes(ax, (SIDE, SIDE))
        if all(line.get_gid() != CHANCE for line in ax.lines):
            _prepare(ax)
        n_before = sum(line.get_gid() == CURVE for line in ax.lines)
        self.lines_, self.bands_, self.table_ = {}, {}, None
        for i, (name, model) in enumerate(self.models.items(), n_before):
            color = COLORS[i] if i < len(COLORS) else f"C{i}"
            self._draw(ax, name, model, color)
        self.line_ = next(iter(self.lines_.values()))
        outside = self._write_legend(ax)
        if self.tests:
            colors = {name: line.get_color() for name, line in self.lines_.items()}
            self.table_ = write_p_values(ax, self.tests, colors)
            outside.append(self.table_)
        if is_new and outside:
            _grow(ax.figure, outside)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _draw(self, ax: Any, name: str, model: RocModel, color: str) -> None:
        fpr, tpr, _ = model.curve
        drawn = thin_rising(fpr, tpr)
        (self.lines_[name],) = ax.plot(
            fpr[drawn], tpr[drawn], color=color, linewidth=1.6, gid=CURVE,
            label=_label(name, model), zorder=3,
        )  # fmt: skip
        if model.band is not None:
            self.bands_[name] = ax.fill_between(
                model.band.fpr, model.band.low, model.band.high, color=color,
                alpha=0.15, linewidth=0, gid=BAND,
                label=f"{_percent(self.level)} band, {self.band}",
            )  # fmt: skip

    def _write_legend(self, ax: Any) -> list[Any]:
        """Name the curves below them while there is room, else above the axes.

        Return the legend if it is above.
        """
        title = "AUC"
        if any(model.interval for model in self.models.values()):
            title += f" ({_percent(self.level)} interval, DeLong)"
        size = text_size(ax)
        handles = [line for line in ax.lines if line.get_gid() == CURVE]
        curves = [line.get_data() for line in handles]
        # One entry for all bands of a kind.
        bands = [band for band in ax.collections if band.get_gid() == BAND]
        handles += {band.get_label(): band for band in bands[::-1]}.values()
        legend = ax.legend(
            handles=handles, loc="lower right", title=title, edgecolor="none",
            fontsize=size, title_fontsize=size, handlelength=1.5,
        )  # fmt: skip
        box = legend.get_window_extent().transformed(ax.transData.inverted())
        # Curves rise, so their lowest part right of the legend's edge is at the edge.
        if all(np.interp(box.x0, *curve) > box.y1 + 0.02 for curve in curves):
            return []
        return [legend_above(ax, handles=handles, title=title, alignment="left")]


def _grow(figure: Any, outside: list[Any]) -> None:
    """Give texts outside the axes their room."""
    boxes = [artist.get_window_extent() for artist in outside]
    side = max(SIDE, max(box.width for box in boxes) / figure.dpi + ROOM)
    height = sum(box.height for box in boxes) / figure.dpi
    figure.set_size_inches(side, side + height + 0.5 * ROOM)


def _describe(
    y_true: ArrayLike, scores: ArrayLike, level: float, band: str
) -> RocModel:
    interval = roc_auc_interval(y_true, scores, level=level)
    limits = (
        None if band == "none" else roc_band(y_true, scores, level=level, kind=band)
    )
    return RocModel(roc_curve(y_true, scores), interval.auc, interval, limits)


def _label(name: str, model: RocModel) -> str:
    start = f"{name}  " if name else ""
    if model.interval is None:
        return f"{start}{model.auc:.3f}"
    digits = 4 if 0 < model.interval.std_error < SMALL_ERROR else 3
    auc, low, high = (f"{value:.{digits}f}" for value in model.interval[:3])
    return f"{start}{auc} ({low} to {high})"


def _percent(level: float) -> str:
    return f"{100 * level:g}%"


def _prepare(ax: Any) -> None:
    """Draw what all models share."""
    ax.plot([0, 1], [0, 1], color="0.6", linewidth=1.0, linestyle="--", gid=CHANCE)
    ax.set(xlabel="False positive rate", ylabel="True positive rate")
    ax.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.01))
    style_axes(ax, grid="both")
