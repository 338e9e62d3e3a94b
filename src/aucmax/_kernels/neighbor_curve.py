# SPDX-License-Identifier: BSD-3-Clause
"""The nearest rows of every stored row, kept up while rows are added.

Scoring all t rows so far takes t * t distances whenever it is asked for. Here every
pair of rows is compared once in the whole stream, however often scores are read: a new
row enters the lists of those it is near to, which are K of them on average.
"""

from typing import NamedTuple

import numpy as np

from aucmax._kernels.jit import jit
from aucmax._kernels.votes import count_closer, share
from aucmax._utils.typing import BoolArray, FloatArray, IntArray


class NeighborLists(NamedTuple):
    """The K nearest rows of each row, by distance and age.

    Attributes
    ----------
    distances, is_pos : ndarray of shape (n, K)
        Squared distances and labels; infinity where there are fewer. Distances are
        summed in the order of the features, so that ties are those of any index.
    counts : ndarray of shape (n,)
        Lengths of the lists.
    n_beyond : ndarray of shape (n, 2)
        How many rows tie with the last of a full list without being in it, and how many
        of them are positive.
    """

    distances: FloatArray
    is_pos: BoolArray
    counts: IntArray
    n_beyond: IntArray


@jit
def list_neighbors(
    columns: FloatArray,
    is_pos: BoolArray,
    new: int,
    lists: NeighborLists,
    distances: FloatArray,
) -> None:
    """List the neighbours of row ``new`` among the rows before.

    ``columns`` are all rows of the stream, transposed; ``distances`` receives those to
    the rows before.
    """
    distances[:new] = 0.0
    for j in range(columns.shape[0]):
        column, value = columns[j], columns[j, new]
        for i in range(new):
            distances[i] += (column[i] - value) ** 2
    lists.counts[new] = 0
    lists.n_beyond[new] = 0
    lists.distances[new] = np.inf
    # Asked here and not in ``enter``: a call for each row takes 15 times as long.
    for old in range(new):
        if distances[old] <= lists.distances[new, -1]:
            enter(lists, new, distances[old], is_pos[old])


@jit
def add_rows(
    columns: FloatArray,
    is_pos: BoolArray,
    low: int,
    high: int,
    with_self: bool,
    lists: NeighborLists,
) -> None:
    """List the neighbours of rows among those before, and enter them in their lists.

    With ``with_self``, rows are in their own lists too.
    """
    distances = np.empty(high)
    for new in range(low, high):
        list_neighbors(columns, is_pos, new, lists, distances)
        for old in range(new):
            if distances[old] <= lists.distances[old, -1]:
                enter(lists, old, distances[old], is_pos[new])
        if with_self:
            enter(lists, new, 0.0, is_pos[new])


@jit
def enter(lists: NeighborLists, owner: int, distance: float, is_pos: bool) -> None:
    """Enter a row in the list of another, no farther than its last row."""
    distances, labels = lists.distances[owner], lists.is_pos[owner]
    n_beyond = lists.n_beyond[owner]
    last, place = distances[-1], lists.counts[owner]
    if place < len(distances):
        lists.counts[owner] += 1
    elif distance == last:
        n_beyond[0] += 1
        n_beyond[1] += is_pos
        return
    else:
        # The last row goes. It still counts if it ties with the new last one.
        place -= 1
        if place > 0 and distances[place - 1] == last:
            n_beyond[0] += 1
            n_beyond[1] += labels[place]
        else:
            n_beyond[:] = 0
    while place > 0 and distances[place - 1] > distance:
        distances[place] = distances[place - 1]
        labels[place] = labels[place - 1]
        place -= 1
    distances[place] = distance
    labels[place] = is_pos


@jit
def neighbor_shares(
    lists: NeighborLists, k: int, share_places: bool, out: FloatArray
) -> None:
    """Write the share of positives among the k nearest of the first rows.

    One half where a row has no neighbour. With ``share_places``, all rows that tie at
    the k-th distance share the places left for them; otherwise the oldest have them.
    """
    for i in range(len(out)):
        n_used = min(k, lists.counts[i])
        if n_used == 0:
            out[i] = 0.5
            continue
        distances, is_pos = lists.distances[i], lists.is_pos[i]
        n_closer = count_closer(distances, n_used)
        end = n_used
        while (
            share_places
            and end < lists.counts[i]
            and distances[end] == distances[n_closer]
        ):
            end += 1
        n_tied, n_pos_tied = end - n_closer, np.sum(is_pos[n_closer:end])
        if share_places and end == len(distances):
            n_tied += lists.n_beyond[i, 0]
            n_pos_tied += lists.n_beyond[i, 1]
        n_pos_closer = np.sum(is_pos[:n_closer])
        out[i] = share(n_pos_closer, n_pos_tied, n_tied, n_used - n_closer, n_used)
