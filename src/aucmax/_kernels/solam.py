# SPDX-License-Identifier: BSD-3-Clause
"""Steps on the saddle point of the pairwise square loss, one row at a time.

Besides the weights, its variables are the mean scores of both classes and ``dual``, the
negatives' minus the positives'. They are learned by steps too, as in the paper, or
computed from the mean rows of the classes ("exact"). As these are at hand, exact steps
are made on centred rows: that changes no difference of scores, but rows far from the
origin need far smaller steps.
"""

from typing import NamedTuple

import numpy as np

from aucmax._kernels import averaged_weights as averaged
from aucmax._kernels.averaged_weights import Measures, State, Step
from aucmax._kernels.jit import jit
from aucmax._kernels.rows import Rows, row_at
from aucmax._utils.typing import IntArray
from aucmax.saved import saved_as

# "score" is the mean score of the class, where it is learned.
CLASS = np.dtype([*averaged.CLASS_FIELDS, ("score", float)])
SCALARS = np.dtype(
    [(name, float) for name in ("dual", "largest_norm", "weight_sum", "n_projections")]
)


@saved_as("SaddlePointRates")
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


@jit(inline=True)
def solam_step(row: Measures, label: int, rates: Rates, state: State) -> Step:
    """Return the step on a row, and count it in all state unless it overflows."""
    own, other = state.classes[label], state.classes[1 - label]
    saddle = state.scalars[0]
    sign = 2.0 * label - 1.0
    t = own["n_rows"] + other["n_rows"] + 1.0
    weight = other["n_rows"] / t
    ridge = rates.alpha * weight * (1.0 - weight)
    sizes = averaged.sizes_with(own, row)
    if rates.is_auto:
        rate = rates.rate
        # A ball that holds the weights back needs steps that go to zero.
        curbed = rate / np.sqrt(1.0 + saddle["n_projections"])
        length = averaged.auto_length(curbed, sizes, other, weight, 0.0, ridge)
    else:
        rate = rates.rate / np.sqrt(t)
        length = rate
    if rates.is_exact:
        residual = row.gap - sign
    else:
        residual = row.score - own["score"] - sign * (1.0 + saddle["dual"])
    keep = max(0.0, 1.0 - length * ridge)
    pull = -2.0 * length * weight * residual
    norm = keep * keep * row.norm + pull * (2.0 * keep * row.score + pull * row.size)
    if not norm < np.inf:
        return Step(keep, pull, 0.0, False)
    # Rounding alone is no reason to project.
    if norm > rates.radius**2 * (1.0 + 1e-12):
        project = rates.radius / np.sqrt(norm)
        keep, pull = project * keep, project * pull
        saddle["n_projections"] += 1.0
    if not rates.is_exact:
        saddle["largest_norm"] = max(saddle["largest_norm"], np.sqrt(row.size))
        most = rates.radius * saddle["largest_norm"]
        score = own["score"] + 2.0 * rate * weight * (row.score - own["score"])
        own["score"] = min(max(score, -most), most)
        dual = saddle["dual"] - 2.0 * rate * weight * (
            sign * row.score + (1.0 - weight) * saddle["dual"]
        )
        saddle["dual"] = min(max(dual, -2.0 * most), 2.0 * most)
    averaged.count_row(own, sizes)
    saddle["weight_sum"] += rate
    return Step(keep, pull, rate, True)


@jit(reorder_sums=True)
def steps(rows: Rows, labels: IntArray, rates: Rates, state: State) -> int:
    """Step with each row; return how many rows precede an overflow."""
    for i in range(len(labels)):
        x = row_at(rows, i)
        row, products = averaged.measure(x, labels[i], rates.is_exact, state)
        step = solam_step(row, labels[i], rates, state)
        if not step.is_finite:
            return i
        averaged.move(x, labels[i], rates.is_exact, state, products, row, step)
    return len(labels)
