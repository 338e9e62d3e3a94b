# SPDX-License-Identifier: BSD-3-Clause
"""The nearest rows of every stored row, kept up while rows are added.

Scoring all t rows so far takes t * t distances whenever it is asked for. Here every
pair of rows is compared once in the whole stream, however often scores are read: a new
row enters the lists of those it is near to, which are K of them on average.
"""

import numpy as np

from aucmax._kernels.jit import jit
from aucmax._utils.typing import BoolArray, FloatArray, IntArray

# Rows whose distances are summed at a time, feature by feature: 16 KB.
FEW_ROWS = 2048


@jit
def add_neighbors(
    columns: FloatArray,
    is_pos: BoolArray,
    low: int,
    high: int,
    is_stored: bool,
    with_self: bool,
    distances: FloatArray,
    labels: BoolArray,
    n_near: IntArray,
    beyond: IntArray,
) -> None:
    """List the neighbours of rows among those before, and enter them in their lists.

    Parameters
    ----------
    columns : ndarray of shape (n_features, n)
        All rows of the stream, transposed.
    is_pos : ndarray of shape (n,)
        Their labels.
    low, high : int
        Which rows to add.
    is_stored : bool
        False only lists the neighbours of these rows, as of rows to score.
    with_self : bool
        Whether stored rows are in their own lists.
    distances, labels : ndarray of shape (n, K)
        Squared distances of the K nearest rows of each row, by distance and age, and
        their labels; infinity where there are fewer. Summed in the order of the
        features, so that ties are those of any index.
    n_near : ndarray of shape (n,)
        Lengths of the lists.
    beyond : ndarray of shape (n, 2)
        How many rows tie with the last of a full list without being in it, and how many
        of them are positive.
    """
    n_features = columns.shape[0]
    size = distances.shape[1]
    gaps = np.empty(high)
    for new in range(low, high):
        for start in range(0, new, FEW_ROWS):
            stop = min(start + FEW_ROWS, new)
            for i in range(start, stop):
                gaps[i] = 0.0
            for j in range(n_features):
                column, value = columns[j], columns[j, new]
                for i in range(start, stop):
                    gap = column[i] - value
                    gaps[i] += gap * gap
        gaps[new] = 0.0
        n_near[new] = 0
        beyond[new] = 0
        distances[new] = np.inf
        for old in range(new + 1):
            gap = gaps[old]
            for turn in range(2):
                if turn == 0:
                    if old == new:
                        continue
                    owner, label = new, is_pos[old]
                else:
                    if not is_stored or (old == new and not with_self):
                        continue
                    owner, label = old, is_pos[new]
                last = distances[owner, size - 1]
                if gap > last:
                    continue
                near, votes = distances[owner], labels[owner]
                place = n_near[owner]
                if place == size:
                    if gap == last:
                        beyond[owner, 0] += 1
                        beyond[owner, 1] += label
                        continue
                    # The last goes. It still counts if it ties with the new last.
                    place -= 1
                    if place > 0 and near[place - 1] == last:
                        beyond[owner, 0] += 1
                        beyond[owner, 1] += votes[place]
                    else:
                        beyond[owner, 0] = beyond[owner, 1] = 0
                else:
                    n_near[owner] += 1
                while place > 0 and near[place - 1] > gap:
                    near[place] = near[place - 1]
                    votes[place] = votes[place - 1]
                    place -= 1
                near[place] = gap
                votes[place] = label


@jit
def neighbor_shares(
    distances: FloatArray,
    labels: BoolArray,
    n_near: IntArray,
    beyond: IntArray,
    k: int,
    share_places: bool,
    out: FloatArray,
) -> None:
    """Write the share of positives among the k nearest of the first rows.

    One half where a row has no neighbour. With ``share_places``, all rows that tie at
    the k-th distance share the places left for them; otherwise the oldest have them.
    Counts are integers, divided once: equal shares are equal to the last bit.
    """
    size = distances.shape[1]
    for i in range(len(out)):
        n_used = min(k, n_near[i])
        if n_used == 0:
            out[i] = 0.5
            continue
        near, votes = distances[i], labels[i]
        last = near[n_used - 1]
        first = n_used - 1
        while first > 0 and near[first - 1] == last:
            first -= 1
        n_tied = n_pos_tied = 0
        n_left = n_used - first
        j = first
        while j < n_near[i] and near[j] == last and (share_places or j < n_used):
            n_tied += 1
            n_pos_tied += votes[j]
            j += 1
        if share_places and j == size:
            n_tied += beyond[i, 0]
            n_pos_tied += beyond[i, 1]
        n_pos = 0
        for j in range(first):
            n_pos += votes[j]
        parts = 1
        if n_tied > n_left:
            parts = n_tied
            n_pos_tied *= n_left
        out[i] = (n_pos * parts + n_pos_tied) / (n_used * parts)
