# SPDX-License-Identifier: BSD-3-Clause
"""Compiled loops: arrays in, arrays out; no classes, no validation.

The rest of the package calls them by module, as in ``_kernels.order.argsort(scores)``:
a module is imported, and numba with it, when one of its kernels is first called.
Importing an estimator stays quick that way. Kernels themselves are ordinary numba
functions (see `aucmax._kernels.jit`) and call each other freely.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from aucmax._kernels import active_pairs as active_pairs
    from aucmax._kernels import averaged_weights as averaged_weights
    from aucmax._kernels import batches as batches
    from aucmax._kernels import counts as counts
    from aucmax._kernels import exponential as exponential
    from aucmax._kernels import low_rank as low_rank
    from aucmax._kernels import neighbor_curve as neighbor_curve
    from aucmax._kernels import neighbors as neighbors
    from aucmax._kernels import oam as oam
    from aucmax._kernels import oilk as oilk
    from aucmax._kernels import online_pca as online_pca
    from aucmax._kernels import online_univariate as online_univariate
    from aucmax._kernels import opauc as opauc
    from aucmax._kernels import order as order
    from aucmax._kernels import pairs as pairs
    from aucmax._kernels import prequential as prequential
    from aucmax._kernels import primal_dual as primal_dual
    from aucmax._kernels import products as products
    from aucmax._kernels import rows as rows
    from aucmax._kernels import sampling as sampling
    from aucmax._kernels import simplex as simplex
    from aucmax._kernels import solam as solam
    from aucmax._kernels import spread as spread
    from aucmax._kernels import tables as tables
    from aucmax._kernels import votes as votes


def __getattr__(name: str) -> Any:
    try:
        return import_module(f"{__name__}.{name}")
    except ModuleNotFoundError as error:
        raise AttributeError(
            f"module {__name__!r} has no attribute {name!r}"
        ) from error
