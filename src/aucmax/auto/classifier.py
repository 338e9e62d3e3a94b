# SPDX-License-Identifier: BSD-3-Clause
"""A ranking in one line: models of several families, weighted and calibrated."""

from collections.abc import Sequence
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_consistent_length, check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import column_or_1d

from aucmax._utils.progress import report
from aucmax._utils.state import expect, expect_flag, expect_type
from aucmax._utils.typing import FloatArray
from aucmax._utils.validation import (
    POSITIVE,
    StrOptions,
    check_is_fitted,
    restore_attributes_on_error,
    split_labels,
    validated,
)
from aucmax.auto.calibration import Calibration
from aucmax.auto.candidates import FAMILIES, choose_groups
from aucmax.auto.ensemble import Ensemble, fit_ensemble
from aucmax.auto.explanation import explain
from aucmax.auto.families import ForestGroup
from aucmax.auto.race import Clock, TrainingSet
from aucmax.auto.sparse_rows import becomes_dense, for_families, in_blocks
from aucmax.estimators._base import AUCScorer
from aucmax.preparation.table import Columns, learn_columns, read_rows
from aucmax.preparation.values import is_missing

# Boosting takes no more than 255 categories per column.
MAX_CATEGORIES = 250


def _is_calibrated(estimator: "AUCClassifier") -> bool:
    if estimator.calibrate and getattr(estimator, "calibration_", True) is not None:
        return True
    raise AttributeError(
        "predict_proba needs calibrate=True in fit; decision_function ranks without it."
    )


class AUCClassifier(AUCScorer):
    """Rank by the best mixture of linear, kernel, boosted and forest models.

    Candidates of several families score rows left out of their training. Those far
    behind drop out; the others are weighted by least squares over all pairs, pulled to
    equal shares of the families, fitted again to all rows, and their weighted sum is
    turned into probabilities by a map that keeps the ranking.

    Parameters
    ----------
    families : "auto" or list of str, default="auto"
        Which of "linear", "kernel", "boosting" and "forest" may take part.
    ensemble : bool, default=True
        Whether candidates are mixed. False keeps the single one with the best AUC,
        which is then a little flattered: it was chosen by it.
    time_budget : float, default=None
        Seconds that ``fit`` may take. Candidates that do not fit in are left out, and
        of very many rows a part is used. None: no limit.
    calibrate : bool, default=True
        Whether ``predict_proba`` is learned.
    cv : int, cross-validation generator or iterable, default=5
        Number of stratified folds, or anything scikit-learn accepts as ``cv``. Instead
        of folds a single fifth is left out from 20,000 rows on if that has 250
        positives, and from 100,000 rows on if it has 100; a class of fewer rows than
        folds has as many folds as rows.
    n_jobs : int, default=None
        Folds fitted at the same time. None means 1; a single model may still use all
        cores.
    random_state : int, RandomState instance or None, default=None
        Draws folds, landmarks and trees. Pass an int for the same model every time.
    verbose : int, default=0
        1 writes a line per candidate to standard error.

    Attributes
    ----------
    auc_interval_ : AUCInterval
        AUC of the mixture on rows left out of training, with a 95% interval: named
        tuple ``auc, low, high, std_error``. DeLong's standard error is widened by a
        fifth, for the choice of the rows it was trained on.
    leaderboard_ : Leaderboard
        Every candidate with AUC, interval, seconds, weight; prints as a table.
    classes_ : ndarray of shape (2,)
        The labels; ``classes_[1]`` is the positive one.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, when X has string names.

    See Also
    --------
    NBAUC : One kernel model.
    RankSVMCV : One linear model.
    OPAUC : For streams.

    Notes
    -----
    X may be a pandas or polars data frame with numbers, booleans, dates, categories,
    strings and missing values; an array, with NaN where values are missing; or a sparse
    matrix. Categories are one-hot for linear and kernel models; boosted trees have
    their own way with them. Nothing needs to be scaled.

    LightGBM takes part where it is installed (``pip install "aucmax[boost]"``).

    Examples
    --------
    >>> from aucmax import AUCClassifier
    >>> from aucmax.datasets import load_bundled
    >>> data = load_bundled("glass")
    >>> model = AUCClassifier(families=["linear", "kernel"], random_state=0)
    >>> bool(model.fit(data.X, data.y).score(data.X_test, data.y_test) > 0.9)
    True
    >>> model.predict_proba(data.X_test).shape == (len(data.y_test), 2)
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "families": [StrOptions({"auto"}), list, tuple],
        "ensemble": ["boolean"],
        "time_budget": [POSITIVE, None],
        "calibrate": ["boolean"],
        "cv": ["cv_object"],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        families: str | Sequence[str] = "auto",
        *,
        ensemble: bool = True,
        time_budget: float | None = None,
        calibrate: bool = True,
        cv: Any = 5,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.families = families
        self.ensemble = ensemble
        self.time_budget = time_budget
        self.calibrate = calibrate
        self.cv = cv
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @validated
    def fit(self, X: Any, y: ArrayLike) -> "AUCClassifier":
        """Try the candidates, weigh them, and fit those that count to all rows.

        Parameters
        ----------
        X : data frame, array-like or sparse matrix of shape (n_samples, n_features)
            Training rows.
        y : array-like of shape (n_samples,)
            Labels, two distinct values; the larger is positive.

        Returns
        -------
        self : AUCClassifier
            The fitted estimator.
        """
        with restore_attributes_on_error(self):
            families = _check_families(self.families)
            effective_n_jobs(self.n_jobs)  # refuses 0 now rather than in every fold
            clock = Clock(self.time_budget)
            columns, rows = learn_columns(self, X, MAX_CATEGORIES)
            classes, is_pos = split_labels(_check_target(y), name=type(self).__name__)
            check_consistent_length(rows, is_pos)
            seed = check_random_state(self.random_state).randint(2**31 - 1)
            self.columns_ = columns
            self.is_dense_ = becomes_dense(rows)
            rows = for_families(rows, self.is_dense_)
            self.classes_ = classes
            fitted = fit_ensemble(
                TrainingSet(rows, is_pos, columns.is_categorical(rows.shape[1])),
                lambda n: choose_groups(rows, families, n_train=n, seed=seed),
                mixes=self.ensemble,
                cv=self.cv,
                clock=clock,
                n_jobs=self.n_jobs,
                tell=self._tell if self.verbose else lambda line: None,
                seed=seed,
            )
            self.ensemble_: Ensemble = fitted.ensemble
            self.leaderboard_ = fitted.leaderboard
            self.auc_interval_ = fitted.interval
            self.fit_report_ = fitted.fit_report
            self.calibration_: Calibration | None = (
                Calibration.of_scores(fitted.scores, fitted.is_pos, fitted.odds)
                if self.calibrate
                else None
            )
        return self

    def decision_function(self, X: Any) -> FloatArray:
        """Return the score of each row; positive means ``classes_[1]``.

        Parameters
        ----------
        X : data frame, array-like or sparse matrix of shape (n_samples, n_features)
            Rows to score, with the columns of ``fit``.

        Returns
        -------
        scores : ndarray of shape (n_samples,)
            Weighted sum of the candidates' normal scores, less the threshold with the
            best balanced accuracy on rows left out of training.
        """
        return self._scores(X) - self.ensemble_.threshold

    @available_if(_is_calibrated)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probability of each class, in the order of ``classes_``.

        The ranking is that of ``decision_function``. ``predict`` does not cut at one
        half but where balanced accuracy is best, since with few positives hardly any
        row has a probability of one half.

        Parameters
        ----------
        X : data frame, array-like or sparse matrix of shape (n_samples, n_features)
            Rows to score, with the columns of ``fit``.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, 2)
            Rows sum to one.
        """
        scores = self._scores(X)
        assert self.calibration_ is not None  # or there would be no predict_proba
        positive = self.calibration_(scores)
        return np.column_stack([1.0 - positive, positive])

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class of each row.

        The threshold is the one with the best balanced accuracy on rows left out of
        training.

        Parameters
        ----------
        X : data frame, array-like or sparse matrix of shape (n_samples, n_features)
            Rows to classify, with the columns of ``fit``.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            ``classes_[1]`` where ``decision_function`` is positive, else
            ``classes_[0]``.
        """
        return super().predict(X)

    def explain(
        self, X: Any = None, y: ArrayLike | None = None, *, n_repeats: int = 5
    ) -> str:
        """Say in sentences what was chosen and why.

        Parameters
        ----------
        X, y : data frame or array-like and labels, default=None
            Rows, best ones that were not trained on: with them, the columns are named
            whose permutation costs the most AUC.
        n_repeats : int, default=5
            How often each column is permuted.

        Returns
        -------
        text : str
            One sentence per line.
        """
        check_is_fitted(self)
        if (X is None) != (y is None):
            missing = "y" if y is None else "X"
            raise ValueError(
                f"{missing} is missing. The importance of columns needs both X and y."
            )
        if X is None or y is None:
            return explain(self)
        rows = for_families(read_rows(self, self.columns_, X), self.is_dense_)
        return explain(self, rows, np.asarray(y) == self.classes_[1], n_repeats)

    def _check_fitted(self) -> None:
        expect_type(self, "columns_", Columns)
        expect_flag(self, "is_dense_")
        expect_type(self, "calibration_", Calibration, type(None))
        for part in expect_type(self, "ensemble_", Ensemble).parts:
            for group in part.models:
                # Its trees are asked without a look at the number of columns.
                if isinstance(group, ForestGroup):
                    fits = group.model_.n_features_in_ == self.n_features_in_
                    expect(fits, self, "its forest is of other columns")

    def _scores(self, X: Any) -> FloatArray:
        check_is_fitted(self)
        blocks = in_blocks(read_rows(self, self.columns_, X), self.is_dense_)
        return np.concatenate([self.ensemble_.scores(rows) for rows in blocks])

    def _tell(self, line: str) -> None:
        report(f"[{type(self).__name__}] {line}")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        return tags


def _check_families(families: str | Sequence[str]) -> tuple[str, ...]:
    chosen = FAMILIES if isinstance(families, str) else tuple(families)
    unknown = [name for name in chosen if name not in FAMILIES]
    if unknown or not chosen:
        what = f"the family {unknown[0]!r}" if unknown else "an empty list"
        raise ValueError(
            f"families holds {what}. Choose of {', '.join(FAMILIES)}, or pass 'auto'."
        )
    return chosen


def _check_target(y: ArrayLike | None) -> NDArray[Any]:
    if y is None:
        raise ValueError(
            "AUCClassifier requires y to be passed, but the target y is None."
        )
    labels = np.asarray(column_or_1d(np.asarray(y), warn=True))
    if labels.dtype == object:
        if any(is_missing(label) for label in labels):
            raise ValueError(
                "Input y contains NaN or None. Drop the rows whose label is missing."
            )
        kinds = {type(label).__name__ for label in labels}
        if len(kinds) > 1 and "str" in kinds:
            raise ValueError(
                f"y mixes labels of types {', '.join(sorted(kinds))}. Use one type."
            )
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        what = "NaN" if np.isnan(labels).any() else "infinity"
        raise ValueError(
            f"Input y contains {what}. Drop the rows whose label is missing."
        )
    return labels
