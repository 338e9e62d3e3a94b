# SPDX-License-Identifier: BSD-3-Clause
"""Principal components of a stream, updated by every row."""

from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
)
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval

from aucmax import _kernels
from aucmax._utils.state import (
    expect,
    expect_array,
    expect_count,
    expect_counts,
    expect_number,
    expect_type,
    expect_values,
    is_fitted,
)
from aucmax._utils.threads import Locked
from aucmax._utils.typing import FloatArray, IntArray, Matrix, is_sparse, to_dense
from aucmax._utils.validation import (
    COUNT,
    StrOptions,
    check_features,
    check_is_fitted,
    check_rows,
    restore_attributes_on_error,
    validated,
)
from aucmax.saved import saved_as

# Values of rows that are copied at a time: 2 MB.
BLOCK_VALUES = 2**18
# How fast the steps of "sga" shrink. With steps of 8 or 16, exponents of .6 and .7
# differ by less than .012 in the share of the variance kept on usps.
DECAY = 0.7
# Beyond these, rounding and overflow spoil the averages and the steps.
MOST_AMNESIC = LARGEST_STEP = 1e6
# Directions of unit length that the ones before span but for this are no new ones.
DEPENDENT = 1e-8


class OnlinePCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    r"""Principal components, updated by every row of a stream.

    Each row costs O(q d) for q components of d features, in time and in all the memory
    there is: neither rows nor a covariance are kept. Row by row, in batches of any
    sizes, or all at once, ``partial_fit`` gives the same components, bit for bit.

    Parameters
    ----------
    n_components : int, default=2
        Number of components, at most the number of features.
    method : {"ccipca", "sga"}, default="ccipca"
        Candid covariance-free incremental PCA, which needs no step size, or stochastic
        gradient ascent. Over one pass of usps (9,298 rows, 256 features, 10 to 40
        components) the first keeps 99.9 % of the variance that PCA keeps, the second
        98.6 to 99.7 %.
    amnesic : float, default=2.0
        Row t enters the averages of "ccipca", and the variances of "sga", with weight
        (1 + amnesic) / (t + amnesic). Zero weighs all rows alike; more lets go faster
        of the first rows, which pulled at directions that were still poor.
    step_size : float, default=10.0
        Of "sga" alone: the step of row t is ``step_size / t**0.7``, divided by the mean
        squared distance of the rows from their mean.
    shuffle : bool, default=True
        Whether ``fit`` takes the rows in random order. Rows sorted by class or time
        pull the components to where they end. ``partial_fit`` never shuffles.
    random_state : int, RandomState instance or None, default=None
        Draws the order in ``fit``. Pass an int for reproducible components.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Orthonormal directions by decreasing variance, each with its largest entry
        positive. Those that no row has shown yet, because there were fewer rows than
        components or because they lie in a smaller space, are zero.
    explained_variance_ : ndarray of shape (n_components,)
        Estimates of the variances along them, with weights of rows as in ``amnesic``.
    mean_ : ndarray of shape (n_features,)
        Mean of all rows seen.
    n_samples_seen_ : int
        Rows seen.
    n_features_in_ : int
        Number of features of X.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, when X has string names.

    See Also
    --------
    sklearn.decomposition.IncrementalPCA : The better choice when rows come in batches
        of thousands: it is nearly PCA itself, also where there are few rows in all.
        With batches of a hundred it keeps no more variance than this, and on usps takes
        five to ten times as long. It cannot learn from fewer rows at a time than
        components, and its result depends on the sizes of the batches.

    Notes
    -----
    Components move with every row, so features computed at different times are not
    comparable: a model on top of them that keeps rows must keep the originals and
    transform all of them anew. Only the sign is settled.

    Sparse rows are made dense one after the other, because the mean is dense anyway.
    There is no ``sample_weight``: a step of double weight is not the same as two steps.

    References
    ----------
    J. Weng, Y. Zhang, W.-S. Hwang, "Candid Covariance-Free Incremental Principal
    Component Analysis", 2003. E. Oja, "Principal Components, Minor Components, and
    Linear Neural Networks", 1992.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from aucmax import OnlinePCA
    >>> X = load_digits().data
    >>> pca = OnlinePCA(10)
    >>> for row in X:
    ...     pca = pca.partial_fit([row])
    >>> pca.transform(X).shape
    (1797, 10)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_components": [COUNT],
        "method": [StrOptions({"ccipca", "sga"})],
        "amnesic": [Interval(Real, 0, MOST_AMNESIC, closed="both")],
        "step_size": [Interval(Real, 0, LARGEST_STEP, closed="right")],
        "shuffle": ["boolean"],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_components: int = 2,
        *,
        method: str = "ccipca",
        amnesic: float = 2.0,
        step_size: float = 10.0,
        shuffle: bool = True,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_components = n_components
        self.method = method
        self.amnesic = amnesic
        self.step_size = step_size
        self.shuffle = shuffle
        self.random_state = random_state

    @validated
    def fit(self, X: Any, y: Any = None) -> Self:
        """Forget what was learned and make one pass over these rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows.
        y : object, default=None
            Not used.

        Returns
        -------
        self : OnlinePCA
            The fitted map; after an error, as it was before.
        """
        with restore_attributes_on_error(self):
            X, _ = check_rows(self, X)
            self._stream = self._start_stream(X.shape[1])
            order = None
            if self.shuffle:
                order = check_random_state(self.random_state).permutation(X.shape[0])
            self._stream.learn(X, order)
        return self

    @validated
    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Go on with more rows, in the order given.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows of the batch, as few as one.
        y : object, default=None
            Not used.

        Returns
        -------
        self : OnlinePCA
            The map.
        """
        with restore_attributes_on_error(self):
            is_new = not hasattr(self, "_stream")
            X = check_rows(self, X)[0] if is_new else check_features(self, X)
            stream = self._start_stream(X.shape[1]) if is_new else self._stream
            stream.learn(X)
            self._stream = stream
        return self

    def transform(self, X: Any) -> NDArray[Any]:
        """Return the coordinates of rows along the components.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows to map.

        Returns
        -------
        features : ndarray of shape (n_samples, n_components)
            ``(X - mean_) @ components_.T`` in the precision of X. A row gets the same
            values alone and among others, bit for bit.
        """
        check_is_fitted(self)
        X = check_features(self, X)
        mean, axes = self._stream.mean_and_axes()
        if is_sparse(X):
            # The mean is taken off after the product, so that X stays sparse.
            return np.asarray(X @ axes.T - axes @ mean, dtype=X.dtype)
        features = np.empty((X.shape[0], len(axes)), X.dtype)
        for part in _blocks(*X.shape):
            rows = X[part] - mean
            for i, axis in enumerate(axes):
                scores = np.empty(len(rows))
                # Not with BLAS, which rounds a row by its neighbours.
                _kernels.products.row_scores(rows, axis, scores)
                features[part, i] = scores
        return features

    def inverse_transform(self, X: Any) -> NDArray[Any]:
        """Return the rows that have these coordinates, nearest to the mean.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_components)
            Coordinates, as from ``transform``.

        Returns
        -------
        rows : ndarray of shape (n_samples, n_features)
            ``X @ components_ + mean_`` in the precision of X.
        """
        check_is_fitted(self)
        features = np.asarray(X)
        if features.dtype != np.float32:
            features = features.astype(np.float64)
        mean, axes = self._stream.mean_and_axes()
        if features.ndim != 2 or features.shape[1] != len(axes):
            raise ValueError(
                f"X has shape {features.shape}, but there are {len(axes)} components. "
                "Pass one row of coordinates for each row, as from transform."
            )
        return np.asarray(features @ axes + mean, dtype=features.dtype)

    @property
    def components_(self) -> FloatArray:
        """Orthonormal directions by decreasing variance; zero while unknown."""
        check_is_fitted(self)
        return self._stream.axes()[0].copy()

    @property
    def explained_variance_(self) -> FloatArray:
        """Estimates of the variances along the components."""
        check_is_fitted(self)
        return self._stream.axes()[1].copy()

    @property
    def mean_(self) -> FloatArray:
        """Mean of all rows seen."""
        check_is_fitted(self)
        return self._stream.state.mean.copy()

    @property
    def n_samples_seen_(self) -> int:
        """Rows seen."""
        check_is_fitted(self)
        return int(self._stream.state.n_seen[0])

    def check_state(self) -> None:
        """Raise ValueError unless the arrays of a loaded object fit together."""
        if is_fitted(self):
            d = expect_count(self, "n_features_in_", low=1)
            stream = expect_type(self, "_stream", DirectionStream)
            n_features = len(stream.state.mean)
            expect(n_features == d, self, "its directions are of other features")

    def _start_stream(self, d: int) -> "DirectionStream":
        if self.n_components > d:
            raise ValueError(
                f"n_components={self.n_components} is more than n_features={d}. Pass "
                f"at most {d}."
            )
        return DirectionStream(
            self.n_components,
            d,
            amnesic=float(self.amnesic),
            step_size=float(self.step_size) if self.method == "sga" else None,
        )

    @property
    def _n_features_out(self) -> int:
        return len(self._stream.state.variances)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_stream")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


@saved_as("DirectionStream")
class DirectionStream(Locked):
    """Mean and directions of the rows seen, and orthonormal axes when asked for.

    Parameters
    ----------
    n_directions, d : int
        How many directions, of how many features.
    amnesic : float
        How fast early rows are forgotten.
    step_size : float or None
        Of stochastic gradient ascent; None for CCIPCA.
    """

    def __init__(
        self, n_directions: int, d: int, *, amnesic: float, step_size: float | None
    ) -> None:
        super().__init__()
        self.state = _kernels.online_pca.PCAState(
            n_seen=np.zeros(1, dtype=np.int64),
            mean=np.zeros(d),
            directions=np.zeros((n_directions, d)),
            variances=np.zeros(n_directions),
            spread=np.zeros(1),
        )
        self.amnesic = amnesic
        self.step_size = step_size
        self._axes: tuple[FloatArray, FloatArray] | None = None

    def learn(self, X: Matrix, order: IntArray | None = None) -> None:
        """Take in rows in the given order, a block at a time."""
        with self.lock:
            self._axes = None
            for part in _blocks(*X.shape):
                some = X[part] if order is None else X[order[part]]
                # The one form for which the loops are compiled.
                rows = np.require(to_dense(some), np.float64, ["C", "W"])
                if self.step_size is None:
                    _kernels.online_pca.ccipca_steps(rows, self.amnesic, self.state)
                else:
                    _kernels.online_pca.sga_steps(
                        rows, self.amnesic, self.step_size, DECAY, self.state
                    )

    def axes(self) -> tuple[FloatArray, FloatArray]:
        """Return orthonormal directions by decreasing variance, and the variances."""
        with self.lock:
            if self._axes is None:
                self._axes = _orthonormal(self.state.directions, self.state.variances)
            return self._axes

    def mean_and_axes(self) -> tuple[FloatArray, FloatArray]:
        """Return the mean and the directions, both after the same rows."""
        with self.lock:
            return self.state.mean.copy(), self.axes()[0]

    def check_state(self) -> None:
        """Raise ValueError unless the arrays of a loaded object fit together."""
        state = expect_type(self, "state", _kernels.online_pca.PCAState)
        q, d = expect_array(state, "directions", (None, None)).shape
        expect(q > 0, self, "directions are none")
        expect_counts(state, "n_seen", (1,))
        expect_array(state, "mean", (d,))
        expect_array(state, "variances", (q,))
        expect_array(state, "spread", (1,))
        expect_number(self, "amnesic")
        if self.step_size is not None:
            expect_number(self, "step_size")
        if self._axes is not None:
            axes, sizes = expect_type(self, "_axes", tuple)
            expect_values(self, "_axes", axes, (q, d))
            expect_values(self, "_axes", sizes, (q,))


def _blocks(n: int, d: int) -> list[slice]:
    """Return which rows to copy at a time."""
    size = max(1, BLOCK_VALUES // d)
    return [slice(low, low + size) for low in range(0, n, size)]


def _orthonormal(
    directions: FloatArray, variances: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return axes that span the same space, and their variances; zeros if fewer."""
    axes, sizes = np.zeros_like(directions), np.zeros_like(variances)
    n_found = 0
    for i in np.argsort(-variances, kind="stable"):
        rest = directions[i].copy()
        known = axes[:n_found]
        # Once more for what rounding leaves.
        for _ in range(2):
            rest -= (known @ rest) @ known
        length = np.linalg.norm(rest)
        if length < DEPENDENT:
            continue
        rest /= np.copysign(length, rest[np.argmax(np.abs(rest))])
        axes[n_found], sizes[n_found] = rest, variances[i]
        n_found += 1
    return axes, sizes
