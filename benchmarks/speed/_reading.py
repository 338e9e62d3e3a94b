# SPDX-License-Identifier: BSD-3-Clause
"""One read of memory: the least that any pass over it can cost.

No loop reads all sizes and precisions fastest, so the fastest of several counts: a
compiled sum, numpy's, and BLAS's product with a vector, which does more than read but
may still be the quickest.
"""

from functools import partial

import numba
import numpy as np


@numba.njit(nogil=True, fastmath=True)
def read(values):
    """Return the sum of ``values``, in their precision."""
    total = values.dtype.type(0)
    for i in range(values.shape[0]):
        total += values[i]
    return total


def readers(parts):
    """Return ways to read all of the arrays, by names that begin with "read"."""
    ways = {"read, compiled": read, "read, numpy": np.add.reduce}
    flat = [part.reshape(-1) for part in parts]
    found = {name: partial(over, way, flat) for name, way in ways.items()}
    (whole, *more) = parts
    if whole.ndim == 2 and not more:
        vector = np.ones(whole.shape[1], whole.dtype)
        out = np.empty(whole.shape[0], whole.dtype)
        found["read, BLAS"] = partial(np.matmul, whole, vector, out=out)
    return found


def over(way, parts):
    for part in parts:
        way(part)


def fastest(turns):
    """Return the turns of the way that was fastest, and its name."""
    names = [name for name in turns if name.startswith("read,")]
    best = min(names, key=lambda name: min(turns[name]))
    return turns[best], best.removeprefix("read, ")
