# SPDX-License-Identifier: BSD-3-Clause
"""Scores of all rows so far at many points of a stream, comparing each pair once."""

from collections.abc import Iterator

import numpy as np

from aucmax import _kernels
from aucmax._utils.typing import BoolArray, FloatArray, IntArray, Matrix
from aucmax.neighbors.votes import Count, n_voters


def scores_while_learning(
    rows: Matrix,
    is_pos: BoolArray,
    points: IntArray,
    *,
    k: Count,
    shares_ties: bool,
    counts_itself: bool,
) -> Iterator[FloatArray]:
    """Yield the scores of rows 1 to t by their neighbours among rows 1 to t - 1.

    Parameters
    ----------
    rows : ndarray of shape (n_samples, n_features)
        Dense rows, in the order of the stream.
    is_pos : ndarray of shape (n_samples,)
        Which of them are positive.
    points : ndarray of int
        The values of t, increasing.
    k : str, int or callable
        Number of neighbours, as in `KNNOAM`.
    shares_ties : bool
        Whether rows at the same distance as the k-th nearest share its place; the
        oldest has it otherwise.
    counts_itself : bool
        Whether a learned row is among its own neighbours.

    Yields
    ------
    scores : ndarray of shape (t,)
        Valid until the next ones are asked for.
    """
    n = int(points[-1])
    columns = np.array(rows[:n].T, dtype=np.float64, order="C")
    counts = [n_voters(k, int(t) - 1) for t in points]
    size = max(counts)
    lists = _kernels.neighbor_curve.NeighborLists(
        np.empty((n, size)),
        np.zeros((n, size), dtype=np.bool_),
        np.zeros(n, dtype=np.int64),
        np.zeros((n, 2), dtype=np.int64),
    )
    distances, scores = np.empty((2, n))
    n_stored = 0
    for t, n_voting in zip(points, counts, strict=True):
        _kernels.neighbor_curve.add_rows(
            columns, is_pos, n_stored, t - 1, counts_itself, lists
        )
        n_stored = t - 1
        # Row t is scored, but not learned yet.
        _kernels.neighbor_curve.list_neighbors(columns, is_pos, t - 1, lists, distances)
        _kernels.neighbor_curve.neighbor_shares(
            lists, n_voting, shares_ties, scores[:t]
        )
        yield scores[:t]
