# SPDX-License-Identifier: BSD-3-Clause
"""Steps on class-balanced losses of single rows, one row at a time.

``classes[own]``, with ``own = 1`` for positives, holds the number of rows, the number
of rows whose size is known, and the mean of the sizes |z|^2 and of their squares; z is
the row, or the row minus the mean of all so far.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aucmax._kernels.jit import jit
from aucmax._utils.typing import BoolArray, FloatArray

EXPONENTIAL, SQUARE, LOGISTIC = 0, 1, 2
# exp(30) is 1e13; no step needs more.
LARGEST_EXPONENT = 30.0
# A step on the exponential loss moves the weights no further than this (step_size a
# number), and no step moves the margin of its own row further than that ("auto").
LARGEST_MOVE, LARGEST_GAIN = 10.0, 2.0
# Weights may grow this much in one step; twice as many digits are left for scores.
OVERFLOW = 1e150
# The average is a difference of two sums, the larger by one over the scale; at 1e-6 ten
# digits are left of sixteen.
SMALLEST_SCALE = 1e-6
# Products kept up to date by additions are computed afresh after so many rows.
REFRESH_ROWS = 2**17


class Rates(NamedTuple):
    """Constants of the method.

    With ``is_auto`` a step is ``rate`` over the size of the rows, else it is ``rate``.
    """

    loss: int
    alpha: float
    rate: float
    max_class_weight: float
    is_auto: bool
    is_centred: bool
    has_intercept: bool


@jit(reorder_sums=True)
def dense_rows(
    X: FloatArray,
    is_pos: BoolArray,
    rates: Rates,
    vectors: FloatArray,
    classes: FloatArray,
    scalars: FloatArray,
) -> int:
    """Learn rows in order; return how many before one step would overflow.

    ``vectors`` holds the weights, their average, and the mean row; ``scalars`` the
    intercept.
    """
    n, d = len(X), X.shape[1]
    z = np.empty(d)
    coef, mean, centre = vectors[0], vectors[1], vectors[2]
    for i in range(n):
        # A copy: where the compiler cannot tell that rows end before an array which the
        # loop writes to begins, it adds in another order, and bits would depend on
        # where in memory the rows are.
        for j in range(d):
            z[j] = X[i, j]
        own = 1 if is_pos[i] else 0
        sign = 2.0 * own - 1.0
        before = classes[0, 0] + classes[1, 0]
        t = before + 1.0
        per_row = 1.0 / t
        size, score = 0.0, 0.0
        ratio = 1.0
        known = True
        if rates.is_centred:
            # Rows minus the old mean; times ratio, minus the new one.
            for j in range(d):
                z[j] -= centre[j]
                size += z[j] * z[j]
                score += coef[j] * z[j]
            ratio = before * per_row
            known = before > 0.0
        else:
            for j in range(d):
                size += z[j] * z[j]
                score += coef[j] * z[j]

        # The same lines as in sparse_rows, from here to the check for overflow.
        p = (classes[1, 0] + own) * per_row
        q = 1.0 - p
        weight = q if own == 1 else p
        n_sized, sized, squares = classes[own, 1], classes[own, 2], classes[own, 3]
        if known:
            # On average the variance of rows, as one of the t is in the mean itself.
            measured = size * ratio
            n_sized += 1.0
            share = 1.0 / n_sized
            sized += share * (measured - sized)
            squares += share * (measured * measured - squares)
        step = rates.rate
        extra = 1.0 if rates.has_intercept else 0.0
        if rates.is_auto:
            # The intercept is the weight of a feature as large as the others together.
            other_sized, other_squares = classes[1 - own, 2], classes[1 - own, 3]
            other_weight = 1.0 - weight
            typical = (1.0 - weight) * sized + (1.0 - other_weight) * other_sized
            extra *= typical
            curvature = typical + extra
            both = sized + other_sized + 2.0 * extra
            if both > 0.0:
                fourth = weight * (squares + extra * (2.0 * sized + extra))
                fourth += other_weight * (
                    other_squares + extra * (2.0 * other_sized + extra)
                )
                curvature = max(curvature, 2.0 * fourth / both)
            step = 0.0
            balanced = 4.0 * p * q * rates.rate
            if curvature > 0.0:
                step = balanced / (curvature + 2.0 * balanced * rates.alpha)
        margin = sign * (ratio * score + scalars[0])
        if rates.loss == EXPONENTIAL:
            slope = np.exp(min(-margin, LARGEST_EXPONENT))
        elif rates.loss == SQUARE:
            slope = 1.0 - margin
        else:
            slope = 1.0 / (1.0 + np.exp(margin))
        pull = step * min(0.5 * t / (classes[own, 0] + 1.0), rates.max_class_weight)
        pull *= slope
        norm = ratio * np.sqrt(size)
        if rates.is_auto:
            gain = abs(pull) * (norm * norm + extra)
            if gain > LARGEST_GAIN:
                pull *= LARGEST_GAIN / gain
        elif rates.loss == EXPONENTIAL and pull * norm > LARGEST_MOVE:
            pull = LARGEST_MOVE / norm
        if not (abs(pull) * norm < OVERFLOW and abs(pull) * extra < OVERFLOW):
            return i
        pull *= sign
        shrink = max(0.0, 1.0 - step * rates.alpha)
        scalars[0] += extra * pull
        classes[own, 0] += 1.0
        classes[own, 1], classes[own, 2], classes[own, 3] = n_sized, sized, squares
        pull *= ratio
        if rates.is_centred:
            for j in range(d):
                centre[j] += per_row * z[j]
                value = shrink * coef[j] + pull * z[j]
                coef[j] = value
                mean[j] += per_row * (value - mean[j])
        else:
            for j in range(d):
                value = shrink * coef[j] + pull * z[j]
                coef[j] = value
                mean[j] += per_row * (value - mean[j])
    return n


@jit(reorder_sums=True)
def sparse_rows(
    data: FloatArray,
    indices: NDArray[Any],
    indptr: NDArray[Any],
    is_pos: BoolArray,
    rates: Rates,
    vectors: FloatArray,
    classes: FloatArray,
    scalars: FloatArray,
) -> int:
    """Do the same for CSR rows, at the cost of their entries.

    A row of ``vectors`` belongs to one feature, so that an entry costs one access to
    memory: v, the sum s of the rows, and u. The weights are ``scale * v + shift * s``,
    and ``mass * v + shift_mass * s + u`` is the sum of those so far. ``scalars`` holds
    the intercept, scale, shift, mass, shift_mass, the product of the weights with s,
    and s.s.
    """
    n = len(indptr) - 1
    for i in range(n):
        own = 1 if is_pos[i] else 0
        sign = 2.0 * own - 1.0
        before = classes[0, 0] + classes[1, 0]
        t = before + 1.0
        per_row = 1.0 / t
        scale, shift = scalars[1], scalars[2]
        square, along, by_sum = 0.0, 0.0, 0.0
        ratio = 1.0
        known = True
        if rates.is_centred:
            for k in range(indptr[i], indptr[i + 1]):
                feature = vectors[indices[k]]
                square += data[k] * data[k]
                along += data[k] * feature[0]
                by_sum += data[k] * feature[1]
            plain_score = scale * along + shift * by_sum
            inverse = 1.0 / max(before, 1.0)
            size = square - 2.0 * inverse * by_sum + inverse**2 * scalars[6]
            size = max(size, 0.0)
            score = plain_score - inverse * scalars[5]
            ratio = before * per_row
            known = before > 0.0
        else:
            for k in range(indptr[i], indptr[i + 1]):
                square += data[k] * data[k]
                along += data[k] * vectors[indices[k], 0]
            size = square
            score = scale * along
            plain_score = score

        p = (classes[1, 0] + own) * per_row
        q = 1.0 - p
        weight = q if own == 1 else p
        n_sized, sized, squares = classes[own, 1], classes[own, 2], classes[own, 3]
        if known:
            measured = size * ratio
            n_sized += 1.0
            share = 1.0 / n_sized
            sized += share * (measured - sized)
            squares += share * (measured * measured - squares)
        step = rates.rate
        extra = 1.0 if rates.has_intercept else 0.0
        if rates.is_auto:
            other_sized, other_squares = classes[1 - own, 2], classes[1 - own, 3]
            other_weight = 1.0 - weight
            typical = (1.0 - weight) * sized + (1.0 - other_weight) * other_sized
            extra *= typical
            curvature = typical + extra
            both = sized + other_sized + 2.0 * extra
            if both > 0.0:
                fourth = weight * (squares + extra * (2.0 * sized + extra))
                fourth += other_weight * (
                    other_squares + extra * (2.0 * other_sized + extra)
                )
                curvature = max(curvature, 2.0 * fourth / both)
            step = 0.0
            balanced = 4.0 * p * q * rates.rate
            if curvature > 0.0:
                step = balanced / (curvature + 2.0 * balanced * rates.alpha)
        margin = sign * (ratio * score + scalars[0])
        if rates.loss == EXPONENTIAL:
            slope = np.exp(min(-margin, LARGEST_EXPONENT))
        elif rates.loss == SQUARE:
            slope = 1.0 - margin
        else:
            slope = 1.0 / (1.0 + np.exp(margin))
        pull = step * min(0.5 * t / (classes[own, 0] + 1.0), rates.max_class_weight)
        pull *= slope
        norm = ratio * np.sqrt(size)
        if rates.is_auto:
            gain = abs(pull) * (norm * norm + extra)
            if gain > LARGEST_GAIN:
                pull *= LARGEST_GAIN / gain
        elif rates.loss == EXPONENTIAL and pull * norm > LARGEST_MOVE:
            pull = LARGEST_MOVE / norm
        if not (abs(pull) * norm < OVERFLOW and abs(pull) * extra < OVERFLOW):
            return i
        pull *= sign
        shrink = max(0.0, 1.0 - step * rates.alpha)
        scalars[0] += extra * pull
        classes[own, 0] += 1.0
        classes[own, 1], classes[own, 2], classes[own, 3] = n_sized, sized, squares
        if shrink == 0.0:
            # Nothing is left of the weights: begin again at zero.
            for j in range(vectors.shape[0]):
                feature = vectors[j]
                feature[2] += scalars[3] * feature[0] + scalars[4] * feature[1]
                feature[0] = 0.0
            scale, shift, shrink = 1.0, 0.0, 1.0
            plain_score = 0.0
            scalars[3], scalars[4], scalars[5] = 0.0, 0.0, 0.0
        new_scale = scale * shrink
        if rates.is_centred:
            # The row joins the sum first, the weights staying as they are; then the
            # step is along the row minus s / t.
            change = pull / new_scale - shift / scale
            fixed = -(scalars[3] * change + scalars[4])
            for k in range(indptr[i], indptr[i + 1]):
                feature = vectors[indices[k]]
                feature[0] += change * data[k]
                feature[1] += data[k]
                feature[2] += fixed * data[k]
            scalars[6] += 2.0 * by_sum + square
            by_sum += square
            towards = by_sum - scalars[6] * per_row
            scalars[5] = shrink * (scalars[5] + plain_score) + pull * towards
            shift = shrink * shift - pull * per_row
        else:
            change = pull / new_scale
            fixed = -scalars[3] * change
            for k in range(indptr[i], indptr[i + 1]):
                feature = vectors[indices[k]]
                feature[0] += change * data[k]
                feature[2] += fixed * data[k]
        scalars[1], scalars[2] = new_scale, shift
        scalars[3] += new_scale
        scalars[4] += shift
        if new_scale < SMALLEST_SCALE or t % REFRESH_ROWS == 0.0:
            scalars[5], scalars[6] = 0.0, 0.0
            for j in range(vectors.shape[0]):
                feature = vectors[j]
                feature[2] += scalars[3] * feature[0] + scalars[4] * feature[1]
                feature[0] = new_scale * feature[0] + shift * feature[1]
                scalars[5] += feature[0] * feature[1]
                scalars[6] += feature[1] * feature[1]
            scalars[1], scalars[2], scalars[3], scalars[4] = 1.0, 0.0, 0.0, 0.0
    return n
