# SPDX-License-Identifier: BSD-3-Clause
"""What all estimators that learn row by row share: one ``fit``, one ``partial_fit``."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

from aucmax._utils.checkpoint import Checkpoint
from aucmax._utils.progress import report
from aucmax._utils.state import expect, expect_type
from aucmax._utils.typing import Matrix, is_sparse
from aucmax._utils.validation import (
    FitInputs,
    check_batch,
    check_is_fitted,
    restore_attributes_on_error,
    validated,
)
from aucmax.estimators._base import AUCScorer
from aucmax.estimators._fit import UnweightedFit
from aucmax.solvers.online.base import Learner
from aucmax.streams.online import SAMPLE_ROWS, OnlineStream
from aucmax.streams.partial_fit import partial_fit_all
from aucmax.streams.source import Source

# Lines of progress per pass.
N_REPORTS = 10


class OnlineScorer(UnweightedFit, AUCScorer):
    """Scorer that learns from rows one after the other.

    A subclass says how to begin; validation, labels, order, threshold and progress are
    here, and everything else in its learner.
    """

    n_passes: int = 1
    shuffle: bool = True
    random_state: Any
    _stream: OnlineStream
    # Zero in a subclass that has its own ``intercept_``.
    _sample_rows: int = SAMPLE_ROWS

    def _fit(self, inputs: FitInputs) -> None:
        self.classes_ = inputs.classes
        self._stream, rng = self._start_learner(inputs.X)
        n = inputs.X.shape[0]
        for n_passed in range(self.n_passes):
            order = None
            if self.shuffle and not self._stream.learner.is_order_free:
                order = rng.permutation(n)
            self._run(inputs.X, inputs.is_pos, order, n_passed)

    @validated
    def partial_fit(
        self, X: Any, y: ArrayLike, classes: ArrayLike | None = None
    ) -> Self:
        """Go on with more rows, in the order given.

        Row by row, in batches of any sizes, or all at once: the result is the same, bit
        for bit. A batch with a NaN, an infinity or an unknown label is refused as a
        whole. If a step would overflow, which only a ``step_size`` of your own can
        cause on sensible data, the rows before it have been learned. Parameters changed
        by ``set_params`` are used by the next ``fit``.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows of the batch.
        y : array-like of shape (n_samples,)
            Their labels.
        classes : array-like of shape (2,), default=None
            All labels there will be; needed in the first call if its rows hold only one
            of them.

        Returns
        -------
        self : object
            The estimator.
        """
        with restore_attributes_on_error(self):
            X, is_pos, self.classes_ = check_batch(self, X, y, classes)
            stream = getattr(self, "_stream", None) or self._start_learner(X)[0]
            stream.learn(X, is_pos)
            # Only now, so that no other thread scores with a model of no rows.
            self._stream = stream
        return self

    @validated
    def fit_stream(
        self,
        source: Source,
        *,
        classes: ArrayLike | None = None,
        checkpoint: Checkpoint | None = None,
    ) -> Self:
        """Forget what was learned and learn from batches, in the order they come.

        The same as ``partial_fit`` for one batch after the other, as many times as
        there are passes; no batch is kept.

        Parameters
        ----------
        source : iterable of (X, y)
            Batches of rows, such as a list, or what :func:`aucmax.io.read_batches`
            returns; for several passes the same ones each time.
        classes : array-like of shape (2,), default=None
            All labels there will be; needed if the first batch holds only one of them.
        checkpoint : Checkpoints, default=None
            Where to keep the model after each batch, and to go on from; see
            :class:`aucmax.io.Checkpoints`.

        Returns
        -------
        self : object
            The fitted estimator; after an error, as it was before.
        """
        with restore_attributes_on_error(self):
            for name in {"classes_", "_stream"} & vars(self).keys():
                delattr(self, name)
            partial_fit_all(self, source, classes, checkpoint)
        return self

    def _decide(self, X: Matrix) -> NDArray[Any]:
        with self._stream.lock:
            learner: Any = self._stream.learner
            model, intercept = self._stream.model(), self.intercept_[0]
            if model is learner:
                # Rows that another thread learns meanwhile would change it.
                return np.asarray(model.scores(X) + intercept)
        return np.asarray(model.scores(X) + intercept)

    @property
    def intercept_(self) -> NDArray[Any]:
        """Minus the threshold with the best balanced accuracy on a sample of rows."""
        check_is_fitted(self)
        return np.array([-self._stream.threshold()])

    @property
    def n_samples_seen_(self) -> int:
        """Rows learned so far, those of later passes included."""
        check_is_fitted(self)
        return self._stream.n_seen

    @property
    def _model(self) -> Any:
        """What the learner has learned so far."""
        check_is_fitted(self)
        return self._stream.model()

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_stream")

    def _check_fitted(self) -> None:
        stream = expect_type(self, "_stream", OnlineStream)
        expect(
            stream.learner.n_features == self.n_features_in_
            and stream.sample.slots.size == self._sample_rows,
            self,
            "it has learned from other features, or keeps another sample",
        )

    def _begin(self, X: Matrix, rng: np.random.Generator) -> Learner:
        """Return a learner for rows like these that has seen none yet."""
        raise NotImplementedError

    def _start_learner(self, X: Matrix) -> tuple[OnlineStream, np.random.Generator]:
        """Return a new learner for rows like these, and what draws their order."""
        seed = check_random_state(self.random_state).randint(2**31 - 1)
        own, order = np.random.default_rng(seed).spawn(2)
        learner = self._begin(X, own)
        stream = OnlineStream(
            learner, sparse_rows=is_sparse(X), sample_rows=self._sample_rows
        )
        return stream, order

    def _run(self, X: Matrix, is_pos: Any, order: Any, n_passed: int) -> None:
        """Make one pass, with some lines of progress."""
        if not getattr(self, "verbose", 0):
            self._stream.learn(X, is_pos, order)
            return
        n = X.shape[0]
        for part in np.array_split(np.arange(n), min(n, N_REPORTS)):
            index = part if order is None else order[part]
            self._stream.learn(X, is_pos, index)
            report(
                f"[{type(self).__name__}] pass {n_passed + 1} of {self.n_passes}  "
                f"rows {part[-1] + 1} of {n}"
            )


class OnlineLinear(OnlineScorer):
    """Scores are ``X @ coef_[0] + intercept_[0]``."""

    @property
    def coef_(self) -> NDArray[Any]:
        """Weights of the features, of shape (1, n_features)."""
        return np.array(self._model.coef[None, :])
