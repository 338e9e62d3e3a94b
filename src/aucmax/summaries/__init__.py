# SPDX-License-Identifier: BSD-3-Clause
"""Mergeable summaries of the rows seen: ``add`` rows, ``merge`` two."""

from aucmax.summaries.class_moments import ClassMoments
from aucmax.summaries.row_sample import RowSample, Slots
from aucmax.summaries.row_spread import RowSpread

__all__ = ["ClassMoments", "RowSample", "RowSpread", "Slots"]
