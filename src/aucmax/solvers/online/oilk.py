# SPDX-License-Identifier: BSD-3-Clause
"""The pairwise hinge in the space of a Gaussian kernel, with few support rows."""

import copy
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.sparsefuncs import mean_variance_axis

from aucmax import _kernels
from aucmax._utils.state import (
    expect,
    expect_array,
    expect_constants,
    expect_count,
    expect_counts,
    expect_finite,
    expect_flag,
    expect_number,
    expect_rows,
    expect_type,
    expect_values,
)
from aucmax._utils.typing import BoolArray, FloatArray, Matrix, is_sparse, to_dense
from aucmax.saved import saved_as
from aucmax.solvers.online.base import Diverged
from aucmax.summaries.row_buffer import (
    as_batch,
    buffer_of,
    check_buffer,
    empty_buffer,
    rows_in,
    with_room,
)
from aucmax.summaries.row_sample import Slots

# Rows that wait until the width of the kernel is set from them.
WIDTH_ROWS = 100
# Variances that are smaller, relative to the squared mean, come from rounding.
ROUNDING = 1e-30
# Rows converted at a time when they are scored.
BLOCK_ROWS = 4096


@saved_as("KernelModel")
class KernelModel(NamedTuple):
    """Scores are ``exp(-gamma |x - s_i|^2) @ coef``.

    ``basis`` holds the s_i, those of negatives first; it is dense or CSR.
    """

    basis: Matrix
    coef: FloatArray
    gamma: float

    @property
    def n_features(self) -> int:
        """Length of a row."""
        return int(self.basis.shape[1])

    def check_state(self) -> None:
        """Raise ValueError unless the arrays of a loaded object fit together."""
        n_basis, _ = expect_rows(self, "basis", self.basis)
        expect_finite(self, "coef", (n_basis,))
        expect_number(self, "gamma")

    def scores(self, X: Matrix) -> NDArray[Any]:
        """Return the score of each row; equal rows get equal ones."""
        out, basis = np.empty(X.shape[0]), buffer_of(self.basis)
        for low in range(0, len(out), BLOCK_ROWS):
            rows, part = X[low : low + BLOCK_ROWS], out[low : low + BLOCK_ROWS]
            if is_sparse(self.basis):
                rows = sparse.csr_matrix(rows, dtype=np.float64)
                rows.sum_duplicates()
            else:
                rows = np.ascontiguousarray(to_dense(rows), dtype=np.float64)
            rows = _kernels.rows.as_rows(rows)
            _kernels.oilk.oilk_scores(rows, basis, self.coef, self.gamma, part)
        return out


@saved_as("OILKLearner")
class OILKLearner:
    """Weights of at most ``budget`` support rows of each class.

    Parameters
    ----------
    n_features : int
        Number of features.
    settings : Settings
        Constants of the method; without ``gamma``, it is set from the first 100 rows.
    sparse_rows : bool
        Whether rows are CSR.
    budget : int
        Support rows of each class.
    rng : Generator
        Draws the rows kept.
    """

    is_order_free = False

    def __init__(
        self,
        n_features: int,
        settings: "_kernels.oilk.Settings",
        *,
        sparse_rows: bool,
        budget: int,
        rng: np.random.Generator,
    ) -> None:
        self.settings = settings
        self.n_features = n_features
        self.sparse_rows = sparse_rows
        self.slots = Slots(budget, rng)
        size = 2 * budget
        self.support = _kernels.oilk.Support(
            gram=np.zeros((size, size)),
            coef=np.zeros(size),
            n_added=np.zeros(2, dtype=np.int64),
            n_seen=np.zeros(2, dtype=np.int64),
        )
        # The support rows, those of negatives in the first half.
        self.rows = empty_buffer(size, n_features, sparse_rows=sparse_rows)
        # Rows that wait for the width, and their classes.
        self.held: list[tuple[Matrix, BoolArray]] = []

    def check_state(self) -> None:
        """Raise ValueError unless the arrays of a loaded object fit together."""
        expect_constants(self, "settings", _kernels.oilk.Settings)
        d = expect_count(self, "n_features", low=1)
        is_sparse = expect_flag(self, "sparse_rows")
        size = 2 * expect_count(expect_type(self, "slots", Slots), "size", low=1)
        support = expect_type(self, "support", _kernels.oilk.Support)
        expect_array(support, "gram", (size, size))
        expect_array(support, "coef", (size,))
        expect_counts(support, "n_added", (2,))
        expect_counts(support, "n_seen", (2,))
        check_buffer(self, "rows", size, d)
        for rows, is_pos in expect_type(self, "held", list):
            n, _ = expect_rows(self, "held", rows, d)
            expect(is_sparse == sparse.issparse(rows), self, "held has other rows")
            expect_values(self, "held", is_pos, (n,), np.bool_)

    def learn(self, X: Matrix, is_pos: BoolArray) -> None:
        """Take in rows."""
        n_taken = 0
        if self.settings.gamma == 0.0:
            n_taken = min(X.shape[0], WIDTH_ROWS - self._n_held())
            self.held.append((X[:n_taken].copy(), is_pos[:n_taken].copy()))
            if self._n_held() < WIDTH_ROWS:
                return
            try:
                vars(self).update(vars(self._released()))
            except Diverged as error:
                self.held.pop()
                error.n_learned = 0
                raise
        self._learn_now(X[n_taken:], is_pos[n_taken:], n_taken)

    def model(self) -> KernelModel:
        """Return the sum of kernel functions."""
        if self.held:
            return self._released().model()
        n_neg, n_pos = np.minimum(self.support.n_added, self.slots.size)
        kept = np.append(np.arange(n_neg), self.slots.size + np.arange(n_pos))
        basis, coef = rows_in(self.rows, kept), self.support.coef[kept]
        return KernelModel(basis, coef, self.settings.gamma or 1.0)

    def _n_held(self) -> int:
        return sum(len(is_pos) for _, is_pos in self.held)

    def _released(self) -> "OILKLearner":
        """Return the learner after it has set the width and learned what waited."""
        rows = [rows for rows, _ in self.held]
        X = sparse.vstack(rows, "csr") if self.sparse_rows else np.concatenate(rows)
        is_pos = np.concatenate([is_pos for _, is_pos in self.held])
        learner = copy.deepcopy(self)
        learner.held = []
        learner.settings = self.settings._replace(gamma=inverse_spread(X))
        learner._learn_now(X, is_pos)
        return learner

    def _learn_now(self, X: Matrix, is_pos: BoolArray, n_before: int = 0) -> None:
        batch = as_batch(X, is_pos, self.slots.assign(is_pos))
        self.rows = with_room(self.rows, X)
        n_learned = _kernels.oilk.oilk_steps(
            batch, self.settings, self.support, self.rows
        )
        if n_learned == len(is_pos):
            return
        # As if the rows from there on had never come.
        self.slots.n_seen[:] = self.support.n_seen
        bits: Any = self.slots.rng.bit_generator
        bits.advance(n_learned - len(is_pos))
        raise Diverged(
            f"The weights overflow: step_size={self.settings.step_size or 'auto'!r} "
            f"and loss_weight={self.settings.loss_weight or 'auto'!r} are too large "
            "together. Lower one of them, or set both to 'auto'.",
            n_before + n_learned,
        )


def inverse_spread(X: Matrix) -> float:
    """Return one over the mean squared distance to the mean; one if all are equal."""
    if is_sparse(X):
        means, variances = mean_variance_axis(X, axis=0)
    else:
        means, variances = X.mean(axis=0), X.var(axis=0)
    spread = float(variances.sum())
    if spread <= ROUNDING * float(means @ means):
        return 1.0
    # Nine digits are the same for dense and sparse rows.
    return float(f"{1.0 / max(spread, np.finfo(np.float64).tiny):.9g}")
