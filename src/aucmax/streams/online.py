# SPDX-License-Identifier: BSD-3-Clause
"""A learner that takes rows one after the other, and a sample of them."""

from typing import Any

import numpy as np
from scipy import sparse

from aucmax._utils.state import (
    expect,
    expect_flag,
    expect_number,
    expect_part,
    expect_type,
)
from aucmax._utils.threads import Locked
from aucmax._utils.typing import (
    BoolArray,
    IntArray,
    Matrix,
    as_plain,
    is_sparse,
    to_dense,
)
from aucmax.metrics.threshold import balanced_threshold
from aucmax.saved import saved_as
from aucmax.solvers.online.base import Diverged, Learner, LinearModel, Model
from aucmax.solvers.online.oilk import KernelModel
from aucmax.summaries import RowSample

# Values copied at a time when rows are shuffled or converted: 2 MB.
BLOCK_VALUES = 2**18
# Rows of each class from which the threshold is set.
SAMPLE_ROWS = 256


@saved_as("OnlineStream")
class OnlineStream(Locked):
    """A learner, a sample of its rows for the threshold, and its model when asked for.

    While one thread learns a batch, others wait for the model. With ``sparse_rows`` the
    learner wants CSR rows; others are converted. The threshold is set by
    ``sample_rows`` rows of each class; zero leaves it to the estimator.
    """

    def __init__(
        self, learner: Learner, *, sparse_rows: bool, sample_rows: int = SAMPLE_ROWS
    ) -> None:
        super().__init__()
        self.learner = learner
        self.sparse_rows = sparse_rows
        # The same rows give the same threshold, whatever the seed of the learner.
        self.sample = RowSample(sample_rows, np.random.default_rng(0))
        self._model: Model | None = None
        self._threshold: float | None = None

    @property
    def n_seen(self) -> int:
        """Rows so far."""
        return int(self.sample.slots.n_seen.sum())

    def learn(
        self, X: Matrix, is_pos: BoolArray, order: IntArray | None = None
    ) -> None:
        """Take in rows in the given order, a block at a time."""
        n, d = X.shape
        size = max(1, BLOCK_VALUES // (1 + (X.nnz // n if is_sparse(X) else d)))
        with self.lock:
            self._model = self._threshold = None
            if order is None and n <= size:
                self._learn(X, is_pos)
                return
            for low in range(0, n, size):
                part: Any = slice(low, low + size)
                part = part if order is None else order[part]
                self._learn(X[part], is_pos[part])

    def model(self) -> Model:
        """Return what was learned so far; computed once after each change."""
        with self.lock:
            if self._model is None:
                self._model = self.learner.model()
            return self._model

    def threshold(self) -> float:
        """Return the score with the best balanced accuracy on the rows sampled."""
        with self.lock:
            if self._threshold is None:
                self._threshold = 0.0
                if self.sample.slots.n_seen.min() > 0:
                    rows, is_pos = self.sample.rows()
                    scores = self.model().scores(rows)
                    self._threshold = balanced_threshold(
                        scores, is_pos, np.ones(len(is_pos))
                    )
            return self._threshold

    def check_state(self) -> None:
        """Raise ValueError unless the arrays of a loaded object fit together."""
        learner = expect_part(self, "learner", Learner)
        sample = expect_type(self, "sample", RowSample)
        is_sparse = expect_flag(self, "sparse_rows")
        expect(
            getattr(learner, "sparse_rows", is_sparse) == is_sparse
            and sample.is_sparse in (None, is_sparse)
            and sample.n_features == learner.n_features,
            self,
            "its rows are not those of its learner",
        )
        if self._model is not None and self._model is not learner:
            model = expect_type(self, "_model", LinearModel, KernelModel)
            expect(model.n_features == learner.n_features, self, "its model is another")
        if self._threshold is not None:
            expect_number(self, "_threshold")

    def _learn(self, X: Matrix, is_pos: BoolArray) -> None:
        rows = self._convert(X)
        try:
            self.learner.learn(rows, is_pos)
        except Diverged as error:
            self.sample.add(rows[: error.n_learned], is_pos[: error.n_learned])
            raise
        except ZeroDivisionError as error:
            # No rows lead there, only numbers of a damaged file.
            raise ValueError("The model is damaged: it divides by zero.") from error
        self.sample.add(rows, is_pos)

    def _convert(self, rows: Matrix) -> Matrix:
        """Return the rows in the one form the learner's loops are compiled for."""
        if not self.sparse_rows:
            return as_plain(to_dense(rows))
        if (
            type(rows) is sparse.csr_matrix
            and rows.dtype == np.float64
            and rows.indices.dtype == rows.indptr.dtype == np.int32
            and rows.has_sorted_indices
            and all(a.flags.writeable for a in (rows.data, rows.indices, rows.indptr))
        ):
            return rows
        # A block holds few rows, so 32 bits count its entries.
        rows = sparse.csr_matrix(rows, dtype=np.float64, copy=True)
        rows.sort_indices()
        rows.indices = rows.indices.astype(np.int32, copy=False)
        rows.indptr = rows.indptr.astype(np.int32, copy=False)
        return rows
