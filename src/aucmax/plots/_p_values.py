# SPDX-License-Identifier: BSD-3-Clause
"""A small table of tests between models, under the axes."""

from collections.abc import Mapping, Sequence
from typing import Any

from aucmax._utils.optional import import_optional
from aucmax.metrics.delong import AUCTest
from aucmax.plots._axes import text_color, text_size

# Distance from the axes, with room for the numbers and the label, in points.
DROP = 42.0
MINUS = "\u2212"
# Marks the table among what is drawn.
TABLE = "aucmax-table"


def write_p_values(
    ax: Any, tests: Mapping[tuple[str, str], AUCTest], colors: Mapping[str, Any]
) -> Any:
    """Write the p-values below the axes and return the artist.

    Two models have one line; of more, each row compares one with those before it.
    """
    names = list(colors)
    if len(names) == 2:
        box = _write_line(
            names, tests[names[0], names[1]], text_color(ax), text_size(ax)
        )
    else:
        box = _write_table(names, tests, colors, text_color(ax), text_size(ax))
    offsets = import_optional("matplotlib.offsetbox", "plot")
    transforms = import_optional("matplotlib.transforms", "plot")
    down = transforms.ScaledTranslation(0.0, -DROP / 72, ax.figure.dpi_scale_trans)
    anchored = offsets.AnchoredOffsetbox(
        "upper center", child=box, frameon=False, pad=0.2, borderpad=0.0,
        bbox_to_anchor=(0.5, 0.0), bbox_transform=ax.transAxes + down,
    )  # fmt: skip
    anchored.set(clip_on=False, gid=TABLE)
    # That of an earlier display on the same axes would lie under it.
    for artist in [artist for artist in ax.artists if artist.get_gid() == TABLE]:
        artist.remove()
    return ax.add_artist(anchored)


def format_p(p_value: float) -> str:
    """Return a p-value as it is printed."""
    return "<0.001" if p_value < 0.001 else f"{p_value:.3f}"


def _write_line(names: Sequence[str], test: AUCTest, color: Any, size: float) -> Any:
    p_value = format_p(test.p_value)
    difference = f"{test.difference:+.3f}".replace("-", MINUS)
    words = (
        f"{names[0]} {MINUS} {names[1]}: AUC {difference}\n"
        f"p {p_value if p_value[0] == '<' else f'= {p_value}'} (paired DeLong test)"
    )
    return _text(words, color, size)


def _write_table(
    names: Sequence[str],
    tests: Mapping[tuple[str, str], AUCTest],
    colors: Mapping[str, Any],
    color: Any,
    size: float,
) -> Any:
    offsets = import_optional("matplotlib.offsetbox", "plot")
    # Numbers head the columns: names would not fit.
    first = [_text("p of equal AUC (DeLong)", color, size)]
    first += [
        _text(f"{i}  {name}", colors[name], size) for i, name in enumerate(names, 1)
    ]
    columns = [_stack(first, "left")]
    for j, other in enumerate(names[:-1]):
        cells = [_text(f"{j + 1}", colors[other], size)]
        for i, name in enumerate(names):
            shown = format_p(tests[other, name].p_value) if i > j else " "
            cells.append(_text(shown, color, size))
        columns.append(_stack(cells, "right"))
    return offsets.HPacker(children=columns, sep=size, pad=0, align="top")


def _stack(cells: list[Any], align: str) -> Any:
    offsets = import_optional("matplotlib.offsetbox", "plot")
    return offsets.VPacker(children=cells, sep=2.5, pad=0, align=align)


def _text(words: str, color: Any, size: float) -> Any:
    offsets = import_optional("matplotlib.offsetbox", "plot")
    look = {"size": size, "color": color, "multialignment": "center"}
    return offsets.TextArea(words, textprops=look)
