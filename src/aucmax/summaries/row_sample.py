# SPDX-License-Identifier: BSD-3-Clause
"""A few rows of each class that stand for all seen so far."""

from typing import Any

import numpy as np
from scipy import sparse

from aucmax import _kernels
from aucmax._utils.state import (
    FLOATS,
    expect,
    expect_between,
    expect_count,
    expect_counts,
    expect_type,
    expect_values,
)
from aucmax._utils.typing import BoolArray, IntArray, Matrix, is_sparse
from aucmax.saved import saved_as


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
        # One array per class, or for CSR rows a list of their values and columns: a
        # slice of a CSR matrix takes as long as copying thousands of values.
        self._rows: list[Any] = [None, None]
        self._n_features = 0

    @property
    def n_features(self) -> int:
        """Length of a row; zero if none has come yet."""
        return self._n_features

    @property
    def is_sparse(self) -> bool | None:
        """Whether rows are CSR; None if none is kept."""
        kinds = {isinstance(rows, list) for rows in self._rows if rows is not None}
        return kinds.pop() if len(kinds) == 1 else None

    def add(self, X: Matrix, is_pos: BoolArray) -> None:
        """Take in more rows; those kept are copied."""
        slots = self.slots.assign(is_pos)
        self._n_features = X.shape[1]
        if self.slots.size == 0:
            return
        if is_sparse(X):
            self._add_sparse(X, is_pos, slots)
            return
        for own in (0, 1):
            self._grow(own, X.dtype)
        _kernels.batches.keep_rows(X, is_pos, slots, *self._rows)

    def rows(self) -> tuple[Matrix, BoolArray]:
        """Return the rows kept, and which are positive."""
        n_kept = np.minimum(self.slots.n_seen, self.slots.size)
        is_pos = np.arange(n_kept.sum()) >= n_kept[0]
        parts = [
            rows[:n]
            for rows, n in zip(self._rows, n_kept, strict=True)
            if rows is not None
        ]
        if isinstance(parts[0], np.ndarray):
            return np.concatenate(parts), is_pos
        kept = [row for rows in parts for row in rows]
        data, indices = (np.concatenate(arrays) for arrays in zip(*kept, strict=True))
        ends = np.cumsum([len(values) for values, _ in kept])
        X = sparse.csr_matrix(
            (data, indices, np.concatenate([[0], ends])),
            shape=(len(kept), self._n_features),
        )
        return X, is_pos

    def check_state(self) -> None:
        """Raise ValueError unless the arrays of a loaded object fit together."""
        expect_type(self, "slots", Slots)
        expect_count(self, "_n_features")
        neg, pos = expect_type(self, "_rows", list)
        for rows, n_seen in zip((neg, pos), self.slots.n_seen.tolist(), strict=True):
            n_kept = min(n_seen, self.slots.size)
            if rows is None:
                expect(n_kept == 0, self, "it has no rows")
                continue
            expect(n_kept <= len(rows), self, "it has too few rows")
            if type(rows) is np.ndarray:
                expect_values(self, "_rows", rows, (None, self._n_features), FLOATS)
                continue
            expect(type(rows) is list, self, f"_rows are {type(rows).__name__}s")
            for values, columns in rows:
                expect_values(self, "_rows", values, (None,))
                expect_values(
                    self, "_rows", columns, values.shape, (np.int32, np.int64)
                )
                expect_between(self, "_rows", columns, 0, self._n_features - 1)
        if neg is not None and pos is not None:
            expect(type(neg) is type(pos), self, "its rows are dense and sparse")

    def _add_sparse(self, X: Matrix, is_pos: BoolArray, slots: IntArray) -> None:
        for i in (slots >= 0).nonzero()[0]:
            own = int(is_pos[i])
            if self._rows[own] is None:
                self._rows[own] = []
            rows = self._rows[own]
            part = slice(X.indptr[i], X.indptr[i + 1])
            row = X.data[part].copy(), X.indices[part].copy()
            if slots[i] < len(rows):
                rows[slots[i]] = row
            else:
                rows.append(row)

    def _grow(self, own: int, dtype: np.dtype[Any]) -> None:
        """Make room for the rows of a class, at most twice as many as there are."""
        size = min(int(self.slots.n_seen[own]), self.slots.size)
        old = self._rows[own]
        n_old = -1 if old is None else len(old)
        if size <= n_old:
            return
        capacity = min(max(size, 2 * n_old), self.slots.size)
        self._rows[own] = np.empty((capacity, self._n_features), dtype)
        if n_old > 0:
            self._rows[own][:n_old] = old
