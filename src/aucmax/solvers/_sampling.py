# SPDX-License-Identifier: BSD-3-Clause
"""Choosing rows, without random numbers: the same data give the same fit."""

import numpy as np
from numpy.typing import NDArray

from aucmax._utils.typing import BoolArray, FloatArray, IntArray


def draw_rows(
    importance: NDArray[np.float32], is_pos: BoolArray, size: int
) -> tuple[IntArray, FloatArray]:
    """Draw about ``size`` rows, half of each class, in proportion to importance.

    Returns their indices and their chances of being drawn. Systematic sampling along
    the rows; rows without importance are never drawn, and room that one class does not
    need goes to the other.
    """
    pos = np.flatnonzero(is_pos & (importance > 0.0))
    neg = np.flatnonzero(~is_pos & (importance > 0.0))
    size_pos = min(len(pos), max(size // 2, size - len(neg)))
    drawn_pos = _draw(pos, importance, size_pos)
    drawn_neg = _draw(neg, importance, size - size_pos)
    index = np.concatenate([drawn_pos[0], drawn_neg[0]])
    chance = np.concatenate([drawn_pos[1], drawn_neg[1]])
    order = np.argsort(index)
    return index[order], chance[order]


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


def _draw(
    index: IntArray, importance: NDArray[np.float32], size: int
) -> tuple[IntArray, FloatArray]:
    """Draw ``size`` of the rows in ``index``, or take them all."""
    if len(index) <= size:
        return index, np.ones(len(index))
    chance = _chances(importance[index], size)
    ticks = np.floor(np.cumsum(chance, dtype=np.float64) + 0.5)
    chosen = np.flatnonzero(np.diff(ticks, prepend=0.0) > 0.0)
    return index[chosen], chance[chosen].astype(np.float64)


def _chances(importance: NDArray[np.float32], size: int) -> NDArray[np.float32]:
    """Chances proportional to ``importance``, at most one, that sum to ``size``."""
    chance = np.zeros_like(importance)
    n_certain = 0
    for _ in range(20):
        still = chance < 1.0
        total = float(importance[still].sum(dtype=np.float64))
        if total == 0.0:
            break
        scaled = importance[still] * np.float32((size - n_certain) / total)
        chance[still] = np.minimum(scaled, 1.0)
        certain = int(np.count_nonzero(chance >= 1.0))
        if certain == n_certain:
            break
        n_certain = certain
    return chance
