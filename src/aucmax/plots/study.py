# SPDX-License-Identifier: BSD-3-Clause
"""The AUC of several methods against a parameter, seconds, or a size."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from aucmax.plots.boxes import color_at
from aucmax.plots.curve import CurveDisplay, _mark_powers

# Longer lines show their points well enough without markers.
MOST_MARKERS = 30
# Letters of a name beside its line; longer ones are above the axes.
LONGEST_DIRECT = 14
# Inches.
WIDTH, HEIGHT, LEGEND_LINE = 3.7, 2.5, 0.19


class StudyLine(Protocol):
    """What is drawn, such as :class:`aucmax_papers.study.Line`."""

    @property
    def x(self) -> NDArray[Any]:
        """What the axis shows."""
        ...

    @property
    def mean(self) -> NDArray[Any]:
        """The AUC there, over the runs."""
        ...

    @property
    def std(self) -> NDArray[Any]:
        """Its standard deviation."""
        ...


class _Curve(NamedTuple):
    n_rows: NDArray[Any]
    mean: NDArray[Any]
    std: NDArray[Any]


class StudyDisplay(CurveDisplay):
    """Lines of the mean AUC against what was varied, in bands of one deviation.

    Make one with :meth:`from_lines`. It has the attributes of :class:`CurveDisplay`.

    Parameters
    ----------
    lines : dict of str to line
        By the names of the methods: ``x``, ``mean`` and ``std``, arrays of one length.
    label : str
        Of the axis.
    methods : sequence of str, default=None
        All methods, of which ``lines`` may lack some. The place in it is the colour,
        so that a method has the same one in several plots. None is those in ``lines``.

    Examples
    --------
    A line as :func:`aucmax_papers.study.collect_lines` makes it::

        StudyDisplay.from_lines({"OPAUC": line}, label="rank").figure_.savefig("s.png")
    """

    def __init__(
        self,
        lines: Mapping[str, StudyLine],
        label: str,
        methods: Sequence[str] | None = None,
    ) -> None:
        super().__init__(
            {name: _Curve(line.x, line.mean, line.std) for name, line in lines.items()}
        )
        self.label = label
        self.methods = list(lines if methods is None else methods)
        if unknown := [name for name in lines if name not in self.methods]:
            raise ValueError(
                f"lines has {unknown[0]!r}, which is not in methods. Pass all methods."
            )

    @classmethod
    def from_lines(
        cls,
        lines: Mapping[str, StudyLine],
        *,
        label: str,
        methods: Sequence[str] | None = None,
        ax: Any = None,
        x_scale: str = "linear",
    ) -> Self:
        """Plot lines.

        Parameters
        ----------
        lines, label, methods
            As in the class.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.
        x_scale : {"linear", "log"}, default="linear"
            Scale of the axis; it is linear if a value is zero or less.

        Returns
        -------
        display : StudyDisplay
            With the lines drawn.
        """
        return cls(lines, label, methods).plot(ax, x_scale=x_scale)

    def plot(
        self,
        ax: Any = None,
        *,
        x_scale: str = "linear",
        names: str = "direct",
        band: bool = True,
    ) -> Self:
        """Draw the lines, as :meth:`CurveDisplay.plot` does.

        Parameters
        ----------
        ax, names, band
            As there.
        x_scale : {"linear", "log"}, default="linear"
            Scale of the axis; it is linear if a value is zero or less.

        Returns
        -------
        self : StudyDisplay
            The same object.
        """
        smallest = min(np.min(c.n_rows, initial=np.inf) for c in self.curves.values())
        if x_scale == "log" and smallest <= 0:
            x_scale = "linear"
        return super().plot(ax, x_scale=x_scale, names=names, band=band)

    def figure_size(self) -> tuple[float, float]:
        """Return width and height in inches of a small panel."""
        n_lines = len(self.curves) if self._has_long_names() else 0
        return WIDTH, HEIGHT + LEGEND_LINE * n_lines

    def _style_axes(self, ax: Any, x_scale: str, names: str) -> None:
        for name, line in self.lines_.items():
            for drawn in (line, self.bands_.get(name)):
                if drawn is not None:
                    drawn.set_color(color_at(self.methods.index(name)))
        super()._style_axes(ax, x_scale, "none")
        points = np.concatenate([np.asarray(c.n_rows) for c in self.curves.values()])
        first, last = float(points.min()), float(points.max())
        if first == last:
            is_log = x_scale == "log"
            first, last = (first / 2, last * 2) if is_log else (first - 1, last + 1)
        ax.set_xlim(first, last)
        if x_scale == "log":
            _mark_powers(ax.xaxis, np.log10(last / first))
        ax.set(xlabel=self.label, ylabel="AUC")
        ax.xaxis.set_major_formatter(_show_tick)
        for line in self.lines_.values():
            if len(line.get_xdata()) <= MOST_MARKERS:
                line.set(marker="o", markersize=3.5, clip_on=False)
        if names == "direct" and self._has_long_names():
            # At the ends of the lines they would leave no room for these.
            ax.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), edgecolor="none")
        elif names == "direct":
            self._name_ends(ax)

    def _has_long_names(self) -> bool:
        return max(map(len, self.curves)) > LONGEST_DIRECT


def _show_tick(x: float, place: int | None = None) -> str:
    """Return a number without an exponent; ``place`` is how matplotlib calls it."""
    if abs(x) >= 1000:
        return f"{x:,.0f}"
    return np.format_float_positional(x, precision=6, fractional=False, trim="-")
