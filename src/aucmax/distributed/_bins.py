# SPDX-License-Identifier: BSD-3-Clause
"""The squared hinge over all pairs from sums over bins of scores.

A pair is active where the shifted score of its positive, less the margin, lies below
that of its negative. Rows of different bins are in the order of their bins, so for them
the sums say exactly which pairs are active. Two rows of one bin count as active in
either order, which adds at most the square of how far apart they are.
"""

from typing import NamedTuple

import numpy as np

from aucmax import _kernels
from aucmax._utils.typing import BoolArray, FloatArray, IntArray

MANTISSA_BITS = 52


class Place(NamedTuple):
    """Where the rows of a block stand: their values, and the bin of each.

    ``edges`` are the bins that occur, in order; ``which`` says where in them.
    """

    values: FloatArray
    edges: FloatArray
    which: IntArray


class Table(NamedTuple):
    """Sums over the rows of each bin, first of the negatives, then of the positives.

    Attributes
    ----------
    edges : ndarray of shape (n_bins,)
        The bins that occur, in order.
    mass, first, second : ndarray of shape (2, n_bins)
        Sums of the weights, of weight times value, and times its square.
    low, high : ndarray of shape (n_bins,)
        Least and largest value.
    """

    edges: FloatArray
    mass: FloatArray
    first: FloatArray
    second: FloatArray
    low: FloatArray
    high: FloatArray


def place(values: FloatArray, bins_per_octave: int) -> Place:
    """Put values in bins: sign, exponent and the leading bits of the mantissa."""
    bits = bins_per_octave.bit_length() - 1
    cut = values.view(np.int64) & np.int64(-1 << (MANTISSA_BITS - bits))
    rounded = cut.view(np.float64)
    rounded += 0.0  # minus zero becomes zero
    order = _kernels.order.argsort(rounded)
    is_first = np.append(True, np.diff(rounded[order]) > 0.0)
    which = np.empty_like(order)
    which[order] = np.cumsum(is_first) - 1
    return Place(values, rounded[order[is_first]], which)


def tabulate(here: Place, is_pos: BoolArray, weight: FloatArray) -> Table:
    """Return the sums over the bins of a block."""
    values, edges, which = here
    # A row of weight zero is absent.
    low, high = np.full(len(edges), np.inf), np.full(len(edges), -np.inf)
    used = weight > 0.0
    np.minimum.at(low, which[used], values[used])
    np.maximum.at(high, which[used], values[used])
    mass, first, second = (
        sum_by_class(which, is_pos, weight * power, len(edges))
        for power in (1.0, values, values * values)
    )
    return Table(edges, mass, first, second, low, high)


def sum_by_class(
    which: IntArray, is_pos: BoolArray, values: FloatArray, n_bins: int
) -> FloatArray:
    """Return the sums over bins of the negatives and of the positives."""
    both = np.bincount(2 * which + is_pos, weights=values, minlength=2 * n_bins)
    return np.ascontiguousarray(both.reshape(n_bins, 2).T)


def merge_tables(left: Table, right: Table) -> Table:
    """Return the sums over the rows of both."""
    edges = np.union1d(left.edges, right.edges)
    k = len(edges)
    mass, first, second = np.zeros((3, 2, k))
    low, high = np.full(k, np.inf), np.full(k, -np.inf)
    for table in (left, right):
        here = np.searchsorted(edges, table.edges)
        mass[:, here] += table.mass
        first[:, here] += table.first
        second[:, here] += table.second
        low[here] = np.minimum(low[here], table.low)
        high[here] = np.maximum(high[here], table.high)
    return Table(edges, mass, first, second, low, high)


def active(sums: FloatArray) -> FloatArray:
    """Return, for a row of each bin, the sums over the rows it is active with.

    For a negative, the first row, these are the positives up to its own bin; for a
    positive the negatives from its own bin on.
    """
    neg, pos = sums
    return np.stack([np.cumsum(pos), np.cumsum(neg[::-1])[::-1]])


def pair_loss(table: Table) -> float:
    """Return the sum over active pairs of the squared difference."""
    mass, first, second = (
        active(sums)[0] for sums in (table.mass, table.first, table.second)
    )
    per_bin = (
        table.second[0] * mass - 2.0 * table.first[0] * first + table.mass[0] * second
    )
    # Where all pairs are far apart, rounding may leave less than nothing.
    return max(0.0, float(per_bin.sum()))


def pair_error(table: Table) -> float:
    """Return how much of ``pair_loss`` pairs in the right order may be."""
    width = np.where(table.high > table.low, table.high - table.low, 0.0)
    return float(np.sum(table.mass[0] * table.mass[1] * width * width))
