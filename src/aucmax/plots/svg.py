# SPDX-License-Identifier: BSD-3-Clause
"""A plot as SVG for a web page: the same bytes every time, in the page's colours."""

import html
import io
import re
from collections.abc import Callable
from typing import Any

from aucmax._utils.optional import import_optional
from aucmax.plots.boxes import PALETTE
from aucmax.plots.curve import COLORS

# Colours that stand for those of the page, which differ by day and by night.
INK, PAPER, GRID = "#010203", "#fefdfc", "#ebebeb"
PAGE_COLORS = {
    INK: "currentColor",
    PAPER: "var(--plot-paper, #fff)",
    GRID: f"var(--plot-grid, {GRID})",
    **{
        c.lower(): f"var(--plot-{i + 1}, {c.lower()})"
        for colors in (COLORS, PALETTE)
        for i, c in enumerate(colors)
    },
}
STYLE = {
    "axes.edgecolor": INK,
    "axes.facecolor": PAPER,
    "axes.labelcolor": INK,
    "axes.labelsize": 9.0,
    "axes.linewidth": 0.8,
    "axes.titlesize": 9.5,
    "axes.titleweight": "bold",
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 9.0,
    # Identifiers are drawn from this and the shapes, not from a clock.
    "svg.hashsalt": "aucmax",
    # Text stays text: smaller, selectable, in the font of the page.
    "svg.fonttype": "none",
    "text.color": INK,
    # A name with a dollar sign is no formula.
    "text.parse_math": False,
    "xtick.color": INK,
    "xtick.labelsize": 8.5,
    "ytick.color": INK,
    "ytick.labelsize": 8.5,
}
FONT = re.compile(r"'DejaVu Sans'[^;\"]*")
# matplotlib's own sheet would hold for the whole page.
SHEET = re.compile(r"<defs>\s*<style[^>]*>[^<]*</style>\s*</defs>\s*")
JOINS = "stroke-linejoin: round; stroke-linecap: butt"
PLACE = re.compile(r' (?:d|x|y|transform)="[^"]*"')
# A hundredth of a point is enough.
DIGITS = re.compile(r"(\.\d\d)\d+")
REFERENCE = re.compile(r'(\bid="|href="#|url\(#)')


def draw_svg(
    draw: Callable[[Any], object], *, size: tuple[float, float], name: str, title: str
) -> str:
    """Return a plot as an SVG element to put into a web page.

    Lines, boxes and text take the colours of the page where it has the variables
    ``--plot-1`` to ``--plot-8``, ``--plot-grid`` and ``--plot-paper``.

    Parameters
    ----------
    draw : callable
        Called with the axes, such as ``lambda ax: display.plot(ax)``.
    size : tuple of float
        Width and height in inches.
    name : str
        Put before all identifiers; each plot of a page needs its own.
    title : str
        What the plot shows, for those who do not see it.

    Returns
    -------
    svg : str
        One element, without a declaration.
    """
    matplotlib = import_optional("matplotlib", "plot")
    figures = import_optional("matplotlib.figure", "plot")
    file = io.StringIO()
    with matplotlib.rc_context(STYLE):
        # Not of pyplot, which would keep it and might open a window.
        figure = figures.Figure(figsize=size, layout="constrained")
        draw(figure.subplots())
        nothing = dict.fromkeys(("Date", "Creator", "Format", "Type"))
        figure.savefig(file, format="svg", transparent=False, metadata=nothing,
                       facecolor="none")  # fmt: skip
    text = file.getvalue()
    text = text[text.index("<svg") :]
    for drawn, shown in PAGE_COLORS.items():
        text = text.replace(drawn, shown)
    text = FONT.sub("system-ui, sans-serif", SHEET.sub("", text))
    text = PLACE.sub(lambda m: DIGITS.sub(r"\1", m[0]).replace("\n", ""), text)
    prefix = re.sub(r"[^A-Za-z0-9]+", "-", name)
    text = REFERENCE.sub(rf"\g<1>{prefix}-", text)
    label = html.escape(title, quote=True)
    opening = f'<svg role="img" aria-label="{label}" style="{JOINS}"'
    return text.replace("<svg", opening, 1).strip()
