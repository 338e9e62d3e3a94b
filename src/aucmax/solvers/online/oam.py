# SPDX-License-Identifier: BSD-3-Clause
"""The pairwise hinge loss against a buffer of rows of the other class."""

import numpy as np

from aucmax import _kernels
from aucmax._utils.state import (
    expect_array,
    expect_constants,
    expect_count,
    expect_counts,
    expect_flag,
    expect_type,
)
from aucmax._utils.typing import BoolArray, FloatArray, Matrix
from aucmax.solvers.online._base import LinearModel
from aucmax.solvers.online._sparse_rows import (
    check_sparse_rows,
    csr_parts,
    empty_sparse_rows,
    with_room,
)
from aucmax.summaries.row_sample import Slots

# The weights stay in the range of floats up to here; see the kernels.
LARGEST_STEP = 1e100


class OAMLearner:
    """Weights, and a buffer of dense rows of each class.

    Parameters
    ----------
    n_features : int
        Number of features.
    is_sequential : bool
        One step per pair, rather than one for all pairs of a row.
    buffer_size : int
        Rows kept of each class.
    step_size : float or None
        The papers' C; None for one that follows the spread of the rows.
    average : bool
        Whether the model is the mean of the weights after each row.
    rng : Generator
        Draws the rows kept.
    """

    is_order_free = False
    sparse_rows = False

    def __init__(
        self,
        n_features: int,
        *,
        is_sequential: bool,
        buffer_size: int,
        step_size: float | None,
        average: bool,
        rng: np.random.Generator,
    ) -> None:
        size = 0.0 if step_size is None else min(float(step_size), LARGEST_STEP)
        self.rule = _kernels.oam.Rule(is_sequential, size)
        self.average = average
        self.slots = Slots(buffer_size, rng)
        self.seen = _kernels.oam.Seen(
            counts=np.zeros(3, dtype=np.int64),
            squares=np.zeros(3),
            sums=np.zeros((2, n_features)),
        )
        self.coef: FloatArray = np.zeros(n_features)
        self._allocate(2 * buffer_size, n_features)

    @property
    def n_features(self) -> int:
        """Length of a row."""
        return len(self.coef)

    def check_state(self) -> None:
        """Raise ValueError unless the arrays of a loaded object fit together."""
        expect_constants(self, "rule", _kernels.oam.Rule)
        expect_flag(self, "average")
        size = expect_count(expect_type(self, "slots", Slots), "size", low=1)
        d = len(expect_array(self, "coef", (None,)))
        seen = expect_type(self, "seen", _kernels.oam.Seen)
        expect_counts(seen, "counts", (3,))
        expect_array(seen, "squares", (3,))
        expect_array(seen, "sums", (2, d))
        self._check_buffer(2 * size, d)

    def learn(self, X: Matrix, is_pos: BoolArray) -> None:
        """Take in rows."""
        _kernels.oam.oam_steps_dense(
            X,
            is_pos,
            self.slots.assign(is_pos),
            self.rule,
            self.seen,
            self.buffer,
            self.coef,
            self.mean,
        )

    def model(self) -> LinearModel:
        """Return the mean of the weights, or the last."""
        return LinearModel((self.mean if self.average else self.coef).copy())

    def _check_buffer(self, n_slots: int, d: int) -> None:
        expect_array(self, "buffer", (n_slots, d))
        expect_array(self, "mean", (d,))

    def _allocate(self, n_slots: int, d: int) -> None:
        self.buffer: FloatArray = np.zeros((n_slots, d))
        self.mean: FloatArray = np.zeros(d)


class SparseOAMLearner(OAMLearner):
    """The same for CSR rows; only nonzeros are kept and touched."""

    sparse_rows = True
    rows: "_kernels.sparse_rows.SparseRows"

    def learn(self, X: Matrix, is_pos: BoolArray) -> None:
        """Take in rows."""
        slots = self.slots.assign(is_pos)
        longest = int(np.diff(X.indptr)[slots >= 0].max(initial=0))
        self.rows = with_room(self.rows, longest)
        _kernels.oam.oam_steps_csr(
            csr_parts(X),
            is_pos,
            slots,
            self.rule,
            self.seen,
            self.rows,
            _kernels.oam.LazyWeights(self.coef, self.delayed),
            self.work,
        )

    def model(self) -> LinearModel:
        """Return the mean of the weights, or the last."""
        if not self.average:
            return LinearModel(self.coef.copy())
        return LinearModel(self.coef - self.delayed / max(1, self.seen.counts[2]))

    def _check_buffer(self, n_slots: int, d: int) -> None:
        check_sparse_rows(self, "rows", n_slots, d)
        expect_array(self, "work", (d,))
        expect_array(self, "delayed", (d,))

    def _allocate(self, n_slots: int, d: int) -> None:
        self.rows = empty_sparse_rows(n_slots)
        self.work: FloatArray = np.zeros(d)
        self.delayed: FloatArray = np.zeros(d)
