# SPDX-License-Identifier: BSD-3-Clause
"""The first step of a descent on pairs, found by trying."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucmax._utils.typing import FloatArray, IntArray
from aucmax.solvers.pair_sgd import PairSGD, RowBlock

# Pairs on which steps are tried, and blocks of them whose curvature is measured.
N_PAIRS = 1000
N_BLOCKS = 128


def choose_step_size(
    block: RowBlock,
    rng: np.random.Generator,
    *,
    alpha: float,
    loss: str,
    block_size: int,
    is_averaged: bool = True,
) -> float:
    """Return the power of two with the least objective after one pass over few pairs.

    Of the average over the second half of the pass where that is what will be used: it
    stands steps about twice as long as the last iterate does, and gains by them.
    For the squared hinge no more than the largest step at which no block of pairs can
    overshoot, as far as a sample of them and the lengths of all rows can tell.
    """
    sample = _sample_pairs(block, rng)
    half = sample.shape[0] // 2
    gaps = (sample[:half] - sample[half:]).astype(np.float64)
    curvature = float(np.square(gaps).sum(axis=1).mean())
    if curvature == 0.0:
        return 1.0
    limit = np.inf
    if loss == "squared_hinge":
        size = min(block_size, half)
        worst = _block_curvatures(sample, half, size)
        measured = np.arange(len(worst) * size)
        longest = _length(sample[np.append(measured, half + measured)])
        limit = (longest / _length(block.rows)) ** 2 / worst.max()

    def cost(step_size: float) -> float:
        sgd = PairSGD(
            sample, alpha=alpha, step_size=step_size, loss=loss, block_size=block_size
        )
        with np.errstate(all="ignore"):
            for part in np.array_split(np.arange(half), 2):
                sgd.restart_average()
                sgd.visit(sample, part, half + part)
            coef = sgd.average() if is_averaged else sgd.last()
            scores = sample @ coef
            losses = np.maximum(0.0, 1.0 - (scores[:half] - scores[half:]))
            if loss == "squared_hinge":
                losses *= losses
            value = float(losses.mean() + 0.5 * alpha * (coef @ coef))
        return value if np.isfinite(value) else np.inf

    step = min(2.0 ** np.round(-np.log2(curvature)), limit)
    least = cost(step)
    for factor in (2.0, 0.5):
        while (value := cost(trial := min(factor * step, limit))) < least:
            step, least = trial, value
    return float(step)


def _sample_pairs(block: RowBlock, rng: np.random.Generator) -> NDArray[Any]:
    """Return the rows of random pairs: all the positives, then all the negatives."""
    pos, neg = rng.choice(block.pos, N_PAIRS), rng.choice(block.neg, N_PAIRS)
    return np.asarray(block.rows[np.append(pos, neg)])


def _block_curvatures(sample: NDArray[Any], half: int, size: int) -> FloatArray:
    """Return the largest eigenvalue of ``sum of d d' / size`` over pairs of a block.

    ``d`` is the difference of a pair. With all pairs active the squared hinge has twice
    this curvature, and overshoots where step times curvature exceed two.
    """
    laplacian = np.kron([[0.0, -1.0], [-1.0, 0.0]], np.ones((size, size)))
    laplacian += size * np.eye(2 * size)
    grams = []
    for low in range(0, min(half - size + 1, N_BLOCKS * size), size):
        ids: IntArray = np.arange(low, low + size)
        rows = sample[np.concatenate([ids, half + ids])]
        grams.append((rows @ rows.T).astype(np.float64))
    values = np.linalg.eigvals(np.stack(grams) @ laplacian).real
    largest: FloatArray = values.max(axis=1) / size
    return np.maximum(largest, 0.0)


def _length(rows: NDArray[Any]) -> float:
    """Return the length of the longest row."""
    return float(np.sqrt(np.einsum("ij,ij->i", rows, rows).max()))
