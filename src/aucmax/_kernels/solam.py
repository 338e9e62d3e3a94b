# SPDX-License-Identifier: BSD-3-Clause
"""Steps on the saddle point of the pairwise square loss, one row at a time.

In the names of the paper ``a`` and ``b`` are the mean scores of positives and negatives
and ``dual`` is ``b - a``. Either they are learned by steps too ("paper"), or they are
computed from the means of the classes ("exact"). As these are at hand, exact steps are
made on rows minus the mean of all rows so far: that changes no difference of scores,
but rows far from the origin need far smaller steps.

State of both kernels: ``classes[own]``, with ``own = 1`` for positives, holds the
number of rows, the number of rows whose size is known, and the mean of the sizes |z|^2
and of their squares; ``scalars`` a, b, dual, the largest norm of a row, the mass of the
average, the number of projections, and the square of the norm of the weights.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aucmax._kernels.jit import jit
from aucmax._utils.typing import BoolArray, FloatArray

# The average is a difference of two sums, the larger by one over the scale; at 1e-6 ten
# digits are left of sixteen.
SMALLEST_SCALE = 1e-6
# Products kept up to date by additions are computed afresh after so many rows.
REFRESH_ROWS = 2**17


class Rates(NamedTuple):
    """Constants of the method.

    With ``is_auto`` a step is ``rate`` over the size of the rows, else it is
    ``rate / sqrt(t)`` at row t.
    """

    alpha: float
    radius: float
    rate: float
    is_auto: bool
    is_exact: bool


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

    ``vectors`` holds the weights, their average, the mean of the rows, and the mean of
    the positives minus that of the negatives.
    """
    n, d = len(X), X.shape[1]
    z = np.empty(d)
    coef, mean, centre, between = vectors[0], vectors[1], vectors[2], vectors[3]
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
        p = (classes[1, 0] + own) * per_row
        q = 1.0 - p
        is_mixed = classes[1 - own, 0] > 0.0
        # The own class's share of the rows, without this one and of the other's.
        rest = classes[1 - own, 0] / max(before, 1.0)
        size, score, gap = 0.0, 0.0, 0.0
        ratio = 1.0
        is_sized = True
        if rates.is_exact:
            # The row minus the old mean is ``1 / ratio`` times that minus the new one.
            for j in range(d):
                z[j] -= centre[j]
                size += z[j] * z[j]
                score += coef[j] * z[j]
                gap += coef[j] * between[j]
            # The mean of the other class is this share of the way from the mean of all.
            gap = score + sign * (1.0 - rest) * gap
            ratio = before * per_row
            is_sized = before > 0.0
        else:
            for j in range(d):
                size += z[j] * z[j]
                score += coef[j] * z[j]

        # The same lines as in sparse_rows, up to the state of the scalars.
        weight = q if own == 1 else p
        slope = 0.0
        if not rates.is_exact:
            slope = score - scalars[1 - own] - sign * (1.0 + scalars[2])
        elif is_mixed:
            slope = gap - sign
        slope *= 2.0 * weight
        n_sized, sized, squares = classes[own, 1], classes[own, 2], classes[own, 3]
        if is_sized:
            # On average the variance of rows, as one of the t is in the mean itself.
            measured = size * ratio
            n_sized += 1.0
            share = 1.0 / n_sized
            sized += share * (measured - sized)
            squares += share * (measured * measured - squares)
        if rates.is_auto:
            # The largest stable step is 2 over the mean of the fourth powers over that
            # of the squares, the rows weighted as their steps are.
            other_sized, other_squares = classes[1 - own, 2], classes[1 - own, 3]
            other_weight = 1.0 - weight
            both = sized + other_sized
            curvature = other_weight * sized + weight * other_sized
            if both > 0.0:
                fourth = weight * squares + other_weight * other_squares
                curvature = max(curvature, 2.0 * fourth / both)
            plain = rates.rate
            step = 0.0
            if curvature > 0.0:
                # A ball that holds the weights back needs steps that go to zero.
                if scalars[5] > 0.0:
                    curvature *= np.sqrt(1.0 + scalars[5])
                step = plain / (curvature + 2.0 * plain * rates.alpha * p * q)
        else:
            plain = rates.rate / np.sqrt(t)
            step = plain
        shrink = max(0.0, 1.0 - step * rates.alpha * p * q)
        pull = step * slope
        norm = shrink * shrink * scalars[6] - 2.0 * shrink * pull * ratio * score
        norm += (pull * ratio) ** 2 * size
        if not norm < np.inf:
            return i
        norm = max(0.0, norm)
        project = 1.0
        if norm > rates.radius**2:
            project = rates.radius / np.sqrt(norm)
            norm = rates.radius**2
            scalars[5] += 1.0
        scalars[6] = norm
        scalars[4] += plain
        classes[own, 0] += 1.0
        classes[own, 1], classes[own, 2], classes[own, 3] = n_sized, sized, squares
        if not rates.is_exact:
            scalars[3] = max(scalars[3], np.sqrt(size))
            most = rates.radius * scalars[3]
            scalars[2] -= 2.0 * plain * (sign * weight * score + p * q * scalars[2])
            scalars[1 - own] -= 2.0 * plain * weight * (scalars[1 - own] - score)
            scalars[0] = min(max(scalars[0], -most), most)
            scalars[1] = min(max(scalars[1], -most), most)
            scalars[2] = min(max(scalars[2], -2.0 * most), 2.0 * most)
        keep = project * shrink
        take = project * pull * ratio
        # At most one anyway; but a bare quotient would be moved into the loop, and
        # divide for every feature.
        part = min(1.0, plain / scalars[4])
        if rates.is_exact:
            pace = 1.0 / classes[own, 0] if is_mixed else 0.0
            stay = 1.0 - rest * pace
            pace *= sign
            # Two loops: the compiler makes no vector instructions for one with four
            # arrays to write to.
            for j in range(d):
                centre[j] += per_row * z[j]
                between[j] = stay * between[j] + pace * z[j]
        for j in range(d):
            value = keep * coef[j] - take * z[j]
            coef[j] = value
            mean[j] += part * (value - mean[j])
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
    products: FloatArray,
) -> int:
    """Do the same for CSR rows, at the cost of their entries.

    A row of ``vectors`` belongs to one feature, so that an entry costs one access to
    memory: v, the sums s0 and s1 of negatives and positives, and u. The weights are
    ``scale * v + shift * (s0 + s1)``, and ``mass * v + shift_mass * (s0 + s1) + u`` is
    the sum of those to be averaged. ``products`` holds scale, shift, mass, shift_mass,
    the products of the weights with s0 and s1, and s0.s0, s0.s1 and s1.s1.
    """
    n = len(indptr) - 1
    for i in range(n):
        own = 1 if is_pos[i] else 0
        sign = 2.0 * own - 1.0
        before = classes[0, 0] + classes[1, 0]
        t = before + 1.0
        per_row = 1.0 / t
        p = (classes[1, 0] + own) * per_row
        q = 1.0 - p
        is_mixed = classes[1 - own, 0] > 0.0
        scale, shift = products[0], products[1]
        square, along, by_neg, by_pos, gap = 0.0, 0.0, 0.0, 0.0, 0.0
        ratio = 1.0
        is_sized = True
        if rates.is_exact:
            for k in range(indptr[i], indptr[i + 1]):
                feature = vectors[indices[k]]
                square += data[k] * data[k]
                along += data[k] * feature[0]
                by_neg += data[k] * feature[1]
                by_pos += data[k] * feature[2]
            plain_score = scale * along + shift * (by_neg + by_pos)
            inverse = 1.0 / max(before, 1.0)
            spread = products[6] + 2.0 * products[7] + products[8]
            size = square - 2.0 * inverse * (by_neg + by_pos) + inverse**2 * spread
            size = max(size, 0.0)
            score = plain_score - inverse * (products[4] + products[5])
            if is_mixed:
                gap = plain_score - products[5 - own] / classes[1 - own, 0]
            ratio = before * per_row
            is_sized = before > 0.0
        else:
            for k in range(indptr[i], indptr[i + 1]):
                square += data[k] * data[k]
                along += data[k] * vectors[indices[k], 0]
            size = square
            score = scale * along
            plain_score = score

        weight = q if own == 1 else p
        slope = 0.0
        if not rates.is_exact:
            slope = score - scalars[1 - own] - sign * (1.0 + scalars[2])
        elif is_mixed:
            slope = gap - sign
        slope *= 2.0 * weight
        n_sized, sized, squares = classes[own, 1], classes[own, 2], classes[own, 3]
        if is_sized:
            measured = size * ratio
            n_sized += 1.0
            share = 1.0 / n_sized
            sized += share * (measured - sized)
            squares += share * (measured * measured - squares)
        if rates.is_auto:
            other_sized, other_squares = classes[1 - own, 2], classes[1 - own, 3]
            other_weight = 1.0 - weight
            both = sized + other_sized
            curvature = other_weight * sized + weight * other_sized
            if both > 0.0:
                fourth = weight * squares + other_weight * other_squares
                curvature = max(curvature, 2.0 * fourth / both)
            plain = rates.rate
            step = 0.0
            if curvature > 0.0:
                if scalars[5] > 0.0:
                    curvature *= np.sqrt(1.0 + scalars[5])
                step = plain / (curvature + 2.0 * plain * rates.alpha * p * q)
        else:
            plain = rates.rate / np.sqrt(t)
            step = plain
        shrink = max(0.0, 1.0 - step * rates.alpha * p * q)
        pull = step * slope
        norm = shrink * shrink * scalars[6] - 2.0 * shrink * pull * ratio * score
        norm += (pull * ratio) ** 2 * size
        if not norm < np.inf:
            return i
        norm = max(0.0, norm)
        project = 1.0
        if norm > rates.radius**2:
            project = rates.radius / np.sqrt(norm)
            norm = rates.radius**2
            scalars[5] += 1.0
        scalars[6] = norm
        scalars[4] += plain
        classes[own, 0] += 1.0
        classes[own, 1], classes[own, 2], classes[own, 3] = n_sized, sized, squares
        if not rates.is_exact:
            scalars[3] = max(scalars[3], np.sqrt(size))
            most = rates.radius * scalars[3]
            scalars[2] -= 2.0 * plain * (sign * weight * score + p * q * scalars[2])
            scalars[1 - own] -= 2.0 * plain * weight * (scalars[1 - own] - score)
            scalars[0] = min(max(scalars[0], -most), most)
            scalars[1] = min(max(scalars[1], -most), most)
            scalars[2] = min(max(scalars[2], -2.0 * most), 2.0 * most)
        keep = project * shrink
        take = project * pull
        if keep == 0.0:
            # Nothing is left of the weights: begin again at zero.
            for j in range(vectors.shape[0]):
                feature = vectors[j]
                sums = feature[1] + feature[2]
                feature[3] += products[2] * feature[0] + products[3] * sums
                feature[0] = 0.0
            scale, shift, keep, plain_score = 1.0, 0.0, 1.0, 0.0
            for k in range(2, 6):
                products[k] = 0.0
        new_scale = scale * keep
        if rates.is_exact:
            # The row joins the sum of its class first, the weights staying as they are;
            # then the step is along the row minus (s0 + s1) / t.
            change = -(shift / scale + take / new_scale)
            fixed = -(products[2] * change + products[3])
            for k in range(indptr[i], indptr[i + 1]):
                feature = vectors[indices[k]]
                feature[0] += change * data[k]
                feature[1 + own] += data[k]
                feature[3] += fixed * data[k]
            products[4 + own] += plain_score
            if own == 1:
                products[7] += by_neg
                products[8] += 2.0 * by_pos + square
                by_pos += square
            else:
                products[6] += 2.0 * by_neg + square
                products[7] += by_pos
                by_neg += square
            towards_neg = by_neg - (products[6] + products[7]) * per_row
            towards_pos = by_pos - (products[7] + products[8]) * per_row
            products[4] = keep * products[4] - take * towards_neg
            products[5] = keep * products[5] - take * towards_pos
            shift = keep * shift + take * per_row
        else:
            change = -take / new_scale
            fixed = -products[2] * change
            for k in range(indptr[i], indptr[i + 1]):
                feature = vectors[indices[k]]
                feature[0] += change * data[k]
                feature[3] += fixed * data[k]
        products[0], products[1] = new_scale, shift
        products[2] += plain * new_scale
        products[3] += plain * shift
        if new_scale < SMALLEST_SCALE or t % REFRESH_ROWS == 0.0:
            for k in range(4, 9):
                products[k] = 0.0
            scalars[6] = 0.0
            for j in range(vectors.shape[0]):
                feature = vectors[j]
                sums = feature[1] + feature[2]
                feature[3] += products[2] * feature[0] + products[3] * sums
                feature[0] = new_scale * feature[0] + shift * sums
                scalars[6] += feature[0] * feature[0]
                products[4] += feature[0] * feature[1]
                products[5] += feature[0] * feature[2]
                products[6] += feature[1] * feature[1]
                products[7] += feature[1] * feature[2]
                products[8] += feature[2] * feature[2]
            products[0], products[1], products[2], products[3] = 1.0, 0.0, 0.0, 0.0
    return n
