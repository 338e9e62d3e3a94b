# SPDX-License-Identifier: BSD-3-Clause
"""Linear weights and their running average, under one cheap step per row.

The step on a row x is ``coef = keep * coef + pull * z``. Here z is x itself or, where
rows are centred, x minus the mean of all rows so far, x included. A learner computes
``keep`` and ``pull`` from a few products of the row. All costs no more than the values
of the row: for CSR rows, their nonzeros.

``vectors`` are a vector v, the sum of all rows ("total"), that of the positives
("pos"), and a vector u; the sums stay zero where rows are not centred. The weights are
``scale * v + shift * total``, so that shrinking them and subtracting the mean row
change two numbers only. Their weighted sum over all steps is ``scale_sum * v +
shift_sum * total + u``. ``sums`` keeps these four numbers, and up to date by additions
the products of weights and sums of rows that a step needs.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aucmax._kernels.jit import jit
from aucmax._kernels.rows import Row, column
from aucmax._utils.typing import FloatArray
from aucmax.saved import saved_as

# Statistics of a class: number of rows, number of those with a known size |z|^2, and
# the means of the sizes and of their squares.
CLASS_FIELDS = [(name, float) for name in ("n_rows", "n_sized", "size", "square")]
SUM_NAMES = (
    *("scale", "shift", "scale_sum", "shift_sum"),
    *("coef_coef", "coef_total", "coef_pos", "total_total", "total_pos"),
)
SUMS = np.dtype([(name, float) for name in SUM_NAMES])
# The average is a difference of two sums, the larger by one over the scale; at 1e-6 ten
# digits are left of sixteen.
SMALLEST_SCALE = 1e-6
# Products are computed afresh after so many rows. After 3 million rows with a feature
# of mean 100 the weights are within 1e-8 of those of dense rows; 4e-5 without.
REFRESH_ROWS = 2**17


class Measures(NamedTuple):
    """What a step is computed from."""

    size: float  # |z|^2
    score: float  # Of z, not x.
    gap: float  # Score of x minus the mean of the other class, if rows are centred.
    norm: float  # Square of the norm of the weights.
    ratio: float  # z over x minus the mean of the rows before.


class Step(NamedTuple):
    """The numbers of a step."""

    keep: float
    pull: float
    weight: float  # Of the new coef in the average.
    is_finite: bool  # False if the step would overflow.


class Sizes(NamedTuple):
    """Sizes of the rows of a class: their number, mean, and mean square."""

    n_sized: float
    size: float
    square: float


@saved_as("AveragedState")
class State(NamedTuple):
    """What is learned.

    ``vectors``, of shape (4, n_features), and ``sums`` are explained above. ``classes``
    are the statistics of negatives and positives, and ``scalars`` whatever else the
    learner keeps.
    """

    vectors: FloatArray
    classes: NDArray[np.void]
    scalars: NDArray[np.void]
    sums: NDArray[np.void]


class Products(NamedTuple):
    """Products of a row with itself, with the weights, and with sums of rows."""

    square: float
    coef: float
    total: float
    pos: float


@jit(inline=True)
def measure(
    x: Row, label: int, is_centred: bool, state: State
) -> tuple[Measures, Products]:
    """Return the products that a step is computed from, and those it changes."""
    (values, columns), classes, sums = x, state.classes, state.sums[0]
    square, along, total, pos = 0.0, 0.0, 0.0, 0.0
    vectors = state.vectors
    for k in range(len(values)):
        j = column(columns, k)
        square += values[k] * values[k]
        along += values[k] * vectors[0, j]
        total += values[k] * vectors[1, j]
        pos += values[k] * vectors[2, j]
    coef = sums["scale"] * along + sums["shift"] * total
    products = Products(square, coef, total, pos)
    if not is_centred:
        return Measures(square, coef, 0.0, sums["coef_coef"], 1.0), products
    n = classes[0]["n_rows"] + classes[1]["n_rows"]
    ratio, inverse = n / (n + 1.0), 1.0 / max(n, 1.0)
    size = square - inverse * (2.0 * total - inverse * sums["total_total"])
    score = coef - inverse * sums["coef_total"]
    other = sums["coef_pos"] if label == 0 else sums["coef_total"] - sums["coef_pos"]
    gap = coef - other / max(classes[1 - label]["n_rows"], 1.0)
    size = ratio * ratio * max(size, 0.0)
    return Measures(size, ratio * score, gap, sums["coef_coef"], ratio), products


@jit(inline=True)
def move(
    x: Row,
    label: int,
    is_centred: bool,
    state: State,
    products: Products,
    row: Measures,
    step: Step,
) -> None:
    """Take a step, after its row was counted."""
    (values, columns), classes, sums = x, state.classes, state.sums[0]
    keep, pull, coef = step.keep, step.pull, products.coef
    sums["coef_coef"] *= keep * keep
    n = classes[0]["n_rows"] + classes[1]["n_rows"]
    if keep * sums["scale"] < SMALLEST_SCALE or int(n) % REFRESH_ROWS == 0:
        fold(keep, state)
        keep, coef = 1.0, keep * coef
    norm = sums["coef_coef"] + pull * (2.0 * step.keep * row.score + pull * row.size)
    sums["coef_coef"] = max(norm, 0.0)
    # A centred row joins the sums of rows first, the weights staying as they are; then
    # the step is along the row minus their mean. Otherwise these sums stay zero.
    joins = 1.0 if is_centred else 0.0
    joins_pos = joins * label
    scale, share = keep * sums["scale"], 1.0 / n
    change = (pull - keep * sums["shift"]) / scale
    fixed = -(sums["scale_sum"] * change + sums["shift_sum"])
    vectors = state.vectors
    for k in range(len(values)):
        j = column(columns, k)
        vectors[0, j] += change * values[k]
        vectors[1, j] += joins * values[k]
        vectors[2, j] += joins_pos * values[k]
        vectors[3, j] += fixed * values[k]
    x_total = products.total + joins * products.square
    x_pos = products.pos + joins_pos * products.square
    sums["total_total"] += joins * (products.total + x_total)
    sums["total_pos"] += joins * products.pos + joins_pos * x_total
    coef_total = keep * (sums["coef_total"] + joins * coef)
    coef_pos = keep * (sums["coef_pos"] + joins_pos * coef)
    sums["coef_total"] = coef_total + pull * (x_total - share * sums["total_total"])
    sums["coef_pos"] = coef_pos + pull * (x_pos - share * sums["total_pos"])
    sums["scale"] = scale
    sums["shift"] = keep * sums["shift"] - joins * pull * share
    sums["scale_sum"] += step.weight * scale
    sums["shift_sum"] += step.weight * sums["shift"]


@jit(inline=True)
def fold(keep: float, state: State) -> None:
    """Multiply the weights by ``keep`` in place, so that the scale is one again."""
    vectors, sums = state.vectors, state.sums[0]
    norm, coef_total, coef_pos, total_total, total_pos = 0.0, 0.0, 0.0, 0.0, 0.0
    for j in range(vectors.shape[1]):
        vector, total, pos = vectors[0, j], vectors[1, j], vectors[2, j]
        coef = keep * (sums["scale"] * vector + sums["shift"] * total)
        vectors[3, j] += sums["scale_sum"] * vector + sums["shift_sum"] * total
        vectors[0, j] = coef
        norm += coef * coef
        coef_total += coef * total
        coef_pos += coef * pos
        total_total += total * total
        total_pos += total * pos
    sums["coef_coef"], sums["coef_total"], sums["coef_pos"] = norm, coef_total, coef_pos
    sums["total_total"], sums["total_pos"] = total_total, total_pos
    sums["scale"], sums["shift"] = 1.0, 0.0
    sums["scale_sum"], sums["shift_sum"] = 0.0, 0.0


@jit(inline=True)
def sizes_with(own: Any, row: Measures) -> Sizes:
    """Return the sizes of the rows of a class with one more row."""
    if row.ratio == 0.0:  # The first row is the mean, so that its size says nothing.
        return Sizes(own["n_sized"], own["size"], own["square"])
    n_sized = own["n_sized"] + 1.0
    share = 1.0 / n_sized
    # Divided by the ratio, sizes are the variance of the rows on average.
    size = row.size / row.ratio
    return Sizes(
        n_sized,
        own["size"] + share * (size - own["size"]),
        own["square"] + share * (size * size - own["square"]),
    )


@jit(inline=True)
def count_row(own: Any, sizes: Sizes) -> None:
    """Count a row of a class."""
    own["n_rows"] += 1.0
    own["n_sized"], own["size"], own["square"] = sizes


@jit(inline=True)
def mean_size(own: Sizes, other: Any, weight: float) -> float:
    """Return the mean size of all rows; ``weight`` is the share of the other class."""
    return float((1.0 - weight) * own.size + weight * other["size"])


@jit(inline=True)
def auto_length(
    rate: float, own: Sizes, other: Any, weight: float, extra: float, ridge: float
) -> float:
    """Return the length of a constant step, 0 while all rows are zero.

    It is ``rate`` over the curvature of the loss. The largest stable step is 2 over
    E|z|^4 / E|z|^2, where rows are weighted with the share of the other class
    (``weight`` for those of the own one). ``extra`` is added to all sizes, and
    ``ridge`` is the curvature of the penalty.
    """
    both = own.size + other["size"] + 2.0 * extra
    if both == 0.0:
        return 0.0
    fourth = weight * (own.square + extra * (2.0 * own.size + extra))
    fourth += (1.0 - weight) * (other["square"] + extra * (2.0 * other["size"] + extra))
    curvature = max(mean_size(own, other, weight) + extra, 2.0 * fourth / both)
    return float(rate / (curvature + 2.0 * rate * ridge))
