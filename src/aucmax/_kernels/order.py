# SPDX-License-Identifier: BSD-3-Clause
"""Sorting score vectors, the one step of every pair loss that is not linear in n."""

import numpy as np

from aucmax._kernels import jit
from aucmax._utils.typing import FloatArray, IntArray


def argsort(scores: FloatArray, out: IntArray | None = None) -> IntArray:
    """Return indices that sort ``scores``, in about half the time of ``np.argsort``.

    ``np.sort`` of 64-bit integers is vectorised and moves no separate indices. So the
    leading bits of each score and its index travel in one integer; what the cut-off
    trailing bits would have said is put right afterwards. Equal scores may come in any
    order, but always in the same one. NaN is not allowed. Written to ``out`` if given.
    """
    scores = np.ascontiguousarray(scores, dtype=np.float64)
    packed = np.empty(scores.shape[0], dtype=np.int64) if out is None else out
    bits = max(1, (scores.shape[0] - 1).bit_length())
    pack_keys(scores.view(np.int64), bits, packed)
    packed.sort()
    if not unpack_order(scores, bits, packed):
        packed[:] = np.argsort(scores)
    return packed


@jit
def pack_keys(raw: IntArray, bits: int, out: IntArray) -> None:
    """Write the leading ``64 - bits`` bits of each score above its index.

    ``raw`` is the bit pattern of the scores; flipping the lower bits of negative ones
    makes integers compare as the floats do.
    """
    leading = np.int64(-1) << np.int64(bits)
    for i in range(raw.shape[0]):
        key = raw[i]
        key ^= (key >> np.int64(63)) & np.int64(0x7FFFFFFFFFFFFFFF)
        out[i] = (key & leading) | np.int64(i)


@jit
def unpack_order(scores: FloatArray, bits: int, packed: IntArray) -> bool:
    """Turn sorted ``packed`` keys into indices in place; say whether that succeeded.

    Keys are cut to their leading bits, so neighbours may be out of order; an insertion
    sort mends that. Scores that agree in all leading bits by the thousand would make it
    quadratic: then give up, and the caller sorts the plain way.
    """
    trailing = (np.int64(1) << np.int64(bits)) - np.int64(1)
    n = packed.shape[0]
    moves, allowed = 0, 8 * n + 64
    last = -np.inf
    for k in range(n):
        i = packed[k] & trailing
        score = scores[i]
        if score >= last:
            packed[k] = i
            last = score
            continue
        j = k
        while j > 0 and scores[packed[j - 1]] > score:
            packed[j] = packed[j - 1]
            j -= 1
            moves += 1
        packed[j] = i
        if moves > allowed:
            return False
    return True
