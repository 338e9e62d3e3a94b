# SPDX-License-Identifier: BSD-3-Clause
"""From where rows are counted, if only their differences matter."""

from aucmax._utils.state import expect_values
from aucmax._utils.typing import FloatArray, Matrix, is_sparse


class FromOrigin:
    """Counts dense rows from the first of them, as their mean may be far from zero.

    Of CSR rows only the nonzeros are touched, so they stay as they are.
    """

    origin: FloatArray | None = None

    def _from_origin(self, X: Matrix) -> Matrix:
        """Return the rows less the origin."""
        if is_sparse(X) or len(X) == 0:
            return X
        if self.origin is None:
            self.origin = X[0].copy()
        return X - self.origin

    def _check_origin(self, n_features: int) -> None:
        """Raise ValueError unless the origin of a loaded object is a row."""
        if self.origin is not None:
            expect_values(self, "origin", self.origin, (n_features,))
