# SPDX-License-Identifier: BSD-3-Clause
"""From the nearest rows to scores: how many count, and which where distances tie."""

from collections.abc import Callable
from numbers import Real
from typing import Literal, TypeAlias

import numpy as np

from aucmax import _kernels
from aucmax._utils.typing import BoolArray, FloatArray, IntArray
from aucmax.neighbors.index import Neighbors

Count: TypeAlias = str | int | Callable[[int], float]
Ties: TypeAlias = Literal["average", "random", "index"]

NO_MARKS: FloatArray = np.zeros(0)


def n_voters(k: Count, n_rows: int) -> int:
    """Return how many of ``n_rows`` rows count, at least one; ``k`` is KNNOAM's."""
    wanted: float
    if isinstance(k, str):
        # floor(log2(n^2)), without a logarithm that could be rounded down to 29.999.
        wanted = (n_rows * n_rows).bit_length() - 1
    elif callable(k):
        wanted = k(n_rows)
        # NaN is not at least zero.
        if not isinstance(wanted, Real) or not wanted >= 0:
            raise ValueError(
                f"k({n_rows}) is {wanted!r}, but the number of neighbours is needed. "
                "Let the function return a number for every number of rows from 1 on."
            )
    else:
        wanted = k
    return int(max(1, min(wanted, n_rows)))


def vote(
    neighbors: Neighbors,
    is_pos: BoolArray,
    k: int,
    *,
    ties: Ties,
    by_distance: bool,
    marks: FloatArray = NO_MARKS,
    mark: float = 0.0,
) -> FloatArray:
    """Return the share of positives among the k nearest rows of each query.

    The places that rows at the k-th distance compete for are shared by all of them
    ("average"), or go to the oldest ("index"), or to those whose number in ``marks`` is
    nearest to ``mark``, which all queries share ("random"). With ``by_distance``, rows
    weigh one over their distance; those at distance zero then count alone.
    """
    ids = neighbors.ids
    if ties == "random":
        ids = _by_mark(neighbors, np.abs(marks[ids] - mark), k)
    out = np.empty(len(neighbors.indptr) - 1)
    _kernels.votes.mean_labels(
        neighbors.indptr,
        ids,
        neighbors.distances,
        is_pos,
        k,
        ties == "average",
        by_distance,
        out,
    )
    return out


def _by_mark(neighbors: Neighbors, gaps: FloatArray, k: int) -> IntArray:
    """Return the rows by distance and, where that is equal, by gap, then by age."""
    n_found = np.diff(neighbors.indptr)
    # All found count, unless some tie with the k-th.
    crowded = np.repeat(n_found > k, n_found).nonzero()[0]
    query = np.repeat(np.arange(len(n_found)), n_found)[crowded]
    keys = gaps[crowded], neighbors.distances[crowded], query
    ids = neighbors.ids.copy()
    ids[crowded] = ids[crowded[np.lexsort(keys)]]
    return ids
