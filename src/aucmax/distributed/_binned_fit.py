# SPDX-License-Identifier: BSD-3-Clause
"""RankSVM from sums over bins of scores: nothing as long as the rows at the driver."""

from typing import Any, NamedTuple

import numpy as np

from aucmax._utils.typing import FloatArray
from aucmax.design import LocalDesign
from aucmax.design.streamed import stacked
from aucmax.distributed._block import Block, Part
from aucmax.distributed._blocks import BlockwiseDesign
from aucmax.distributed._cluster import fetch, later
from aucmax.distributed._inputs import DaskInputs
from aucmax.distributed.design import DaskDesign
from aucmax.losses import BinnedSquaredHinge, SquaredHinge
from aucmax.losses.binned_squared_hinge import BinSums, bin_rows, merge_sums, sum_bins
from aucmax.metrics.threshold import balanced_threshold
from aucmax.solvers.base import Problem, Result
from aucmax.solvers.nonlinear_cg import nonlinear_cg

# Rows fetched for a first solution: at least so many, so many per feature, and no more
# values than these.
LEAST_ROWS, ROWS_PER_FEATURE, MOST_VALUES = 4000, 40, 2**23
# How well they are solved.
SAMPLE_TOL = 1e-3


class BinnedFit(NamedTuple):
    """The outcome, how much its value may be too high, and where to cut the scores."""

    result: Result
    error: float
    threshold: float


def fit_binned(
    design: DaskDesign,
    inputs: DaskInputs,
    *,
    alpha: float,
    bins_per_octave: int,
    start: FloatArray | None,
    **options: Any,
) -> BinnedFit:
    """Minimise from the solution of some rows; ``options`` are those of the solver."""
    sample = _sample_problem(design, inputs)
    rows = BlockwiseDesign(design, float(inputs.mass.sum()))
    # Vectors of scores are blocks, which this loss and this design understand.
    loss: Any = BinnedSquaredHinge(bins_per_octave)
    is_pos: Any = rows.is_pos
    weight: Any = rows.weight
    problem = Problem(rows, loss, is_pos, weight, sample)
    if start is None:
        start = nonlinear_cg(sample, alpha, tol=SAMPLE_TOL).coef
    result = nonlinear_cg(problem, alpha, start=start, **options)
    rounded = result.coef.astype(inputs.dtype).astype(np.float64)
    scores = rows.scores(rounded)
    cut = _threshold(rows, scores, bins_per_octave) + float(rows.offset @ rounded)
    return BinnedFit(result, problem.evaluate(scores).error, cut)


def _sample_problem(design: DaskDesign, inputs: DaskInputs) -> Problem:
    """Return the problem of some rows of each class, evenly spread over the blocks."""
    n, d = inputs.shape
    room = min(max(LEAST_ROWS, ROWS_PER_FEATURE * d), max(MOST_VALUES // d, 100))
    totals = inputs.counts.sum(axis=0)
    # At least a quarter of each class: the mean over pairs does not mind.
    share = np.clip(totals / n, 0.25, 0.75) * room / totals
    wanted = np.ceil(inputs.counts * np.minimum(share, 1.0)).astype(int)
    parts = fetch(
        [
            later(_draw, block, *map(int, sizes))
            for block, sizes in zip(design.blocks, wanted, strict=True)
        ]
    )
    used = [part for part in parts if len(part.is_pos)]
    return Problem(
        LocalDesign(stacked([part.rows for part in used])),
        SquaredHinge(),
        np.concatenate([part.is_pos for part in used]),
        np.concatenate([part.weight for part in used]),
    )


def _threshold(design: BlockwiseDesign, scores: Any, bins_per_octave: int) -> float:
    """Return the score between two bins with the best balanced accuracy."""
    bins = scores.map(bin_rows, design.is_pos, design.weight, 0.0, bins_per_octave)
    table: BinSums = bins.map(sum_bins).merge(merge_sums)
    used = np.flatnonzero(table.mass.sum(axis=0) > 0.0)
    low, high, mass = table.low[used], table.high[used], table.mass[:, used]
    number = np.arange(len(used), dtype=np.float64)
    cut = balanced_threshold(
        np.tile(number, 2), np.repeat([False, True], len(used)), mass.ravel()
    )
    below = int(np.floor(cut))
    if below + 1 >= len(used):
        return float(high[below])
    return 0.5 * float(high[below] + low[below + 1])


def _draw(block: Block, n_neg: int, n_pos: int) -> Part:
    """Return some rows of each class that have weight, evenly spread."""
    _, is_pos, weight = block.part
    chosen = []
    for mask, size in ((~is_pos, n_neg), (is_pos, n_pos)):
        index = np.flatnonzero(mask & (weight > 0.0))
        count = min(size, len(index))
        spread = np.linspace(0, len(index), count, endpoint=False).astype(np.int64)
        chosen.append(index[spread])
    index = np.sort(np.concatenate(chosen))
    return Part(block.design.rows(index), is_pos[index], weight[index])
