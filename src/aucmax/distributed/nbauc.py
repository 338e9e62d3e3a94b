# SPDX-License-Identifier: BSD-3-Clause
"""Kernel AUC on Nystroem features, with the rows on a cluster."""

from typing import Any, Self

from aucmax._utils.memory import parse_bytes
from aucmax._utils.typing import Matrix
from aucmax._utils.validation import FitInputs, restore_attributes_on_error, validated
from aucmax.design import Design, MappedDesign
from aucmax.design.mapped import BLOCK_ROWS, RowMap
from aucmax.distributed._inputs import DaskInputs, check_inputs, take_rows
from aucmax.distributed._partitions import partitions_of
from aucmax.distributed._scorer import DaskScorer
from aucmax.distributed.design import DaskDesign, keep_blocks
from aucmax.estimators._kernel_choice import nystroem_design
from aucmax.estimators.nbauc import NBAUC
from aucmax.features.nystroem import Nystroem
from aucmax.streams.passes import sample_rows


class DaskNBAUC(DaskScorer, NBAUC):
    """:class:`~aucmax.NBAUC` on rows that live on the workers of a Dask cluster.

    What is "auto" and the landmarks are chosen by the driver, on a spread of at most
    100,000 rows, fewer of wide ones; landmarks travel to the workers, which keep the
    kernel values of their rows. One number per row travels for every product. Where
    the spread is all rows, or with ``gamma``, ``alpha`` and ``landmarks`` given, the
    model is that of NBAUC, to rounding.

    Runs on the cluster of the active ``distributed.Client``, else in threads of this
    process. It never starts a cluster.

    Parameters
    ----------
    n_landmarks, kernel, gamma, degree, coef0, alpha, landmarks, tol, max_iter
        As in :class:`~aucmax.NBAUC`.
    memory_budget : int or str, default="4GB"
        Room for kernel values between rows and landmarks, over all workers together.
    random_state, verbose
        As in :class:`~aucmax.NBAUC`.

    Attributes
    ----------
    gamma_, alpha_, tuning_, feature_map_, coef_, basis_, dual_coef_, intercept_
        As in :class:`~aucmax.NBAUC`.
    classes_, n_iter_, objective_, history_, n_features_in_
        As in :class:`~aucmax.NBAUC`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, when X is a frame.

    See Also
    --------
    aucmax.NBAUC : The same for rows in memory, or that come in batches.
    DaskRankSVM : Linear.

    Examples
    --------
    >>> import dask.array as da
    >>> from sklearn.datasets import make_moons
    >>> from aucmax.distributed import DaskNBAUC
    >>> X, y = make_moons(300, noise=0.2, random_state=0)
    >>> X, y = da.from_array(X, chunks=(100, -1)), da.from_array(y, chunks=100)
    >>> model = DaskNBAUC(50, gamma=1.0, alpha=1e-4, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.98)
    True
    """

    _local = NBAUC

    @validated
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Choose what is "auto", then landmarks, and fit.

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
            A row of weight two counts as two rows.

        Returns
        -------
        self : DaskNBAUC
            The fitted estimator.
        """
        with restore_attributes_on_error(self):
            budget = parse_bytes(self.memory_budget)
            partitions = partitions_of(
                X, y, sample_weight, name=type(self).__name__, local="NBAUC"
            )
            # Rows are mapped in the same company as in memory, and so rounded alike.
            inputs = check_inputs(self, partitions, multiple=BLOCK_ROWS, drop_idle=True)
            sample = sample_inputs(inputs)
            result = self._fit_rows(
                sample,
                inputs,
                lambda found: mapped_design(inputs, sample.X, found, budget),
            )
            self._warn_unless_converged(result)
        return self


def mapped_design(
    inputs: DaskInputs, like: Matrix, feature_map: Nystroem, memory_budget: int
) -> Design:
    """Return rows such as ``like`` through a fitted map, mapped on the workers."""
    dtype, row_bytes = feature_map.dtype_, memory_budget / inputs.shape[0]

    def make_blocks(row_map: RowMap, n_columns: int) -> DaskDesign:
        def make(rows: Matrix) -> MappedDesign:
            budget = int(row_bytes * rows.shape[0])
            return MappedDesign(
                rows, row_map, n_columns, dtype=dtype, memory_budget=budget
            )

        return DaskDesign(keep_blocks(inputs, make), inputs.sizes, n_columns)

    return nystroem_design(make_blocks, like, feature_map)


def sample_inputs(inputs: DaskInputs) -> FitInputs:
    """Return all rows if they are few, else a spread of them, as for a stream."""
    index, weight = sample_rows(inputs.is_pos, inputs.weight, inputs.shape[1])
    rows = take_rows(inputs, index)
    return FitInputs(rows, inputs.is_pos[index], weight, inputs.classes)
