# SPDX-License-Identifier: BSD-3-Clause
"""Means and scatters of both classes, row by row, and steps along their gradient.

A row adds an outer product to the scatter of its class. Done at once, that reads and
writes the whole matrix, which costs more than the step itself. Rows therefore wait,
centred, in a block, and one product of matrices adds them all; until then, products
with the scatter add those rows on the fly. Nothing is approximated.
"""

from typing import NamedTuple

import numpy as np

from aucmax._kernels.jit import jit
from aucmax._utils.typing import BoolArray, FloatArray, IntArray

# Features are padded with zeros to a multiple of this, and rows wait in multiples of
# it: the loops take four at a time and have no remainders.
FOUR = 4
# Unsigned, so that the compiler need not ask at each access whether an index is
# negative: for short rows that takes longer than the arithmetic.
U0, U1, U2, U3, U4 = (np.uintp(k) for k in range(5))
# Blocks of this many rows with no more features than that enter the scatter by sums of
# rows instead of products of columns, which would be too short to be fast.
EIGHT, SHORT = 8, 200
# Where they begin, when one after the other. As the distances are constants, the
# compiler need not ask whether rows overlap.
S1, S2, S3, S4, S5, S6, S7 = (np.uintp(k * SHORT) for k in range(1, EIGHT))
# Values between arrays that a loop goes along together. Where they are nearer than the
# compiled loop reaches ahead, another one runs, which adds in another order, and sums
# would depend on where arrays happen to be.
APART = 64
# Kinds of steps.
NO_STEP, GRADIENT, ADAPTIVE = 0, 1, 2
# A step longer than the root of this would soon overflow.
LARGEST_SQUARE = 1e200
# When no step size is given, it is one over this times the mean curvature. 1 to 4
# differ by less than 0.002 in AUC on eight sets.
STEP_DIVISOR = 2.0
# Step size of adaptive steps when none is given, relative to the distance of rows from
# the mean of the other class. 0.25 to 1 differ by less than 0.005 in AUC on eight
# sets, with averaging.
ADAPTIVE_STEP = 0.5


class Moments(NamedTuple):
    """What is known of both classes, negatives first.

    ``centre`` is the mean of the rows no longer pending; the first row of a class is
    its first centre. ``pending`` are rows less ``centre``, zero after ``n_pending``,
    and ``total`` is their sum. ``scatter`` is about ``centre``, without pending rows,
    and only its lower triangle and the blocks of four on its diagonal count. ``spread``
    is the sum of the squared distances of all rows from their mean.
    """

    n_seen: IntArray
    n_pending: IntArray
    spread: FloatArray
    centre: FloatArray
    total: FloatArray
    pending: FloatArray
    scatter: FloatArray


class Rule(NamedTuple):
    """How to step: the kind, and its constants; a ``step_size`` of zero is chosen."""

    kind: int
    ridge: float
    step_size: float
    offset: float
    threshold: float
    radius: float
    averaged: bool


class Iterate(NamedTuple):
    """Where the steps have led.

    ``average`` weighs the iterates like the cube of their number. ``squares`` are sums
    of squared gradients. ``progress`` holds the number of steps and the mean squared
    distance of rows from the mean of the other class.
    """

    coef: FloatArray
    average: FloatArray
    squares: FloatArray
    progress: FloatArray


@jit(reorder_sums=True)
def learn_rows(
    X: FloatArray,
    is_pos: BoolArray,
    n_seen: IntArray,
    n_pending: IntArray,
    spread: FloatArray,
    centre: FloatArray,
    total: FloatArray,
    pending: FloatArray,
    scatter: FloatArray,
    kind: int,
    ridge: float,
    step_size: float,
    offset: float,
    threshold: float,
    radius: float,
    averaged: bool,
    kept_coef: FloatArray,
    kept_average: FloatArray,
    kept_squares: FloatArray,
    progress: FloatArray,
) -> int:
    """Take in rows one after the other; return how many, less than all on overflow.

    After the rows come the fields of ``Moments``, ``Rule`` and ``Iterate``, one by one:
    as tuples they would take ten times as long to hand over.
    """
    n: int = X.shape[0]
    d = X.shape[1]
    n_block, width = pending.shape[1:]
    # Copies of all vectors that change; the first line keeps away what lies before.
    lines = np.zeros((11, width + APART))
    row, away, grad = lines[1], lines[2], lines[3]
    coef, average, squares = lines[4], lines[5], lines[6]
    means, sums_of = lines[7:9], lines[9:11]
    coef[: len(kept_coef)] = kept_coef
    average[: len(kept_average)] = kept_average
    squares[: len(kept_squares)] = kept_squares
    means[:, :width] = centre
    sums_of[:, :width] = total
    rows = np.empty(APART + EIGHT * SHORT)[APART:]
    columns = np.empty((width, n_block))
    n_done = n
    for t in range(n):
        own = 1 if is_pos[t] else 0
        other = 1 - own
        for j in range(d):
            row[j] = X[t, j]

        if kind != NO_STEP and n_seen[other] > 0:
            # The gradient: ridge * coef + (margin - y) * away + covariance @ coef, of
            # the other class. First its scatter, of which each entry is read once.
            matrix = scatter[other]
            for i in range(U0, np.uintp(width), U4):
                row_0, row_1, row_2, row_3 = (
                    matrix[i],
                    matrix[i + U1],
                    matrix[i + U2],
                    matrix[i + U3],
                )
                c_0, c_1, c_2, c_3 = (
                    coef[i],
                    coef[i + U1],
                    coef[i + U2],
                    coef[i + U3],
                )
                sum_0 = sum_1 = sum_2 = sum_3 = 0.0
                for j in range(i + U4):
                    v_0, v_1, v_2, v_3 = row_0[j], row_1[j], row_2[j], row_3[j]
                    c = coef[j]
                    sum_0 += v_0 * c
                    sum_1 += v_1 * c
                    sum_2 += v_2 * c
                    sum_3 += v_3 * c
                    grad[j] += (v_0 * c_0 + v_1 * c_1) + (v_2 * c_2 + v_3 * c_3)
                # What was added here is of the diagonal, and in the sums too.
                grad[i] = sum_0
                grad[i + U1] = sum_1
                grad[i + U2] = sum_2
                grad[i + U3] = sum_3
            # Then its pending rows.
            block = pending[other]
            for k in range(0, n_pending[other], 4):
                row_0, row_1, row_2, row_3 = (
                    block[k],
                    block[k + 1],
                    block[k + 2],
                    block[k + 3],
                )
                sum_0 = sum_1 = sum_2 = sum_3 = 0.0
                for j in range(width):
                    c = coef[j]
                    sum_0 += row_0[j] * c
                    sum_1 += row_1[j] * c
                    sum_2 += row_2[j] * c
                    sum_3 += row_3[j] * c
                for j in range(width):
                    grad[j] += (row_0[j] * sum_0 + row_1[j] * sum_1) + (
                        row_2[j] * sum_2 + row_3[j] * sum_3
                    )
            # Then the rest, with the mean of all its rows.
            inverse = 1.0 / n_seen[other]
            sums, middle = sums_of[other], means[other]
            margin = moved = distance = 0.0
            for j in range(width):
                shift = inverse * sums[j]
                away[j] = (row[j] - middle[j]) - shift
                margin += away[j] * coef[j]
                moved += shift * coef[j]
                distance += away[j] * away[j]
            miss = margin - (2 * own - 1)
            moved *= inverse
            size = 0.0
            for j in range(width):
                v = (ridge * coef[j] + miss * away[j]) + (
                    inverse * grad[j] - moved * sums[j]
                )
                grad[j] = v
                size += v * v

            n_steps = progress[0] + 1.0
            mean_distance = progress[1] + (distance - progress[1]) / n_steps
            step = step_size
            added = offset
            if kind == GRADIENT:
                if step == 0.0:
                    # One size for all rows of a class leaves the minimum where it is.
                    # Rows far out get less: the second divisor bounds the curvature of
                    # their loss, so that no rows make the steps diverge.
                    scattered = inverse * spread[other]
                    step = 1.0 / max(
                        ridge + STEP_DIVISOR * (mean_distance + scattered),
                        ridge + distance + scattered,
                    )
                # Also when it is NaN.
                if not step * step * size < LARGEST_SQUARE:
                    n_done = t
                    break
                for j in range(width):
                    coef[j] -= step * grad[j]
            else:
                if step == 0.0 and mean_distance > 0.0:
                    scale = np.sqrt(mean_distance)
                    # The penalty bends the loss, too, and counts where rows are short.
                    step = ADAPTIVE_STEP * scale / (mean_distance + ridge)
                    added *= scale
                if not size < LARGEST_SQUARE:
                    n_done = t
                    break
                norm = 0.0
                for j in range(width):
                    v = grad[j]
                    squares[j] += v * v
                    # Zero for features that never varied.
                    rate = step / max(added + np.sqrt(squares[j]), 1e-300)
                    v = coef[j] - rate * v
                    v = np.copysign(max(abs(v) - rate * threshold, 0.0), v)
                    coef[j] = v
                    norm += v * v
                if norm > radius * radius:
                    shrink = radius / np.sqrt(norm)
                    for j in range(width):
                        coef[j] *= shrink
            progress[0] = n_steps
            progress[1] = mean_distance
            if averaged:
                weight = min(1.0, 4.0 / (n_steps + 3.0))
                for j in range(width):
                    average[j] += weight * (coef[j] - average[j])

        middle, sums, block = means[own], sums_of[own], pending[own]
        n_seen[own] += 1
        if n_seen[own] == 1:
            for j in range(width):
                middle[j] = row[j]
            continue
        k = n_pending[own]
        n_pending[own] = k + 1
        waiting = block[k]
        inverse = 1.0 / (n_seen[own] - 1)
        distance = 0.0
        for j in range(width):
            v = row[j] - middle[j]
            gap = v - inverse * sums[j]
            distance += gap * gap
            waiting[j] = v
            sums[j] += v
        # With one use only, the compiler would divide in the loop instead.
        spread[own] += distance / (1.0 + inverse)
        if k + 1 < n_block:
            continue

        # The block is full. About the mean of all rows, its scatter is what its rows
        # have when all move this far against their sum: a sum of squares, in which
        # nothing cancels.
        n_pending[own] = 0
        inverse = 1.0 / n_seen[own]
        share = (1.0 - np.sqrt(1.0 - n_block * inverse)) / n_block
        for j in range(width):
            away[j] = share * sums[j]
            middle[j] += inverse * sums[j]
            sums[j] = 0.0
        matrix = scatter[own]
        if n_block == EIGHT and width <= SHORT:
            for k in range(EIGHT):
                waiting = block[k]
                for j in range(width):
                    rows[k * SHORT + j] = waiting[j] - away[j]
            for i in range(np.uintp(width)):
                entries = matrix[i]
                c_0, c_1, c_2, c_3 = rows[i], rows[i + S1], rows[i + S2], rows[i + S3]
                c_4, c_5 = rows[i + S4], rows[i + S5]
                c_6, c_7 = rows[i + S6], rows[i + S7]
                for j in range(i - i % U4 + U4):
                    entries[j] += (
                        (rows[j] * c_0 + rows[j + S1] * c_1)
                        + (rows[j + S2] * c_2 + rows[j + S3] * c_3)
                    ) + (
                        (rows[j + S4] * c_4 + rows[j + S5] * c_5)
                        + (rows[j + S6] * c_6 + rows[j + S7] * c_7)
                    )
        else:
            for j in range(width):
                for k in range(n_block):
                    columns[j, k] = block[k, j] - away[j]
            for i in range(U0, np.uintp(width), U4):
                row_0, row_1, row_2, row_3 = (
                    columns[i],
                    columns[i + U1],
                    columns[i + U2],
                    columns[i + U3],
                )
                for j in range(U0, i + U4, U2):
                    left, right = columns[j], columns[j + U1]
                    sum_0 = sum_1 = sum_2 = sum_3 = 0.0
                    sum_4 = sum_5 = sum_6 = sum_7 = 0.0
                    for k in range(n_block):
                        v_0, v_1 = left[k], right[k]
                        sum_0 += row_0[k] * v_0
                        sum_1 += row_1[k] * v_0
                        sum_2 += row_2[k] * v_0
                        sum_3 += row_3[k] * v_0
                        sum_4 += row_0[k] * v_1
                        sum_5 += row_1[k] * v_1
                        sum_6 += row_2[k] * v_1
                        sum_7 += row_3[k] * v_1
                    matrix[i, j] += sum_0
                    matrix[i + U1, j] += sum_1
                    matrix[i + U2, j] += sum_2
                    matrix[i + U3, j] += sum_3
                    matrix[i, j + U1] += sum_4
                    matrix[i + U1, j + U1] += sum_5
                    matrix[i + U2, j + U1] += sum_6
                    matrix[i + U3, j + U1] += sum_7
        for k in range(n_block):
            for j in range(width):
                block[k, j] = 0.0
    kept_coef[:] = coef[: len(kept_coef)]
    kept_average[:] = average[: len(kept_average)]
    kept_squares[:] = squares[: len(kept_squares)]
    centre[:] = means[:, :width]
    total[:] = sums_of[:, :width]
    return n_done
