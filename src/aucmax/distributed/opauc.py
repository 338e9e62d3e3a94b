# SPDX-License-Identifier: BSD-3-Clause
"""The pairwise square loss in one pass over rows on a cluster."""

from copy import deepcopy
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from aucmax._utils.typing import Matrix
from aucmax._utils.validation import (
    restore_attributes_on_error,
    split_labels,
    validated,
)
from aucmax.distributed._cluster import fetch
from aucmax.distributed._inputs import DaskInputs, check_inputs
from aucmax.distributed._moments import moments_of
from aucmax.distributed._partitions import partitions_of
from aucmax.distributed._sample import add_drawn, draw_tasks
from aucmax.distributed._scorer import DaskScorer
from aucmax.estimators.opauc import OPAUC
from aucmax.solvers.online.exact import ExactLearner
from aucmax.streams.online import OnlineStream


class DaskOPAUC(DaskScorer, OPAUC):
    """:class:`~aucmax.OPAUC` on rows on the workers of a Dask cluster.

    Each block becomes the means and covariances of its classes, which are merged a few
    at a time on the workers; two matrices of ``n_features`` squared reach the driver,
    and at most 256 rows of each class for the threshold. The model is that of OPAUC on
    the same rows in order, to rounding, and ``partial_fit`` adds more.

    Runs on the cluster of the active ``distributed.Client``, else in threads of this
    process. It never starts a cluster.

    Parameters
    ----------
    alpha, verbose
        As in :class:`~aucmax.OPAUC`.
    solver, rank, reduce
        Only ``solver="exact"``, ``rank=None``, which is "auto" here, and
        ``reduce=None``: the other methods depend on the order of the rows, or on random
        numbers for each.
    n_components, step_size, shuffle, random_state
        Of those methods; kept so that the parameters are those of OPAUC.

    Attributes
    ----------
    coef_, intercept_, classes_, n_samples_seen_, n_features_in_
        As in :class:`~aucmax.OPAUC`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, when X is a frame.

    See Also
    --------
    aucmax.OPAUC : The same for rows in memory; ``to_local`` returns one that goes on.

    Examples
    --------
    >>> import dask.array as da
    >>> from sklearn.datasets import make_classification
    >>> from aucmax.distributed import DaskOPAUC
    >>> X, y = make_classification(1000, weights=[0.9], random_state=0)
    >>> rows, labels = da.from_array(X, chunks=(200, -1)), da.from_array(y, chunks=200)
    >>> model = DaskOPAUC().fit(rows, labels)
    >>> round(model.score(rows, labels), 2)
    0.98
    >>> model.to_local().partial_fit(X, y).n_samples_seen_
    2000
    """

    _local = OPAUC

    @validated
    def fit(self, X: Any, y: Any) -> Self:
        """Forget what was learned and learn from these rows.

        Parameters
        ----------
        X : dask array or frame of shape (n_samples, n_features), path or list of paths
            Training rows, dense or with a CSR matrix per chunk. Blocks may be uneven,
            empty or of one class. A path is that of a file, a folder of Parquet files,
            or a glob.
        y : dask array or series of shape (n_samples,), or str
            Labels, two distinct values; the larger is positive. Or the column of X,
            when that is a frame or files, that holds them.

        Returns
        -------
        self : DaskOPAUC
            The fitted estimator; after an error, as it was before.
        """
        self._refuse_other_methods()
        with restore_attributes_on_error(self):
            inputs = self._check(X, y, None, goes_on=False)
            self.classes_ = inputs.classes
            self._stream, _ = self._start_learner(_no_rows(inputs))
            self._learn(inputs)
        return self

    @validated
    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Self:
        """Go on with more rows.

        In one collection or several, the result is the same, to rounding.

        Parameters
        ----------
        X : dask array or frame of shape (n_samples, n_features), path or list of paths
            Further rows.
        y : dask array or series of shape (n_samples,), or str
            Their labels.
        classes : array-like of shape (2,), default=None
            All labels there will be; needed in the first call if its rows hold only one
            of them.

        Returns
        -------
        self : DaskOPAUC
            The estimator; after an error, as it was before.
        """
        self._refuse_other_methods()
        with restore_attributes_on_error(self):
            goes_on = hasattr(self, "_stream")
            known = self._known_classes(classes) if goes_on else classes
            if not goes_on and classes is not None:
                known, _ = split_labels(classes, name="classes= of DaskOPAUC")
            inputs = self._check(X, y, known, goes_on=goes_on)
            self.classes_ = inputs.classes
            if not goes_on:
                self._stream, _ = self._start_learner(_no_rows(inputs))
            self._learn(inputs)
        return self

    def _check(
        self, X: Any, y: Any, classes: NDArray[Any] | None, *, goes_on: bool
    ) -> DaskInputs:
        partitions = partitions_of(X, y, name=type(self).__name__, local="OPAUC")
        return check_inputs(self, partitions, classes=classes, goes_on=goes_on)

    def _known_classes(self, classes: Any) -> NDArray[Any]:
        if classes is not None:
            given, _ = split_labels(classes, name="classes= of DaskOPAUC")
            if not np.array_equal(given, self.classes_):
                raise ValueError(
                    f"classes={given.tolist()} differs from the first call, which had "
                    f"{self.classes_.tolist()}. Leave it out after the first call."
                )
        return self.classes_

    def _begin(self, X: Matrix, rng: np.random.Generator) -> ExactLearner:
        alpha = None if isinstance(self.alpha, str) else self.alpha
        return ExactLearner(X.shape[1], alpha=alpha)

    def _refuse_other_methods(self) -> None:
        for name, only in (("solver", "exact"), ("rank", None), ("reduce", None)):
            value = getattr(self, name)
            if value != only and (name, value) != ("rank", "auto"):
                raise ValueError(
                    f"DaskOPAUC has only {name}={only!r}, but {name}={value!r} was "
                    "chosen, which learns from one row after the other. Use OPAUC."
                )

    def _learn(self, inputs: DaskInputs) -> None:
        """Add the rows of all blocks; what was learned before is not written to."""
        old = self._stream
        learner = old.learner
        assert isinstance(learner, ExactLearner)
        draws = draw_tasks(old.sample.slots, inputs, old.sparse_rows)
        moments, *drawn = fetch([moments_of(inputs.parts), *draws])
        new = ExactLearner(learner.moments.n_features, alpha=learner.alpha)
        for own, added in ((1, moments[0]), (0, moments[1])):
            known = learner.moments.of_class(own).merge(added)
            new.moments.set_class(own, known, sparse_rows=old.sparse_rows)
        stream = OnlineStream(new, sparse_rows=old.sparse_rows)
        stream.sample = deepcopy(old.sample)
        add_drawn(stream.sample, inputs.counts, drawn)
        self._stream = stream


def _no_rows(inputs: DaskInputs) -> Matrix:
    """Return a matrix like the rows, to begin with."""
    shape = 0, inputs.shape[1]
    return sparse.csr_matrix(shape) if inputs.is_sparse else np.empty(shape)
