# SPDX-License-Identifier: BSD-3-Clause
"""What the plots of scores share: axes, and the texts above them."""

from typing import Any

import numpy as np

from aucmax._utils.optional import import_optional

# Size of the texts above and below the axes, in points, and of axes for a letter of one
# point: texts of small axes are smaller, as far as they can be read.
SMALLEST_TEXT, LARGEST_TEXT = 6.0, 8.5
WIDTH_PER_POINT = 28.0


def open_axes(ax: Any, size: tuple[float, float]) -> Any:
    """Return the axes given, or those of a new figure of this size in inches."""
    if ax is not None:
        return ax
    pyplot = import_optional("matplotlib.pyplot", "plot")
    return pyplot.subplots(figsize=size, layout="constrained")[1]


def style_axes(ax: Any, *, grid: str = "y") -> None:
    """Draw a pale grid, and no frame at the top and the right."""
    ax.grid(axis=grid, color="0.92")
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)


def text_size(ax: Any) -> float:
    """Return the size of texts outside the axes, in points."""
    width = ax.get_window_extent().width / ax.figure.dpi * 72
    return float(np.clip(width / WIDTH_PER_POINT, SMALLEST_TEXT, LARGEST_TEXT))


def legend_above(ax: Any, **options: Any) -> Any:
    """Write the legend above the axes, where it hides nothing."""
    size = text_size(ax)
    return ax.legend(
        loc="lower left", bbox_to_anchor=(0.0, 1.0), borderaxespad=0.2,
        edgecolor="none", borderpad=0.2, labelspacing=0.3, handlelength=1.5,
        fontsize=size, title_fontsize=size, **options,
    )  # fmt: skip


def text_color(ax: Any) -> Any:
    """Return the colour of texts."""
    return ax.xaxis.label.get_color()
