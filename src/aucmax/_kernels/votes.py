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

    Equal shares are equal to the last bit unless rows weigh differently: both counts
    are integers, and are divided once.

    Parameters
    ----------
    indptr, ids, distances : ndarray
        As in ``Neighbors``: by distance, with all that tie at the k-th.
    is_pos : ndarray
        Which of the stored rows are positive.
    k : int
        Rows that count.
    share_places : bool
        Whether all that tie at the k-th distance share the places left for them;
        otherwise the first have them.
    by_distance : bool
        Weigh rows by one over their distance; those at distance zero then count alone.
    out : ndarray of shape (n_queries,)
        The shares.
    """
    for query in range(len(out)):
        low, high = indptr[query], indptr[query + 1]
        n_used = min(k, high - low)
        nearest, last = distances[low], distances[low + n_used - 1]
        # Rows from here on tie; ``n_left`` places are for them.
        first_tied = low + n_used - 1
        while first_tied > low and distances[first_tied - 1] == last:
            first_tied -= 1
        n_tied, n_left = high - first_tied, n_used - (first_tied - low)

        n_pos_tied, parts = 0, 1
        if share_places and n_tied > n_left:
            parts = n_tied
            for j in range(first_tied, high):
                n_pos_tied += n_left * is_pos[ids[j]]
        else:
            for j in range(first_tied, first_tied + n_left):
                n_pos_tied += is_pos[ids[j]]

        if not by_distance or last == nearest:
            n_pos = 0
            for j in range(low, first_tied):
                n_pos += is_pos[ids[j]]
            out[query] = (n_pos * parts + n_pos_tied) / (n_used * parts)
            continue
        # Relative to the nearest row: no weight overflows, and at zero others have
        # none.
        weight = np.sqrt(nearest / last)
        mass, mass_pos = weight * n_left, weight * (n_pos_tied / parts)
        for j in range(first_tied - 1, low - 1, -1):
            weight = 1.0
            if distances[j] > nearest:
                weight = np.sqrt(nearest / distances[j])
            mass += weight
            mass_pos += weight * is_pos[ids[j]]
        out[query] = mass_pos / mass
