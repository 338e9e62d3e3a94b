# SPDX-License-Identifier: BSD-3-Clause
"""A few rows of each class that stand for all seen so far."""

from typing import Any

import numpy as np

from aucmax import _kernels
from aucmax._utils.state import expect_count, expect_counts, expect_type
from aucmax._utils.typing import BoolArray, IntArray, Matrix, is_sparse
from aucmax.saved import saved_as
from aucmax.summaries.row_buffer import (
    as_batch,
    check_buffer,
    empty_buffer,
    rows_in,
    with_room,
)


@saved_as("Slots")
class Slots:
    """Where the rows of each class go in two buffers of fixed size.

    A reservoir keeps every row seen so far with the same chance (Vitter's algorithm R):
    row t of its class replaces a random one with chance ``size / t``. One number is
    drawn per row, whatever its class, so any split into batches gives the same slots.

    Parameters
    ----------
    size : int
        Rows kept of each class.
    rng : Generator
        Source of the draws.

    Attributes
    ----------
    n_seen : ndarray of shape (2,)
        Negatives and positives so far.
    """

    def __init__(self, size: int, rng: np.random.Generator) -> None:
        self.size = size
        self.rng = rng
        self.n_seen = np.zeros(2, dtype=np.int64)

    def assign(self, is_pos: BoolArray) -> IntArray:
        """Return the slot of each row in the buffer of its class; -1 if not kept."""
        slots = np.empty(len(is_pos), dtype=np.int64)
        draws = self.rng.random(len(is_pos))
        _kernels.batches.draw_slots(draws, is_pos, self.n_seen, self.size, slots)
        return slots

    def check_state(self) -> None:
        """Raise ValueError unless the arrays of a loaded object fit together."""
        expect_count(self, "size")
        expect_type(self, "rng", np.random.Generator)
        expect_counts(self, "n_seen", (2,))


@saved_as("RowSample")
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
        self.buffer: Any = None  # Slots of KeptRows, from the first rows on.

    @property
    def n_features(self) -> int:
        """Length of a row; zero if none has come yet."""
        return 0 if self.buffer is None else len(self.buffer.work)

    @property
    def is_sparse(self) -> bool | None:
        """Whether rows are CSR; None if none has come yet."""
        return None if self.buffer is None else self.buffer.columns is not None

    def add(self, X: Matrix, is_pos: BoolArray) -> None:
        """Take in more rows; those kept are copied."""
        slots = self.slots.assign(is_pos)
        if self.buffer is None:
            self.buffer = empty_buffer(
                2 * self.slots.size,
                X.shape[1],
                sparse_rows=is_sparse(X),
                dtype=X.dtype,
            )
        if self.slots.size > 0:
            self.buffer = with_room(self.buffer, X)
            _kernels.batches.keep_rows(as_batch(X, is_pos, slots), self.buffer)

    def rows(self) -> tuple[Matrix, BoolArray]:
        """Return the rows kept, and which are positive."""
        n_neg, n_pos = np.minimum(self.slots.n_seen, self.slots.size)
        kept = np.append(np.arange(n_neg), self.slots.size + np.arange(n_pos))
        return rows_in(self.buffer, kept), kept >= self.slots.size

    def check_state(self) -> None:
        """Raise ValueError unless the arrays of a loaded object fit together."""
        expect_type(self, "slots", Slots)
        if self.buffer is not None:
            check_buffer(self, "buffer", 2 * self.slots.size)
