# SPDX-License-Identifier: BSD-3-Clause
"""The squared hinge over all pairs from sums over bins of scores.

For rows that are in blocks, on the workers of a cluster: scores stay in their block,
and only the sums over the rows of each bin are merged.

A pair is active where the score of its positive, less the margin, lies below that of
its negative. Rows of different bins are in the order of their bins, so for them the
sums say exactly which pairs are active. Two rows of one bin count as active in either
order, which adds at most the square of how far apart they are.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, Self

import numpy as np

from aucmax import _kernels
from aucmax._utils.typing import BoolArray, FloatArray, IntArray
from aucmax.losses.squared_hinge import shift_positives

MANTISSA_BITS = 52


class Blocks(Protocol):
    """One value for each block of rows, for example their scores.

    Those of vectors can be added, and multiplied by a number.
    """

    def map(self, function: Callable[..., Any], *args: Any) -> Self:
        """Return ``function(value, *args)`` of each block.

        Of an argument that is itself `Blocks`, the value of the same block.
        """
        ...

    def keep(self) -> Self:
        """Return the same, computed once and for all."""
        ...

    def merge(self, function: Callable[[Any, Any], Any]) -> Any:
        """Return what merging the values of all blocks, two by two, gives."""
        ...


@dataclass(frozen=True, slots=True)
class BinnedSquaredHinge:
    """Mean over pairs of ``max(0, margin - (s_pos - s_neg)) ** 2``, from bins.

    A bin holds the values of the same sign, exponent and leading bits of the mantissa,
    so bins are narrowest around zero, which should be in the middle of the scores.

    Parameters
    ----------
    bins_per_octave : int
        Bins between a value and its double, a power of two.
    margin : float, default=1.0
        How far the positive of a pair should be above the negative.
    """

    bins_per_octave: int
    margin: float = 1.0

    def evaluate(self, scores: Blocks, is_pos: Blocks, weight: Blocks) -> "BinnedTerms":
        """Return value, gradient and curvature at ``scores``."""
        args = is_pos, weight, self.margin, self.bins_per_octave
        return BinnedTerms(scores.map(bin_rows, *args).keep())


class BinnedTerms:
    """The loss and its derivatives: `Terms` whose vectors are `Blocks`.

    Sums are merged when first asked for. Those that `slope` needs give the value and
    the curvature as well, so a trial of a line search merges once.

    Parameters
    ----------
    rows : Blocks of BinnedRows
        The rows in their bins.
    """

    def __init__(self, rows: Blocks) -> None:
        self._rows = rows
        self._along: Blocks | None = None
        self._merged: BinSums | None = None

    @property
    def value(self) -> float:
        """The loss, with pairs of one bin counted as active."""
        # Where all pairs are far apart, rounding may leave less than nothing.
        sums = self._sums()
        return max(0.0, sums.pair_product(sums.values, sums.values, sums.squares))

    @property
    def error(self) -> float:
        """How much less the loss is with the active pairs alone, at most."""
        sums = self._sums()
        width = np.where(sums.high > sums.low, sums.high - sums.low, 0.0)
        return float(np.sum(sums.mass.prod(axis=0) * width**2)) / sums.n_pairs

    @property
    def grad(self) -> Blocks:
        """The gradient with respect to the scores; sums to zero."""
        # On a fixed active set the loss is a homogeneous quadratic of the values.
        sums = self._sums()
        return self._rows.map(_curve, self._sent(sums, sums.values))

    def slope(self, along: Blocks) -> float:
        """Return the derivative along a direction."""
        sums = self._sums(along)
        return 2.0 * sums.pair_product(sums.values, sums.along, sums.products)

    def curvature(self, along: Blocks) -> float:
        """Return the second derivative along a direction."""
        sums = self._sums(along)
        return 2.0 * sums.pair_product(sums.along, sums.along, sums.along_squares)

    def hess_dot(self, vector: Blocks) -> Blocks:
        """Return the Hessian times a vector."""
        sums = self._sums(vector)
        return self._rows.map(_curve, self._sent(sums, sums.along), vector)

    def _sent(self, sums: "BinSums", vector_sums: FloatArray) -> "ActiveSums":
        scale = 2.0 / sums.n_pairs
        return ActiveSums(sums.edges, active(sums.mass), active(vector_sums), scale)

    def _sums(self, along: Blocks | None = None) -> "BinSums":
        """Return the sums over the rows of all blocks, of a direction if given one."""
        if self._merged is None or (along is not None and along is not self._along):
            args = () if along is None else (along,)
            self._merged = self._rows.map(sum_bins, *args).merge(merge_sums)
            self._along = along
        return self._merged


class BinnedRows(NamedTuple):
    """The rows of a block: their values, and the bin of each.

    ``edges`` are the bins that occur, in order; ``which`` says where in them.
    """

    values: FloatArray
    is_pos: BoolArray
    weight: FloatArray
    edges: FloatArray
    which: IntArray


class BinSums(NamedTuple):
    """Sums over the rows of each bin.

    Attributes
    ----------
    edges : ndarray of shape (n_bins,)
        The bins that occur, in order.
    low, high : ndarray of shape (n_bins,)
        Least and largest value.
    sums : tuple of ndarray of shape (2, n_bins)
        Of the negatives and of the positives, in the order of the properties below; the
        last three only if a direction was given.
    """

    edges: FloatArray
    low: FloatArray
    high: FloatArray
    sums: tuple[FloatArray, ...]

    @property
    def mass(self) -> FloatArray:
        """Sums of the weights."""
        return self.sums[0]

    @property
    def values(self) -> FloatArray:
        """Sums of weight times value."""
        return self.sums[1]

    @property
    def squares(self) -> FloatArray:
        """Sums of weight times the square of the value."""
        return self.sums[2]

    @property
    def along(self) -> FloatArray:
        """Sums of weight times the direction."""
        return self.sums[3]

    @property
    def products(self) -> FloatArray:
        """Sums of weight times value times the direction."""
        return self.sums[4]

    @property
    def along_squares(self) -> FloatArray:
        """Sums of weight times the square of the direction."""
        return self.sums[5]

    @property
    def n_pairs(self) -> float:
        """Weight of all pairs."""
        return float(self.mass.sum(axis=1).prod())

    def pair_product(self, x: FloatArray, y: FloatArray, xy: FloatArray) -> float:
        """Return the mean of ``(x_neg - x_pos) * (y_neg - y_pos)``, active or zero.

        From the sums of two vectors and of their products.
        """
        mass_pos, x_pos, y_pos, xy_pos = (
            np.cumsum(sums[1]) for sums in (self.mass, x, y, xy)
        )
        per_bin = xy[0] * mass_pos - x[0] * y_pos - y[0] * x_pos + self.mass[0] * xy_pos
        return float(per_bin.sum()) / self.n_pairs


class ActiveSums(NamedTuple):
    """For a row of each bin and class, sums over the rows it is active with."""

    edges: FloatArray
    mass: FloatArray
    vector: FloatArray
    scale: float


def bin_rows(
    scores: FloatArray,
    is_pos: BoolArray,
    weight: FloatArray,
    margin: float,
    bins_per_octave: int,
) -> BinnedRows:
    """Put rows in bins, by their scores, those of the positives less the margin."""
    values = shift_positives(scores, is_pos, margin)
    bits = bins_per_octave.bit_length() - 1
    rounded = (values.view(np.int64) & np.int64(-1 << (MANTISSA_BITS - bits))).view(
        np.float64
    )
    rounded += 0.0  # minus zero becomes zero
    order = _kernels.order.argsort(rounded)
    is_first = np.append(True, np.diff(rounded[order]) > 0.0)
    which = np.empty_like(order)
    which[order] = np.cumsum(is_first) - 1
    return BinnedRows(values, is_pos, weight, rounded[order[is_first]], which)


def sum_bins(rows: BinnedRows, along: FloatArray | None = None) -> BinSums:
    """Return the sums over the bins of a block, of a direction if given one."""
    values, is_pos, weight, edges, which = rows
    n_bins = len(edges)
    # A row of weight zero is absent.
    low, high = np.full(n_bins, np.inf), np.full(n_bins, -np.inf)
    used = weight > 0.0
    np.minimum.at(low, which[used], values[used])
    np.maximum.at(high, which[used], values[used])
    summed: list[FloatArray] = [np.ones_like(values), values, values * values]
    if along is not None:
        summed += [along, values * along, along * along]
    slot = which + n_bins * is_pos

    def sum_by_class(vector: FloatArray) -> FloatArray:
        sums = np.bincount(slot, weights=weight * vector, minlength=2 * n_bins)
        return np.asarray(sums.reshape(2, n_bins), dtype=np.float64)

    return BinSums(edges, low, high, tuple(sum_by_class(each) for each in summed))


def merge_sums(left: BinSums, right: BinSums) -> BinSums:
    """Return the sums over the rows of both."""
    edges = np.union1d(left.edges, right.edges)
    low, high = np.full(len(edges), np.inf), np.full(len(edges), -np.inf)
    sums = tuple(np.zeros((2, len(edges))) for _ in left.sums)
    for part in (left, right):
        here = np.searchsorted(edges, part.edges)
        for total, own in zip(sums, part.sums, strict=True):
            total[:, here] += own
        low[here] = np.minimum(low[here], part.low)
        high[here] = np.maximum(high[here], part.high)
    return BinSums(edges, low, high, sums)


def active(sums: FloatArray) -> FloatArray:
    """Return, for a row of each bin, the sums over the rows it is active with.

    For a negative, the first row, these are the positives up to its own bin; for a
    positive the negatives from its own bin on.
    """
    neg, pos = sums
    return np.stack([np.cumsum(pos), np.cumsum(neg[::-1])[::-1]])


def _curve(
    rows: BinnedRows, sent: ActiveSums, vector: FloatArray | None = None
) -> FloatArray:
    """Return the Hessian times a vector, by default the values, on a block."""
    vector = rows.values if vector is None else vector
    which = np.searchsorted(sent.edges, rows.edges)[rows.which]
    own = rows.is_pos.astype(np.intp)
    curved = vector * sent.mass[own, which] - sent.vector[own, which]
    product: FloatArray = sent.scale * rows.weight * curved
    return product
