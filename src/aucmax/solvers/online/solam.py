# SPDX-License-Identifier: BSD-3-Clause
"""The saddle point of the pairwise square loss, in O(nonzeros) per row."""

import numpy as np

from aucmax import _kernels
from aucmax._utils.state import expect_array, expect_constants, expect_flag
from aucmax._utils.typing import BoolArray, FloatArray, Matrix
from aucmax.solvers.online._base import Diverged, LinearModel

# Steps of no setting, as a share of the largest stable one. Of 1/16 to 2 these were the
# best or within 0.002 of the best AUC on nine sets. With duals that have steps of their
# own, 1/2 is already unstable.
EXACT_RATE, PAPER_RATE = 0.5, 0.125


class SaddlePointLearner:
    """Stochastic primal-dual steps; the model is the average of the weights.

    Parameters
    ----------
    n_features : int
        Number of features.
    sparse_rows : bool
        Whether rows are CSR.
    alpha : float
        Strength of the penalty, relative to the mean over pairs.
    radius : float
        Largest norm of the weights.
    step_size : float or None
        ``zeta`` for steps of ``zeta / sqrt(t)``, which also weigh the average. None for
        a constant step from the sizes of the rows, and equal weights.
    exact_duals : bool
        Whether the mean scores of the classes are computed from the means of the rows,
        which are then subtracted from the rows, or learned by steps.
    """

    is_order_free = False

    def __init__(
        self,
        n_features: int,
        *,
        sparse_rows: bool,
        alpha: float,
        radius: float,
        step_size: float | None = None,
        exact_duals: bool = True,
    ) -> None:
        auto = EXACT_RATE if exact_duals else PAPER_RATE
        self.rates = _kernels.solam.Rates(
            float(alpha),
            float(radius),
            auto if step_size is None else float(step_size),
            step_size is None,
            exact_duals,
        )
        self.sparse_rows = sparse_rows
        self.vectors = np.zeros((n_features, 4) if sparse_rows else (4, n_features))
        self.classes = np.zeros((2, 4))
        self.scalars = np.zeros(7)
        self.products = np.zeros(9)
        self.products[0] = 1.0

    @property
    def n_features(self) -> int:
        """Length of a row."""
        return self.vectors.shape[0 if self.sparse_rows else 1]

    def check_state(self) -> None:
        """Raise ValueError unless the arrays of a loaded object fit together."""
        expect_constants(self, "rates", _kernels.solam.Rates)
        is_sparse = expect_flag(self, "sparse_rows")
        expect_array(self, "vectors", (None, 4) if is_sparse else (4, None))
        expect_array(self, "classes", (2, 4))
        expect_array(self, "scalars", (7,))
        expect_array(self, "products", (9,))

    def learn(self, X: Matrix, is_pos: BoolArray) -> None:
        """Make one step per row."""
        state = self.vectors, self.classes, self.scalars
        if self.sparse_rows:
            rows = X.data, X.indices, X.indptr
            n = _kernels.solam.sparse_rows(
                *rows, is_pos, self.rates, *state, self.products
            )
        else:
            n = _kernels.solam.dense_rows(X, is_pos, self.rates, *state)
        if n < len(is_pos):
            raise Diverged(
                "A step of SOLAM overflowed: the size of the rows does not suit "
                f"step_size={self.rates.rate:g} and a radius of {self.rates.radius:g}. "
                "Lower step_size, or scale the features, for example with Normalizer.",
                n,
            )

    @property
    def coef(self) -> FloatArray:
        """The weights after the last step, not averaged."""
        if not self.sparse_rows:
            return np.array(self.vectors[0])
        scale, shift = self.products[:2]
        sums = self.vectors[:, 1] + self.vectors[:, 2]
        return np.asarray(scale * self.vectors[:, 0] + shift * sums)

    def model(self) -> LinearModel:
        """Return the average of the weights after each step."""
        if not self.sparse_rows:
            return LinearModel(self.vectors[1].copy())
        if self.scalars[4] == 0.0:
            return LinearModel(np.zeros(len(self.vectors)))
        mass, shift_mass = self.products[2:4]
        sums = self.vectors[:, 1] + self.vectors[:, 2]
        total = mass * self.vectors[:, 0] + shift_mass * sums + self.vectors[:, 3]
        return LinearModel(total / self.scalars[4])
