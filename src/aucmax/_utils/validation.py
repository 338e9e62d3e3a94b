# SPDX-License-Identifier: BSD-3-Clause
"""Checks of what users pass in; the one place that touches scikit-learn's internals.

Every error says what was wrong, what was received and what to do.
"""

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from numbers import Integral, Real
from typing import Any, NamedTuple, TypeGuard, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import _fit_context
from sklearn.utils import check_consistent_length
from sklearn.utils._openmp_helpers import _openmp_effective_n_threads
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from aucmax._utils.typing import BoolArray, FloatArray, Matrix, is_sparse

__all__ = [
    "COUNT",
    "POSITIVE",
    "SHARE",
    "Batch",
    "FitInputs",
    "StrOptions",
    "check_batch",
    "check_entries",
    "check_features",
    "check_fit_inputs",
    "check_is_fitted",
    "check_row_weight",
    "check_rows",
    "check_weight",
    "explaining_values",
    "find_labels",
    "ignoring_overflow",
    "n_threads",
    "refuse_huge",
    "restore_attributes_on_error",
    "split_labels",
    "validated",
]

DTYPES = [np.float64, np.float32]
# The largest values accepted. Solvers multiply up to four of them in float64, as in the
# curvature along the gradient, and then add up over rows and features: 1e28 products
# stay finite. Squares of float32 values are summed in float32, 1e8 of them; larger
# values are taken as float64.
LARGEST = {np.dtype(np.float64): 1e70, np.dtype(np.float32): 1e15}

# What a constructor parameter may be, for ``_parameter_constraints``.
POSITIVE = Interval(Real, 0, None, closed="neither")
COUNT = Interval(Integral, 1, None, closed="left")
SHARE = Interval(Real, 0, 1, closed="neither")


Fit = TypeVar("Fit", bound=Callable[..., Any])


class FitInputs(NamedTuple):
    """Validated training data."""

    X: Matrix
    is_pos: BoolArray
    weight: FloatArray
    classes: NDArray[Any]

    @property
    def dtype(self) -> np.dtype[Any]:
        """Precision of the rows."""
        dtype: np.dtype[Any] = self.X.dtype
        return dtype

    def collect(self, function: Callable[[Matrix], NDArray[Any]]) -> NDArray[Any]:
        """Return one number per row, as a function of all rows gives it."""
        return function(self.X)

    def drop_zero_weight(self) -> "FitInputs":
        """Return only the rows that have weight."""
        used = self.weight > 0.0
        if np.all(used):
            return self
        return FitInputs(
            self.X[used], self.is_pos[used], self.weight[used], self.classes
        )


def validated(fit: Fit) -> Fit:
    """Check the constructor's parameters against ``_parameter_constraints`` first."""
    wrapped: Fit = _fit_context(prefer_skip_nested_validation=True)(fit)
    if fit.__name__ != "partial_fit":
        return wrapped

    @functools.wraps(fit)
    def partial_fit(estimator: Any, *args: Any, **kwargs: Any) -> Any:
        # Later calls check nothing either, but take 0.01 ms to find out.
        is_later = hasattr(estimator, "classes_")
        return (fit if is_later else wrapped)(estimator, *args, **kwargs)

    return cast(Fit, partial_fit)


def check_fit_inputs(
    estimator: Any, X: Any, y: Any, sample_weight: ArrayLike | None = None
) -> FitInputs:
    """Validate the arguments of ``fit`` and record the feature names on ``estimator``.

    float64 and float32 arrays, in C or Fortran order, and CSR matrices are not copied.
    """
    if _is_plain(X, y):
        # What validate_data would do; it takes as long as a few passes over 10,000
        # short rows to find that out.
        estimator.n_features_in_ = X.shape[1]
        vars(estimator).pop("feature_names_in_", None)
    else:
        X, y = _validate(estimator, X, y)
    classes, is_pos = split_labels(y, name=type(estimator).__name__)
    weight = check_weight(sample_weight, is_pos)
    return FitInputs(_canonical(X), is_pos, weight, classes)


def check_rows(
    estimator: Any, X: Any, sample_weight: ArrayLike | None = None
) -> tuple[Matrix, FloatArray]:
    """Validate the arguments of a ``fit`` without labels; return rows and weights."""
    X = _validate(estimator, X)
    weight = check_row_weight(sample_weight, X.shape[0])
    if not np.any(weight):
        raise ValueError(
            "All sample_weight are zero: no row is left. Give some rows a positive "
            "weight."
        )
    return _canonical(X), weight


class Batch(NamedTuple):
    """Validated rows of one call of ``partial_fit``."""

    X: Matrix
    is_pos: BoolArray
    classes: NDArray[Any]


def check_batch(
    estimator: Any, X: Any, y: ArrayLike, classes: ArrayLike | None
) -> Batch:
    """Validate the arguments of ``partial_fit``; the first call sets the features."""
    known = getattr(estimator, "classes_", None)
    if known is None:
        X = check_rows(estimator, X)[0]
    elif _has_known_form(estimator, X) and _is_within(X, LARGEST[X.dtype]):
        X = X if type(X) is np.ndarray else _canonical(X)
    else:
        X = check_features(estimator, X)
    if not _is_vector(y) or len(y) != X.shape[0]:
        check_consistent_length(X, y)
    known, is_pos = _split_batch(y, classes, known, type(estimator).__name__)
    return Batch(X, is_pos, known)


@contextmanager
def restore_attributes_on_error(estimator: Any) -> Iterator[None]:
    """Put the estimator back as it was when the body raises: nothing half-fitted."""
    before = dict(vars(estimator))
    try:
        yield
    except BaseException:
        # Not cleared first: another thread may be scoring.
        vars(estimator).update(before)
        for name in vars(estimator).keys() - before.keys():
            delattr(estimator, name)
        raise


def check_features(estimator: Any, X: Any) -> Matrix:
    """Validate the rows to score against what ``estimator`` was fitted on."""
    if _has_known_form(estimator, X) and _is_within(X, LARGEST[X.dtype]):
        return _canonical(X)
    return _canonical(_validate(estimator, X, reset=False))


def split_labels(y: ArrayLike, *, name: str) -> tuple[NDArray[Any], BoolArray]:
    """Return the two classes in ``y`` and the mask of the larger one, the positives.

    No sort for numbers and booleans: two sweeps for the extremes, two to compare.
    """
    labels = np.asarray(y)
    y = labels if labels.ndim == 1 else np.asarray(column_or_1d(y))
    if y.shape[0] == 0:
        raise ValueError(f"{name} needs labels, but y is empty.")
    if y.dtype.kind in "biuf":
        low, high = y.min(), y.max()
        # Not their difference, which may overflow.
        if not np.isfinite([low, high]).all():
            raise ValueError(
                f"y contains NaN or infinity. {name} needs two distinct labels; "
                "drop the rows whose label is missing."
            )
        classes = np.array([low, high] if low < high else [low], dtype=y.dtype)
        is_pos = y == high
        # No third label fits between neighbouring integers.
        if y.dtype.kind == "f" or int(high) - int(low) > 1:
            n_known = np.count_nonzero(is_pos) + np.count_nonzero(y == low)
            if n_known < y.shape[0]:
                classes = np.unique(y)
    else:
        classes, codes = find_labels(y)
        is_pos = codes == 1
    if len(classes) < 2:
        raise ValueError(
            f"{name} needs both classes, but y holds only one class, "
            f"{_preview(classes)}. Pass data with at least one sample of each class."
        )
    if len(classes) > 2:
        check_classification_targets(y)  # names continuous targets as such
        raise ValueError(
            "Only binary classification is supported. The type of the target is "
            f"multiclass: y holds {len(classes)} classes, {_preview(classes)}. Choose "
            "two of them, or compare one with the rest, as "
            "sklearn.multiclass.OneVsRestClassifier does with any classifier."
        )
    return classes, is_pos


def find_labels(y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Return the distinct labels in order, and which of them each row has."""
    try:
        return np.unique(y, return_inverse=True)
    except TypeError as error:
        kinds = sorted({type(label).__name__ for label in y})
        raise TypeError(
            f"y holds labels that have no order, of the types {', '.join(kinds)} "
            f"({error}). Write them all as numbers or all as text, and leave out rows "
            "whose label is missing."
        ) from error


def check_weight(sample_weight: ArrayLike | None, is_pos: BoolArray) -> FloatArray:
    """Return one non-negative float64 weight per row, with mass in both classes."""
    weight = check_row_weight(sample_weight, is_pos.shape[0])
    if sample_weight is None:
        has_pos, has_neg = bool(is_pos.any()), not is_pos.all()
    else:
        is_used = weight > 0
        has_pos, has_neg = (
            bool((is_used & is_pos).any()),
            bool((is_used & ~is_pos).any()),
        )
    if not (has_pos and has_neg):
        which = "negative" if has_pos else "positive"
        raise ValueError(
            f"After sample_weight trims rows of weight zero, only one class is left: "
            f"the {which} class has no weight. Give rows of both classes a positive "
            "weight."
        )
    return weight


def check_row_weight(sample_weight: ArrayLike | None, n: int) -> FloatArray:
    """Return one non-negative float64 weight per row."""
    if sample_weight is None:
        return np.ones(n)
    weight = np.asarray(sample_weight)
    if weight.ndim == 0:
        weight = np.full(n, float(weight))
    if weight.ndim != 1:
        raise ValueError(
            f"Sample weights must be 1D array or scalar, got {weight.ndim}D array. "
            "Pass one weight per row."
        )
    if weight.shape[0] != n:
        raise ValueError(
            f"sample_weight.shape == {weight.shape}, expected {(n,)}! "
            "Pass one weight per row."
        )
    try:
        weight = weight.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"sample_weight must hold numbers, got {weight.dtype}: {error}"
        ) from None
    low, high = weight.min(), weight.max()
    if not (np.isfinite(low) and np.isfinite(high)):
        raise ValueError(
            "sample_weight contains NaN or infinity. Give rows to be left out weight 0."
        )
    if low < 0:
        raise ValueError(
            f"Negative values in data passed to `sample_weight`: {low:g}. A weight "
            "counts repetitions of a row, so it cannot be below zero."
        )
    # A pair weighs the product of its rows, so the square of the mass must be finite.
    with np.errstate(over="ignore"):
        mass = weight.sum()
        square = mass * mass
    if not np.isfinite(square):
        raise ValueError(
            f"sample_weight overflows: the rows weigh {mass:g} together, and pairs the "
            "product of their rows. Divide the weights by their mean."
        )
    if square < np.finfo(np.float64).tiny and mass > 0:
        # By a power of two, so that nothing is rounded.
        weight = np.ldexp(weight, -int(np.floor(np.log2(high))))
    return weight


def n_threads() -> int:
    """Return how many threads a loop may use: OMP_NUM_THREADS, joblib, cores."""
    return int(_openmp_effective_n_threads())


def _split_batch(
    y: ArrayLike, classes: ArrayLike | None, known: NDArray[Any] | None, name: str
) -> tuple[NDArray[Any], BoolArray]:
    """Return the two classes and the mask of the positives.

    ``known`` are the classes of earlier batches; those of the first are ``classes`` or,
    without, those in ``y``.
    """
    labels = y if _is_vector(y) else np.asarray(column_or_1d(y, warn=True))
    if classes is not None:
        given, _ = split_labels(classes, name=f"classes= of {name}")
        if known is not None and not np.array_equal(given, known):
            raise ValueError(
                f"classes={given.tolist()} differs from the first call, which had "
                f"{known.tolist()}. Leave it out after the first call."
            )
        known = given if known is None else known
    elif known is None:
        if len(find_labels(labels)[0]) == 1:
            raise ValueError(
                f"The first batch holds only one class, {labels.tolist()[0]!r}. Pass "
                "classes=, the two labels there will be, in the first call."
            )
        known, _ = split_labels(labels, name=name)
    is_pos = labels == known[1]
    is_known = is_pos | (labels == known[0])
    if not is_known.all():
        raise ValueError(
            f"y holds the label {labels[~is_known].tolist()[0]!r}, but the classes are "
            f"{known.tolist()}. Pass labels of these two."
        )
    return known, is_pos


def _is_plain(X: Any, y: Any) -> bool:
    """Say whether X and y would pass all checks unchanged: floats, and whole labels."""
    if type(X) is not np.ndarray or not _is_vector(y):
        return False
    if X.ndim != 2 or X.dtype not in DTYPES or 0 in X.shape:
        return False
    if y.dtype.kind not in "biu" or y.shape[0] != X.shape[0]:
        return False
    return _is_within(X, LARGEST[X.dtype])


def _has_known_form(estimator: Any, X: Any) -> bool:
    """Say whether X needs no check of a fitted estimator but that of its values.

    All checks take 0.3 ms, as long as an online learner takes for thousands of short
    rows; a look at type, shape and extremes takes 0.02 ms. What does not pass here goes
    through all checks.
    """
    if type(X) not in (np.ndarray, sparse.csr_matrix, sparse.csr_array):
        return False
    return (
        X.dtype in DTYPES
        and X.ndim == 2
        and X.shape[0] > 0
        and X.shape[1] == estimator.n_features_in_
        and not hasattr(estimator, "feature_names_in_")
    )


def _is_vector(y: Any) -> TypeGuard[NDArray[Any]]:
    """Say whether y needs no conversion to an array of one axis."""
    return type(y) is np.ndarray and y.ndim == 1


def largest(
    X: Matrix, maximum: np.ufunc = np.maximum, minimum: np.ufunc = np.minimum
) -> float:
    """Return the largest size of a value; NaN if X has one, unless fmax is passed."""
    values: NDArray[Any] = X if isinstance(X, np.ndarray) else X.data
    # Twice the speed of the functions of the same names for small arrays.
    high = maximum.reduce(values, axis=None, initial=0.0)
    low = minimum.reduce(values, axis=None, initial=0.0)
    return float(np.maximum(high, -low))


def _is_within(X: Matrix, limit: float) -> bool:
    """Say whether no value is NaN or above a finite ``limit`` in size."""
    values: NDArray[Any] = X if isinstance(X, np.ndarray) else X.data
    if values.flags.forc:
        # One trip over the values, at the speed of a dot product.
        flat = values.ravel(order="K")
        with np.errstate(over="ignore", invalid="ignore"):
            if float(flat @ flat) <= limit**2:
                return True
    return largest(X) <= limit


def _validate(estimator: Any, X: Any, *y: Any, reset: bool = True) -> Any:
    """Return X, or X and y, after all checks: scikit-learn's and our own."""
    _refuse_text(X)
    # scikit-learn looks for NaN by adding up all values.
    with ignoring_overflow(), explaining_values():
        checked = validate_data(
            estimator, X, *y, accept_sparse="csr", dtype=DTYPES, reset=reset
        )
    rows, *labels = checked if y else (checked,)
    if rows.dtype == np.float32 and largest(rows) > LARGEST[rows.dtype]:
        rows = rows.astype(np.float64)
    refuse_huge(rows, LARGEST[np.dtype(np.float64)])
    return (rows, *labels) if y else rows


def ignoring_overflow() -> Any:
    """Keep numpy quiet where what comes out is looked at afterwards."""
    return np.errstate(over="ignore", invalid="ignore")


@contextmanager
def explaining_values() -> Iterator[None]:
    """Say what to do about values that cannot become numbers."""
    advice = (
        "Give each cell one real number: encode dates and categories, and leave out or "
        "fill missing values."
    )
    try:
        yield
    except TypeError as error:
        is_promotion = isinstance(error, np.exceptions.DTypePromotionError)
        if not is_promotion and "float() argument" not in str(error):
            raise
        raise TypeError(f"X holds no numbers: {error}. {advice}") from error
    except OverflowError as error:
        raise ValueError(f"X holds a number that is too large: {error}.") from error
    except ValueError as error:
        if "array element with a sequence" not in str(error):
            raise
        raise ValueError(f"X is no table: {error} {advice}") from error


def refuse_huge(X: Matrix, limit: float) -> None:
    """Raise where products of values could overflow, before anything has changed.

    Missing values are passed over.
    """
    if largest(X, maximum=np.fmax, minimum=np.fmin) <= limit:
        return
    if isinstance(X, np.ndarray):
        row, column = np.unravel_index(np.nanargmax(np.abs(X)), X.shape)
        value = X[row, column]
    else:
        entries = X.tocoo()
        k = np.nanargmax(np.abs(entries.data))
        row, column, value = entries.row[k], entries.col[k], entries.data[k]
    raise ValueError(
        f"X is too large: it holds {value:g} in row {row} of column {column}, "
        f"and above {limit:g} sums and products overflow. Scale the features, "
        "for example with sklearn.preprocessing.MaxAbsScaler, or correct the value."
    )


def _refuse_text(X: Any) -> None:
    """Raise for text in the first row; numpy would parse '1.5' without a word."""
    has_rows = hasattr(X, "__getitem__") and getattr(X, "ndim", 1) > 0
    if is_sparse(X) or not has_rows or isinstance(X, dict):
        # Before a CSC matrix is converted.
        check_entries(X)
        return
    head = np.asarray(X[:1])
    text = next((v for v in head.ravel() if isinstance(v, str | bytes)), None)
    if head.dtype.kind in "USO" and text is not None:
        raise ValueError(
            f"X holds text ({text!r}), but numbers are needed. Convert numbers stored "
            "as text with X.astype(float); encode categories, for example with "
            "sklearn.preprocessing.OneHotEncoder."
        )


def check_entries(X: Matrix) -> Matrix:
    """Return X; raise if it is CSR or CSC and has entries where it has no place.

    Compiled loops do not look: neither ours nor SciPy's.
    """
    if not is_sparse(X) or X.format not in ("csr", "csc") or X.ndim != 2:
        return X
    n, d = X.shape if X.format == "csr" else X.shape[::-1]
    remedy = "The matrix is damaged; make it anew from rows, columns and values."
    ends, n_entries = X.indptr, min(len(X.indices), len(X.data))
    is_whole = len(ends) == n + 1 and ends[0] == 0 and ends[-1] <= n_entries
    if not is_whole or (ends[1:] < ends[:-1]).any():
        raise ValueError(
            f"X has the shape {X.shape} and {n_entries} entries, but its indptr does "
            f"not tell which entries are whose. {remedy}"
        )
    places = X.indices[: ends[-1]]
    low, high = (int(places.min()), int(places.max())) if len(places) else (0, 0)
    if low < 0 or high >= max(d, 1):
        name = "column" if X.format == "csr" else "row"
        raise ValueError(
            f"X has {d} {name}s, but an entry in {name} {low if low < 0 else high}. "
            f"{remedy}"
        )
    return X


def _canonical(X: Matrix) -> Matrix:
    """Return a CSR matrix without duplicate entries; the user's X stays as it is."""
    check_entries(X)
    if is_sparse(X) and not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X


def _preview(values: NDArray[Any], limit: int = 5) -> str:
    shown = ", ".join(repr(value) for value in values[:limit].tolist())
    return shown if len(values) <= limit else f"{shown}, ..."
