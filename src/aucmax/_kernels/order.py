# SPDX-License-Identifier: BSD-3-Clause
"""Sorting score vectors, the one step of every pair loss that is not linear in n.

Floats are sorted as integers that compare as they do, by their leading bits, eleven at
a time from the last to the first. What those bits cannot tell apart lies side by side
then, and an insertion sort puts it right. That takes about as long as ``np.sort`` with
AVX2, and a fifth where that uses AVX-512 instructions that are slow on the processor at
hand (AMD Zen 4). ``np.argsort`` takes three to eight times as long.
"""

import time
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucmax._kernels.few_values import sort_few_values
from aucmax._kernels.jit import jit
from aucmax._utils.typing import FloatArray, IntArray

# Up to this many values np.sort is as fast; from so many on, 32 bits cannot count them.
FEW, MANY = 1000, 2**32
# Bits of each of the three passes over the keys, whose counts then fit the cache.
DIGIT_BITS = 11
# What the insertion sort may move, per key, before all bits are sorted by instead.
MAX_MOVES = 8
# Values that both sorts are tried on.
TRIAL = 2**14


def argsort(
    scores: FloatArray, out: IntArray | None = None, spare: IntArray | None = None
) -> IntArray:
    """Return indices that sort ``scores``, in a fraction of the time of ``np.argsort``.

    The leading bits of each score and its index travel in one integer; what the cut-off
    trailing bits would have said is put right afterwards. Equal scores may come in any
    order, but always in the same one. NaN is not allowed. Written to ``out`` if given;
    ``spare``, as long, is overwritten.
    """
    scores = np.ascontiguousarray(scores, dtype=np.float64)
    packed = np.empty(scores.shape[0], dtype=np.int64) if out is None else out
    bits = _pack_sorted(scores, packed, spare)
    if not unpack_order(scores, bits, packed, False):
        packed[:] = np.argsort(scores)
    return packed


def argsort_marked(scores: FloatArray, spare: IntArray | None = None) -> IntArray:
    """Return the same with ``~i`` instead of ``i`` where row i ties with the last.

    Marked entries are negative, so those who walk the order need no scores any more.
    ``spare``, as long, is overwritten.
    """
    scores = np.ascontiguousarray(scores, dtype=np.float64)
    packed = np.empty(scores.shape[0], dtype=np.int64)
    bits = _pack_sorted(scores, packed, spare)
    if not unpack_order(scores, bits, packed, True):
        packed[:] = np.argsort(scores)
        mark_ties(scores, packed)
    return packed


def _pack_sorted(scores: FloatArray, out: IntArray, spare: IntArray | None) -> int:
    """Write sorted keys; return how many bits of each are for its index."""
    n = scores.shape[0]
    bits: int = max(1, (n - 1).bit_length())
    raw = scores.view(np.int64)
    if n <= FEW or n >= MANY:
        pack_keys(raw, bits, out)
        out.sort()
    else:
        keys = np.empty(n, dtype=np.int64) if spare is None else spare
        _order_keys(keys, out, pack_keys(raw, bits, keys), bits)
    return bits


def sort(values: FloatArray) -> None:
    """Sort contiguous float64 or float32 values in place; NaN goes to the ends."""
    n = values.shape[0]
    if n > FEW and sort_few_values(values):
        return
    if n <= FEW or n >= MANY or _numpy_is_faster():
        values.sort()
    else:
        _sort_by_digits(values)


@cache
def _numpy_is_faster() -> bool:
    """Say which sort is faster on this processor; but for NaN, they give the same."""
    values = np.modf(np.arange(TRIAL) * 0.6180339887498949)[0]
    return _seconds(np.ndarray.sort, values) < _seconds(_sort_by_digits, values)


def _seconds(run: Callable[[FloatArray], None], values: FloatArray) -> float:
    least = np.inf
    for _ in range(4):
        copied = values.copy()
        start = time.perf_counter()
        run(copied)
        least = min(least, time.perf_counter() - start)
    return least


def _sort_by_digits(values: FloatArray) -> None:
    raw = values.view(f"i{values.itemsize}")
    spare = np.empty_like(raw)
    _order_keys(raw, spare, make_keys(raw, raw), 0)
    restore_values(spare, raw)


def _order_keys(
    keys: NDArray[Any], out: NDArray[Any], ends: tuple[np.int64, np.int64], bits: int
) -> None:
    """Sort keys into ``out``; ``bits`` at their end come in order already."""
    # Without those bits, which would borrow from the others.
    smallest = ends[0] >> bits << bits
    top = (int(ends[1]) - int(smallest)).bit_length()
    first = max(bits, top - 3 * DIGIT_BITS)
    width = max(1, -(-(top - first) // 3))
    moves = MAX_MOVES * len(keys)
    if not order_keys(keys, out, smallest, first, width, moves):
        order_keys(out, keys, smallest, 0, DIGIT_BITS, 0)
        order_keys(keys, out, smallest, 3 * DIGIT_BITS, DIGIT_BITS, moves)


@jit
def pack_keys(raw: IntArray, bits: int, out: IntArray) -> tuple[np.int64, np.int64]:
    """Write the leading ``64 - bits`` bits of each score above its index.

    ``raw`` is the bit pattern of the scores; flipping the lower bits of negative ones
    makes integers compare as the floats do. Returns the smallest and the largest.
    """
    leading = np.int64(-1) << np.int64(bits)
    smallest, largest = np.int64(0x7FFFFFFFFFFFFFFF), np.int64(-0x8000000000000000)
    for i in range(raw.shape[0]):
        key = raw[i]
        key = np.int64(0) if key == np.int64(-0x8000000000000000) else key  # minus zero
        key ^= (key >> np.int64(63)) & np.int64(0x7FFFFFFFFFFFFFFF)
        key = (key & leading) | np.int64(i)
        smallest, largest = min(smallest, key), max(largest, key)
        out[i] = key
    return smallest, largest


@jit
def make_keys(raw: NDArray[Any], out: NDArray[Any]) -> tuple[np.int64, np.int64]:
    """Write bit patterns of floats as integers that compare alike; return both ends."""
    shift = np.int64(8 * raw.itemsize - 1)
    lower = np.int64(0x7FFFFFFFFFFFFFFF) >> (np.int64(63) - shift)
    smallest, largest = np.int64(0x7FFFFFFFFFFFFFFF), np.int64(-0x8000000000000000)
    for i in range(raw.shape[0]):
        key = np.int64(raw[i])
        key ^= (key >> shift) & lower
        smallest, largest = min(smallest, key), max(largest, key)
        out[i] = key
    return smallest, largest


@jit
def restore_values(keys: NDArray[Any], raw: NDArray[Any]) -> None:
    """Write the bit patterns whose keys these are."""
    shift = np.int64(8 * raw.itemsize - 1)
    lower = np.int64(0x7FFFFFFFFFFFFFFF) >> (np.int64(63) - shift)
    for i in range(raw.shape[0]):
        key = np.int64(keys[i])
        raw[i] = key ^ ((key >> shift) & lower)


@jit
def order_keys(
    keys: NDArray[Any],
    out: NDArray[Any],
    smallest: np.int64,
    first: int,
    width: int,
    max_moves: int,
) -> bool:
    """Sort integers into ``out``; say whether they are sorted by all their bits.

    They are looked at less the smallest, and sorted by three groups of ``width`` bits,
    from bit ``first`` on, those that agree in all of these in the order they had. Then
    an insertion sort looks at all bits, and gives up after ``max_moves``, as where
    thousands agree it would be quadratic. ``keys`` is overwritten.
    """
    n = keys.shape[0]
    # Unsigned, and in the order of the signed: no difference is negative then.
    sign = np.uint64(0x8000000000000000)
    base = np.uint64(smallest) ^ sign
    mask = np.uint64((1 << width) - 1)
    shift_0 = np.uint64(first)
    shift_1 = np.uint64(first + width)
    shift_2 = np.uint64(first + 2 * width)
    # Unsigned, as numba checks others for being negative, and so narrow that the
    # first-level cache holds all three.
    places = np.zeros((3, 1 << width), dtype=np.uint32)
    for i in range(n):
        key = (np.uint64(keys[i]) ^ sign) - base
        places[0, (key >> shift_0) & mask] += 1
        places[1, (key >> shift_1) & mask] += 1
        places[2, (key >> shift_2) & mask] += 1
    for k in range(3):
        total = np.uint32(0)
        for j in range(places.shape[1]):
            count = places[k, j]
            places[k, j] = total
            total += count
    source, target = keys, out
    for k in range(3):
        shift = np.uint64(first + k * width)
        place_of = places[k]
        for i in range(n):
            digit = (((np.uint64(source[i]) ^ sign) - base) >> shift) & mask
            place = place_of[digit]
            place_of[digit] = place + 1
            target[place] = source[i]
        source, target = target, source
    if max_moves == 0:
        return False
    moves = 0
    for k in range(1, n):
        key = out[k]
        if key >= out[k - 1]:
            continue
        j = k
        while j > 0 and out[j - 1] > key:
            out[j] = out[j - 1]
            j -= 1
        out[j] = key
        moves += k - j
        if moves > max_moves:
            return False
    return True


@jit
def unpack_order(scores: FloatArray, bits: int, packed: IntArray, marks: bool) -> bool:
    """Turn sorted ``packed`` keys into indices in place; say whether that succeeded.

    Scores are looked at only where keys agree in their leading bits, and may be out of
    order; an insertion sort mends that. If they agree by the thousand, it would be
    quadratic: then give up, and the caller sorts the plain way. With ``marks``, ties
    are marked.
    """
    trailing = (np.int64(1) << np.int64(bits)) - np.int64(1)
    n = packed.shape[0]
    moves, allowed = 0, MAX_MOVES * n + 64
    start, lead, last = 0, np.int64(0), 0.0
    for k in range(n):
        key = packed[k]
        i = key & trailing
        packed[k] = i
        if k == 0 or key >> bits != lead:
            start, lead = k, key >> bits
            continue
        score = scores[i]
        if k == start + 1:
            last = scores[packed[start]]
        if score >= last:
            if marks and score == last:
                packed[k] = ~i
            last = score
            continue
        j, is_tied = k, False
        while j > start:
            before = packed[j - 1]
            other = scores[before if before >= 0 else ~before]
            if other <= score:
                is_tied = other == score
                break
            packed[j] = before
            j -= 1
        packed[j] = ~i if marks and is_tied else i
        moves += k - j
        if moves > allowed:
            return False
    return True


@jit
def mark_ties(scores: FloatArray, order: IntArray) -> None:
    """Replace ``i`` by ``~i`` in ``order`` where row i ties with the last."""
    last = np.nan
    for k in range(order.shape[0]):
        score = scores[order[k]]
        if score == last:
            order[k] = ~order[k]
        last = score
