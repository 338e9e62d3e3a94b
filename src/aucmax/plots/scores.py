# SPDX-License-Identifier: BSD-3-Clause
"""How the scores of the two classes lie."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from aucmax._utils.typing import FloatArray
from aucmax._utils.validation import check_weight, split_labels
from aucmax.metrics._inputs import check_scores, refuse_nonfinite
from aucmax.plots._axes import legend_above, open_axes, style_axes, text_color
from aucmax.plots._models import score_rows
from aucmax.plots.curve import COLORS

# Part of the axis left and right of what is drawn.
MARGIN = 0.03


class ScoreDisplay:
    """Histograms of the scores of positives and negatives, each as shares of its class.

    Make one with :meth:`from_predictions` or :meth:`from_estimator`. Both have the same
    bins, and neither dwarfs the other, however rare one class is.

    Parameters
    ----------
    edges : array-like of shape (n_bins + 1,)
        Edges of the bins, increasing.
    shares_neg, shares_pos : array-like of shape (n_bins,)
        Share of the negatives and of the positives in each bin.
    label_neg, label_pos : str
        What the legend says of the two.
    threshold : float, default=None
        Where to draw a line.
    label_threshold : str, default=None
        What the legend says of the line.

    Attributes
    ----------
    stairs_neg_, stairs_pos_ : matplotlib StepPatch
        The histograms.
    line_ : matplotlib Line2D or None
        The threshold.
    ax_ : matplotlib Axes
        The axes with the histograms.
    figure_ : matplotlib Figure
        The figure with the axes.

    See Also
    --------
    ThresholdDisplay : What each threshold costs.

    Examples
    --------
    With the threshold of a model of this library, which is zero::

        display = ScoreDisplay.from_estimator(model, X_test, y_test, threshold=0.0)
        display.figure_.savefig("scores.png")
    """

    stairs_neg_: Any
    stairs_pos_: Any
    line_: Any
    ax_: Any
    figure_: Any

    def __init__(
        self,
        *,
        edges: ArrayLike,
        shares_neg: ArrayLike,
        shares_pos: ArrayLike,
        label_neg: str = "negative",
        label_pos: str = "positive",
        threshold: float | None = None,
        label_threshold: str | None = None,
    ) -> None:
        self.edges: FloatArray = np.asarray(edges, dtype=np.float64)
        self.shares_neg: FloatArray = np.asarray(shares_neg, dtype=np.float64)
        self.shares_pos: FloatArray = np.asarray(shares_pos, dtype=np.float64)
        self.label_neg, self.label_pos = label_neg, label_pos
        self.threshold, self.label_threshold = threshold, label_threshold
        if threshold is not None and np.isnan(threshold):
            raise ValueError("threshold is NaN. Pass a number, or None for no line.")
        n_bins = len(self.edges) - 1
        if {self.shares_neg.shape, self.shares_pos.shape} != {(n_bins,)}:
            raise ValueError(
                f"There are {n_bins} bins, but shares of shapes "
                f"{self.shares_neg.shape} and {self.shares_pos.shape}. Pass one share "
                "per bin and class."
            )

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_score: ArrayLike,
        *,
        bins: int | ArrayLike = 30,
        threshold: float | None = None,
        sample_weight: ArrayLike | None = None,
        ax: Any = None,
    ) -> Self:
        """Plot scores.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            Labels, of any two values; the larger one is positive.
        y_score : array-like of shape (n_samples,)
            Finite scores. Probabilities of rare events crowd at zero; their logarithms
            show more.
        bins : int or array-like of float, default=30
            Number of bins of equal width over all scores, or the edges of the bins.
            Rows outside of edges are not drawn, but count in the shares.
        threshold : float, default=None
            Where to draw a line; the legend says which shares are at least as high.
        sample_weight : array-like of shape (n_samples,), default=None
            How often each row counts; a row of weight zero is absent.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        display : ScoreDisplay
            With the histograms drawn.
        """
        classes, is_pos = split_labels(y_true, name="ScoreDisplay")
        weight = check_weight(sample_weight, is_pos)
        scores = check_scores(y_score, len(is_pos)).astype(np.float64, copy=False)
        present = weight > 0
        scores, is_pos, weight = scores[present], is_pos[present], weight[present]
        refuse_nonfinite(scores.min(), scores.max())
        edges = _find_edges(scores, bins)
        options: dict[str, Any] = {}
        shares = []
        for name, label, rows in (
            ("neg", classes[0], ~is_pos),
            ("pos", classes[1], is_pos),
        ):
            mass = np.histogram(scores[rows], edges, weights=weight[rows])[0]
            options[f"shares_{name}"] = mass / weight[rows].sum()
            n_rows = int(np.count_nonzero(rows))
            options[f"label_{name}"] = f"y = {label}: {_count(n_rows)}"
            if threshold is not None:
                passed = np.average(scores[rows] >= threshold, weights=weight[rows])
                shares.append(f"{passed:.1%} of y = {label}")
        if threshold is not None:
            options["label_threshold"] = (
                f"threshold {threshold:.4g}\nabove: {', '.join(shares)}"
            )
        return cls(edges=edges, threshold=threshold, **options).plot(ax)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        *,
        bins: int | ArrayLike = 30,
        threshold: float | None = None,
        sample_weight: ArrayLike | None = None,
        ax: Any = None,
    ) -> Self:
        """Plot the scores of a fitted model.

        Parameters
        ----------
        estimator : classifier
            With ``decision_function`` or ``predict_proba``.
        X : array-like of shape (n_samples, n_features)
            Rows to score.
        y : array-like of shape (n_samples,)
            Their labels.
        bins, threshold, sample_weight, ax
            As in :meth:`from_predictions`.

        Returns
        -------
        display : ScoreDisplay
            With the histograms drawn.
        """
        return cls.from_predictions(
            y, score_rows(estimator, X), bins=bins, threshold=threshold,
            sample_weight=sample_weight, ax=ax,
        )  # fmt: skip

    def plot(self, ax: Any = None) -> Self:
        """Draw the histograms.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        self : ScoreDisplay
            The same object, with ``stairs_neg_``, ``stairs_pos_``, ``line_``, ``ax_``
            and ``figure_``.
        """
        ax = open_axes(ax, (5.6, 3.4))
        self.stairs_neg_ = self._draw(ax, self.shares_neg, COLORS[0], self.label_neg)
        self.stairs_pos_ = self._draw(ax, self.shares_pos, COLORS[1], self.label_pos)
        self.line_ = None
        if self.threshold is not None:
            self.line_ = ax.axvline(
                self.threshold, color=text_color(ax), linewidth=1.2, linestyle="--",
                label=self.label_threshold or f"threshold {self.threshold:.3g}",
            )  # fmt: skip
        ax.set(xlabel="Score", ylabel="Share of the class per bin")
        top = max(self.shares_neg.max(), self.shares_pos.max()) or 1.0
        ax.set(xlim=self._find_ends(), ylim=(0.0, 1.05 * top))
        ax.yaxis.set_major_formatter(lambda share, _: f"{100 * share:g}%")
        style_axes(ax)
        legend_above(ax)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _find_ends(self) -> tuple[float, float]:
        """Return the ends of the axis, with all bins and the threshold inside."""
        low, high = float(self.edges[0]), float(self.edges[-1])
        if self.threshold is not None and np.isfinite(self.threshold):
            low, high = min(low, self.threshold), max(high, self.threshold)
        room = MARGIN * (high - low)
        return low - room, high + room

    def _draw(self, ax: Any, shares: FloatArray, color: str, label: str) -> Any:
        # Without its line along the axis where there is nothing.
        heights = np.where(shares > 0, shares, np.nan)
        return ax.stairs(
            heights, self.edges, fill=True, facecolor=(color, 0.25), edgecolor=color,
            linewidth=1.3, label=label,
        )  # fmt: skip


def _find_edges(scores: FloatArray, bins: int | ArrayLike) -> FloatArray:
    if isinstance(bins, int | np.integer) and not isinstance(bins, bool):
        if bins < 1:
            raise ValueError(f"bins must be at least 1, got {bins}.")
        low, high = float(scores.min()), float(scores.max())
        if low == high:
            # In the middle of a bin.
            width = max(1.0, 1e-3 * abs(low)) / bins
            return low + width * (np.arange(bins + 1) - bins // 2 - 0.5)
        return np.linspace(low, high, int(bins) + 1)
    edges = np.asarray(bins, dtype=np.float64)
    if edges.ndim != 1 or len(edges) < 2 or not np.all(np.diff(edges) > 0):
        raise ValueError(
            f"bins must be a number of bins or their increasing edges, got {bins!r}."
        )
    return edges


def _count(n_rows: int) -> str:
    return f"{n_rows:,} row" + ("s" if n_rows != 1 else "")
