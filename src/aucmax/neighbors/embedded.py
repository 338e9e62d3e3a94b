# SPDX-License-Identifier: BSD-3-Clause
"""An index of rows seen through a map that is learned from them."""

import copy
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from scipy import sparse

from aucmax._utils.state import (
    expect,
    expect_choice,
    expect_count,
    expect_part,
    expect_rows,
    expect_type,
)
from aucmax._utils.typing import Matrix, as_plain, is_sparse, to_dense
from aucmax.neighbors.auto import BACKENDS, make_index
from aucmax.neighbors.index import Index, Neighbors
from aucmax.neighbors.rows import density, to_csr
from aucmax.saved import saved_as

# Rows after which there is a map. Before, distances are those of the rows themselves.
FIRST_ROWS = 64
T = TypeVar("T")


@saved_as("EmbeddedIndex")
class EmbeddedIndex(Index):
    """The rows under ``mapping.transform``, all under the same state of the map.

    Distances between rows embedded at different times mean nothing: components turn
    while they are learned. So the rows are kept as they are, and whenever there are
    twice as many, the map learns from the new half and all are embedded anew. That is
    two embeddings per row on average, and a map that knows at least half of the rows.

    What the map sees depends on the rows only, not on how they are split into calls.
    Its ``transform`` must give a row the same values alone and among others. It is
    never changed in place, but replaced.

    ``index`` is empty, and holds the rows as they are until there is a map; ``backend``
    is that of the indexes of embedded rows.
    """

    def __init__(self, mapping: Any, index: Index, backend: str) -> None:
        self.mapping = mapping
        self.index = index
        self.backend = backend
        # Rows from which the map was learned.
        self.n_mapped = 0
        # All rows, in several pieces; one piece after each new map.
        self.held: list[Matrix] = []

    @property
    def n_rows(self) -> int:
        """Rows stored."""
        return self.index.n_rows

    @property
    def n_features(self) -> int:
        """Length of a row."""
        return int(self.held[0].shape[1])

    def check_state(self) -> None:
        """Raise ValueError unless the arrays of a loaded object fit together."""
        expect_choice(self, "backend", BACKENDS)
        index = expect_part(self, "index", Index)
        n_mapped = expect_count(self, "n_mapped", high=index.n_rows)
        n_held = 0
        for rows in expect_type(self, "held", list):
            n_held += expect_rows(self, "held", rows, self.n_features)[0]
        expect(n_held == index.n_rows, self, "it holds other rows than its index")
        if not n_mapped:
            expect(index.n_features == self.n_features, self, "its index is another")

    def insert(self, X: Matrix) -> None:
        """Store copies of rows; after an error in the map, none of them."""
        after = copy.copy(self)
        after.held = list(self.held)
        low = 0
        while low < X.shape[0]:
            n_missing = max(FIRST_ROWS, 2 * after.n_mapped) - after.n_rows
            part = X[low : low + n_missing].copy()
            low += n_missing
            if part.shape[0] == n_missing:
                after._map_again(part)
            else:
                # The last part of X, and the only one that changes an index in place.
                after.index.insert(after._embedded(part))
                after.held.append(part)
        vars(self).update(vars(after))

    def map_neighbors(
        self, X: Matrix, k: int, function: Callable[[Neighbors], T]
    ) -> list[T]:
        """Return what a function says of the neighbours, block by block of queries."""
        return self.index.map_neighbors(self._embedded(X), k, function)

    def recall(self, X: Matrix, k: int) -> float:
        """Return the share of the k nearest of each row of X that ``query`` finds."""
        return self.index.recall(self._embedded(X), k)

    def memory_usage(self) -> int:
        """Return the bytes held by the rows and by the index of their images."""
        return self.index.memory_usage() + sum(_n_bytes(part) for part in self.held)

    def _embedded(self, X: Matrix) -> Matrix:
        return _image(self.mapping, X) if self.n_mapped else X

    def _map_again(self, part: Matrix) -> None:
        """Add rows, learn from those since the last time, and embed all."""
        parts = [*self.held, part]
        stack: Any = sparse.vstack if is_sparse(part) else np.concatenate
        rows = stack(parts)
        rows = rows.tocsr() if is_sparse(rows) else rows
        # All is replaced at the end, so that an error in the map changes nothing.
        mapping = copy.deepcopy(self.mapping)
        mapping.partial_fit(rows[self.n_mapped :])
        image = _image(mapping, rows)
        index = make_index(image.shape[1], backend=self.backend, density=density(image))
        index.insert(image)
        self.mapping, self.index, self.held = mapping, index, [rows]
        self.n_mapped = rows.shape[0]


def _image(mapping: Any, X: Matrix) -> Matrix:
    """Return the rows under the map in the form an index takes."""
    image = mapping.transform(X)
    image = to_csr(image) if is_sparse(image) else as_plain(to_dense(image))
    if not np.isfinite(image.data if is_sparse(image) else image).all():
        raise ValueError(
            f"{type(mapping).__name__}.transform returned NaN or infinity, and rows at "
            "such places have no distance. Scale the features, or drop reduce."
        )
    return image


def _n_bytes(X: Matrix) -> int:
    if is_sparse(X):
        return int(X.data.nbytes + X.indices.nbytes + X.indptr.nbytes)
    return int(X.nbytes)
