# SPDX-License-Identifier: BSD-3-Clause
"""Steps on class-balanced losses of single rows, one row at a time."""

from typing import NamedTuple

import numpy as np

from aucmax._kernels import averaged_weights as averaged
from aucmax._kernels.averaged_weights import Measures, State, Step
from aucmax._kernels.jit import jit
from aucmax._kernels.rows import Rows, row_at
from aucmax._utils.typing import IntArray
from aucmax.saved import saved_as

CLASS = np.dtype(averaged.CLASS_FIELDS)
SCALARS = np.dtype([("intercept", float), ("weight_sum", float)])
EXPONENTIAL, SQUARE, LOGISTIC = 0, 1, 2
# exp(30) is 1e13; no step needs more.
LARGEST_EXPONENT = 30.0
# A step on the exponential loss moves the weights no further than this (step_size a
# number), and no step moves the margin of its own row further than that ("auto").
LARGEST_MOVE, LARGEST_GAIN = 10.0, 2.0
# Weights may grow this much in one step; twice as many digits are left for scores.
OVERFLOW = 1e150


@saved_as("UnivariateRates")
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


@jit(inline=True)
def negative_slope(loss: int, margin: float) -> float:
    """Return minus the derivative of a loss."""
    if loss == EXPONENTIAL:
        return float(np.exp(min(-margin, LARGEST_EXPONENT)))
    if loss == SQUARE:
        return 1.0 - margin
    return float(1.0 / (1.0 + np.exp(margin)))


@jit(inline=True)
def univariate_step(row: Measures, label: int, rates: Rates, state: State) -> Step:
    """Return the step on a row, and count it in all state unless it overflows."""
    own, other = state.classes[label], state.classes[1 - label]
    scalars = state.scalars[0]
    sign = 2.0 * label - 1.0
    t = own["n_rows"] + other["n_rows"] + 1.0
    weight = other["n_rows"] / t
    sizes = averaged.sizes_with(own, row)
    length = rates.rate
    # The intercept is the weight of one more feature, whose square is ``extra``: one,
    # or as large as the others together.
    extra = 1.0 if rates.has_intercept else 0.0
    if rates.is_auto:
        extra *= averaged.mean_size(sizes, other, weight)
        balanced = 4.0 * weight * (1.0 - weight) * rates.rate
        length = averaged.auto_length(
            balanced, sizes, other, weight, extra, rates.alpha
        )
    class_weight = min(0.5 * t / (own["n_rows"] + 1.0), rates.max_class_weight)
    margin = sign * (row.score + scalars["intercept"])
    pull = length * class_weight * negative_slope(rates.loss, margin)
    norm = np.sqrt(row.size)
    if rates.is_auto:
        gain = abs(pull) * (row.size + extra)
        if gain > LARGEST_GAIN:
            pull *= LARGEST_GAIN / gain
    elif rates.loss == EXPONENTIAL and pull * norm > LARGEST_MOVE:
        pull = LARGEST_MOVE / norm
    if not (abs(pull) * norm < OVERFLOW and abs(pull) * extra < OVERFLOW):
        return Step(0.0, 0.0, 0.0, False)
    scalars["intercept"] += sign * extra * pull
    scalars["weight_sum"] += 1.0
    averaged.count_row(own, sizes)
    keep = max(0.0, 1.0 - length * rates.alpha)
    return Step(keep, sign * pull, 1.0, True)


@jit(reorder_sums=True)
def steps(rows: Rows, labels: IntArray, rates: Rates, state: State) -> int:
    """Step down the loss of each row; return how many precede an overflow."""
    for i in range(len(labels)):
        x = row_at(rows, i)
        row, products = averaged.measure(x, labels[i], rates.is_centred, state)
        step = univariate_step(row, labels[i], rates, state)
        if not step.is_finite:
            return i
        averaged.move(x, labels[i], rates.is_centred, state, products, row, step)
    return len(labels)
