# SPDX-License-Identifier: BSD-3-Clause
"""The figures of a paper: the mean AUC against what was varied."""

import json
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from aucmax._utils.typing import FloatArray
from aucmax_papers.compare import current_protocol, pick_params, pick_version
from aucmax_papers.protocol import Figure, Paper
from aucmax_papers.rows import Row, dump_params


class Line(NamedTuple):
    """One method in a figure.

    Attributes
    ----------
    x : ndarray of shape (n_points,)
        What the axis shows, increasing.
    varied : ndarray of shape (n_points,)
        What was varied; the same unless the axis shows seconds or sizes.
    mean, std : ndarray of shape (n_points,)
        Of the AUC over the runs; divisor n.
    n_runs : int
        The least number of runs at a point.
    is_current : bool
        Whether method and protocol are of the versions of today.
    versions : tuple of str
        Of the libraries.
    """

    x: FloatArray
    varied: FloatArray
    mean: FloatArray
    std: FloatArray
    n_runs: int
    is_current: bool
    versions: tuple[str, ...]


def collect_lines(
    paper: Paper, rows: Sequence[Row], figure: str
) -> dict[str, dict[str, Line]]:
    """Return the lines of a figure, by set and method, as far as there are results.

    Parameters
    ----------
    paper : Paper
        From :func:`load_paper`.
    rows : sequence of Row
        Results of this paper.
    figure : str
        Its number in the paper.

    Returns
    -------
    lines : dict of str to dict of str to Line
        In the order of the paper's file.

    Examples
    --------
    >>> from aucmax_papers.protocol import load_paper
    >>> from aucmax_papers.study import collect_lines
    >>> collect_lines(load_paper("gao2013"), [], "3")
    {}
    """
    if figure not in paper.figures:
        raise ValueError(
            f"{paper.key} has no figure {figure!r}. Choose of: "
            f"{', '.join(paper.figures)}."
        )
    entry = paper.figures[figure]
    mode = "fast" if paper.is_fast else "full"
    groups: dict[tuple[str, str], dict[str, list[Row]]] = {}
    for row in rows:
        if row.stage == f"figure {figure}" and row.mode == mode:
            variants = groups.setdefault((row.set, row.method), {})
            variants.setdefault(row.variant, []).append(row)
    lines: dict[str, dict[str, Line]] = {}
    for name in entry.sets:
        for method in entry.methods:
            variants = groups.get((name, method), {})
            version = paper.methods[method].results_version
            for variant in paper.methods[method].variants:
                protocol = current_protocol(
                    paper.sets[name], paper.methods[method], entry
                )
                its = variants.get(variant, ())
                line = _line(*pick_version(its, version, protocol), entry)
                if line is not None:
                    lines.setdefault(name, {})[method] = line
                    break
    return lines


def _line(rows: list[Row], is_current: bool, figure: Figure) -> Line | None:
    # Of what was tuned twice, only one: the rest of the parameters does not vary.
    rows = pick_params(rows, lambda row: _without(row.params, figure.vary))
    axis = figure.x
    by_x: dict[float, list[Row]] = {}
    for row in rows:
        if not row.error or np.isfinite(row.auc):
            by_x.setdefault(row.x, []).append(row)
    # The first rows of a stream may be of one class, in some orders of them.
    points = [
        point for point in by_x.values() if all(np.isfinite(row.auc) for row in point)
    ]
    if not points:
        return None
    points.sort(key=lambda point: _place(point, axis))
    aucs = [[row.auc for row in point] for point in points]
    return Line(
        np.array([_place(point, axis) for point in points]),
        np.array([point[0].x for point in points]),
        np.array([np.mean(values) for values in aucs]),
        np.array([np.std(values) for values in aucs]),
        min(len(values) for values in aucs),
        is_current,
        tuple(sorted({row.versions for row in rows})),
    )


def _without(params: str, name: str) -> str:
    rest = json.loads(params)
    rest.pop(name, None)
    return dump_params(rest)


def _place(point: Sequence[Row], axis: str) -> float:
    """Return where on the axis a point is."""
    if axis == "seconds":
        return float(np.mean([row.seconds for row in point]))
    if axis == "size":
        return float(np.mean([row.size for row in point]))
    return point[0].x
