# SPDX-License-Identifier: BSD-3-Clause
"""Plots in the manner of scikit-learn's displays; they need matplotlib."""

from aucmax.plots.boxes import BoxDisplay
from aucmax.plots.curve import CurveDisplay
from aucmax.plots.differences import RankDisplay
from aucmax.plots.path import PathDisplay
from aucmax.plots.roc import RocDisplay, RocModel
from aucmax.plots.scores import ScoreDisplay
from aucmax.plots.stream import StreamDisplay
from aucmax.plots.study import StudyDisplay
from aucmax.plots.svg import draw_svg
from aucmax.plots.threshold import ThresholdDisplay

__all__ = [
    "BoxDisplay",
    "CurveDisplay",
    "PathDisplay",
    "RankDisplay",
    "RocDisplay",
    "RocModel",
    "ScoreDisplay",
    "StreamDisplay",
    "StudyDisplay",
    "ThresholdDisplay",
    "draw_svg",
]
