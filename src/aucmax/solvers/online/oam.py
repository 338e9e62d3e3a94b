# SPDX-License-Identifier: BSD-3-Clause
"""The pairwise hinge loss against a buffer of rows of the other class."""

import numpy as np
from numpy.typing import NDArray

from aucmax import _kernels
from aucmax._utils.state import (
    expect_array,
    expect_between,
    expect_count,
    expect_counts,
    expect_flag,
    expect_number,
    expect_type,
)
from aucmax._utils.typing import BoolArray, FloatArray, IntArray, Matrix
from aucmax.solvers.online._base import LinearModel
from aucmax.summaries.row_sample import Slots

# The weights stay in the range of floats up to here; see the kernels.
LARGEST_STEP = 1e100


class OAMLearner:
    """Weights, and two buffers of dense rows.

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
        self.is_sequential = is_sequential
        self.step_size = 0.0 if step_size is None else min(step_size, LARGEST_STEP)
        self.average = average
        self.slots = Slots(buffer_size, rng)
        # Negatives and positives so far, and rows that had pairs.
        self.counts: IntArray = np.zeros(3, dtype=np.int64)
        # What the mean squared distance of all pairs so far follows from.
        self.squares: FloatArray = np.zeros(3)
        self.sums: FloatArray = np.zeros((2, n_features))
        self._allocate(n_features)

    @property
    def n_features(self) -> int:
        """Length of a row."""
        return int(self.sums.shape[1])

    def check_state(self) -> None:
        """Raise ValueError unless the arrays of a loaded object fit together."""
        expect_flag(self, "is_sequential")
        expect_flag(self, "average")
        expect_number(self, "step_size")
        size = expect_count(expect_type(self, "slots", Slots), "size", low=1)
        d = expect_array(self, "sums", (2, None)).shape[1]
        expect_counts(self, "counts", (3,))
        expect_array(self, "squares", (3,))
        self._check_buffers(size, d)

    def learn(self, X: Matrix, is_pos: BoolArray) -> None:
        """Take in rows."""
        _kernels.oam.dense_steps(
            X,
            is_pos,
            self.slots.assign(is_pos),
            self.is_sequential,
            self.step_size,
            self.average,
            self.buffers,
            self.counts,
            self.squares,
            self.sums,
            self.coef,
            self.mean,
        )

    def model(self) -> LinearModel:
        """Return the mean of the weights, or the last."""
        return LinearModel((self.mean if self.average else self.coef).copy())

    def _check_buffers(self, size: int, d: int) -> None:
        expect_array(self, "buffers", (2, size, d))
        expect_array(self, "coef", (d,))
        expect_array(self, "mean", (d,))

    def _allocate(self, n_features: int) -> None:
        self.buffers: FloatArray = np.zeros((2, self.slots.size, n_features))
        self.coef: FloatArray = np.zeros(n_features)
        self.mean: FloatArray = np.zeros(n_features)


class SparseOAMLearner(OAMLearner):
    """The same for CSR rows; only nonzeros are kept and touched."""

    sparse_rows = True
    values: FloatArray
    columns: NDArray[np.int32]

    def learn(self, X: Matrix, is_pos: BoolArray) -> None:
        """Take in rows."""
        slots = self.slots.assign(is_pos)
        longest = int(np.diff(X.indptr)[slots >= 0].max(initial=0))
        self.values, self.columns = widened(self.values, self.columns, longest)
        _kernels.oam.csr_steps(
            X.data,
            X.indices,
            X.indptr,
            is_pos,
            slots,
            self.is_sequential,
            self.step_size,
            self.average,
            self.values,
            self.columns,
            self.lengths,
            self.norms,
            self.work,
            self.counts,
            self.squares,
            self.sums,
            self.coef,
        )

    def model(self) -> LinearModel:
        """Return the mean of the weights, or the last."""
        coef, late = self.coef.T
        if not self.average:
            return LinearModel(coef.copy())
        return LinearModel(coef - late / max(1, self.counts[2]))

    def _check_buffers(self, size: int, d: int) -> None:
        width = expect_array(self, "values", (2, size, None)).shape[2]
        columns = expect_array(self, "columns", (2, size, width), np.int32)
        lengths = expect_counts(self, "lengths", (2, size), width)
        # There is anything beyond.
        used = columns[np.arange(width) < lengths[..., None]]
        expect_between(self, "columns", used, 0, d - 1)
        expect_array(self, "norms", (2, size))
        expect_array(self, "work", (d,))
        expect_array(self, "coef", (d, 2))

    def _allocate(self, n_features: int) -> None:
        size = self.slots.size
        self.values = np.empty((2, size, 0))
        self.columns = np.empty((2, size, 0), dtype=np.int32)
        self.lengths: IntArray = np.zeros((2, size), dtype=np.int64)
        self.norms: FloatArray = np.zeros((2, size))
        self.work: FloatArray = np.zeros(n_features)
        self.coef = np.zeros((n_features, 2))


def widened(
    values: FloatArray, columns: NDArray[np.int32], longest: int
) -> tuple[FloatArray, NDArray[np.int32]]:
    """Return both with room for rows of ``longest`` entries along the last axis."""
    width = values.shape[-1]
    if longest <= width:
        return values, columns
    # Half as much again, so that few calls have to copy.
    shape = (*values.shape[:-1], max(longest, width + width // 2))
    wider, wider_columns = np.empty(shape), np.empty(shape, dtype=np.int32)
    wider[..., :width] = values
    wider_columns[..., :width] = columns
    return wider, wider_columns
