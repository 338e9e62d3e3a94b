# SPDX-License-Identifier: BSD-3-Clause
"""A descent on pairs of rows that come in batches."""

import copy
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aucmax._utils.state import FLOATS, expect, expect_array, expect_type
from aucmax._utils.typing import BoolArray, FloatArray, IntArray
from aucmax.features.nystroem import Nystroem
from aucmax.solvers.pair_sgd import PairSGD, RowBlock
from aucmax.summaries import Slots

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
    slots : Slots
        Where further rows go.
    """

    neg: NDArray[Any]
    pos: NDArray[Any]
    slots: Slots

    @classmethod
    def like(cls, feature_map: Nystroem, rng: np.random.Generator) -> "Reservoir":
        """Return an empty one."""
        rank = feature_map.normalization_.shape[1]
        none = np.empty((0, rank), feature_map.dtype_)
        return cls(none, none, Slots(RESERVOIR_ROWS, rng.spawn(1)[0]))

    @classmethod
    def of(
        cls, block: RowBlock, n_neg: int, n_pos: int, rng: np.random.Generator
    ) -> "Reservoir":
        """Draw from a block, which is itself a random part of so many rows."""
        parts = []
        for index in (block.neg, block.pos):
            size = min(RESERVOIR_ROWS, len(index))
            parts.append(block.rows[rng.choice(index, size, replace=False)])
        slots = Slots(RESERVOIR_ROWS, rng.spawn(1)[0])
        # Where the block had too few of a class, the next rows fill what is free.
        slots.n_seen[:] = [
            n if len(part) == RESERVOIR_ROWS else len(part)
            for n, part in zip((n_neg, n_pos), parts, strict=True)
        ]
        return cls(parts[0], parts[1], slots)

    def add(self, rows: NDArray[Any], is_pos: BoolArray) -> "Reservoir":
        """Return the reservoir after some more rows; this one stays as it is."""
        slots = copy.deepcopy(self.slots)
        places = slots.assign(is_pos)
        return Reservoir(
            _place(self.neg, rows[~is_pos], places[~is_pos]),
            _place(self.pos, rows[is_pos], places[is_pos]),
            slots,
        )

    def scores(self, coef: FloatArray) -> tuple[FloatArray, BoolArray]:
        """Return the scores of the rows kept, and which of them are positive."""
        rows = np.concatenate([self.neg, self.pos])
        scores: FloatArray = rows @ coef
        return scores, np.arange(len(rows)) >= len(self.neg)

    def check_state(self) -> None:
        """Raise ValueError unless the arrays of a loaded object fit together."""
        slots = expect_type(self, "slots", Slots)
        neg = expect_array(self, "neg", (None, None), FLOATS)
        pos = expect_array(self, "pos", (None, neg.shape[1]), FLOATS)
        n_kept = np.minimum(slots.n_seen, RESERVOIR_ROWS)
        fits = slots.size == RESERVOIR_ROWS and ((len(neg), len(pos)) <= n_kept).all()
        expect(fits, self, "it keeps other rows than it has seen")


class PairStream(NamedTuple):
    """What the next batch goes on from.

    Attributes
    ----------
    sgd : PairSGD or None
        The descent; None until both classes were seen.
    rng : Generator
        Draws the pairs.
    reservoir : Reservoir
        Rows for new ones to be paired with.
    """

    sgd: PairSGD | None
    rng: np.random.Generator
    reservoir: Reservoir

    @property
    def n_features(self) -> int:
        """Length of an embedded row."""
        return int(self.reservoir.neg.shape[1])

    def check_state(self) -> None:
        """Raise ValueError unless the arrays of a loaded object fit together."""
        expect_type(self, "rng", np.random.Generator)
        expect_type(self, "reservoir", Reservoir)
        if self.sgd is not None:
            sgd = expect_type(self, "sgd", PairSGD)
            expect(
                sgd.n_features == self.n_features, self, "its rows have other lengths"
            )

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
        return PairStream(sgd, rng, kept.add(rows, is_pos))


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


def _place(kept: NDArray[Any], new: NDArray[Any], places: IntArray) -> NDArray[Any]:
    """Return the rows kept with new ones in their places; -1 is none."""
    is_used = places >= 0
    size = max(len(kept), int(places.max(initial=-1)) + 1)
    result = np.empty((size, new.shape[1]), new.dtype)
    result[: len(kept)] = kept
    result[places[is_used]] = new[is_used]
    return result
