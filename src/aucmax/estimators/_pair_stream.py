# SPDX-License-Identifier: BSD-3-Clause
"""A descent on pairs of rows that come in batches."""

import copy
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aucmax._utils.typing import BoolArray, FloatArray, IntArray
from aucmax.features.nystroem import Nystroem
from aucmax.solvers.pair_sgd import PairSGD, RowBlock

# Rows of each class kept for later batches.
RESERVOIR_ROWS = 512
# How often each new row is paired.
VISITS_PER_ROW = 8


class Reservoir(NamedTuple):
    """A uniform sample of the embedded rows of each class seen so far.

    Attributes
    ----------
    neg, pos : ndarray of shape (n_kept, n_features_out)
        At most 512 rows of each class.
    n_neg, n_pos : int
        Rows they were drawn from.
    """

    neg: NDArray[Any]
    pos: NDArray[Any]
    n_neg: int = 0
    n_pos: int = 0

    @classmethod
    def like(cls, feature_map: Nystroem) -> "Reservoir":
        """Return an empty one."""
        rank = feature_map.normalization_.shape[1]
        none = np.empty((0, rank), feature_map.dtype_)
        return cls(none, none)

    @classmethod
    def of(
        cls, block: RowBlock, n_neg: int, n_pos: int, rng: np.random.Generator
    ) -> "Reservoir":
        """Draw from a block, which is itself a random part of so many rows."""
        parts = []
        for index in (block.neg, block.pos):
            size = min(RESERVOIR_ROWS, len(index))
            parts.append(block.rows[rng.choice(index, size, replace=False)])
        return cls(parts[0], parts[1], n_neg, n_pos)

    def add(
        self, rows: NDArray[Any], is_pos: BoolArray, rng: np.random.Generator
    ) -> "Reservoir":
        """Return the reservoir after some more rows; this one stays as it is."""
        new_neg, new_pos = rows[~is_pos], rows[is_pos]
        return Reservoir(
            _sample(self.neg, self.n_neg, new_neg, rng),
            _sample(self.pos, self.n_pos, new_pos, rng),
            self.n_neg + len(new_neg),
            self.n_pos + len(new_pos),
        )

    def scores(self, coef: FloatArray) -> tuple[FloatArray, BoolArray]:
        """Return the scores of the rows kept, and which of them are positive."""
        rows = np.concatenate([self.neg, self.pos])
        scores: FloatArray = rows @ coef
        return scores, np.arange(len(rows)) >= len(self.neg)


class PairStream(NamedTuple):
    """What the next batch goes on from.

    Attributes
    ----------
    sgd : PairSGD or None
        The descent; None until both classes were seen.
    rng : Generator
        Draws the pairs and the rows to keep.
    reservoir : Reservoir
        Rows for new ones to be paired with.
    """

    sgd: PairSGD | None
    rng: np.random.Generator
    reservoir: Reservoir

    def learn(
        self,
        rows: NDArray[Any],
        is_pos: BoolArray,
        begin: Callable[[RowBlock, np.random.Generator], PairSGD],
    ) -> "PairStream":
        """Return the stream after one more batch; this one stays as it is.

        ``begin(block, rng)`` makes the descent when the first pair is at hand.
        """
        sgd, rng = copy.deepcopy((self.sgd, self.rng))
        kept = self.reservoir
        pool = np.concatenate([kept.neg, kept.pos, rows])
        n_neg, n_kept = len(kept.neg), len(kept.neg) + len(kept.pos)
        new_neg, new_pos = (
            n_kept + np.flatnonzero(~is_pos),
            n_kept + np.flatnonzero(is_pos),
        )
        neg = np.append(np.arange(n_neg), new_neg)
        pos = np.append(np.arange(n_neg, n_kept), new_pos)
        if len(neg) and len(pos):
            if sgd is None:
                sgd = begin(RowBlock(pool, pos, neg), rng)
            sgd.restart_if_doubled()
            # A row that had to wait for the other class counts as new.
            if sgd.n_visits == 0:
                new_neg, new_pos = neg, pos
            sgd.visit(pool, *_draw_pairs(new_neg, new_pos, neg, pos, rng))
            sgd.check()
        return PairStream(sgd, rng, kept.add(rows, is_pos, rng))


def _draw_pairs(
    new_neg: IntArray,
    new_pos: IntArray,
    neg: IntArray,
    pos: IntArray,
    rng: np.random.Generator,
) -> tuple[IntArray, IntArray]:
    """Pair each new row with random ones of the other class, in random order."""
    each_neg = np.repeat(new_neg, VISITS_PER_ROW)
    each_pos = np.repeat(new_pos, VISITS_PER_ROW)
    first = np.append(rng.choice(pos, len(each_neg)), each_pos)
    second = np.append(each_neg, rng.choice(neg, len(each_pos)))
    order = rng.permutation(len(first))
    return first[order], second[order]


def _sample(
    kept: NDArray[Any], n_seen: int, new: NDArray[Any], rng: np.random.Generator
) -> NDArray[Any]:
    """Replace a random one of the rows kept by row t with chance 512 / t."""
    times = n_seen + np.arange(len(new))
    drawn = (rng.random(len(new)) * (times + 1)).astype(np.int64)
    slots = np.where(times < RESERVOIR_ROWS, times, drawn)
    used = slots < RESERVOIR_ROWS
    size = min(n_seen + len(new), RESERVOIR_ROWS)
    result = np.empty((size, new.shape[1]), new.dtype)
    result[: len(kept)] = kept
    result[slots[used]] = new[used]
    return result
