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
from aucmax._utils.typing import BoolArray, Matrix
from aucmax.saved import saved_as
from aucmax.solvers.online._origin import FromOrigin
from aucmax.solvers.online.base import LinearModel
from aucmax.summaries.row_buffer import (
    as_batch,
    check_buffer,
    empty_buffer,
    with_room,
)
from aucmax.summaries.row_sample import Slots

# The weights stay in the range of floats up to here; see the kernels.
LARGEST_STEP = 1e100


@saved_as("OAMLearner")
class OAMLearner(FromOrigin):
    """Weights, and a buffer of rows of each class.

    Parameters
    ----------
    n_features : int
        Number of features.
    sparse_rows : bool
        Whether rows are CSR; only nonzeros are then kept and touched.
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

    def __init__(
        self,
        n_features: int,
        *,
        sparse_rows: bool,
        is_sequential: bool,
        buffer_size: int,
        step_size: float | None,
        average: bool,
        rng: np.random.Generator,
    ) -> None:
        size = 0.0 if step_size is None else min(float(step_size), LARGEST_STEP)
        self.rule = _kernels.oam.Rule(is_sequential, size)
        self.sparse_rows = sparse_rows
        self.average = average
        self.slots = Slots(buffer_size, rng)
        self.state = _kernels.oam.State(
            counts=np.zeros(3, dtype=np.int64),
            squares=np.zeros(3),
            sums=np.zeros((2, n_features)),
            coef=np.zeros(n_features),
            average=np.zeros(n_features),
            kept=empty_buffer(2 * buffer_size, n_features, sparse_rows=sparse_rows),
        )

    @property
    def n_features(self) -> int:
        """Length of a row."""
        return len(self.state.coef)

    def check_state(self) -> None:
        """Raise ValueError unless the arrays of a loaded object fit together."""
        expect_constants(self, "rule", _kernels.oam.Rule)
        expect_flag(self, "average")
        expect_flag(self, "sparse_rows")
        size = expect_count(expect_type(self, "slots", Slots), "size", low=1)
        state = expect_type(self, "state", _kernels.oam.State)
        d = len(expect_array(state, "coef", (None,)))
        expect_array(state, "average", (d,))
        expect_counts(state, "counts", (3,))
        expect_array(state, "squares", (3,))
        expect_array(state, "sums", (2, d))
        check_buffer(state, "kept", 2 * size, d)
        self._check_origin(d)

    def learn(self, X: Matrix, is_pos: BoolArray) -> None:
        """Take in rows."""
        X = self._from_origin(X)
        batch = as_batch(X, is_pos, self.slots.assign(is_pos))
        self.state = self.state._replace(kept=with_room(self.state.kept, X))
        _kernels.oam.oam_steps(batch, self.rule, self.state)

    def model(self) -> LinearModel:
        """Return the mean of the weights, or the last."""
        coef, n_rows = self.state.coef, max(1, self.state.counts[2])
        if self.average:
            return LinearModel(coef - self.state.average / n_rows)
        return LinearModel(coef.copy())
