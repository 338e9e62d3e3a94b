# SPDX-License-Identifier: BSD-3-Clause
"""How the AUC depends on the penalty, and which penalty was chosen."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from aucmax._utils.typing import FloatArray
from aucmax.plots._axes import legend_above, open_axes, style_axes
from aucmax.plots._models import last_step
from aucmax.plots.curve import COLORS, _mark_powers

# Least part of the AUC's range that the axes show.
SMALLEST_SPAN = 0.02
# What a fitted estimator must have.
NEEDED = ("alphas_", "cv_scores_", "alpha_")


class PathDisplay:
    """Cross-validated AUC against ``alpha``: mean, spread over folds, and the choice.

    Make one with :meth:`from_estimator`.

    Parameters
    ----------
    alphas : array-like of shape (n_alphas,)
        Penalties tried, positive, in any order.
    cv_scores : array-like of shape (n_alphas, n_folds)
        AUC of each on each left-out fold.
    alpha : float
        The one chosen, one of ``alphas``.

    Attributes
    ----------
    line_ : matplotlib Line2D
        Mean over the folds.
    band_ : matplotlib collection
        One standard deviation over the folds on either side.
    folds_ : list of matplotlib Line2D
        The folds; empty unless they were asked for.
    chosen_ : matplotlib Line2D
        The mark of the chosen alpha.
    ax_ : matplotlib Axes
        The axes with the line.
    figure_ : matplotlib Figure
        The figure with the axes.

    Notes
    -----
    The spread is that of the folds, which differ in how hard they are; all alphas meet
    the same folds. So their order may be sure where the band is wide: see it with
    ``folds=True``.

    Examples
    --------
    After a fit, also inside a pipeline::

        model = make_pipeline(StandardScaler(), RankSVMCV()).fit(X, y)
        PathDisplay.from_estimator(model).figure_.savefig("path.png")
    """

    line_: Any
    band_: Any
    folds_: list[Any]
    chosen_: Any
    ax_: Any
    figure_: Any

    def __init__(
        self, *, alphas: ArrayLike, cv_scores: ArrayLike, alpha: float
    ) -> None:
        values: FloatArray = np.asarray(alphas, dtype=np.float64)
        scores: FloatArray = np.asarray(cv_scores, dtype=np.float64)
        if (
            values.ndim != 1
            or scores.ndim != 2
            or len(values) != len(scores)
            or not scores.size
        ):
            raise ValueError(
                f"alphas has shape {values.shape} and cv_scores {scores.shape}. Pass "
                "one row of cv_scores for each alpha, with one column for each fold."
            )
        if not np.all(values > 0):
            raise ValueError(
                f"alphas must be positive, because their axis is logarithmic, got "
                f"{values.min():g}."
            )
        if alpha not in values:
            raise ValueError(f"alpha={alpha!r} is not one of alphas. Pass one of them.")
        order = np.argsort(values)
        self.alphas, self.cv_scores = values[order], scores[order]
        self.alpha = float(alpha)

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, folds: bool = False, ax: Any = None
    ) -> Self:
        """Plot the path of a fitted model.

        Parameters
        ----------
        estimator : RankSVMCV
            Fitted, or a pipeline that ends with one; or any model with ``alphas_``,
            ``cv_scores_`` and ``alpha_``.
        folds, ax
            As in :meth:`plot`.

        Returns
        -------
        display : PathDisplay
            With the line drawn.
        """
        model = last_step(estimator)
        if missing := [name for name in NEEDED if not hasattr(model, name)]:
            raise ValueError(
                f"{type(model).__name__} has no {missing[0]}. Pass a fitted RankSVMCV."
            )
        display = cls(
            alphas=model.alphas_, cv_scores=model.cv_scores_, alpha=model.alpha_
        )
        return display.plot(ax, folds=folds)

    def plot(self, ax: Any = None, *, folds: bool = False) -> Self:
        """Draw the line.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.
        folds : bool, default=False
            Whether to draw a thin line for each fold as well.

        Returns
        -------
        self : PathDisplay
            The same object, with ``line_``, ``band_``, ``folds_``, ``chosen_``, ``ax_``
            and ``figure_``.
        """
        ax = open_axes(ax, (5.6, 3.4))
        mean, std = self.cv_scores.mean(axis=1), self.cv_scores.std(axis=1)
        n_folds = self.cv_scores.shape[1]
        self.folds_ = []
        if folds:
            self.folds_ = ax.plot(
                self.alphas, self.cv_scores, color="0.6", linewidth=0.7
            )
            self.folds_[0].set_label("each fold")
        self._draw_band(ax, mean - std, np.minimum(mean + std, 1.0))
        (self.line_,) = ax.plot(
            self.alphas, mean, color=COLORS[0], linewidth=1.6, marker="o",
            markersize=3.5, label=f"mean of {n_folds} fold{'s' * (n_folds != 1)}",
        )  # fmt: skip
        best = float(mean[np.flatnonzero(self.alphas == self.alpha)[0]])
        ax.axvline(self.alpha, color=COLORS[1], linewidth=1.2, linestyle="--")
        (self.chosen_,) = ax.plot(
            self.alpha, best, color=COLORS[1], marker="D", markersize=6, zorder=4,
            linestyle="--", clip_on=False,
            label=f"chosen: alpha {self.alpha:.3g}, AUC {best:.3f}",
        )  # fmt: skip
        self._style_axes(ax, mean, std)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _draw_band(self, ax: Any, low: FloatArray, high: FloatArray) -> None:
        alphas = self.alphas
        if len(alphas) == 1:
            # With some width, or nothing would be seen.
            alphas, low, high = alphas * [0.98, 1.02], low.repeat(2), high.repeat(2)
        self.band_ = ax.fill_between(
            alphas, low, high, color=COLORS[0], alpha=0.15, linewidth=0,
            label="one standard deviation over the folds",
        )  # fmt: skip

    def _style_axes(self, ax: Any, mean: FloatArray, std: FloatArray) -> None:
        ax.set(xscale="log", xlabel="alpha (strength of penalty)")
        ax.set_ylabel("AUC on left-out folds")
        first, last = self.alphas[0], self.alphas[-1]
        # Room for the marks at the ends; a decade if there is one alpha only.
        room = (last / first) ** 0.02 if last > first else np.sqrt(10)
        ax.set_xlim(first / room, last * room)
        _mark_powers(ax.xaxis, np.log10(last / first * room**2))
        ax.xaxis.set_major_formatter("{x:g}")
        low, high = (mean - std).min(), (mean + std).max()
        if self.folds_:
            low, high = self.cv_scores.min(), self.cv_scores.max()
        pad = max(0.05 * (high - low), 0.5 * (SMALLEST_SPAN - (high - low)))
        ax.set_ylim(low - pad, min(high + pad, 1.0 + 0.3 * pad))
        style_axes(ax)
        legend_above(ax)
