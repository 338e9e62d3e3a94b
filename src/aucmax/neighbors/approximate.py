# SPDX-License-Identifier: BSD-3-Clause
"""Near rows by a walk along a graph of neighbours (HNSW, the library usearch).

A query takes a fraction of the time of an exact one, an insert several hundred
microseconds: it pays when queries outnumber inserts.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucmax._utils.optional import import_optional
from aucmax._utils.state import expect_type
from aucmax._utils.typing import FloatArray, Matrix
from aucmax.neighbors.brute import LARGEST, DenseBruteIndex
from aucmax.neighbors.index import Index, Neighbors, nearest_of
from aucmax.neighbors.rows import DenseRows
from aucmax.saved import saved_as

# Rows that a walk keeps in view: more of them miss fewer and take longer.
QUERY_WIDTH = 64


@saved_as("ApproximateIndex", trusted=False)
class ApproximateIndex(Index):
    """Dense rows in a graph of neighbours; some of the nearest may be missed.

    What is found is measured by the definition, and ties are among what is found.
    """

    def __init__(self, n_features: int) -> None:
        super().__init__(n_features)
        self._settings = {
            "ndim": n_features,
            "metric": "l2sq",
            "dtype": "f32",
            "connectivity": 16,
            "expansion_add": 100,
            "expansion_search": QUERY_WIDTH,
        }
        self._graph = import_optional("usearch.index", "ann").Index(**self._settings)

    def check_state(self) -> None:
        """Raise ValueError unless the arrays of a loaded object fit together."""
        # The graph cannot be looked at: who loads one trusts it.
        expect_type(self, "rows", DenseRows)

    def insert(self, X: Matrix) -> None:
        """Store copies of rows; they get the next numbers."""
        start = self.rows.n
        self.rows.append(X)
        new = self.rows.values[start : self.rows.n]
        if len(new) == 0:
            return
        # One thread: the graph depends on the order in which rows arrive.
        numbers = np.arange(start, self.rows.n)
        self._graph.add(numbers, _to_float32(new), threads=1)

    def recall(self, X: Matrix, k: int) -> float:
        """Return the share of the k nearest of each row of X that a query finds.

        A row as near as the k-th counts as found whichever of them it is.
        """
        exact, found = self._exact().query(X, k), self.query(X, k)
        n, k = len(exact.indptr) - 1, min(k, self.rows.n)
        n_found = 0
        for i in range(n):
            limit = exact.distances[exact.indptr[i + 1] - 1]
            near = found.distances[found.indptr[i] : found.indptr[i + 1]]
            n_found += min(k, int(np.count_nonzero(near <= limit)))
        return n_found / max(1, k * n)

    def memory_usage(self) -> int:
        """Return the bytes held."""
        return super().memory_usage() + int(self._graph.memory_usage)

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"_graph": bytes(self._graph.save())}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        graph = import_optional("usearch.index", "ann").Index(**self._settings)
        if self.rows.n:
            graph.load(state["_graph"])
        self._graph = graph

    def _find(self, queries: FloatArray, k: int) -> Neighbors | None:
        size = min(self.rows.n, max(k, QUERY_WIDTH))
        matches = self._graph.search(_to_float32(queries), size, threads=1)
        ids = np.atleast_2d(matches.keys).astype(np.int64)
        if ids.shape[1] < size or np.min(getattr(matches, "counts", size)) < size:
            # A walk can end before it has seen so many, among equal rows for example.
            return self._exact()._find(queries, k)
        ids = np.sort(ids, axis=1)
        return nearest_of(ids, self.rows.exact_distances(queries, ids), k)

    def _exact(self) -> DenseBruteIndex:
        """Return an index of the same rows that misses none."""
        exact = DenseBruteIndex(self.rows.n_features)
        exact.insert(self.rows.values[: self.rows.n])
        return exact


def _to_float32(rows: FloatArray) -> NDArray[np.float32]:
    return np.clip(rows, -LARGEST, LARGEST).astype(np.float32)
