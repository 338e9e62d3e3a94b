# SPDX-License-Identifier: BSD-3-Clause
"""Plots in the manner of scikit-learn's displays; they need matplotlib."""

from aucmax.plots.curve import CurveDisplay
from aucmax.plots.stream import StreamDisplay

__all__ = ["CurveDisplay", "StreamDisplay"]
