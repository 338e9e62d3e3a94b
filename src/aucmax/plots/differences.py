# SPDX-License-Identifier: BSD-3-Clause
"""Average ranks of methods, and which of them do not differ."""

from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from aucmax._utils.optional import import_optional
from aucmax.plots._axes import text_color

# Heights in units of one line of text, downwards from the axis.
FIRST_NAME = 1.0
BAR_GAP = 0.36
BAR_TOP = 0.45


class RankDisplay:
    """Critical-difference plot: ranks on an axis, bars over those that do not differ.

    Make one with :meth:`from_ranks`. The best method is at the left.

    Parameters
    ----------
    ranks : dict of str to float
        Average ranks, 1 is best; at least two methods.
    critical_difference : float
        Ranks that are less than this apart do not differ.

    Attributes
    ----------
    names_ : dict of str to matplotlib Text
        Names of the methods, with their ranks.
    groups_ : list of tuple of str
        Methods that do not differ, each group as large as possible.
    ax_ : matplotlib Axes
        The axes.
    figure_ : matplotlib Figure
        The figure with the axes.

    References
    ----------
    Demšar, "Statistical comparisons of classifiers over multiple data sets", JMLR 2006.

    Examples
    --------
    Three methods::

        ranks = {"OPAUC": 1.2, "OAM": 2.1, "Uni-Exp": 2.7}
        RankDisplay.from_ranks(ranks, 1.1).figure_.savefig("ranks.png")
    """

    names_: dict[str, Any]
    groups_: list[tuple[str, ...]]
    ax_: Any
    figure_: Any

    def __init__(self, ranks: Mapping[str, float], critical_difference: float) -> None:
        self.ranks = {
            name: ranks[name] for name in sorted(ranks, key=ranks.__getitem__)
        }
        self.critical_difference = critical_difference
        if len(self.ranks) < 2:
            raise ValueError(
                f"Ranks need at least two methods, got {list(self.ranks)}. Pass more."
            )

    @classmethod
    def from_ranks(
        cls, ranks: Mapping[str, float], critical_difference: float, *, ax: Any = None
    ) -> Self:
        """Plot ranks.

        Parameters
        ----------
        ranks, critical_difference
            As in the class.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        display : RankDisplay
            With everything drawn.
        """
        return cls(ranks, critical_difference).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw axis, names and bars.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        self : RankDisplay
            The same object, with ``names_``, ``groups_``, ``ax_`` and ``figure_``.
        """
        if ax is None:
            pyplot = import_optional("matplotlib.pyplot", "plot")
            _, ax = pyplot.subplots(figsize=self.figure_size(), layout="constrained")
        self.groups_ = self._find_groups()
        n = len(self.ranks)
        self._draw_axis(ax, n)
        shift = BAR_TOP + BAR_GAP * len(self.groups_)
        self._draw_names(ax, n, shift)
        for i, group in enumerate(self.groups_):
            ends = [self.ranks[group[0]] - 0.04, self.ranks[group[-1]] + 0.04]
            height = BAR_TOP + BAR_GAP * i
            ax.plot(ends, [height] * 2, color=text_color(ax), linewidth=3.2, zorder=3)
        ax.set_ylim(shift + FIRST_NAME + (n + 1) // 2 - 0.5, -2.2)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def figure_size(self) -> tuple[float, float]:
        """Return width and height in inches that give each line enough room."""
        lines = 4.2 + (len(self.ranks) + 1) // 2 + BAR_GAP * len(self._find_groups())
        return 5.2, 0.24 * lines

    def _draw_axis(self, ax: Any, n: int) -> None:
        ax.set_xlim(0.9, n + 0.1)
        ax.yaxis.set_visible(False)
        ax.spines[["left", "right", "bottom", "top"]].set_visible(False)
        ax.xaxis.set_visible(False)
        color = text_color(ax)
        ax.plot([1, n], [0, 0], color=color, linewidth=1.2)
        for rank in range(1, n + 1):
            ax.plot([rank, rank], [-0.25, 0], color=color, linewidth=1.2)
            ax.text(rank, -0.35, f"{rank}", ha="center", va="bottom", color=color)
        length = min(self.critical_difference, n - 1)
        ax.plot([1, 1 + length], [-1.55] * 2, color=color, linewidth=1.2)
        for end in (1, 1 + length):
            ax.plot([end] * 2, [-1.75, -1.35], color=color, linewidth=1.2)
        ax.annotate(
            f"critical difference {self.critical_difference:.2f}",
            (1 + length, -1.55), xytext=(6, 0), textcoords="offset points",
            ha="left", va="center", color=color, annotation_clip=False,
        )  # fmt: skip

    def _draw_names(self, ax: Any, n: int, shift: float) -> None:
        """Put the better half at the left, from the top down, the rest at the right."""
        self.names_ = {}
        color = text_color(ax)
        n_left = (n + 1) // 2
        for i, (name, rank) in enumerate(self.ranks.items()):
            is_left = i < n_left
            line = i if is_left else n - 1 - i
            height = shift + FIRST_NAME + line - 0.5
            end = 0.9 if is_left else n + 0.1
            ax.plot([rank, rank, end], [0, height, height], color=color, linewidth=0.9)
            ax.plot(rank, 0, "o", color=color, markersize=3.5)
            text = f"{name}  {rank:.2f}" if is_left else f"{rank:.2f}  {name}"
            self.names_[name] = ax.annotate(
                text, (end, height), xytext=(-4 if is_left else 4, 0),
                textcoords="offset points", ha="right" if is_left else "left",
                va="center", color=color, annotation_clip=False,
            )  # fmt: skip

    def _find_groups(self) -> list[tuple[str, ...]]:
        """Return the longest stretches of ranks less than the difference apart."""
        names, ranks = list(self.ranks), np.array(list(self.ranks.values()))
        groups: list[tuple[str, ...]] = []
        last_end = 0
        for start in range(len(names)):
            near = ranks - ranks[start] < self.critical_difference
            end = int(np.flatnonzero(near)[-1]) + 1
            if end - start > 1 and end > last_end:
                groups.append(tuple(names[start:end]))
                last_end = end
        return groups
