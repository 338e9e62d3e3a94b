# SPDX-License-Identifier: BSD-3-Clause
"""Sketches of covariances and steps with them, touching only nonzero features.

One feature is one contiguous row of ``sums``, so a nonzero costs one trip to memory.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aucmax._kernels.jit import jit
from aucmax._utils.typing import BoolArray, FloatArray

# A step beyond this would overflow within a few rows.
LARGEST = 1e100
# A scale this small is multiplied into the vector: the average cancels four digits.
SMALLEST_SCALE = 1e-4


@jit(reorder_sums=True)
def add_products(
    data: FloatArray,
    indices: NDArray[np.int32],
    indptr: NDArray[np.int32],
    signs: NDArray[np.int8],
    sums: NDArray[Any],
) -> None:
    """Add each CSR row x to ``sums``: ``x (signs' x)'``, then x, then its squares."""
    rank = signs.shape[1]
    seen = np.empty(rank)
    for i in range(indptr.shape[0] - 1):
        seen[:] = 0.0
        for k in range(indptr[i], indptr[i + 1]):
            value, sign = data[k], signs[indices[k]]
            for j in range(rank):
                seen[j] += value * sign[j]
        for k in range(indptr[i], indptr[i + 1]):
            value, row = data[k], sums[indices[k]]
            for j in range(rank):
                row[j] += value * seen[j]
            row[rank] += value
            row[rank + 1] += value * value


class State(NamedTuple):
    """Two sketches, the weights, and the sum of earlier weights.

    Columns come in two blocks, of the negatives and of the positives, and a row x with
    draws e adds ``x e'`` to its own; the last draw is always 1, so that the last column
    of a block is the sum of its rows. ``totals`` are the sums of the draws of each
    class, its last column the number of rows.

    The weights are ``scale * parts[:, 0] + sums @ mix``, and their sum, weighted by the
    square of the number of the step, ``mass * parts[:, 0] + parts[:, 1] + sums @
    mix_sum``. ``image`` is ``sums' (scale * parts[:, 0])`` and ``gram`` is ``sums'
    sums``: they give products of sketch and weights without reading either.
    ``scalars`` are scale, mass, number of steps and the sum of its squares.
    """

    sums: NDArray[Any]
    gram: FloatArray
    image: FloatArray
    mix: FloatArray
    mix_sum: FloatArray
    parts: FloatArray
    totals: FloatArray
    scalars: FloatArray


@jit(reorder_sums=True)
def sketch_steps(
    data: FloatArray,
    indices: NDArray[np.int32],
    indptr: NDArray[np.int32],
    is_pos: BoolArray,
    draws: FloatArray,
    ridge: float,
    step_size: float,
    state: State,
) -> int:
    """Make one step per CSR row and add it to its sketch; return how many were made.

    Fewer than there are rows if the next one would overflow. The penalty is ``ridge / 2
    |coef|^2``. A ``step_size`` of zero means one over the trace of the curvature.
    """
    sums, gram, image, mix, mix_sum, parts, totals, scalars = state
    width = totals.shape[1]
    rank = width - 1
    n_columns = 2 * width
    u, pulled = np.empty(n_columns), np.empty(width)
    scale, mass, n_steps, mass_all = scalars
    n_done = 0
    for i in range(is_pos.shape[0]):
        low, high = indptr[i], indptr[i + 1]
        own = np.int64(is_pos[i])
        start, opposite = own * width, (1 - own) * width
        last = opposite + rank
        e = draws[i]
        # u = sums' x. Four features at a time arrive from memory at once.
        u[:] = 0.0
        done = low + (high - low) // 4 * 4
        for k in range(low, done, 4):
            one, two, three, four = data[k], data[k + 1], data[k + 2], data[k + 3]
            a, b = sums[indices[k]], sums[indices[k + 1]]
            c, d = sums[indices[k + 2]], sums[indices[k + 3]]
            for j in range(n_columns):
                u[j] += (one * a[j] + two * b[j]) + (three * c[j] + four * d[j])
        for k in range(done, high):
            one, a = data[k], sums[indices[k]]
            for j in range(n_columns):
                u[j] += one * a[j]
        score, size = 0.0, 0.0
        for k in range(low, high):
            score += data[k] * parts[indices[k], 0]
            size += data[k] * data[k]
        score *= scale
        # Nothing changes before it is known that the step does not overflow.
        count, drawn = totals[1 - own, rank], totals[1 - own]
        pull, shrink, step = 0.0, 1.0, 0.0
        if count > 0.0:
            step = step_size
            if step == 0.0:
                # The curvature is (x - c)(x - c)' + sketch + ridge, and a step of one
                # over its trace moves no two weights apart: this cannot diverge.
                norm = gram[last, last] / (count * count)
                trace = size - 2.0 * u[last] / count + norm
                for j in range(opposite, last):
                    drift = drawn[j - opposite]
                    trace += gram[j, j] / count + drift * drift * norm / count
                    trace -= 2.0 * drift * gram[j, last] / (count * count)
                step = 1.0 / (trace + 2.0 * ridge) if trace > 0.0 else 0.0
            margin = score
            for j in range(n_columns):
                margin += u[j] * mix[j]
            for j in range(width):
                total = image[opposite + j]
                for m in range(n_columns):
                    total += gram[opposite + j, m] * mix[m]
                pulled[j] = total
            centre = pulled[rank] / count
            margin -= centre
            worst, along = 0.0, 0.0
            for j in range(rank):
                pulled[j] -= drawn[j] * centre
                along += drawn[j] * pulled[j]
                worst = max(worst, abs(pulled[j]))
            pull = margin - (1.0 if own == 1 else -1.0)
            worst = step * (worst + abs(pull)) * (1.0 + size)
            if not worst < LARGEST:
                break
            shrink = 1.0 - step * ridge
            pulled[rank] = -along / count - pull
        # The sketch gets the row and the weights stay what they are; then the step.
        kept, kept_sum = 0.0, 0.0
        for j in range(width):
            kept += e[j] * mix[start + j]
            kept_sum += e[j] * mix_sum[start + j]
            totals[own, j] += e[j]
            image[start + j] += score * e[j]
            for m in range(n_columns):
                gram[start + j, m] += e[j] * u[m]
        for j in range(width):
            u[start + j] += size * e[j]
        for m in range(n_columns):
            for j in range(width):
                gram[m, start + j] += u[m] * e[j]
        change = -kept * shrink - step * pull
        for m in range(n_columns):
            image[m] = shrink * image[m] + change * u[m]
            mix[m] *= shrink
        if step > 0.0:
            for j in range(width):
                mix[opposite + j] -= step / count * pulled[j]
        scale *= shrink
        change /= scale
        change_sum = -mass * change - kept_sum
        for k in range(low, high):
            one, a = data[k], sums[indices[k]]
            parts[indices[k], 0] += change * one
            parts[indices[k], 1] += change_sum * one
            for j in range(width):
                a[start + j] += one * e[j]
        if count > 0.0:
            n_steps += 1.0
            mass_all += n_steps * n_steps
            mass += n_steps * n_steps * scale
            for j in range(n_columns):
                mix_sum[j] += n_steps * n_steps * mix[j]
        if scale < SMALLEST_SCALE:
            for k in range(parts.shape[0]):
                parts[k, 1] += mass * parts[k, 0]
                parts[k, 0] *= scale
            scale, mass = 1.0, 0.0
        n_done += 1
    scalars[0], scalars[1], scalars[2], scalars[3] = scale, mass, n_steps, mass_all
    return n_done


@jit(reorder_sums=True)
def combine_columns(
    sums: NDArray[Any], mix: FloatArray, scale: float, start: FloatArray
) -> FloatArray:
    """Return ``scale * start + sums @ mix``, summed in float64."""
    out = np.empty(sums.shape[0])
    for j in range(sums.shape[0]):
        total = scale * start[j]
        for m in range(mix.shape[0]):
            total += sums[j, m] * mix[m]
        out[j] = total
    return out
