# SPDX-License-Identifier: BSD-3-Clause
"""Counts, means and scatters of both classes, to which rows are added one by one."""

import math

import numpy as np

from aucmax import _kernels
from aucmax._utils.state import (
    expect,
    expect_array,
    expect_count,
    expect_counts,
    expect_type,
)
from aucmax._utils.typing import (
    BoolArray,
    FloatArray,
    Matrix,
    as_plain,
    is_sparse,
    to_dense,
)
from aucmax.summaries.class_moments import ClassMoments

# Two matrices of more bytes than this are refused.
LARGEST_BYTES = 8 * 10**9
# Values of sparse rows made dense at a time: 2 MB.
DENSE_VALUES = 2**18
# Values in a line of the cache.
LINE = 8


class StreamedMoments:
    """Moments of the negatives and of the positives so far.

    Any split of the rows into calls of ``add`` leaves the same state, bit for bit, and
    so does any number of threads: rows of a class wait until ``n_block`` of them enter
    the scatter together.

    Parameters
    ----------
    n_features : int
        Number of features.
    n_block : int, default=64
        A multiple of four. More make ``add`` faster, and cost memory.

    Attributes
    ----------
    state : Moments
        Arrays that the compiled loops change.
    """

    def __init__(self, n_features: int, n_block: int = 64) -> None:
        self.n_features = n_features
        width = padded(n_features)
        n_bytes = 2 * 8 * width * width
        if n_bytes > LARGEST_BYTES:
            raise ValueError(
                f"The covariances of {n_features} features in both classes take "
                f"{n_bytes} bytes, more than {LARGEST_BYTES}. Use OPAUC(rank=50), "
                "which keeps sketches of them, or OPAUC(reduce='projection'), which "
                "works on fewer features."
            )
        self.state = _kernels.opauc.Moments(
            n_seen=np.zeros(2, dtype=np.int64),
            n_pending=np.zeros(2, dtype=np.int64),
            spread=np.zeros(2),
            centre=_zeros(2, width),
            total=_zeros(2, width),
            pending=_zeros(2, n_block, width),
            scatter=_zeros(2, width, width),
        )

    def add(self, X: Matrix, is_pos: BoolArray) -> None:
        """Take in rows, dense or CSR."""
        opauc = _kernels.opauc
        only_moments = opauc.Rule(opauc.NO_STEP, 0.0, 0.0, 0.0, 0.0, 0.0, False)
        # Never stepped from, but the compiled loop wants one.
        self.learn(X, is_pos, only_moments, start_at_zero(0))

    def learn(
        self,
        X: Matrix,
        is_pos: BoolArray,
        rule: "_kernels.opauc.Rule",
        iterate: "_kernels.opauc.Iterate",
    ) -> int | None:
        """Take in rows, stepping as ``rule`` says before each.

        Returns
        -------
        n_learned : int or None
            None if all were; otherwise the next step would overflow, and its row has
            not been taken in.
        """
        n, d = X.shape
        size = max(1, DENSE_VALUES // max(1, d)) if is_sparse(X) else max(1, n)
        for low in range(0, n, size):
            rows = as_plain(to_dense(X[low : low + size]))
            labels = is_pos[low : low + size]
            n_learned = _kernels.opauc.learn_rows(
                rows, labels, *self.state, *rule, *iterate
            )
            if n_learned < len(rows):
                return low + n_learned
        return None

    def check_state(self) -> None:
        """Raise ValueError unless the arrays of a loaded object fit together."""
        width = padded(expect_count(self, "n_features", low=1))
        state = expect_type(self, "state", _kernels.opauc.Moments)
        n_block = expect_array(state, "pending", (2, None, width)).shape[1]
        expect(
            n_block > 0 and n_block % _kernels.opauc.FOUR == 0,
            self,
            "pending is no whole block",
        )
        expect_counts(state, "n_pending", (2,), n_block - 1)
        expect_counts(state, "n_seen", (2,))
        expect_array(state, "spread", (2,))
        expect_array(state, "centre", (2, width))
        expect_array(state, "total", (2, width))
        expect_array(state, "scatter", (2, width, width))

    def of_class(self, own: int) -> ClassMoments:
        """Return the moments of the negatives, 0, or of the positives, 1."""
        state, d = self.state, self.n_features
        n = int(state.n_seen[own])
        if n == 0:
            return ClassMoments.empty(d)
        total = state.total[own, :d]
        lower = np.tril(state.scatter[own, :d, :d])
        scatter: FloatArray = lower + np.tril(lower, -1).T
        n_pending = int(state.n_pending[own])
        if n_pending:
            # As the compiled loop does when the block is full.
            share = (1.0 - np.sqrt(1.0 - n_pending / n)) / n_pending
            rows = state.pending[own, :n_pending, :d] - share * total
            scatter += rows.T @ rows
        return ClassMoments(float(n), state.centre[own, :d] + total / n, scatter)


def padded(n_features: int) -> int:
    """Return the number of features, rounded up as the compiled loops need it."""
    return -(-n_features // _kernels.opauc.FOUR) * _kernels.opauc.FOUR


def start_at_zero(n_features: int) -> "_kernels.opauc.Iterate":
    """Return where steps begin."""
    width = padded(n_features)
    coef, average, squares = (_zeros(width) for _ in range(3))
    return _kernels.opauc.Iterate(coef, average, squares, np.zeros(2))


def _zeros(*shape: int) -> FloatArray:
    """Return zeros that begin with a line of the cache.

    Four of them are then never in two lines, which costs a step 15 % at 54 features.
    """
    n = math.prod(shape)
    memory = np.zeros(n + LINE)
    start = -(memory.ctypes.data // memory.itemsize) % LINE
    return memory[start : start + n].reshape(shape)
