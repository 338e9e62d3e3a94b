# SPDX-License-Identifier: BSD-3-Clause
"""The same estimators with the rows on a cluster, through Dask.

They run on the scheduler that is active: that of a ``distributed.Client``, or threads
of this process. None of them starts a cluster.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from aucmax.distributed.auc import roc_auc
    from aucmax.distributed.least_squares_auc import DaskLeastSquaresAUC
    from aucmax.distributed.nbauc import DaskNBAUC
    from aucmax.distributed.opauc import DaskOPAUC
    from aucmax.distributed.prepared import prepared
    from aucmax.distributed.rank_svm import DaskRankSVM

__all__ = [
    "DaskLeastSquaresAUC",
    "DaskNBAUC",
    "DaskOPAUC",
    "DaskRankSVM",
    "prepared",
    "roc_auc",
]

# A worker imports what its tasks need, and no more.
_HOMES = {
    "DaskLeastSquaresAUC": "least_squares_auc",
    "DaskNBAUC": "nbauc",
    "DaskOPAUC": "opauc",
    "DaskRankSVM": "rank_svm",
    "prepared": "prepared",
    "roc_auc": "auc",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'aucmax.distributed' has no attribute {name!r}")
    value = getattr(import_module(f"aucmax.distributed.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
