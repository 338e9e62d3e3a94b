# SPDX-License-Identifier: BSD-3-Clause
"""Mergeable summaries of the rows seen: ``add`` rows, ``merge`` two."""

from aucmax.summaries.class_moments import ClassMoments

__all__ = ["ClassMoments"]
