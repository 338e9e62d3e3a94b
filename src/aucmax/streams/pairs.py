# SPDX-License-Identifier: BSD-3-Clause
"""Steps on pairs of rows that come in batches."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucmax._utils.state import expect, expect_type
from aucmax._utils.typing import BoolArray, IntArray
from aucmax.saved import saved_as
from aucmax.solvers.pair_sgd import PairSGD, RowBlock
from aucmax.summaries import RowSample

# Rows of each class kept for later batches.
SAMPLE_ROWS = 512
# How often each new row is paired.
VISITS_PER_ROW = 8


@saved_as("PairStream")
class PairStream:
    """What the next batch of embedded rows goes on from.

    ``sgd``, the descent, is None until both classes were seen; ``rng`` draws the pairs;
    ``sample`` holds rows for new ones to be paired with.
    """

    def __init__(
        self, sgd: PairSGD | None, rng: np.random.Generator, sample: RowSample
    ) -> None:
        self.sgd = sgd
        self.rng = rng
        self.sample = sample

    @property
    def n_features(self) -> int:
        """Length of an embedded row."""
        return self.sample.n_features

    def learn(
        self,
        rows: NDArray[Any],
        is_pos: BoolArray,
        begin: Callable[[RowBlock, np.random.Generator], PairSGD],
    ) -> None:
        """Learn one more batch.

        ``begin(block, rng)`` makes the descent when the first pair is at hand.
        """
        kept, kept_is_pos = self.sample.rows()
        pool = np.concatenate([kept, rows])
        is_pos_all = np.append(kept_is_pos, is_pos)
        neg, pos = np.flatnonzero(~is_pos_all), np.flatnonzero(is_pos_all)
        if len(neg) and len(pos):
            if self.sgd is None:
                self.sgd = begin(RowBlock(pool, pos, neg), self.rng)
            self.sgd.restart_if_doubled()
            # A row that had to wait for the other class counts as new.
            n_old = len(kept) if self.sgd.n_visits else 0
            self.sgd.visit(pool, *_draw_pairs(neg, pos, n_old, self.rng))
            self.sgd.check()
        self.sample.add(rows, is_pos)

    def check_state(self) -> None:
        """Raise ValueError unless the arrays of a loaded object fit together."""
        expect_type(self, "rng", np.random.Generator)
        sample = expect_type(self, "sample", RowSample)
        fits = sample.slots.size == SAMPLE_ROWS and sample.is_sparse is False
        expect(fits, self, "it keeps another sample")
        if self.sgd is not None:
            sgd = expect_type(self, "sgd", PairSGD)
            expect(
                sgd.n_features == self.n_features, self, "its rows have other lengths"
            )


def empty_sample(rows: NDArray[Any], rng: np.random.Generator) -> RowSample:
    """Return a sample for rows like these that has seen none yet."""
    sample = RowSample(SAMPLE_ROWS, rng.spawn(1)[0])
    sample.add(rows[:0], np.empty(0, dtype=bool))
    return sample


def sample_block(
    block: RowBlock, n_neg: int, n_pos: int, rng: np.random.Generator
) -> RowSample:
    """Return a sample of a block, which is itself a random part of so many rows."""
    sample = empty_sample(block.rows, rng)
    for own, (index, n_rows) in enumerate(((block.neg, n_neg), (block.pos, n_pos))):
        size = min(SAMPLE_ROWS, len(index))
        drawn = rng.choice(index, size, replace=False)
        sample.add(block.rows[drawn], np.full(size, bool(own)))
        # Where the block had too few of a class, the next rows fill what is free.
        if size == SAMPLE_ROWS:
            sample.slots.n_seen[own] = n_rows
    return sample


def _draw_pairs(
    neg: IntArray, pos: IntArray, n_old: int, rng: np.random.Generator
) -> tuple[IntArray, IntArray]:
    """Pair each row but the first ``n_old`` with random ones of the other class."""
    each_neg = np.repeat(neg[neg >= n_old], VISITS_PER_ROW)
    each_pos = np.repeat(pos[pos >= n_old], VISITS_PER_ROW)
    first = np.append(rng.choice(pos, len(each_neg)), each_pos)
    second = np.append(each_neg, rng.choice(neg, len(each_pos)))
    order = rng.permutation(len(first))
    return first[order], second[order]
