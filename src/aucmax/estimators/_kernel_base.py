# SPDX-License-Identifier: BSD-3-Clause
"""What all scorers that are sums of kernel functions share."""

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from aucmax._utils.typing import Matrix
from aucmax._utils.validation import (
    POSITIVE,
    StrOptions,
    check_features,
    check_is_fitted,
)
from aucmax.estimators._base import AUCScorer
from aucmax.features.kernels import Kernel

# Rows scored at a time: their kernel values stay in the processor's cache.
BLOCK_ROWS = 2048


class KernelScorer(AUCScorer):
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
    intercept_: NDArray[Any]

    def decision_function(self, X: Any) -> NDArray[Any]:
        """Return the score of each row; positive means ``classes_[1]``.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows to score.

        Returns
        -------
        scores : ndarray of shape (n_samples,)
            ``kernel(X, basis_) @ dual_coef_[0] + intercept_[0]``.
        """
        check_is_fitted(self)
        X = check_features(self, X)
        scores: NDArray[Any] = self._expand(X) + self.intercept_[0]
        return scores

    def _expand(self, X: Matrix) -> NDArray[Any]:
        """Return the scores without the intercept, a block of rows at a time."""
        scores = np.empty(X.shape[0], dtype=self.dual_coef_.dtype)
        for low in range(0, X.shape[0], BLOCK_ROWS):
            rows = slice(low, low + BLOCK_ROWS)
            scores[rows] = self.kernel_(X[rows], self.basis_) @ self.dual_coef_[0]
        return scores
