# SPDX-License-Identifier: BSD-3-Clause
"""Sketches of covariances and steps with them, touching only nonzero features.

One feature is one contiguous row of ``sums``, so a nonzero costs one trip to memory.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aucmax._kernels.jit import jit
from aucmax._kernels.products import dot
from aucmax._kernels.rows import Row, Rows, add_row, column, row_at, row_dot
from aucmax._utils.typing import BoolArray, FloatArray
from aucmax.saved import saved_as

# A step beyond this would overflow within a few rows.
LARGEST = 1e100
# At a scale this small the weights are written out: the average cancels four digits.
SMALLEST_SCALE = 1e-4


@jit(reorder_sums=True)
def add_products(rows: Rows, signs: NDArray[np.int8], sums: NDArray[Any]) -> None:
    """Add each CSR row x to ``sums``: ``x (signs' x)'``, then x, then its squares."""
    rank = signs.shape[1]
    seen = np.empty(rank)
    for i in range(len(rows.starts) - 1):
        x = row_at(rows, i)
        values, columns = x
        _write_seen(x, signs, seen)
        for k in range(len(values)):
            value, row = values[k], sums[column(columns, k)]
            for j in range(rank):
                row[j] += value * seen[j]
            row[rank] += value
            row[rank + 1] += value * value


@saved_as("LowRankState")
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


# Places in ``scalars``.
SCALE, MASS, N_STEPS, TOTAL_MASS = range(4)


class SketchedRow(NamedTuple):
    """A row, its draws, its squared norm, and ``sums' x``."""

    x: Row
    draws: FloatArray
    norm: float
    seen: FloatArray


@jit(reorder_sums=True)
def sketch_steps(
    rows: Rows,
    is_pos: BoolArray,
    draws: FloatArray,
    ridge: float,
    step_size: float,
    fold_every: int,
    state: State,
) -> int:
    """Make one step per CSR row and add it to its sketch; return how many were made.

    Fewer than there are rows if the next one would overflow. The penalty is ``ridge / 2
    |coef|^2``. A ``step_size`` of zero means one over the trace of the curvature. After
    every ``fold_every`` rows the weights are written out.
    """
    width = state.totals.shape[1]
    seen, pulled = np.empty(2 * width), np.empty(width)
    for i in range(len(is_pos)):
        own = int(is_pos[i])
        x = row_at(rows, i)
        _write_seen(x, state.sums, seen)
        row = SketchedRow(x, draws[i], dot(x.values, x.values), seen)
        score = state.scalars[SCALE] * row_dot(x, state.parts[:, 0])
        if state.totals[1 - own, width - 1] == 0.0:
            _add_row(row, own, score, state)
        else:
            step = step_size
            if step == 0.0:
                step = _safe_step(row, own, ridge, state)
            pull = _write_pull(row, own, score, state, pulled)
            longest = step * (np.abs(pulled).max() + abs(pull)) * (1.0 + row.norm)
            # Also when it is NaN. Nothing has changed yet.
            if not longest < LARGEST:
                return i
            _add_row(row, own, score, state)
            _make_step(row, own, step, ridge, pull, pulled, state)
            _add_to_average(state)
        n_seen = int(state.totals[0, width - 1] + state.totals[1, width - 1])
        if n_seen % fold_every == 0 or state.scalars[SCALE] < SMALLEST_SCALE:
            _fold(state)
    return len(is_pos)


@jit(reorder_sums=True)
def _write_seen(x: Row, matrix: NDArray[Any], seen: FloatArray) -> None:
    """Write ``matrix' x``."""
    values, columns = x
    seen[:] = 0.0
    for k in range(len(values)):
        value, entries = values[k], matrix[column(columns, k)]
        for j in range(len(seen)):
            seen[j] += value * entries[j]


@jit(reorder_sums=True)
def _safe_step(row: SketchedRow, own: int, ridge: float, state: State) -> Any:
    """Return one over the trace of the curvature, zero if there is none.

    The curvature is ``(x - mean)(x - mean)' + sketch + ridge``; such a step moves no
    two weights apart, so this cannot diverge.
    """
    width = state.totals.shape[1]
    start, last = (1 - own) * width, (2 - own) * width - 1
    gram, drawn = state.gram, state.totals[1 - own]
    count = drawn[width - 1]
    norm = gram[last, last] / (count * count)
    trace = row.norm - 2.0 * row.seen[last] / count + norm
    for j in range(width - 1):
        trace += gram[start + j, start + j] / count + drawn[j] ** 2 * norm / count
        trace -= 2.0 * drawn[j] * gram[start + j, last] / (count * count)
    return 1.0 / (trace + 2.0 * ridge) if trace > 0.0 else 0.0


@jit(reorder_sums=True)
def _write_pull(
    row: SketchedRow, own: int, score: float, state: State, pulled: FloatArray
) -> Any:
    """Return how much the margin of a row is above its label.

    Writes the covariance of the other class times the weights, as coefficients of the
    columns of its sketch, all but the last times its number of rows.
    """
    width = len(pulled)
    rank, start = width - 1, (1 - own) * width
    drawn = state.totals[1 - own]
    for j in range(width):
        pulled[j] = state.image[start + j] + dot(state.gram[start + j], state.mix)
    centre = pulled[rank] / drawn[rank]
    for j in range(rank):
        pulled[j] -= drawn[j] * centre
    pull = score + dot(row.seen, state.mix) - centre - (2 * own - 1)
    pulled[rank] = -dot(drawn[:rank], pulled[:rank]) / drawn[rank] - pull
    return pull


@jit(reorder_sums=True)
def _add_row(row: SketchedRow, own: int, score: float, state: State) -> None:
    """Add a row to the sketch of its class; the weights stay what they are."""
    (values, columns), draws, norm, seen = row
    sums, gram, width = state.sums, state.gram, len(draws)
    start = own * width
    block = slice(start, start + width)
    kept, kept_sum = dot(draws, state.mix[block]), dot(draws, state.mix_sum[block])
    for j in range(width):
        state.totals[own, j] += draws[j]
        state.image[start + j] += score * draws[j]
        for m in range(2 * width):
            gram[start + j, m] += draws[j] * seen[m]
    for j in range(width):
        seen[start + j] += norm * draws[j]
    for m in range(2 * width):
        entries = gram[m, block]
        for j in range(width):
            entries[j] += seen[m] * draws[j]
    for k in range(len(values)):
        value, entries = values[k], sums[column(columns, k), block]
        for j in range(width):
            entries[j] += value * draws[j]
    add_row(state.parts[:, 1], -kept_sum, row.x)
    _add_to_weights(row, -kept, state)


@jit(reorder_sums=True)
def _add_to_weights(row: SketchedRow, change: float, state: State) -> None:
    """Add ``change * x`` to the weights; the sum of earlier ones stays what it is."""
    image, parts = state.image, state.parts
    for m in range(len(image)):
        image[m] += change * row.seen[m]
    change /= state.scalars[SCALE]
    add_row(parts[:, 0], change, row.x)
    add_row(parts[:, 1], -state.scalars[MASS] * change, row.x)


@jit(reorder_sums=True)
def _make_step(
    row: SketchedRow,
    own: int,
    step: float,
    ridge: float,
    pull: float,
    pulled: FloatArray,
    state: State,
) -> None:
    """Shrink the weights by the penalty, and move them along the gradient."""
    width = len(pulled)
    start = (1 - own) * width
    shrink = 1.0 - step * ridge
    for m in range(2 * width):
        state.image[m] *= shrink
        state.mix[m] *= shrink
    state.scalars[SCALE] *= shrink
    share = step / state.totals[1 - own, width - 1]
    for j in range(width):
        state.mix[start + j] -= share * pulled[j]
    _add_to_weights(row, -step * pull, state)


@jit(reorder_sums=True)
def _add_to_average(state: State) -> None:
    """Add the weights to the sum of earlier ones."""
    scalars = state.scalars
    scalars[N_STEPS] += 1.0
    weight = scalars[N_STEPS] ** 2
    scalars[TOTAL_MASS] += weight
    scalars[MASS] += weight * scalars[SCALE]
    for m in range(len(state.mix)):
        state.mix_sum[m] += weight * state.mix[m]


@jit(reorder_sums=True)
def write_out(state: State) -> FloatArray:
    """Return the weights, and their sum, as the columns of an array."""
    out = np.empty_like(state.parts)
    scale, mass = state.scalars[SCALE], state.scalars[MASS]
    for j in range(len(out)):
        entries, vector = state.sums[j], state.parts[j, 0]
        last, total = scale * vector, mass * vector + state.parts[j, 1]
        for m in range(len(entries)):
            last += entries[m] * state.mix[m]
            total += entries[m] * state.mix_sum[m]
        out[j, 0], out[j, 1] = last, total
    return out


@jit
def _fold(state: State) -> None:
    """Write the weights out in full: their parts cancel more and more."""
    state.parts[:] = write_out(state)
    state.image[:] = 0.0
    for j in range(len(state.parts)):
        for m in range(len(state.image)):
            state.image[m] += state.parts[j, 0] * state.sums[j, m]
    state.mix[:] = 0.0
    state.mix_sum[:] = 0.0
    state.scalars[SCALE], state.scalars[MASS] = 1.0, 0.0
