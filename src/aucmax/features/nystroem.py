# SPDX-License-Identifier: BSD-3-Clause
"""The Nystroem map: kernels as inner products of features spanned by landmarks."""

from collections.abc import Callable
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import eigh
from sklearn.utils import check_consistent_length

from aucmax._utils.state import expect_finite, expect_type
from aucmax._utils.typing import BoolArray, FloatArray, Matrix
from aucmax._utils.validation import (
    COUNT,
    POSITIVE,
    StrOptions,
    check_rows,
    check_weight,
    restore_attributes_on_error,
    split_labels,
    validated,
)
from aucmax.features._base import KernelMap
from aucmax.features._prepared import BLOCK_ROWS
from aucmax.features.kernels import Kernel
from aucmax.features.landmarks import choose_landmarks

# Eigenvalues below this share of the largest are rounding, as seen in each precision.
RCOND = {"float32": 1e-7, "float64": 1e-12}


class Nystroem(KernelMap):
    r"""Features whose inner products approximate a kernel.

    With landmarks :math:`U` and :math:`k(U, U) = Q S Q^\top`, row :math:`x` becomes
    :math:`k(x, U) Q S^{-1/2}`. Between landmarks the kernel is then exact. Columns come
    in the order of decreasing eigenvalues.

    Parameters
    ----------
    n_landmarks : int, default=1600
        Number of landmarks; all distinct rows where there are no more. More of them
        cost time in proportion and approximate better.
    kernel : {"rbf", "laplacian", "polynomial"} or callable, default="rbf"
        :math:`\exp(-\gamma |x-y|^2)`, :math:`\exp(-\gamma |x-y|_1)`,
        :math:`(\gamma x^\top y + c)^p`, or a function that takes two matrices and
        returns all values.
    gamma : "scale-mean" or float, default="scale-mean"
        Inverse width. "scale-mean" is one over the mean squared distance of the rows to
        their mean (for "laplacian", over the mean L1 distance).
    degree, coef0 : float, default=3 and 1
        :math:`p` and :math:`c` of the polynomial.
    landmarks : {"uniform", "stratified", "kmeans"} or array-like, default="uniform"
        Rows drawn at random; the same with half of them from each class, which needs
        ``y``; centres of clusters; or the landmarks themselves.
    rank : int, default=None
        Keep only so many features, those of the largest eigenvalues.
    dtype : {"float32", "float64"}, default=None
        Precision of the features; None is that of the X in ``fit``. float32 is twice as
        fast and leaves out eigenvalues below 1e-7 of the largest, float64 below 1e-12.
    random_state : int, RandomState instance or None, default=None
        Draws the landmarks. Pass an int for reproducible maps.

    Attributes
    ----------
    landmarks_ : ndarray of shape (n_chosen, n_features)
        The landmarks, in the precision of the features.
    kernel_ : Kernel
        The kernel with its parameters.
    gamma_ : float
        Its inverse width.
    normalization_ : ndarray of shape (n_chosen, n_features_out)
        :math:`Q S^{-1/2}`, in float64.
    eigenvalues_ : ndarray of shape (n_features_out,)
        The eigenvalues kept, in decreasing order.
    dtype_ : dtype
        Precision of the features.
    n_features_in_ : int
        Number of features of X.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, when X has string names.

    See Also
    --------
    FourierFeatures : Features that do not depend on the rows.

    Notes
    -----
    Uniform landmarks depend neither on the order of the rows nor on whether a row comes
    twice or with weight two. A map fitted to n rows takes O(n log n + v^3) for v
    landmarks, and O(v (d + r)) per row to transform to r features.

    References
    ----------
    K. Zhang, I. Tsang, J. Kwok, "Improved Nystroem Low-Rank Approximation and Error
    Analysis", ICML 2008.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from aucmax.features.nystroem import Nystroem
    >>> X = scale(load_breast_cancer().data)
    >>> features = Nystroem(n_landmarks=100, random_state=0).fit_transform(X)
    >>> features.shape
    (569, 100)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_landmarks": [COUNT],
        "kernel": [StrOptions({"rbf", "laplacian", "polynomial"}), callable],
        "gamma": [StrOptions({"scale-mean"}), POSITIVE],
        "degree": [POSITIVE],
        "coef0": [Real],
        "landmarks": [StrOptions({"uniform", "stratified", "kmeans"}), "array-like"],
        "rank": [COUNT, None],
        "dtype": [StrOptions({"float32", "float64"}), None],
        "random_state": ["random_state"],
    }

    def __init__(  # noqa: PLR0913
        self,
        n_landmarks: int = 1600,
        *,
        kernel: str | Callable[..., Any] = "rbf",
        gamma: str | float = "scale-mean",
        degree: float = 3,
        coef0: float = 1,
        landmarks: str | ArrayLike = "uniform",
        rank: int | None = None,
        dtype: str | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_landmarks = n_landmarks
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.landmarks = landmarks
        self.rank = rank
        self.dtype = dtype
        self.random_state = random_state

    @validated
    def fit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> "Nystroem":
        """Choose landmarks and factorise the kernel between them.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows to draw from.
        y : array-like of shape (n_samples,), default=None
            Labels, two distinct values; only ``landmarks="stratified"`` looks at them.
        sample_weight : array-like of shape (n_samples,), default=None
            A row of weight two counts as two rows, exactly; one of weight zero is never
            a landmark.

        Returns
        -------
        self : Nystroem
            The fitted map.
        """
        with restore_attributes_on_error(self):
            X, weight = check_rows(self, X, sample_weight)
            is_pos = self._split(X, y, weight) if self._needs_y() else None
            self._choose_scale(X, weight)
            self.kernel_ = Kernel(self.kernel, self.gamma_, self.degree, self.coef0)
            self.landmarks_ = choose_landmarks(
                X,
                self.n_landmarks,
                method=self.landmarks,
                is_pos=is_pos,
                weight=weight,
                random_state=self.random_state,
            ).astype(self.dtype_)
            self.eigenvalues_, self.normalization_ = self._factorise()
        return self

    def _fill(self, rows: Matrix, features: NDArray[Any]) -> None:
        n = rows.shape[0]
        columns = self.kernel_.prepare(self.landmarks_, like=rows, dtype=self.dtype_)
        normalization = self.normalization_.astype(self.dtype_, copy=False)
        values = np.empty((min(n, BLOCK_ROWS), len(self.landmarks_)), self.dtype_)
        for low in range(0, n, BLOCK_ROWS):
            block = slice(low, min(n, low + BLOCK_ROWS))
            part = columns(rows[block], out=values[: block.stop - low])
            np.matmul(part, normalization, out=features[block])

    def _factorise(self) -> tuple[FloatArray, FloatArray]:
        landmarks = self.landmarks_.astype(np.float64)
        values = self.kernel_(landmarks, landmarks)
        if not np.all(np.isfinite(values)):
            raise ValueError(
                "The kernel between landmarks is not finite. Scale the features (for "
                "example with StandardScaler), or choose another kernel or degree."
            )
        values += values.T.copy()
        eigenvalues, vectors = eigh(
            values / 2.0, driver="evd", overwrite_a=True, check_finite=False
        )
        # In decreasing order. Rows and rounding leave the signs open; we settle them.
        eigenvalues, vectors = eigenvalues[::-1], vectors[:, ::-1]
        largest = np.argmax(np.abs(vectors), axis=0)
        vectors = vectors * np.sign(vectors[largest, np.arange(len(vectors))])
        # Kernels that are not positive definite have large negative ones as well.
        floor = RCOND[self.dtype_.name] * np.abs(eigenvalues).max()
        rank = int(np.sum(eigenvalues > floor))
        if rank == 0:
            raise ValueError(
                "The kernel between landmarks has no positive eigenvalue (the largest "
                f"is {eigenvalues[0]:.3g}), so it is no inner product. Pass a positive "
                "definite kernel."
            )
        kept = slice(0, min(rank, self.rank or rank))
        return eigenvalues[kept].copy(), vectors[:, kept] / np.sqrt(eigenvalues[kept])

    def _needs_y(self) -> bool:
        return isinstance(self.landmarks, str) and self.landmarks == "stratified"

    def _split(self, X: Matrix, y: ArrayLike | None, weight: FloatArray) -> BoolArray:
        if y is None:
            raise ValueError(
                'landmarks="stratified" requires y to be passed, but the target y is '
                "None. Pass the labels to fit."
            )
        check_consistent_length(X, y)
        _, is_pos = split_labels(y, name=type(self).__name__)
        check_weight(weight, is_pos)
        return is_pos

    def _check_arrays(self, d: int) -> None:
        expect_type(self, "kernel_", Kernel)
        landmarks = expect_finite(self, "landmarks_", (None, d))
        expect_finite(self, "normalization_", (len(landmarks), None))

    @property
    def _n_features_out(self) -> int:
        return int(self.normalization_.shape[1])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = self._needs_y()
        return tags
