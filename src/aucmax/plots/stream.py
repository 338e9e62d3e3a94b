# SPDX-License-Identifier: BSD-3-Clause
"""The AUC of a stream over time."""

from collections.abc import Iterable
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from aucmax._utils.optional import import_optional
from aucmax._utils.typing import FloatArray, IntArray
from aucmax.metrics.evaluate_stream import StreamRecord

# Marks the line of chance, so that several models share one.
CHANCE = "aucmax-chance"
# Least part of the AUC's range that the axes show.
SMALLEST_SPAN = 0.05
# Names for which there is room among the lines.
MOST_INSIDE = 4


class StreamDisplay:
    """Line of the AUC over the rows seen.

    Make one with :meth:`from_records`. Where the AUC is NaN the line has a gap.

    Parameters
    ----------
    n_rows : array-like of shape (n_records,)
        Rows seen at each point.
    auc : array-like of shape (n_records,)
        The AUC there; NaN where it is not defined.
    label : str, default=None
        Name of the model in the legend; without one there is no legend.

    Attributes
    ----------
    line_ : matplotlib Line2D
        The line of the AUC.
    ax_ : matplotlib Axes
        The axes with the line.
    figure_ : matplotlib Figure
        The figure with the axes.

    See Also
    --------
    aucmax.metrics.evaluate_stream : Makes the records.

    Examples
    --------
    Two models on the same axes::

        first = StreamDisplay.from_records(records, label="OPAUC")
        StreamDisplay.from_records(others, label="SGDClassifier", ax=first.ax_)
        first.figure_.savefig("stream.png")
    """

    line_: Any
    ax_: Any
    figure_: Any

    def __init__(
        self, *, n_rows: ArrayLike, auc: ArrayLike, label: str | None = None
    ) -> None:
        self.n_rows: IntArray = np.asarray(n_rows, dtype=np.int64)
        self.auc: FloatArray = np.asarray(auc, dtype=np.float64)
        self.label = label
        if self.n_rows.ndim != 1 or self.n_rows.shape != self.auc.shape:
            raise ValueError(
                f"n_rows has shape {self.n_rows.shape} and auc {self.auc.shape}. Pass "
                "one number of rows and one AUC for each point."
            )
        if not len(self.auc):
            raise ValueError("There is no record to plot. Pass at least one.")

    @classmethod
    def from_records(
        cls,
        records: Iterable[StreamRecord],
        *,
        ax: Any = None,
        label: str | None = None,
        **line_options: Any,
    ) -> Self:
        """Plot the records of a stream.

        Parameters
        ----------
        records : iterable of StreamRecord
            From :func:`aucmax.metrics.evaluate_stream`, which may still be running; it
            is then run to its end.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.
        label : str, default=None
            Name of the model in the legend; without one there is no legend.
        **line_options : dict
            Passed to matplotlib's ``plot``, such as ``color`` or ``linewidth``.

        Returns
        -------
        display : StreamDisplay
            With the line drawn.
        """
        points = [(record.n_rows, record.auc) for record in records]
        n_rows, auc = zip(*points, strict=True) if points else ((), ())
        return cls(n_rows=n_rows, auc=auc, label=label).plot(ax, **line_options)

    def plot(self, ax: Any = None, **line_options: Any) -> Self:
        """Draw the line.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.
        **line_options : dict
            Passed to matplotlib's ``plot``, such as ``color`` or ``linewidth``.

        Returns
        -------
        self : StreamDisplay
            The same object, with ``line_``, ``ax_`` and ``figure_``.
        """
        if ax is None:
            pyplot = import_optional("matplotlib.pyplot", "plot")
            _, ax = pyplot.subplots(figsize=(7.0, 3.6), layout="constrained")
        if all(line.get_gid() != CHANCE for line in ax.lines):
            self._prepare(ax)
        options: dict[str, Any] = {"label": self.label}
        if lone := _find_lone(self.auc):
            options |= {"marker": "o", "markersize": 3.5, "markevery": lone}
        options |= line_options
        (self.line_,) = ax.plot(self.n_rows, self.auc, **options)
        _set_limits(ax)
        if self.label is not None:
            _write_legend(ax)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    @staticmethod
    def _prepare(ax: Any) -> None:
        """Draw what all models share."""
        ax.axhline(0.5, color="0.6", linewidth=1.0, linestyle="--", gid=CHANCE)
        ax.set(xlabel="Rows seen", ylabel="Prequential AUC")
        ax.xaxis.set_major_formatter("{x:,.0f}")
        ax.grid(axis="y", color="0.92")
        ax.set_axisbelow(True)
        ax.spines[["top", "right"]].set_visible(False)


def _set_limits(ax: Any) -> None:
    """Show all lines, from the first row on; the line of chance only if it is near."""
    lines = [line for line in ax.lines if line.get_gid() != CHANCE]
    ends = [np.max(line.get_xdata(), initial=0) for line in lines]
    ax.set_xlim(0, 1.02 * max(ends))
    auc = np.concatenate([np.asarray(line.get_ydata(), dtype=float) for line in lines])
    auc = auc[np.isfinite(auc)]
    low, high = (auc.min(), auc.max()) if len(auc) else (0.0, 1.0)
    # Noise of a thousandth should not fill the axes.
    pad = max(0.05 * (high - low), 0.5 * (SMALLEST_SPAN - (high - low)))
    ax.set_ylim(low - pad, min(high + pad, 1.0 + 0.05 * SMALLEST_SPAN))


def _write_legend(ax: Any) -> None:
    """Name the models among the lines while there is room, else above the axes."""
    if len(ax.get_legend_handles_labels()[0]) <= MOST_INSIDE:
        ax.legend(loc="best", edgecolor="none")
    else:
        ax.legend(
            loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=2, edgecolor="none"
        )


def _find_lone(auc: FloatArray) -> list[int]:
    """Return the points without a neighbour, which no line would show."""
    is_known = np.concatenate([[False], np.isfinite(auc), [False]])
    is_lone = is_known[1:-1] & ~is_known[:-2] & ~is_known[2:]
    lone: list[int] = np.flatnonzero(is_lone).tolist()
    return lone
