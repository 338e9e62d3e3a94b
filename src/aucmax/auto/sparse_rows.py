# SPDX-License-Identifier: BSD-3-Clause
"""Sparse rows, of which few become dense, so that all families can be tried."""

from collections.abc import Iterator

from scipy import sparse

from aucmax._utils.typing import Matrix, is_sparse

# More columns are words, or the like.
DENSE_COLUMNS, DENSE_VALUES = 5000, 10**8
BLOCK_VALUES = 2 * 10**7


def becomes_dense(rows: Matrix) -> bool:
    """Say whether rows are dense, or few enough to become it."""
    n, d = rows.shape
    return not is_sparse(rows) or (d <= DENSE_COLUMNS and n * d <= DENSE_VALUES)


def for_families(rows: Matrix, is_dense: bool) -> Matrix:
    """Return rows as the families take them."""
    if not is_sparse(rows):
        return rows
    if is_dense:
        return rows.toarray()
    # LightGBM does not know sparse arrays; a zero that is stored is still a zero.
    rows = sparse.csr_matrix(rows, copy=True)
    rows.eliminate_zeros()
    return rows


def in_blocks(rows: Matrix, is_dense: bool) -> Iterator[Matrix]:
    """Yield the same, of sparse rows that become dense a few at a time."""
    n, d = rows.shape
    size = max(1, BLOCK_VALUES // d) if is_sparse(rows) and is_dense else n
    for low in range(0, n, size):
        yield for_families(rows[low : low + size], is_dense)
