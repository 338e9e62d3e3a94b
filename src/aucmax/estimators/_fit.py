# SPDX-License-Identifier: BSD-3-Clause
"""The public ``fit`` and ``fit_stream``: check, fit, and leave nothing half-fitted."""

from typing import Any, Self

from numpy.typing import ArrayLike

from aucmax._utils.checkpoint import Checkpoint
from aucmax._utils.validation import (
    FitInputs,
    check_fit_inputs,
    restore_attributes_on_error,
    validated,
)
from aucmax.estimators._base import SolvedScorer
from aucmax.solvers.base import Checkpointing, Result
from aucmax.streams.passes import StreamInputs, check_source, resume_fit
from aucmax.streams.source import Source, name_features


class UnweightedFit:
    """``fit`` of an estimator to which rows cannot count several times."""

    @validated
    def fit(self, X: Any, y: ArrayLike) -> Self:
        """Fit to these rows; what was learned before is forgotten.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training rows.
        y : array-like of shape (n_samples,)
            Labels, two distinct values; the larger is positive.

        Returns
        -------
        self : object
            The fitted estimator; after an error, as it was before.
        """
        with restore_attributes_on_error(self):
            self._fit(check_fit_inputs(self, X, y))
        return self

    def _fit(self, inputs: FitInputs) -> None:
        """Fit to checked rows."""
        raise NotImplementedError


class WeightedFit(SolvedScorer):
    """``fit`` of an estimator to which rows may count several times."""

    @validated
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit to these rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training rows.
        y : array-like of shape (n_samples,)
            Labels, two distinct values; the larger is positive.
        sample_weight : array-like of shape (n_samples,), default=None
            How often each row counts: a weight of two is two rows, exactly, and a pair
            weighs the product of its rows.

        Returns
        -------
        self : object
            The fitted estimator; after an error, as it was before.
        """
        with restore_attributes_on_error(self):
            result = self._fit(check_fit_inputs(self, X, y, sample_weight))
            self._warn_unless_converged(result)
        return self

    def _fit(self, inputs: FitInputs) -> Result:
        """Fit to checked rows."""
        raise NotImplementedError


class StreamedFit(WeightedFit):
    """``fit``, and ``fit_stream`` for batches that are read several times."""

    @validated
    def fit_stream(
        self, source: Source, *, checkpoint: Checkpoint | None = None
    ) -> Self:
        """Fit to rows that are never all in memory.

        The model is that of ``fit``, to rounding; see the notes of the class.

        Parameters
        ----------
        source : re-iterable of (X, y) or (X, y, sample_weight)
            Batches of rows, the same ones each time it is iterated over: a list, or
            what :func:`aucmax.io.read_batches` returns. A batch may hold one class
            only.
        checkpoint : Checkpoints, default=None
            Where to keep the state of the fit, and to go on from; see
            :class:`aucmax.io.Checkpoints`.

        Returns
        -------
        self : object
            The fitted estimator; after an error, as it was before.

        Examples
        --------
        >>> from sklearn.datasets import make_classification
        >>> from aucmax import RankSVM
        >>> X, y = make_classification(weights=[0.9], random_state=0)
        >>> source = [(X[:60], y[:60]), (X[60:], y[60:])]
        >>> round(RankSVM(alpha=0.01).fit_stream(source).score(X, y), 3)
        1.0
        """
        if checkpoint is not None:
            self._refuse_checkpoints()
        with restore_attributes_on_error(self):
            inputs = check_source(self, source, checkpoint)
            result = self._fit_batches(inputs, resume_fit(self, inputs, checkpoint))
            self._warn_unless_converged(result)
            name_features(self, source)
        return self

    def _refuse_checkpoints(self) -> None:
        """Raise ValueError where the parameters allow none."""

    def _fit_batches(
        self, inputs: StreamInputs, checkpointing: Checkpointing
    ) -> Result:
        """Fit to checked batches."""
        raise NotImplementedError
