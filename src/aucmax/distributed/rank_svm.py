# SPDX-License-Identifier: BSD-3-Clause
"""Linear RankSVM over all pairs, with the rows on a cluster."""

from typing import Any, ClassVar, Self

import numpy as np

from aucmax._utils.typing import FloatArray
from aucmax._utils.validation import (
    COUNT,
    StrOptions,
    restore_attributes_on_error,
    validated,
)
from aucmax.distributed._binned_fit import fit_binned
from aucmax.distributed._block import Part
from aucmax.distributed._cluster import fetch, later, merged
from aucmax.distributed._inputs import DaskInputs, check_inputs, linear_design
from aucmax.distributed._partitions import partitions_of
from aucmax.distributed._scorer import DaskScorer
from aucmax.estimators._holdout import row_hashes
from aucmax.estimators.rank_svm import RankSVM
from aucmax.solvers.path import default_alpha
from aucmax.summaries import RowSpread

# How far rows are apart, and a number for each different one of them.
SpreadAndKeys = tuple[RowSpread, FloatArray]


class DaskRankSVM(DaskScorer, RankSVM):
    """:class:`~aucmax.RankSVM` on rows that live on the workers of a Dask cluster.

    The objective, the solver and the coefficients are those of RankSVM, to rounding.
    Rows stay where they are; with ``scores="exact"`` one number per row travels to the
    driver and back for every product, and the driver sorts them. With
    ``scores="binned"`` sums over bins of scores travel instead. With ``alpha="auto"``
    one worker holds 8 bytes for each different row.

    Runs on the cluster of the active ``distributed.Client``, else in threads of this
    process. It never starts a cluster.

    Parameters
    ----------
    alpha, loss, tol, max_iter, warm_start, verbose
        As in :class:`~aucmax.RankSVM`.
    scores : {"exact", "binned"}, default="exact"
        "binned" is for more rows than the driver can hold scores of: nothing as long as
        the rows reaches it. Pairs whose scores share a bin all count as active, which
        changes the objective by at most ``objective_error_``. Only with
        ``loss="squared_hinge"``.
    bins_per_octave : int, default=1024
        Bins between a score and its double, a power of two; for "binned".

    Attributes
    ----------
    coef_, intercept_, classes_, alpha_, n_iter_, objective_, history_, n_features_in_
        As in :class:`~aucmax.RankSVM`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, when X is a frame.
    objective_error_ : float
        How much ``objective_`` may be above the exact objective at ``coef_``; zero with
        ``scores="exact"``.

    See Also
    --------
    aucmax.RankSVM : The same for rows in memory, or that come in batches.

    Notes
    -----
    A worker that is lost costs time only, as long as Dask can make its rows again: from
    files, or from the graph. If the scheduler is lost, ``fit`` raises and the estimator
    is as it was.

    Examples
    --------
    >>> import dask.array as da
    >>> from sklearn.datasets import make_classification
    >>> from aucmax.distributed import DaskRankSVM
    >>> X, y = make_classification(weights=[0.9], random_state=0)
    >>> X, y = da.from_array(X, chunks=(40, -1)), da.from_array(y, chunks=40)
    >>> model = DaskRankSVM(alpha=0.01).fit(X, y)
    >>> round(model.score(X, y), 3)
    1.0
    >>> model.to_local()
    RankSVM(alpha=0.01)
    """

    _local = RankSVM
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **RankSVM._parameter_constraints,
        "scores": [StrOptions({"exact", "binned"})],
        "bins_per_octave": [COUNT],
    }

    def __init__(
        self,
        alpha: float | str = "auto",
        *,
        loss: str = "squared_hinge",
        tol: float = 1e-3,
        max_iter: int = 1000,
        warm_start: bool = False,
        verbose: int = 0,
        scores: str = "exact",
        bins_per_octave: int = 1024,
    ) -> None:
        super().__init__(
            alpha,
            loss=loss,
            tol=tol,
            max_iter=max_iter,
            warm_start=warm_start,
            verbose=verbose,
        )
        self.scores = scores
        self.bins_per_octave = bins_per_octave

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
        self : DaskRankSVM
            The fitted estimator.
        """
        self._check_binned()
        with restore_attributes_on_error(self):
            partitions = partitions_of(
                X, y, sample_weight, name=type(self).__name__, local="RankSVM"
            )
            inputs = check_inputs(self, partitions)
            self._set_alpha(lambda: alpha_on_workers(inputs))
            if self.scores == "binned":
                self._fit_binned(inputs)
            else:
                result = self._fit_design(linear_design(inputs), inputs)
                self._warn_unless_converged(result)
                self.objective_error_ = 0.0
        return self

    def _check_binned(self) -> None:
        if self.scores != "binned":
            return
        if self.loss == "hinge":
            raise ValueError(
                'scores="binned" works with loss="squared_hinge", but loss="hinge" was '
                "chosen, whose solver needs all scores. Choose the former, or "
                'scores="exact".'
            )
        bins = self.bins_per_octave
        if bins & (bins - 1) or bins > 2**20:
            raise ValueError(
                f"bins_per_octave must be a power of two up to 2**20, got {bins}. Pass "
                "for example 1024."
            )

    def _fit_binned(self, inputs: DaskInputs) -> None:
        result, self.objective_error_, threshold = fit_binned(
            linear_design(inputs),
            inputs,
            alpha=self.alpha_,
            bins_per_octave=self.bins_per_octave,
            start=self._start(inputs.shape[1]),
            tol=self.tol,
            max_iter=self.max_iter,
            on_step=self._on_step(),
        )
        self._warn_unless_converged(result)
        self._keep(result, inputs.classes, inputs.dtype)
        self.intercept_ = np.array([-threshold], dtype=self.coef_.dtype)


def alpha_on_workers(inputs: DaskInputs) -> float:
    """Return the penalty to use when none is given; no row reaches the driver."""
    parts = [later(_spread_and_keys, part) for part in inputs.parts]
    return float(fetch([later(_default_alpha, merged(parts, _merge))])[0])


def _spread_and_keys(part: Part) -> SpreadAndKeys:
    rows, is_pos, weight = part
    keys = row_hashes(rows)[weight > 0.0]
    return RowSpread.of_rows(rows, is_pos, weight), np.unique(keys)


def _merge(left: SpreadAndKeys, right: SpreadAndKeys) -> SpreadAndKeys:
    return left[0].merge(right[0]), np.union1d(left[1], right[1])


def _default_alpha(merged: SpreadAndKeys) -> float:
    return default_alpha(merged[0].squared_distance(), len(merged[1]))
