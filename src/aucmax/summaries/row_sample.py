# SPDX-License-Identifier: BSD-3-Clause
"""A few rows of each class that stand for all seen so far."""

from typing import Any, Literal

import numpy as np
from scipy import sparse

from aucmax._utils.typing import BoolArray, IntArray, Matrix, is_sparse

Policy = Literal["reservoir", "fifo"]


class Slots:
    """Where the rows of each class go in two buffers of fixed size.

    "reservoir" keeps every row seen so far with the same chance (Vitter's algorithm R):
    row t of its class replaces a random one with chance ``size / t``. "fifo" keeps the
    latest. The reservoir draws one number per row, whatever its class, so any split of
    the rows into batches gives the same slots.

    Parameters
    ----------
    size : int
        Rows kept of each class.
    rng : Generator
        Source of the draws.
    policy : {"reservoir", "fifo"}, default="reservoir"
        Which rows are kept.

    Attributes
    ----------
    n_seen : ndarray of shape (2,)
        Negatives and positives so far.
    """

    def __init__(
        self, size: int, rng: np.random.Generator, policy: Policy = "reservoir"
    ) -> None:
        self.size = size
        self.rng = rng
        self.policy = policy
        self.n_seen = np.zeros(2, dtype=np.int64)

    def assign(self, is_pos: BoolArray) -> IntArray:
        """Return the slot of each row in the buffer of its class; -1 if not kept."""
        n_pos = np.cumsum(is_pos)
        n_neg = np.arange(1, len(is_pos) + 1) - n_pos
        # Which row of its class each one is, from zero.
        rank = np.where(is_pos, n_pos + self.n_seen[1], n_neg + self.n_seen[0]) - 1
        slots: IntArray
        if self.policy == "fifo":
            slots = rank % self.size
        else:
            drawn = (self.rng.random(len(is_pos)) * (rank + 1)).astype(np.int64)
            slots = np.where(rank < self.size, rank, drawn)
            slots[slots >= self.size] = -1
        if len(is_pos):
            self.n_seen += (n_neg[-1], n_pos[-1])
        return slots


class RowSample:
    """A uniform sample of the rows of each class, dense or CSR.

    Parameters
    ----------
    size : int
        Rows kept of each class.
    rng : Generator
        Source of the draws.
    """

    def __init__(self, size: int, rng: np.random.Generator) -> None:
        self.slots = Slots(size, rng)
        self._rows: tuple[list[Any], list[Any]] = ([], [])

    def add(self, X: Matrix, is_pos: BoolArray) -> None:
        """Take in more rows; those kept are copied."""
        slots = self.slots.assign(is_pos)
        for i in np.flatnonzero(slots >= 0):
            rows = self._rows[int(is_pos[i])]
            row = X[i : i + 1].copy()
            if slots[i] < len(rows):
                rows[slots[i]] = row
            else:
                rows.append(row)

    def rows(self) -> tuple[Matrix, BoolArray]:
        """Return the rows kept, and which are positive."""
        neg, pos = self._rows
        kept = [*neg, *pos]
        X = sparse.vstack(kept, "csr") if is_sparse(kept[0]) else np.concatenate(kept)
        return X, np.arange(len(kept)) >= len(neg)
