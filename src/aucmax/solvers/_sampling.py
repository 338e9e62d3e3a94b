# SPDX-License-Identifier: BSD-3-Clause
"""Choosing rows, without random numbers: the same data give the same fit."""

import numpy as np

from aucmax._utils.typing import BoolArray, FloatArray, IntArray


def draw_rows(
    importance: FloatArray, is_pos: BoolArray, size: int
) -> tuple[IntArray, FloatArray]:
    """Draw about ``size`` rows, half of each class, in proportion to importance.

    Returns their indices and their chances of being drawn. Systematic sampling along
    the rows: no random numbers, so the same data give the same fit. Rows without
    importance are never drawn.
    """
    n_pos = int(np.count_nonzero(importance[is_pos]))
    n_neg = int(np.count_nonzero(importance)) - n_pos
    size_pos = min(n_pos, max(size // 2, size - n_neg))
    chance = np.where(
        is_pos,
        _chances(importance * is_pos, size_pos),
        _chances(importance * ~is_pos, min(n_neg, size - size_pos)),
    )
    ticks = np.floor(np.cumsum(chance) + 0.5)
    index = np.flatnonzero(np.diff(ticks, prepend=0.0) > 0.0)
    return index, chance[index]


def spread_sample(is_pos: BoolArray, weight: FloatArray, size: int) -> IntArray:
    """Return about ``size`` rows that have weight, evenly spread.

    At least a quarter of them is positive, and a quarter negative, where there are so
    many.
    """
    parts = []
    for mask in (is_pos, ~is_pos):
        index = np.flatnonzero(mask & (weight > 0.0))
        share = min(max(len(index) / len(is_pos), 0.25), 0.75)
        step = max(1.0, len(index) / (share * size))
        parts.append(index[np.arange(0.0, len(index), step).astype(np.int64)])
    return np.sort(np.concatenate(parts))


def _chances(importance: FloatArray, size: int) -> FloatArray:
    """Chances proportional to ``importance``, at most one, that sum to ``size``."""
    chance = np.zeros_like(importance)
    if size == 0:
        return chance
    n_certain = 0
    for _ in range(20):
        open_ = chance < 1.0
        total = float(importance[open_].sum())
        if total == 0.0:
            break
        chance[open_] = np.minimum(
            1.0, importance[open_] * ((size - n_certain) / total)
        )
        certain = int(np.count_nonzero(chance >= 1.0))
        if certain == n_certain:
            break
        n_certain = certain
    return chance
