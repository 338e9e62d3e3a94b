# SPDX-License-Identifier: BSD-3-Clause
"""Plots in files, and pages that need nothing else."""

import html
import os
from collections.abc import Callable, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

from aucmax import __version__
from aucmax.cli._base import write_bytes
from aucmax.plots import draw_svg

DPI = 150
# Plots go into files; a screen that cannot be reached must not stop them.
os.environ.setdefault("MPLBACKEND", "agg")
PAGE = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark; --ink: #1b1f24; --soft: #57606a; --paper: #ffffff;
  --ground: #f6f7f9; --line: #d8dee4; --plot-paper: #ffffff; --plot-grid: #e7eaee; }}
@media screen and (prefers-color-scheme: dark) {{
  :root {{ --ink: #e8ebef; --soft: #a3adb8; --paper: #171a1f; --ground: #0f1115;
    --line: #343b44; --plot-paper: #171a1f; --plot-grid: #2b313a; --plot-1: #4f9bf0;
    --plot-2: #e0703a; --plot-3: #3fdc93; --plot-4: #b368a6; --plot-5: #cdf3ff;
    --plot-6: #f5d54a; --plot-7: #98a0a0; --plot-8: #8a5cff; }}
}}
* {{ box-sizing: border-box; }}
body {{ margin: 0 auto; max-width: 70rem; padding: 1rem clamp(.75rem, 3vw, 2rem);
  background: var(--ground); color: var(--ink);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, Arial, sans-serif; }}
h1 {{ font-size: 1.6rem; line-height: 1.2; overflow-wrap: anywhere; }}
h2 {{ font-size: 1rem; margin: 0 0 .5rem; }}
section {{ background: var(--paper); border: 1px solid var(--line); border-radius: 10px;
  padding: 1rem; overflow-x: auto; }}
.plots {{ display: flex; flex-wrap: wrap; gap: 1rem; margin: 1rem 0;
  align-items: flex-start; }}
.plots section {{ flex: 1 1 26rem; }}
svg {{ display: block; width: 100%; height: auto; max-width: 40rem; margin: 0 auto; }}
table {{ border-collapse: collapse; font-variant-numeric: tabular-nums; }}
th, td {{ padding: .25rem .9rem .25rem 0; text-align: left; vertical-align: top; }}
th {{ font-weight: 600; }}
tr + tr {{ border-top: 1px solid var(--line); }}
footer {{ color: var(--soft); font-size: .875rem; }}
</style>
</head>
<body>
<h1>{title}</h1>
{tables}
<div class="plots">
{plots}
</div>
<footer>Made by aucmax {version}.</footer>
</body>
</html>
"""


class Panel(NamedTuple):
    """A plot of a page: its title, what draws it on axes, and its size in inches."""

    title: str
    draw: Callable[[Any], object]
    size: tuple[float, float]


def write_figure(path: Path, figure: Any) -> None:
    """Write a figure as what the name of the file says."""
    file = BytesIO()
    figure.savefig(file, format=path.suffix.lower().lstrip("."), dpi=DPI)
    write_bytes(path, file.getvalue())


def write_page(
    path: Path,
    title: str,
    tables: Sequence[Sequence[Sequence[str]]],
    panels: Sequence[Panel],
) -> None:
    """Write tables and plots into one HTML file.

    The first cell of each row is its heading.
    """
    plots = [_plot(panel, number) for number, panel in enumerate(panels)]
    text = PAGE.format(
        title=html.escape(title),
        tables="\n".join(map(_table, tables)),
        plots="\n".join(plots),
        version=html.escape(__version__),
    )
    write_bytes(path, text.encode())


def _plot(panel: Panel, number: int) -> str:
    title, draw, size = panel
    svg = draw_svg(draw, size=size, name=f"plot-{number}", title=title)
    return f"<section>\n<h2>{html.escape(title)}</h2>\n{svg}\n</section>"


def _table(rows: Sequence[Sequence[str]]) -> str:
    lines = []
    for first, *others in rows:
        cells = "".join(f"<td>{html.escape(cell)}</td>" for cell in others)
        lines.append(f"<tr><th>{html.escape(first)}</th>{cells}</tr>")
    return "<section>\n<table>\n" + "\n".join(lines) + "\n</table>\n</section>"
