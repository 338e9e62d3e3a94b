# SPDX-License-Identifier: BSD-3-Clause
"""Which index to use. All exact ones find the same, so that only time is at stake."""

from aucmax.neighbors.approximate import ApproximateIndex
from aucmax.neighbors.brute import DenseBruteIndex, SparseBruteIndex
from aucmax.neighbors.index import Index
from aucmax.neighbors.trees import TreeIndex

BACKENDS = ("auto", "brute", "tree", "approximate")
# Among 100,000 rows of 3 features, trees take two thirds of the time that all distances
# take; with 10 features 7 times as long.
MAX_TREE_FEATURES = 3
# Sparse rows with more nonzeros than this share are stored dense, which is as fast for
# a9a (0.11) and half as fast for w8a (0.04).
DENSE_SHARE = 0.1


def make_index(
    n_features: int, *, backend: str = "auto", density: float | None = None
) -> Index:
    """Return an empty index.

    Parameters
    ----------
    n_features : int
        Length of a row.
    backend : {"auto", "brute", "tree", "approximate"}, default="auto"
        As in KNNOAM.
    density : float, default=None
        Share of nonzeros, if rows come as CSR matrices; trees and graphs store them
        dense. None for dense rows.
    """
    is_dense = density is None or (backend == "auto" and density > DENSE_SHARE)
    if backend == "auto":
        is_tree = n_features <= MAX_TREE_FEATURES and is_dense
        backend = "tree" if is_tree else "brute"
    if backend == "brute":
        return DenseBruteIndex(n_features) if is_dense else SparseBruteIndex(n_features)
    return TreeIndex(n_features) if backend == "tree" else ApproximateIndex(n_features)
