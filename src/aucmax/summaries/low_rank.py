# SPDX-License-Identifier: BSD-3-Clause
"""Count, mean and a covariance of low rank of one class, for very many features."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from aucmax import _kernels
from aucmax._utils.state import FLOATS, expect, expect_array, expect_count
from aucmax._utils.typing import FloatArray, Matrix
from aucmax.saved import saved_as

# Sums larger than this are kept in float32.
LARGE_BYTES = 2**30
# Sums read at a time when a covariance is made of them: 4 MB in float64.
BLOCK_VALUES = 2**19


def sums_dtype(n_features: int, n_columns: int) -> type[np.floating[Any]]:
    """Return float64, or float32 where the sums would take more than a gigabyte."""
    return np.float32 if 8 * n_features * n_columns > LARGE_BYTES else np.float64


def draw_signs(
    n_features: int, rank: int, rng: np.random.Generator
) -> NDArray[np.int8]:
    """Return the directions in which covariances are seen, of 1 and -1 at random.

    With as many directions as features they are the features themselves, and nothing is
    approximate.
    """
    if rank >= n_features:
        return np.eye(n_features, dtype=np.int8)
    signs = rng.integers(0, 2, (n_features, rank), dtype=np.int8)
    signs *= 2
    signs -= 1
    return signs


@saved_as("LowRankMoments")
@dataclass(slots=True)
class LowRankMoments:
    """Sums over the rows x of one class, of which covariances are made when needed.

    Keeps ``x (signs' x)'``, x and the squares of x, each added up: a covariance S is
    then known in the directions ``signs``, as ``S signs``. Rows are added in place, and
    only their nonzeros touched.

    Attributes
    ----------
    signs : ndarray of shape (n_features, rank)
        The directions; the same for both classes.
    sums : ndarray of shape (n_features, rank + 2)
        Sums of the products, of the rows and of their squares.
    count : int
        Number of rows.
    """

    signs: NDArray[np.int8]
    sums: NDArray[Any] = field(repr=False)
    count: int = 0

    def __getstate__(self) -> Any:
        # As without it; but pickle's oldest protocol, which skops uses, wants it said.
        return object.__getstate__(self)

    def __setstate__(self, state: tuple[None, dict[str, Any]]) -> None:
        for name, value in state[1].items():
            setattr(self, name, value)

    @classmethod
    def empty(
        cls, signs: NDArray[np.int8], dtype: type[np.floating[Any]] = np.float64
    ) -> "LowRankMoments":
        """Return the sums over no rows at all."""
        d, rank = signs.shape
        return cls(signs, np.zeros((d, rank + 2), dtype=dtype))

    def add(self, rows: Matrix) -> None:
        """Take in CSR rows of float64, one after the other."""
        csr = _kernels.rows.as_rows(rows)
        _kernels.low_rank.add_products(csr, self.signs, self.sums)
        self.count += rows.shape[0]

    def squared_distance(self, other: "LowRankMoments") -> float:
        """Return the mean squared distance of rows of one from rows of the other."""
        mean, square = self._mean_and_square()
        other_mean, other_square = other._mean_and_square()
        return float(np.sum(square + other_square - 2.0 * mean * other_mean))

    def _mean_and_square(self) -> FloatArray:
        return self.sums[:, -2:].T.astype(np.float64) / self.count

    def check_state(self) -> None:
        """Raise ValueError unless the arrays of a loaded object fit together."""
        d, rank = expect_array(self, "signs", (None, None), np.int8).shape
        expect(min(d, rank) > 0, self, "signs are none")
        expect_array(self, "sums", (d, rank + 2), FLOATS)
        expect_count(self, "count")

    def covariance(self) -> "LowRankCovariance":
        """Return the approximate covariance, with divisor ``count``; not of no rows."""
        rank = self.signs.shape[1]
        raw, along = np.zeros((rank, rank)), np.zeros(rank)
        for block in feature_blocks(*self.signs.shape):
            signs = self.signs[block].astype(np.float64)
            sums = self.sums[block].astype(np.float64, copy=False) / self.count
            raw += signs.T @ sums[:, :rank]
            along += sums[:, rank] @ signs
        seen = raw - np.outer(along, along)
        values, vectors = linalg.eigh((seen + seen.T) / 2.0)
        # What is below the rounding of the sums is not known.
        floor = 8.0 * rank * float(np.finfo(self.sums.dtype).eps) * np.trace(raw)
        safe = np.where(values > floor, values, np.inf)
        return LowRankCovariance(self, along, vectors / np.sqrt(safe))


@dataclass(frozen=True, slots=True)
class LowRankCovariance:
    """The matrix ``factor factor' + diag(rest)`` close to a covariance S.

    ``factor factor' = S signs (signs' S signs)^-1 signs' S``, the approximation of
    Nyström, never exceeds S, so what its diagonal lacks is not negative. ``rest`` adds
    that back: all variances are exact.
    """

    moments: LowRankMoments
    along: FloatArray
    root: FloatArray

    def features(self, block: slice) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return mean, factor and rest of some of the features."""
        sums = self.moments.sums[block].astype(np.float64, copy=False)
        sums = sums / self.moments.count
        rank = len(self.along)
        mean = sums[:, rank]
        factor = (sums[:, :rank] - np.outer(mean, self.along)) @ self.root
        rest = sums[:, rank + 1] - mean**2 - np.einsum("ij,ij->i", factor, factor)
        return mean, factor, np.maximum(rest, 0.0)


def feature_blocks(n_features: int, rank: int) -> list[slice]:
    """Return slices of the features whose sums take a few megabytes each."""
    size = max(1, BLOCK_VALUES // (rank + 2))
    return [slice(low, low + size) for low in range(0, n_features, size)]
