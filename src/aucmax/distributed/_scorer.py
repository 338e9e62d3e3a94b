# SPDX-License-Identifier: BSD-3-Clause
"""What the estimators on Dask share: scores of dask collections, and the way back."""

from copy import deepcopy
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from aucmax._utils.optional import import_optional
from aucmax._utils.validation import check_is_fitted
from aucmax.distributed._partitions import is_array, is_dask, is_frame
from aucmax.distributed.auc import roc_auc
from aucmax.estimators._base import AUCScorer


class DaskScorer(AUCScorer):
    """Mixin before the class that does the same with rows in memory."""

    _local: ClassVar[type[AUCScorer]]

    def decision_function(self, X: Any) -> Any:
        """Return the score of each row; positive means ``classes_[1]``.

        Parameters
        ----------
        X : dask array, dask frame, array-like or sparse matrix
            Rows to score.

        Returns
        -------
        scores : dask array, dask series or ndarray of shape (n_samples,)
            Lazy for dask collections: an array for an array, a series with the same
            index for a frame.
        """
        if not is_dask(X):
            return super().decision_function(X)
        return _map_rows(self.to_local().decision_function, X, np.empty(0))

    def predict(self, X: Any) -> Any:
        """Predict the class of each row.

        Parameters
        ----------
        X : dask array, dask frame, array-like or sparse matrix
            Rows to classify.

        Returns
        -------
        labels : dask array, dask series or ndarray of shape (n_samples,)
            Lazy for dask collections.
        """
        if not is_dask(X):
            return super().predict(X)
        return _map_rows(self.to_local().predict, X, self.classes_[:0])

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the area under the ROC curve on ``X`` and ``y``.

        Parameters
        ----------
        X : dask array, dask frame, array-like or sparse matrix
            Rows to score.
        y : dask array, dask series or array-like of shape (n_samples,)
            True labels, of both classes; on Dask if X is.
        sample_weight : dask array, dask series or array-like, default=None
            Weights; a weight of two counts as two rows.

        Returns
        -------
        auc : float
            Share of pairs in the right order, ties counting one half.
        """
        if not is_dask(X):
            return super().score(X, y, sample_weight)
        return roc_auc(
            y,
            self.decision_function(X),
            sample_weight=sample_weight,
            classes=self.classes_,
        )

    def to_local(self) -> Any:
        """Return the same model as the class that does without Dask.

        Returns
        -------
        model : estimator
            Fitted, with identical predictions.
        """
        check_is_fitted(self)
        names = self._local().get_params(deep=False)
        own = self.get_params(deep=False)
        local = self._local(**{name: own[name] for name in names})
        fitted = {
            name: value
            for name, value in vars(self).items()
            if name not in own and name != "objective_error_"
        }
        local.__dict__.update(deepcopy(fitted))
        return local

    def fit_stream(self, *args: Any, **kwargs: Any) -> Any:
        """Refuse: batches in this process are for the class without Dask."""
        raise AttributeError(
            f"{type(self).__name__} has no fit_stream. Use {self._local.__name__} for "
            "batches that come one after the other."
        )


def _map_rows(function: Any, X: Any, nothing: NDArray[Any]) -> Any:
    """Return a function of rows, one value for each, as a lazy collection."""
    model = function.__self__
    d = X.shape[1]
    if d != model.n_features_in_:
        raise ValueError(
            f"X has {d} features, but {type(model).__name__} is expecting "
            f"{model.n_features_in_} features as input."
        )
    if is_array(X):
        whole = X.rechunk({1: -1}) if X.numblocks[1] > 1 else X
        return whole.map_blocks(
            _values, function, nothing, drop_axis=1, meta=nothing, dtype=nothing.dtype
        )
    assert is_frame(X)
    pandas = import_optional("pandas", "dask")
    return X.map_partitions(_series, function, nothing, meta=pandas.Series(nothing))


def _values(rows: Any, function: Any, nothing: NDArray[Any]) -> NDArray[Any]:
    values: NDArray[Any] = function(rows) if rows.shape[0] else nothing
    return values


def _series(rows: Any, function: Any, nothing: NDArray[Any]) -> Any:
    pandas = import_optional("pandas", "dask")
    return pandas.Series(_values(rows, function, nothing), index=rows.index)
