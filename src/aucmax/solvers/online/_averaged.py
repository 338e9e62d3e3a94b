# SPDX-License-Identifier: BSD-3-Clause
"""Linear learners whose step costs no more than reading the row."""

from typing import Any

import numpy as np

from aucmax import _kernels
from aucmax._utils.state import (
    expect_array,
    expect_constants,
    expect_flag,
    expect_type,
)
from aucmax._utils.typing import BoolArray, FloatArray, Matrix, is_sparse
from aucmax.solvers.online._origin import FromOrigin
from aucmax.solvers.online.base import Diverged, LinearModel


class AveragedLearner(FromOrigin):
    """Weights, their average, and running statistics of the rows.

    A subclass says what to do when a step overflows.

    Parameters
    ----------
    rows : array or CSR matrix
        Rows like those to learn from.
    rates : named tuple
        Constants of the steps.
    is_centred : bool
        Whether the mean of the rows so far is subtracted from them.
    """

    is_order_free = False
    # Of ``_kernels``, with ``Rates``, types of the state, and ``steps``.
    module: str

    def __init__(self, rows: Matrix, rates: Any, *, is_centred: bool) -> None:
        self.rates = rates
        self.sparse_rows = is_sparse(rows)
        n_features = rows.shape[1]
        kernels = _kernels.averaged_weights
        self.state = kernels.State(
            np.zeros((4, n_features), order="F" if self.sparse_rows else "C"),
            np.zeros(2, self._kernels().CLASS),
            np.zeros(1, self._kernels().SCALARS),
            np.zeros(1, kernels.SUMS),
        )
        self.state.sums["scale"] = 1.0
        self.is_centred = is_centred

    @property
    def n_features(self) -> int:
        """Length of a row."""
        return int(self.state.vectors.shape[1])

    def check_state(self) -> None:
        """Raise ValueError unless the arrays of a loaded object fit together."""
        expect_constants(self, "rates", self._kernels().Rates)
        state = expect_type(self, "state", _kernels.averaged_weights.State)
        expect_flag(self, "sparse_rows")
        d = expect_array(state, "vectors", (4, None)).shape[1]
        self._check_origin(d)
        expect_flag(self, "is_centred")
        expect_array(state, "classes", (2,), self._kernels().CLASS)
        expect_array(state, "scalars", (1,), self._kernels().SCALARS)
        expect_array(state, "sums", (1,), _kernels.averaged_weights.SUMS)

    def learn(self, X: Matrix, is_pos: BoolArray) -> None:
        """Make one step per row."""
        X = self._from_origin(X) if self.is_centred else X
        rows, labels = _kernels.rows.as_rows(X), is_pos.view(np.int8)
        n = self._kernels().steps(rows, labels, self.rates, self.state)
        if n < len(is_pos):
            raise Diverged(self._advice(), n)

    @property
    def coef(self) -> FloatArray:
        """The weights after the last step, not averaged."""
        vectors, sums = self.state.vectors, self.state.sums
        return np.asarray(sums["scale"] * vectors[0] + sums["shift"] * vectors[1])

    def model(self) -> LinearModel:
        """Return the average of the weights after each step."""
        vectors, sums = self.state.vectors, self.state.sums
        total = sums["scale_sum"] * vectors[0] + sums["shift_sum"] * vectors[1]
        total += vectors[3]
        return LinearModel(total / (self.state.scalars["weight_sum"] or 1.0))

    def _kernels(self) -> Any:
        return getattr(_kernels, self.module)

    def _advice(self) -> str:
        """Return the message of a step that overflowed."""
        raise NotImplementedError
