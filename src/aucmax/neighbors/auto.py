# SPDX-License-Identifier: BSD-3-Clause
"""Which index to use. All exact ones find the same, so that only time is at stake."""

from aucmax.neighbors.approximate import ApproximateIndex
from aucmax.neighbors.brute import DenseBruteIndex, SparseBruteIndex
from aucmax.neighbors.index import Index
from aucmax.neighbors.trees import TreeIndex

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
        Look at all rows, at those that k-d trees suggest, or at whichever of the two
        should be faster; these find the same. "approximate" walks along a graph of
        neighbours and may miss some; it needs usearch.
    density : float, default=None
        Share of nonzeros, if rows come as CSR matrices; trees and graphs store them
        dense. None for dense rows.

    Returns
    -------
    index : Index
        Ready for rows.

    Examples
    --------
    >>> import numpy as np
    >>> from aucmax.neighbors.auto import make_index
    >>> index = make_index(1)
    >>> index.insert(np.array([[0.0], [2.0], [4.0]]))
    >>> found = index.query(np.array([[1.0]]), k=1)
    >>> found.ids, found.distances
    (array([0, 1]), array([1., 1.]))
    """
    if backend == "auto":
        if density is not None and density > DENSE_SHARE:
            density = None
        is_tree = n_features <= MAX_TREE_FEATURES and density is None
        backend = "tree" if is_tree else "brute"
    if backend == "brute":
        brute = DenseBruteIndex if density is None else SparseBruteIndex
        return brute(n_features)
    if backend == "tree":
        return TreeIndex(n_features)
    if backend == "approximate":
        return ApproximateIndex(n_features)
    raise ValueError(
        f"backend={backend!r} is unknown. "
        "Pass 'auto', 'brute', 'tree' or 'approximate'."
    )
