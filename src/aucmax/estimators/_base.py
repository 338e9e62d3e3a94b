# SPDX-License-Identifier: BSD-3-Clause
"""What all our classifiers share: AUC as score, a threshold, two classes."""

import warnings
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning

from aucmax._utils.progress import report
from aucmax._utils.state import expect, expect_count, expect_finite, is_fitted
from aucmax._utils.typing import BoolArray, FloatArray, Matrix
from aucmax._utils.validation import (
    check_features,
    check_is_fitted,
    split_labels,
)
from aucmax.metrics.auc import roc_auc
from aucmax.metrics.threshold import balanced_threshold
from aucmax.solvers.base import OnStep, Result, Step


class TrainingRows(Protocol):
    """Rows to fit on, besides their design: in memory, in batches or on a cluster."""

    @property
    def classes(self) -> NDArray[Any]:
        """The two labels."""
        ...

    @property
    def dtype(self) -> np.dtype[Any]:
        """Precision of the rows."""
        ...

    @property
    def is_pos(self) -> BoolArray:
        """Mask of the positives."""
        ...

    @property
    def weight(self) -> FloatArray:
        """How often each row counts."""
        ...

    def collect(self, function: Callable[[Matrix], NDArray[Any]]) -> NDArray[Any]:
        """Return one number per row, from a function of some rows."""
        ...


class AUCScorer(ClassifierMixin, BaseEstimator):
    """Binary classifier whose ``score`` is the AUC."""

    classes_: NDArray[Any]
    n_features_in_: int

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class of each row.

        The threshold is the one with the best balanced accuracy on the training rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows to classify.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            ``classes_[1]`` where ``decision_function`` is positive, else
            ``classes_[0]``.
        """
        positive = self.decision_function(X) > 0
        return self.classes_[positive.astype(np.intp)]

    def score(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> float:
        """Return the area under the ROC curve on ``X`` and ``y``.

        Not the accuracy: ``GridSearchCV`` and ``cross_val_score`` then tune and report
        what the model was trained for.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows to score.
        y : array-like of shape (n_samples,)
            True labels, of both classes.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights; a weight of two counts as two rows.

        Returns
        -------
        auc : float
            Share of pairs in the right order, ties counting one half.
        """
        scores = self.decision_function(X)
        classes, is_pos = split_labels(y, name=type(self).__name__)
        if not np.array_equal(classes, self.classes_):
            raise ValueError(
                f"y holds the labels {classes.tolist()}, but {type(self).__name__} was "
                f"fitted on {self.classes_.tolist()}. Pass labels of those two classes."
            )
        return roc_auc(is_pos, scores, sample_weight=sample_weight)

    def decision_function(self, X: Any) -> NDArray[Any]:
        """Return the score of each row; positive means ``classes_[1]``.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows to score.

        Returns
        -------
        scores : ndarray of shape (n_samples,)
            Larger means more likely positive; the intercept is part of it.
        """
        check_is_fitted(self)
        return self._decide(check_features(self, X))

    def _decide(self, X: Matrix) -> NDArray[Any]:
        """Return the score of checked rows, with the intercept."""
        raise NotImplementedError

    def check_state(self) -> None:
        """Raise ValueError unless the arrays of a loaded object fit together."""
        if not is_fitted(self):
            return
        # What goes on from here no longer looks at the parameters.
        self._validate_params()
        expect_count(self, "n_features_in_", low=1)
        expect(np.shape(self.classes_) == (2,), self, "classes_ are not two")
        self._check_fitted()

    def _check_fitted(self) -> None:
        """Raise ValueError unless what was learned fits together."""
        raise NotImplementedError

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.sparse = True
        return tags


class SolvedScorer(AUCScorer):
    """Scorer that a solver fits to all rows."""

    intercept_: NDArray[Any]
    n_iter_: int
    history_: list[Any]
    verbose: int

    def _scores(self, X: Matrix) -> NDArray[Any]:
        """Return the score of each row, without the intercept."""
        raise NotImplementedError

    def _decide(self, X: Matrix) -> NDArray[Any]:
        scores: NDArray[Any] = self._scores(X) + self.intercept_[0]
        return scores

    def _set_threshold(self, rows: TrainingRows) -> None:
        """Set the intercept by the scores of the training rows."""
        scores = rows.collect(self._scores)
        threshold = balanced_threshold(scores, rows.is_pos, rows.weight)
        self.intercept_ = np.array([-threshold], dtype=scores.dtype)

    def _warn_unless_converged(self, result: Result) -> None:
        if not result.converged:
            warnings.warn(
                f"{type(self).__name__} did not converge: {result.message}. Scale the "
                "features (for example with StandardScaler), raise max_iter or tol, or "
                "raise alpha.",
                ConvergenceWarning,
                # In the code that calls ``fit``, which is checked by a wrapper.
                stacklevel=4,
            )

    def _keep_progress(self, result: Result) -> None:
        self.n_iter_ = result.n_iter
        self.objective_ = result.value
        self.history_ = result.history

    def _on_step(self) -> OnStep | None:
        if not self.verbose:
            return None
        name = type(self).__name__

        def show(step: Step) -> None:
            report(
                f"[{name}] objective {step.value:.6g}  relative gap {step.gap:.1e}  "
                f"passes {step.n_passes:.0f}"
            )

        return show


class LinearScorer(SolvedScorer):
    """Scores are ``X @ coef_ + intercept_``."""

    coef_: NDArray[Any]

    def _scores(self, X: Matrix) -> NDArray[Any]:
        return np.asarray(X @ self.coef_[0])

    def _check_fitted(self) -> None:
        expect_finite(self, "coef_", (1, self.n_features_in_))
        expect_finite(self, "intercept_", (1,))

    def _store(self, result: Result, rows: TrainingRows) -> None:
        """Keep what was learned; the intercept is the threshold on these rows."""
        self._keep(result, rows.classes, rows.dtype)
        self._set_threshold(rows)

    def _keep(
        self, result: Result, classes: NDArray[Any], dtype: np.dtype[Any]
    ) -> None:
        self.classes_ = classes
        self.coef_ = result.coef.astype(dtype)[None, :]
        self._keep_progress(result)

    def _start(self, n_features: int) -> FloatArray | None:
        """Coefficients of the last fit, when ``warm_start`` asks for them."""
        previous = getattr(self, "coef_", None)
        if not getattr(self, "warm_start", False) or previous is None:
            return None
        if previous.shape[1] != n_features:
            raise ValueError(
                f"warm_start=True continues a fit on {previous.shape[1]} features, but "
                f"X has {n_features}. Pass the same features, or set "
                "warm_start=False."
            )
        start: FloatArray = previous[0].astype(np.float64)
        return start
