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
    from aucmax._kernels import (
        active_pairs,
        averaged_weights,
        batches,
        candidates,
        counts,
        exponential,
        low_rank,
        neighbor_curve,
        neighbors,
        oam,
        oilk,
        online_pca,
        online_univariate,
        opauc,
        order,
        pairs,
        prequential,
        primal_dual,
        products,
        rows,
        sampling,
        simplex,
        solam,
        spread,
        tables,
        votes,
    )

__all__ = [
    "active_pairs",
    "averaged_weights",
    "batches",
    "candidates",
    "counts",
    "exponential",
    "low_rank",
    "neighbor_curve",
    "neighbors",
    "oam",
    "oilk",
    "online_pca",
    "online_univariate",
    "opauc",
    "order",
    "pairs",
    "prequential",
    "primal_dual",
    "products",
    "rows",
    "sampling",
    "simplex",
    "solam",
    "spread",
    "tables",
    "votes",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return import_module(f"{__name__}.{name}")
