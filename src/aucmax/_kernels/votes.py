# SPDX-License-Identifier: BSD-3-Clause
"""The mean label of the nearest rows."""

import numpy as np

from aucmax._kernels.jit import jit
from aucmax._utils.typing import BoolArray, FloatArray, IntArray


@jit
def mean_labels(
    indptr: IntArray,
    ids: IntArray,
    distances: FloatArray,
    is_pos: BoolArray,
    k: int,
    share_places: bool,
    by_distance: bool,
    out: FloatArray,
) -> None:
    """Write the share of positives among the k nearest rows of each query.

    ``indptr``, ``ids`` and ``distances`` are those of ``Neighbors``. With
    ``share_places``, all that tie at the k-th distance share the places left for them;
    otherwise the first have them. With ``by_distance``, rows weigh one over their
    distance; those at distance zero then count alone.
    """
    for query in range(len(out)):
        low, high = indptr[query], indptr[query + 1]
        near, is_near_pos = distances[low:high], is_pos[ids[low:high]]
        n_used = min(k, high - low)
        n_closer = count_closer(near, n_used)
        n_left = n_used - n_closer
        n_tied = len(near) - n_closer if share_places else n_left
        n_pos_closer = int(np.sum(is_near_pos[:n_closer]))
        n_pos_tied = int(np.sum(is_near_pos[n_closer : n_closer + n_tied]))
        if by_distance and n_closer > 0 and near[0] < near[n_closer]:
            pos_tied = n_left * n_pos_tied / n_tied
            out[query] = weighted_share(near, is_near_pos, n_closer, n_left, pos_tied)
        else:
            out[query] = share(n_pos_closer, n_pos_tied, n_tied, n_left, n_used)


@jit
def count_closer(distances: FloatArray, n_used: int) -> int:
    """Return how many rows are nearer than the last of those used."""
    n_closer = n_used - 1
    while n_closer > 0 and distances[n_closer - 1] == distances[n_used - 1]:
        n_closer -= 1
    return n_closer


@jit
def share(
    n_pos_closer: int, n_pos_tied: int, n_tied: int, n_left: int, n_used: int
) -> float:
    """Return the share of positives where tied rows share the places left for them.

    Equal shares are equal to the last bit: both counts are integers, and are divided
    once.
    """
    return (n_pos_closer * n_tied + n_left * n_pos_tied) / (n_used * n_tied)


@jit
def weighted_share(
    distances: FloatArray,
    is_pos: BoolArray,
    n_closer: int,
    n_left: int,
    pos_tied: float,
) -> float:
    """Return the share of positives if rows weigh one over their distance.

    Relative to the nearest row: no weight overflows, and at zero others have none.
    ``n_left`` rows are at the last distance, ``pos_tied`` of them positive.
    """
    nearest = distances[0]
    weight = np.sqrt(nearest / distances[n_closer])
    mass, mass_pos = weight * n_left, weight * pos_tied
    for j in range(n_closer - 1, -1, -1):
        weight = np.sqrt(nearest / distances[j]) if distances[j] > nearest else 1.0
        mass += weight
        mass_pos += weight * is_pos[j]
    return float(mass_pos / mass)
