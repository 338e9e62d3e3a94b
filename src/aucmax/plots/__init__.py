# SPDX-License-Identifier: BSD-3-Clause
"""Plots in the manner of scikit-learn's displays; they need matplotlib."""

from aucmax.plots.boxes import BoxDisplay
from aucmax.plots.curve import CurveDisplay
from aucmax.plots.differences import RankDisplay
from aucmax.plots.stream import StreamDisplay
from aucmax.plots.study import StudyDisplay
from aucmax.plots.svg import draw_svg

__all__ = [
    "BoxDisplay",
    "CurveDisplay",
    "RankDisplay",
    "StreamDisplay",
    "StudyDisplay",
    "draw_svg",
]
