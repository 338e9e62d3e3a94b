# SPDX-License-Identifier: BSD-3-Clause
"""Steps on the pairwise square loss, from running moments of both classes.

The loss of a row x of sign y, averaged over all earlier rows of the other class, has
the gradient ``ridge * coef + (coef'(x - mean) - y) (x - mean) + covariance @ coef``,
with the mean and covariance of the other class.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aucmax._kernels.jit import jit
from aucmax._kernels.products import dot
from aucmax._utils.typing import BoolArray, FloatArray, IntArray
from aucmax.saved import saved_as

# A step longer than the root of this would soon overflow.
LARGEST_SQUARE = 1e200
# When no step size is given, it is one over this times the mean curvature. 1 to 4
# differ by less than 0.002 in AUC on eight sets.
STEP_DIVISOR = 2.0
# Step size of adaptive steps when none is given, relative to the distance of rows from
# the mean of the other class. 0.25 to 1 differ by less than 0.005 in AUC on eight
# sets, with averaging.
ADAPTIVE_STEP = 0.5
# Values left free around an array that a loop both sums over and writes to. If another
# array is nearer than the vectorised loop reaches, the compiler's scalar loop runs,
# which sums in another order, and results would depend on where arrays happen to be.
MARGIN = 64


@saved_as("OPAUCMoments")
class Moments(NamedTuple):
    """Counts, means and scatters of both classes, negatives first.

    Only the lower triangle of ``scatter`` is kept up to date; ``spread`` is its trace.
    """

    n_seen: IntArray
    mean: FloatArray
    spread: FloatArray
    scatter: FloatArray


@saved_as("OPAUCIterate")
class Iterate(NamedTuple):
    """The weights after the last step, and what the next one needs.

    ``average`` weights the iterates like the cube of their number. ``squares`` are sums
    of squared gradients. ``progress`` holds the number of steps and the mean squared
    distance of rows from the mean of the other class.
    """

    coef: FloatArray
    average: FloatArray
    squares: FloatArray
    progress: FloatArray


class WorkSpace(NamedTuple):
    """Room for the distance of a row from a mean, and for the gradient."""

    away: FloatArray
    grad: FloatArray


@saved_as("GradientRule")
class GradientRule(NamedTuple):
    """Plain steps; a ``step_size`` of zero is chosen by the curvature."""

    ridge: float
    step_size: float


@saved_as("AdaptiveRule")
class AdaptiveRule(NamedTuple):
    """Steps divided by ``offset`` plus the root of past squared gradients."""

    ridge: float
    step_size: float
    offset: float
    threshold: float
    radius: float


@jit
def gradient_steps(
    X: FloatArray,
    is_pos: BoolArray,
    moments: Moments,
    iterate: Iterate,
    rule: GradientRule,
) -> int:
    """Make one step per row, then add it to the moments of its class.

    Returns how many rows were learned: fewer than all if the next step would overflow.
    """
    work = _work_space(X.shape[1])
    grad = work.grad
    for t in range(len(X)):
        own = int(is_pos[t])
        if moments.n_seen[1 - own] > 0:
            distance = _write_gradient(X[t], own, moments, iterate, rule, work)
            mean_distance = _mean_distance(iterate, distance)
            step = rule.step_size
            if step == 0.0:
                # One size for all rows of a class leaves the minimum where it is. Rows
                # far out get less: the second divisor bounds the curvature of their
                # loss, so that no rows make the steps diverge.
                spread = moments.spread[1 - own] / moments.n_seen[1 - own]
                mean_curvature = STEP_DIVISOR * (mean_distance + spread)
                step = 1.0 / (rule.ridge + max(mean_curvature, distance + spread))
            # Also when it is NaN.
            if not step * step * dot(grad, grad) < LARGEST_SQUARE:
                return t
            for j in range(len(grad)):
                iterate.coef[j] -= step * grad[j]
            _record_step(iterate, mean_distance)
        _add_row(X[t], own, moments, work.away)
    return len(X)


@jit
def adaptive_steps(
    X: FloatArray,
    is_pos: BoolArray,
    moments: Moments,
    iterate: Iterate,
    rule: AdaptiveRule,
) -> int:
    """Make one step per row, with a size per feature, then add it to the moments.

    Returns how many rows were learned: fewer than all if the next step would overflow.
    """
    work = _work_space(X.shape[1])
    grad = work.grad
    for t in range(len(X)):
        own = int(is_pos[t])
        if moments.n_seen[1 - own] > 0:
            distance = _write_gradient(X[t], own, moments, iterate, rule, work)
            if not dot(grad, grad) < LARGEST_SQUARE:
                return t
            mean_distance = _mean_distance(iterate, distance)
            step, offset = rule.step_size, rule.offset
            if step == 0.0 and mean_distance > 0.0:
                scale = np.sqrt(mean_distance)
                # The penalty bends the loss, too, and counts where rows are short.
                step = ADAPTIVE_STEP * scale / (mean_distance + rule.ridge)
                offset *= scale
            _adaptive_step(grad, step, offset, rule, iterate)
            _record_step(iterate, mean_distance)
        _add_row(X[t], own, moments, work.away)
    return len(X)


@jit
def add_csr_rows(
    rows: tuple[FloatArray, NDArray[np.int32], NDArray[np.int32]],
    is_pos: BoolArray,
    n_seen: IntArray,
    sums: FloatArray,
    products: FloatArray,
) -> None:
    """Add each row x to the ``sums`` of its class, and ``x x'`` to its ``products``.

    Only nonzeros are touched, and of the products only the lower triangle: ``rows`` are
    the data, sorted indices and indptr of a CSR matrix.
    """
    data, indices, indptr = rows
    for t in range(len(is_pos)):
        own = int(is_pos[t])
        n_seen[own] += 1
        for k in range(indptr[t], indptr[t + 1]):
            value, entries = data[k], products[own, indices[k]]
            sums[own, indices[k]] += value
            for m in range(indptr[t], k + 1):
                entries[indices[m]] += value * data[m]


@jit
def _work_space(n: int) -> WorkSpace:
    return WorkSpace(np.empty(n), np.empty(n + 2 * MARGIN)[MARGIN : MARGIN + n])


@jit
def _write_gradient(
    row: FloatArray,
    own: int,
    moments: Moments,
    iterate: Iterate,
    rule: GradientRule | AdaptiveRule,
    work: WorkSpace,
) -> Any:
    """Write the gradient; return how far the row is from the other mean, squared."""
    other, away, grad = 1 - own, work.away, work.grad
    coef = iterate.coef
    mean = moments.mean[other]
    for j in range(len(row)):
        away[j] = row[j] - mean[j]
    miss = dot(away, coef) - (2 * own - 1)
    _write_symmetric_product(moments.scatter[other], coef, grad)
    inverse = 1.0 / moments.n_seen[other]
    for j in range(len(row)):
        grad[j] = rule.ridge * coef[j] + miss * away[j] + inverse * grad[j]
    return dot(away, away)


@jit(reorder_sums=True)
def _write_symmetric_product(
    lower: FloatArray, vector: FloatArray, out: FloatArray
) -> None:
    """Write the product of a symmetric matrix, of which each entry is read once."""
    for i in range(len(vector)):
        entries, value, total = lower[i], vector[i], 0.0
        for j in range(i):
            total += entries[j] * vector[j]
            out[j] += entries[j] * value
        out[i] = total + entries[i] * value


@jit
def _mean_distance(iterate: Iterate, distance: float) -> Any:
    """Return the mean squared distance with that of one more row."""
    n_steps, mean_distance = iterate.progress
    return mean_distance + (distance - mean_distance) / (n_steps + 1.0)


@jit
def _adaptive_step(
    grad: FloatArray,
    step: float,
    offset: float,
    rule: AdaptiveRule,
    iterate: Iterate,
) -> None:
    """Step, shrink each weight towards zero, and scale all back into the ball."""
    coef, squares = iterate.coef, iterate.squares
    for j in range(len(grad)):
        squares[j] += grad[j] * grad[j]
        # The root is zero for features that never varied.
        rate = step / max(offset + np.sqrt(squares[j]), 1e-300)
        moved = coef[j] - rate * grad[j]
        coef[j] = np.copysign(max(abs(moved) - rate * rule.threshold, 0.0), moved)
    norm = dot(coef, coef)
    if norm > rule.radius * rule.radius:
        shrink = rule.radius / np.sqrt(norm)
        for j in range(len(coef)):
            coef[j] *= shrink


@jit
def _record_step(iterate: Iterate, mean_distance: float) -> None:
    """Count a step that was made, and add its weights to the average."""
    coef, average, progress = iterate.coef, iterate.average, iterate.progress
    progress[0] += 1.0
    progress[1] = mean_distance
    weight = min(1.0, 4.0 / (progress[0] + 3.0))
    for j in range(len(coef)):
        average[j] += weight * (coef[j] - average[j])


@jit
def _add_row(row: FloatArray, own: int, moments: Moments, away: FloatArray) -> None:
    """Add a row to the moments of its class, by Welford's update."""
    mean, scatter = moments.mean[own], moments.scatter[own]
    moments.n_seen[own] += 1
    inverse = 1.0 / moments.n_seen[own]
    for j in range(len(row)):
        away[j] = row[j] - mean[j]
        mean[j] += inverse * away[j]
    share = 1.0 - inverse
    moments.spread[own] += share * dot(away, away)
    for i in range(len(row)):
        entries, value = scatter[i], share * away[i]
        for j in range(i + 1):
            entries[j] += value * away[j]
