# SPDX-License-Identifier: BSD-3-Clause
"""What an index of stored rows can do, whatever it is built of."""

from typing import NamedTuple, Protocol, runtime_checkable

from aucmax._utils.typing import FloatArray, IntArray, Matrix


class Neighbors(NamedTuple):
    """The rows nearest to each query: the k nearest and all that tie with the k-th.

    Those of query i are ``ids[indptr[i]:indptr[i + 1]]``, by distance and, where that
    is equal, by age.

    Attributes
    ----------
    indptr : ndarray of shape (n_queries + 1,)
        Where the neighbours of each query begin.
    ids : ndarray of shape (n_found,)
        Rows by number, the first inserted being 0.
    distances : ndarray of shape (n_found,)
        Squared Euclidean distances: the float64 sum of squared differences in the order
        of the features, so that all indexes agree to the last bit.
    """

    indptr: IntArray
    ids: IntArray
    distances: FloatArray


@runtime_checkable
class Index(Protocol):
    """Stored rows, to which more can be added at any time."""

    @property
    def n_features(self) -> int:
        """Length of a row."""
        ...

    @property
    def n_rows(self) -> int:
        """Rows stored."""
        ...

    def insert(self, X: Matrix) -> None:
        """Store copies of rows; they get the next numbers."""
        ...

    def query(self, X: Matrix, k: int) -> Neighbors:
        """Return the nearest rows of each row of X; all stored if there are fewer."""
        ...

    def memory_usage(self) -> int:
        """Return the bytes held."""
        ...


def recall(index: Index, X: Matrix, k: int) -> float:
    """Return the share of the k nearest of each row of X that the index finds.

    One for exact indexes; others have a method of this name.
    """
    measure = getattr(index, "recall", None)
    return 1.0 if measure is None else float(measure(X, k))
