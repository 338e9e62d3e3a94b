# SPDX-License-Identifier: BSD-3-Clause
"""Leaving rows out: by what they hold, or at random.

By what they hold, equal rows land in the same fold, so none is scored by a model that
has seen its copy, and a row of weight two is dealt like two rows. The same data give
the same folds in any order.
"""

import numpy as np

from aucmax import _kernels
from aucmax._utils.typing import BoolArray, FloatArray, IntArray, Matrix


def row_hashes(X: Matrix, seed: int = 0) -> FloatArray:
    """Return one number per row: its projection on a random direction.

    Equal rows get equal numbers, to the last bit; others differ, almost surely.
    """
    direction = np.random.default_rng(seed).normal(size=X.shape[1])
    direction = direction.astype(X.dtype)
    if not isinstance(X, np.ndarray):
        return np.asarray(X @ direction, dtype=np.float64)
    keys = np.empty(X.shape[0])
    _kernels.products.row_scores(X, direction, keys)
    return keys


def deal_rows(
    keys: FloatArray, is_pos: BoolArray, weight: FloatArray, n_folds: int
) -> IntArray:
    """Return the fold of each row, stratified by class; -1 where it has no weight."""
    folds = np.full(len(keys), -1)
    for mask in (is_pos, ~is_pos):
        rows = np.flatnonzero(mask & (weight > 0.0))
        distinct, which = np.unique(keys[rows], return_inverse=True)
        folds[rows] = np.arange(len(distinct))[which] % n_folds
    return folds


def thin_rows(
    keys: FloatArray, is_pos: BoolArray, weight: FloatArray, max_rows: int
) -> IntArray:
    """Return at most about ``max_rows`` rows of positive weight, spread by their keys.

    At least a quarter of them from either class, where it has so many.
    """
    used = np.flatnonzero(weight > 0.0)
    if len(used) <= max_rows:
        return used
    n_pos = int(np.count_nonzero(is_pos[used]))
    share = min(max(n_pos / len(used), 0.25), 0.75)
    room_pos = min(n_pos, round(share * max_rows))
    room_neg = min(len(used) - n_pos, max_rows - room_pos)
    parts = []
    for mask, room in ((is_pos[used], room_pos), (~is_pos[used], room_neg)):
        rows = used[mask]
        rows = rows[np.argsort(keys[rows], kind="stable")]
        spread = np.linspace(0, len(rows), room, endpoint=False).astype(np.int64)
        parts.append(rows[spread])
    return np.sort(np.concatenate(parts))


def hold_out(
    is_pos: BoolArray, fraction: float, max_rows: int, rng: np.random.Generator
) -> tuple[IntArray, IntArray, IntArray]:
    """Return the positives and negatives to train on, and rows of both to leave out.

    None are left out for a fraction of zero, or where a class has one row only.
    """
    fraction = min(fraction, max_rows / is_pos.shape[0])
    kept, held = [], []
    for mask in (is_pos, ~is_pos):
        rows = np.flatnonzero(mask)
        count = max(1, round(fraction * len(rows)))
        chosen = np.zeros(len(rows), dtype=bool)
        chosen[rng.permutation(len(rows))[:count]] = True
        kept.append(rows[~chosen])
        held.append(rows[chosen])
    if fraction == 0.0 or min(map(len, kept)) == 0:
        return np.flatnonzero(is_pos), np.flatnonzero(~is_pos), np.empty(0, np.int64)
    return kept[0], kept[1], np.concatenate(held)
