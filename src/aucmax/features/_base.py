# SPDX-License-Identifier: BSD-3-Clause
"""What maps that approximate a kernel share."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
)

from aucmax._utils.state import FLOATS, expect, expect_count, is_fitted
from aucmax._utils.typing import FloatArray, Matrix
from aucmax._utils.validation import check_features, check_is_fitted
from aucmax.features.kernels import scale_mean_gamma


class KernelMap(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Features whose inner products approximate a kernel of width ``gamma_``."""

    kernel: str | Callable[..., Any]
    gamma: str | float
    dtype: str | None
    n_features_in_: int

    def transform(self, X: Any) -> NDArray[Any]:
        """Map rows to features.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows to map.

        Returns
        -------
        features : ndarray of shape (n_samples, n_features_out)
            The features, in the precision ``dtype_``.
        """
        check_is_fitted(self)
        return self.transform_rows(check_features(self, X))

    def transform_rows(
        self, rows: Matrix, out: NDArray[Any] | None = None
    ) -> NDArray[Any]:
        """Do what ``transform`` does, without checks, for validated rows.

        Parameters
        ----------
        rows : ndarray or CSR of shape (n_samples, n_features)
            Rows to map, float64 or float32.
        out : ndarray of shape (n_samples, n_features_out), default=None
            Where to write the features.

        Returns
        -------
        features : ndarray of shape (n_samples, n_features_out)
            ``out``, if given.
        """
        shape = rows.shape[0], self._n_features_out
        features = np.empty(shape, self.dtype_) if out is None else out
        self._fill(rows, features)
        return features

    def check_state(self) -> None:
        """Raise ValueError unless the arrays of a loaded object fit together."""
        if is_fitted(self):
            d = expect_count(self, "n_features_in_", low=1)
            expect(self.dtype_ in FLOATS, self, "dtype_ is no precision of floats")
            self._check_arrays(d)
            expect(self._n_features_out > 0, self, "it has no features")

    def _choose_scale(self, X: Matrix, weight: FloatArray) -> None:
        """Set the width and the precision."""
        gamma = self.gamma
        if isinstance(gamma, str):
            gamma = scale_mean_gamma(self.kernel, X, weight)
        self.gamma_ = float(gamma)
        self.dtype_ = np.dtype(self.dtype or X.dtype)

    def _fill(self, rows: Matrix, features: NDArray[Any]) -> None:
        """Write the features of some rows."""
        raise NotImplementedError

    def _check_arrays(self, d: int) -> None:
        """Raise ValueError unless what was fitted to d features fits together."""
        raise NotImplementedError

    @property
    def _n_features_out(self) -> int:
        raise NotImplementedError

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = (
            ["float64", "float32"] if self.dtype is None else [self.dtype]
        )
        return tags
