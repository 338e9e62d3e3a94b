# SPDX-License-Identifier: BSD-3-Clause
"""What all scorers that are sums of kernel functions share."""

from numbers import Real
from typing import Any, ClassVar
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from aucmax import _kernels
from aucmax._utils.state import FLOATS, expect, expect_array, expect_finite, expect_type
from aucmax._utils.typing import FloatArray, Matrix, is_sparse
from aucmax._utils.validation import POSITIVE, StrOptions
from aucmax.design.mapped import BLOCK_ROWS
from aucmax.estimators._base import SolvedScorer, TrainingRows
from aucmax.features.kernels import Kernel, PreparedKernel


class KernelScorer(SolvedScorer):
    """Scores are ``kernel(X, basis_) @ dual_coef_[0] + intercept_``."""

    _kernel_constraints: ClassVar[dict[str, Any]] = {
        "kernel": [StrOptions({"rbf", "laplacian", "polynomial"}), callable],
        "gamma": [POSITIVE, StrOptions({"auto", "scale-mean"})],
        "degree": [POSITIVE],
        "coef0": [Real],
        "alpha": [POSITIVE, StrOptions({"auto"})],
    }

    kernel_: Kernel
    basis_: NDArray[Any]
    dual_coef_: NDArray[Any]

    def _check_fitted(self) -> None:
        expect_type(self, "kernel_", Kernel)
        basis = expect_array(self, "basis_", (None, self.n_features_in_), FLOATS)
        expect(len(basis) > 0, self, "basis_ is empty")
        expect_finite(self, "dual_coef_", (1, len(basis)))
        expect_finite(self, "intercept_", (1,))

    def _keep_expansion(
        self,
        kernel: Kernel,
        basis: NDArray[Any],
        dual_coef: FloatArray,
        rows: TrainingRows,
    ) -> None:
        """Keep what was learned; the intercept is the threshold on these rows."""
        self.classes_ = rows.classes
        self.kernel_ = kernel
        self.basis_ = basis
        self.dual_coef_ = dual_coef[None, :]
        self._set_threshold(rows)

    def _scores(self, X: Matrix) -> NDArray[Any]:
        columns = self._columns(X)
        scores = np.empty(X.shape[0])
        for low in range(0, X.shape[0], BLOCK_ROWS):
            rows = slice(low, low + BLOCK_ROWS)
            # Sums in float64: coefficients of near neighbours are large and cancel.
            _kernels.products.row_scores(
                columns(X[rows]), self.dual_coef_[0], scores[rows]
            )
        return scores

    def _columns(self, like: Matrix) -> PreparedKernel:
        """Return the kernel against the basis, for rows that are dense or sparse."""
        kept, basis = _PREPARED.get(self), self.basis_
        if (
            kept is None
            or kept.Y is not basis
            or kept.kernel is not self.kernel_
            or kept.sparse != is_sparse(like)
        ):
            kept = self.kernel_.prepare(basis, like=like, dtype=basis.dtype)
            _PREPARED[self] = kept
        return kept


# To prepare the kernel takes longer than to score a row. It is no attribute of the
# model, because scoring must leave that as it was, and because no file needs it.
_PREPARED: "WeakKeyDictionary[KernelScorer, PreparedKernel]" = WeakKeyDictionary()
