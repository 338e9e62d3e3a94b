# SPDX-License-Identifier: BSD-3-Clause
"""Steps of the stochastic primal-dual method for the pairwise square loss."""

from typing import NamedTuple

import numpy as np

from aucmax._kernels.jit import jit
from aucmax._utils.typing import FloatArray, IntArray


class Rates(NamedTuple):
    """Constants of the method: step sizes, extrapolation, and problem sizes."""

    sigma: float
    tau: float
    theta: float
    ridge: float
    n_samples: int
    batch_size: int


class State(NamedTuple):
    """What the steps change.

    ``dual[i]`` belongs to row i; ``dual_mean`` is the mean over all rows of ``dual[i] *
    row[i]``, kept up to date; ``ahead`` is the extrapolated ``coef``.
    """

    dual: FloatArray
    dual_mean: FloatArray
    coef: FloatArray
    ahead: FloatArray


class ClassRows(NamedTuple):
    """CSR rows that stand for ``(row - means[label]) / roots[label]``."""

    data: FloatArray
    indices: IntArray
    indptr: IntArray
    labels: IntArray
    means: FloatArray
    roots: FloatArray


@jit
def primal_dual_steps_dense(
    rows: FloatArray, ids: IntArray, gap: FloatArray, rates: Rates, state: State
) -> None:
    """Run one step for each ``batch_size`` rows.

    ``rows`` are centred and scaled, ``ids`` their numbers, ``gap`` is mean_neg -
    mean_pos.
    """
    change = np.empty(len(gap))
    for low in range(0, len(ids) - rates.batch_size + 1, rates.batch_size):
        change[:] = 0.0
        for k in range(low, low + rates.batch_size):
            score = 0.0
            for j in range(len(gap)):
                score += state.ahead[j] * rows[k, j]
            step = move_dual(ids[k], score, rates, state)
            for j in range(len(gap)):
                change[j] += step * rows[k, j]
        move_coef(change, gap, rates, state)


@jit
def primal_dual_steps_csr(
    rows: ClassRows, ids: IntArray, gap: FloatArray, rates: Rates, state: State
) -> None:
    """Run the same steps on CSR rows, which are centred and scaled on the way.

    Cost of a step: its nonzeros, and a few vectors of coefficients.
    """
    means = rows.means
    change = np.empty(len(gap))
    mean_scores, totals = np.empty(2), np.empty(2)
    for low in range(0, len(ids) - rates.batch_size + 1, rates.batch_size):
        change[:], mean_scores[:], totals[:] = 0.0, 0.0, 0.0
        for j in range(len(gap)):
            mean_scores[0] += state.ahead[j] * means[0, j]
            mean_scores[1] += state.ahead[j] * means[1, j]
        for k in range(low, low + rates.batch_size):
            label, root = rows.labels[k], rows.roots[rows.labels[k]]
            score = -mean_scores[label]
            for m in range(rows.indptr[k], rows.indptr[k + 1]):
                score += state.ahead[rows.indices[m]] * rows.data[m]
            step = move_dual(ids[k], score / root, rates, state) / root
            totals[label] += step
            for m in range(rows.indptr[k], rows.indptr[k + 1]):
                change[rows.indices[m]] += step * rows.data[m]
        for j in range(len(gap)):
            change[j] -= totals[0] * means[0, j] + totals[1] * means[1, j]
        move_coef(change, gap, rates, state)


@jit(inline=True)
def move_dual(row: int, score: float, rates: Rates, state: State) -> float:
    """Update the dual of a row; return its change over the number of rows."""
    old = state.dual[row]
    new = (old + rates.sigma * score) / (1.0 + rates.sigma)
    state.dual[row] = new
    return float((new - old) / rates.n_samples)


@jit(inline=True)
def move_coef(change: FloatArray, gap: FloatArray, rates: Rates, state: State) -> None:
    """Update the coefficients; ``change`` is that of ``dual_mean``, and is used up."""
    dual_mean, coef, ahead = state.dual_mean, state.coef, state.ahead
    boost = rates.n_samples / rates.batch_size
    along, gap_square = 0.0, 0.0
    for j in range(len(coef)):
        target = coef[j] / rates.tau - dual_mean[j] - boost * change[j] - gap[j]
        dual_mean[j] += change[j]
        change[j] = target
        along += gap[j] * target
        gap_square += gap[j] * gap[j]
    # Sherman and Morrison for (inverse I + gap gap')^-1.
    inverse = rates.ridge + 1.0 / rates.tau
    share = along / (inverse + gap_square)
    for j in range(len(coef)):
        new = (change[j] - share * gap[j]) / inverse
        ahead[j] = new + rates.theta * (new - coef[j])
        coef[j] = new
