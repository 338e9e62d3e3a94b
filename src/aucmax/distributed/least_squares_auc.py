# SPDX-License-Identifier: BSD-3-Clause
"""The pairwise square loss in closed form, with the rows on a cluster."""

from typing import Any, Self

from aucmax._utils.validation import restore_attributes_on_error, validated
from aucmax.distributed._cluster import fetch
from aucmax.distributed._inputs import check_inputs, linear_design
from aucmax.distributed._moments import moments_of
from aucmax.distributed._partitions import partitions_of
from aucmax.distributed._scorer import DaskScorer
from aucmax.estimators.least_squares_auc import LeastSquaresAUC


class DaskLeastSquaresAUC(DaskScorer, LeastSquaresAUC):
    """:class:`~aucmax.LeastSquaresAUC` on rows on the workers of a Dask cluster.

    The direct solver needs one pass: each block becomes the means and covariances of
    its classes, which are merged a few at a time on the workers. One number per row
    travels to the driver once, for the threshold; with "cg" at every product.

    Runs on the cluster of the active ``distributed.Client``, else in threads of this
    process. It never starts a cluster.

    Parameters
    ----------
    alpha, solver, tol, max_iter
        As in :class:`~aucmax.LeastSquaresAUC`.

    Attributes
    ----------
    coef_, intercept_, classes_, alpha_, n_iter_, objective_, history_, n_features_in_
        As in :class:`~aucmax.LeastSquaresAUC`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, when X is a frame.

    See Also
    --------
    aucmax.LeastSquaresAUC : The same for rows in memory, or that come in batches.
    DaskOPAUC : The same solution, to which more rows can be added.

    Examples
    --------
    >>> import dask.array as da
    >>> from sklearn.datasets import make_classification
    >>> from aucmax.distributed import DaskLeastSquaresAUC
    >>> X, y = make_classification(weights=[0.9], random_state=0)
    >>> X, y = da.from_array(X, chunks=(40, -1)), da.from_array(y, chunks=40)
    >>> round(DaskLeastSquaresAUC().fit(X, y).score(X, y), 2)
    1.0
    """

    _local = LeastSquaresAUC

    @validated
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the weights.

        Parameters
        ----------
        X : dask array or frame of shape (n_samples, n_features), path or list of paths
            Training rows, dense or with a CSR matrix per chunk. Blocks may be uneven,
            empty or of one class. A path is that of a file, a folder of Parquet files,
            or a glob.
        y : dask array or series of shape (n_samples,), or str
            Labels, two distinct values; the larger is positive. Or the column of X,
            when that is a frame or files, that holds them.
        sample_weight : dask array or series of shape (n_samples,), or str, default=None
            A row of weight two counts as two rows, exactly.

        Returns
        -------
        self : DaskLeastSquaresAUC
            The fitted estimator.
        """
        with restore_attributes_on_error(self):
            partitions = partitions_of(
                X, y, sample_weight, name=type(self).__name__, local="LeastSquaresAUC"
            )
            inputs = check_inputs(self, partitions)
            if self._is_direct(inputs.shape[1], inputs.is_sparse):
                pos, neg = fetch([moments_of(inputs.parts)])[0]
                result = self._fit_moments(pos, neg, inputs)
            else:
                result = self._fit_implicit(linear_design(inputs), inputs)
            self._warn_unless_converged(result)
        return self
