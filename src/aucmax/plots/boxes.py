# SPDX-License-Identifier: BSD-3-Clause
"""The runs of several methods as boxes."""

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from aucmax._utils.optional import import_optional
from aucmax._utils.typing import FloatArray
from aucmax.plots.curve import COLORS

# Eight that all readers can tell apart; see the test for how far.
PALETTE = (*COLORS[:5], "#6B3A0A", COLORS[6], "#8436E0")
BOX_HEIGHT = 0.56
# Half the height of the stroke of one run.
STROKE = 0.12
# Least range that the axis shows; noise of a thousandth should not fill it.
SMALLEST_SPAN = 0.01


class BoxDisplay:
    """One box per method: quartiles and median, whiskers to the least and the most run.

    Make one with :meth:`from_values`. Every run is a small stroke as well.

    Parameters
    ----------
    values : dict of str to array-like of float
        What the runs of each method reached; at least one run each.
    marks : dict of str to float, default=None
        A further figure of some of them, such as a printed one: a diamond.
    names : sequence of str, default=None
        All methods, of which ``values`` may lack some. The place in it is the colour,
        so that a method has the same one in several plots. None is those in ``values``.

    Attributes
    ----------
    boxes_ : dict of str to matplotlib Rectangle
        From quartile to quartile.
    marks_ : dict of str to matplotlib Line2D
        The diamonds.
    ax_ : matplotlib Axes
        The axes with the boxes.
    figure_ : matplotlib Figure
        The figure with the axes.

    Examples
    --------
    Two methods, three runs each::

        values = {"OPAUC": [0.81, 0.83, 0.82], "OAM": [0.78, 0.82, 0.80]}
        BoxDisplay.from_values(values, marks={"OPAUC": 0.8309}).figure_.savefig("b.png")
    """

    boxes_: dict[str, Any]
    marks_: dict[str, Any]
    ax_: Any
    figure_: Any

    def __init__(
        self,
        values: Mapping[str, ArrayLike],
        marks: Mapping[str, float] | None = None,
        names: Sequence[str] | None = None,
    ) -> None:
        self.values: dict[str, FloatArray] = {
            name: np.asarray(runs, dtype=np.float64) for name, runs in values.items()
        }
        self.marks = dict(marks or {})
        self.names = list(self.values if names is None else names)
        if not self.values:
            raise ValueError("There is no method to plot. Pass at least one.")
        for name, runs in self.values.items():
            if runs.ndim != 1 or not len(runs) or not np.isfinite(runs).all():
                raise ValueError(
                    f"The runs of {name!r} must be one or more finite numbers, got "
                    f"{runs!r}."
                )
        if unknown := [name for name in self.marks if name not in self.values]:
            raise ValueError(
                f"marks has {unknown[0]!r}, which has no runs. Pass marks of methods "
                "in values only."
            )
        if unknown := [name for name in self.values if name not in self.names]:
            raise ValueError(
                f"values has {unknown[0]!r}, which is not in names. Pass all names."
            )

    @classmethod
    def from_values(
        cls,
        values: Mapping[str, ArrayLike],
        *,
        marks: Mapping[str, float] | None = None,
        names: Sequence[str] | None = None,
        ax: Any = None,
        label: str = "AUC",
    ) -> Self:
        """Plot runs.

        Parameters
        ----------
        values, marks, names
            As in the class.
        ax, label
            As in :meth:`plot`.

        Returns
        -------
        display : BoxDisplay
            With the boxes drawn.
        """
        return cls(values, marks, names).plot(ax, label=label)

    def plot(self, ax: Any = None, *, label: str = "AUC") -> Self:
        """Draw the boxes, the first method on top.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.
        label : str, default="AUC"
            Of the axis.

        Returns
        -------
        self : BoxDisplay
            The same object, with ``boxes_``, ``marks_``, ``ax_`` and ``figure_``.
        """
        if ax is None:
            pyplot = import_optional("matplotlib.pyplot", "plot")
            size = (6.0, 0.8 + 0.34 * len(self.values))
            _, ax = pyplot.subplots(figsize=size, layout="constrained")
        self.boxes_, self.marks_ = {}, {}
        for place, (name, runs) in enumerate(self.values.items()):
            self._draw_box(ax, place, name, runs)
        for name, value in self.marks.items():
            (self.marks_[name],) = ax.plot(
                value, list(self.values).index(name), marker="D", markersize=5.5,
                markerfacecolor="none", markeredgewidth=1.4, linestyle="none",
                color=ax.xaxis.label.get_color(), zorder=4,
            )  # fmt: skip
        ax.set_yticks(range(len(self.values)), list(self.values))
        ax.set_ylim(len(self.values) - 0.4, -0.6)
        ax.set_xlim(*self._limits())
        ax.set_xlabel(label)
        ax.tick_params(axis="y", length=0)
        ax.grid(axis="x", color="0.92")
        ax.set_axisbelow(True)
        ax.spines[["top", "right", "left"]].set_visible(False)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _draw_box(self, ax: Any, place: int, name: str, runs: FloatArray) -> None:
        color = color_at(self.names.index(name))
        low, median, high = np.quantile(runs, [0.25, 0.5, 0.75])
        half = 0.5 * BOX_HEIGHT
        ax.hlines(place, runs.min(), runs.max(), color=color, linewidth=1.0)
        # A ground that hides the whisker, then the tint of the box.
        ax.barh(
            place, high - low, BOX_HEIGHT, low, color=ax.get_facecolor(), linewidth=0
        )
        (self.boxes_[name],) = ax.barh(
            place, high - low, BOX_HEIGHT, low,
            facecolor=(color, 0.18), edgecolor=color, linewidth=1.0,
        )  # fmt: skip
        ax.vlines(median, place - half, place + half, color=color, linewidth=2.0)
        # One path with gaps, not hundreds of marks: plots of many runs stay small.
        strokes = np.repeat(runs, 3)
        heights = np.tile([place - STROKE, place + STROKE, np.nan], len(runs))
        ax.plot(strokes, heights, color=color, alpha=0.7, linewidth=0.7, zorder=3)

    def _limits(self) -> tuple[float, float]:
        every = np.concatenate([*self.values.values(), list(self.marks.values())])
        low, high = float(every.min()), float(every.max())
        pad = max(0.04 * (high - low), 0.5 * (SMALLEST_SPAN - (high - low)))
        return low - pad, high + pad


def color_at(place: int) -> str:
    """Return the colour of a method by its place: eight, then matplotlib's own."""
    return PALETTE[place] if place < len(PALETTE) else f"C{place}"
