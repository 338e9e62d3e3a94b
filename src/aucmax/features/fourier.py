# SPDX-License-Identifier: BSD-3-Clause
"""Random Fourier features: kernels as means over random waves."""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

from aucmax._utils.state import expect_finite
from aucmax._utils.typing import FloatArray, Matrix, is_sparse
from aucmax._utils.validation import (
    COUNT,
    POSITIVE,
    StrOptions,
    check_rows,
    restore_attributes_on_error,
    validated,
)
from aucmax.features._base import KernelMap
from aucmax.features._dispersion import mean_row

# Rows whose phases are in memory at once.
BLOCK_ROWS = 1024


class FourierFeatures(KernelMap):
    r"""Features whose inner products approximate a kernel on average.

    Row :math:`x` becomes the cosines and sines of :math:`(x - m)^\top \omega_k`, over
    :math:`\sqrt{v / 2}`, for :math:`v / 2` random frequencies :math:`\omega_k` and the
    mean :math:`m` of the rows, which cancels in all inner products but keeps phases
    small. Features have norm one, exactly.

    Parameters
    ----------
    n_features : int, default=1600
        Number of features :math:`v`, even: a cosine and a sine for each frequency.
    kernel : {"rbf", "laplacian"}, default="rbf"
        :math:`\exp(-\gamma |x-y|^2)`, with normal frequencies, or :math:`\exp(-\gamma
        |x-y|_1)`, with Cauchy ones.
    gamma : "scale-mean" or float, default="scale-mean"
        Inverse width. "scale-mean" is one over the mean squared distance of the rows to
        their mean (for "laplacian", over the mean L1 distance).
    orthogonal : bool, default=False
        Make frequencies orthogonal to each other, as many at a time as X has features.
        For "rbf" only: the error of the approximation shrinks.
    dtype : {"float32", "float64"}, default=None
        Precision of the features; None is that of the X in ``fit``.
    random_state : int, RandomState instance or None, default=None
        Draws the frequencies. Pass an int for reproducible maps.

    Attributes
    ----------
    frequencies_ : ndarray of shape (n_features_in_, n_features / 2)
        One frequency per column, in the precision of the features.
    offset_ : ndarray of shape (n_features_in_,)
        Mean of the rows, in the precision of the features.
    gamma_ : float
        Inverse width of the kernel.
    dtype_ : dtype
        Precision of the features.
    n_features_in_ : int
        Number of features of X.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, when X has string names.

    See Also
    --------
    Nystroem : Features spanned by some of the rows, usually better.

    References
    ----------
    A. Rahimi, B. Recht, "Random Features for Large-Scale Kernel Machines", NIPS 2007.
    F. Yu et al., "Orthogonal Random Features", NIPS 2016.

    Examples
    --------
    >>> import numpy as np
    >>> from aucmax.features.fourier import FourierFeatures
    >>> X = np.array([[0.0], [1.0]])
    >>> features = FourierFeatures(2000, gamma=0.5, random_state=0).fit_transform(X)
    >>> (features @ features.T).round(1)
    array([[1. , 0.6],
           [0.6, 1. ]])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_features": [COUNT],
        "kernel": [StrOptions({"rbf", "laplacian"})],
        "gamma": [StrOptions({"scale-mean"}), POSITIVE],
        "orthogonal": ["boolean"],
        "dtype": [StrOptions({"float32", "float64"}), None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_features: int = 1600,
        *,
        kernel: str = "rbf",
        gamma: str | float = "scale-mean",
        orthogonal: bool = False,
        dtype: str | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_features = n_features
        self.kernel = kernel
        self.gamma = gamma
        self.orthogonal = orthogonal
        self.dtype = dtype
        self.random_state = random_state

    @validated
    def fit(
        self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None
    ) -> "FourierFeatures":
        """Draw frequencies; the rows set the width and the offset only.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows.
        y : object, default=None
            Not used.
        sample_weight : array-like of shape (n_samples,), default=None
            A row of weight two counts as two rows, exactly.

        Returns
        -------
        self : FourierFeatures
            The fitted map.
        """
        if self.n_features % 2:
            raise ValueError(
                f"n_features={self.n_features} is odd, but features come in pairs of a "
                f"cosine and a sine. Pass {self.n_features + 1}."
            )
        if self.orthogonal and self.kernel != "rbf":
            raise ValueError(
                f'orthogonal=True needs kernel="rbf", got {self.kernel!r}: only normal '
                "frequencies stay so when they are made orthogonal. Pass "
                "orthogonal=False."
            )
        with restore_attributes_on_error(self):
            X, weight = check_rows(self, X, sample_weight)
            self._choose_scale(X, weight)
            self.offset_ = mean_row(X, weight).astype(self.dtype_)
            with np.errstate(over="ignore"):
                self.frequencies_ = self._draw(X.shape[1]).astype(self.dtype_)
            if not np.isfinite(self.frequencies_).all():
                raise ValueError(
                    f"Frequencies for gamma={self.gamma_:g} are too large for "
                    f"{self.dtype_}. Scale the features, for example with "
                    "sklearn.preprocessing.StandardScaler, or lower gamma."
                )
        return self

    def _fill(self, rows: Matrix, features: NDArray[Any]) -> None:
        half = self.frequencies_.shape[1]
        for low in range(0, rows.shape[0], BLOCK_ROWS):
            block = slice(low, low + BLOCK_ROWS)
            phases = self._phases(rows[block])
            np.cos(phases, out=features[block, :half])
            np.sin(phases, out=features[block, half:])
            features[block] *= self.dtype_.type(half**-0.5)

    def _phases(self, rows: Matrix) -> NDArray[Any]:
        """Return ``(rows - offset) @ frequencies`` in the precision of the features."""
        if is_sparse(rows):
            phases = rows.astype(self.dtype_) @ self.frequencies_
            return np.asarray(phases - self.offset_ @ self.frequencies_)
        # Rows of more digits lose them after the subtraction, not before.
        wider = np.result_type(rows.dtype, self.dtype_)
        centred = rows - self.offset_.astype(wider)
        return np.asarray(centred.astype(self.dtype_, copy=False) @ self.frequencies_)

    def _draw(self, d: int) -> FloatArray:
        rng = check_random_state(self.random_state)
        half = self.n_features // 2
        if self.kernel == "laplacian":
            return np.asarray(self.gamma_ * rng.standard_cauchy(size=(d, half)))
        normal = rng.normal(size=(d, half))
        if self.orthogonal:
            # Directions of a random basis, lengths of normal vectors of their own.
            lengths = np.sqrt(rng.chisquare(d, size=half))
            for low in range(0, half, d):
                basis, upper = np.linalg.qr(normal[:, low : low + d])
                normal[:, low : low + d] = basis * np.sign(np.diagonal(upper))
            normal *= lengths
        return np.asarray(np.sqrt(2.0 * self.gamma_) * normal)

    def _check_arrays(self, d: int) -> None:
        expect_finite(self, "frequencies_", (d, None))
        expect_finite(self, "offset_", (d,))

    @property
    def _n_features_out(self) -> int:
        return 2 * int(self.frequencies_.shape[1])
