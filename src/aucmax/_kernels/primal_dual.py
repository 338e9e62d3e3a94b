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


@jit
def primal_dual_steps(
    rows: FloatArray,
    ids: IntArray,
    gap: FloatArray,
    rates: Rates,
    dual: FloatArray,
    dual_mean: FloatArray,
    coef: FloatArray,
    ahead: FloatArray,
) -> None:
    """Run one step for each ``batch_size`` rows, updating all state in place.

    ``rows`` are centred and scaled, ``ids`` their numbers, ``gap`` is mean_neg -
    mean_pos. ``dual[i]`` belongs to row i; ``dual_mean`` is the mean over all rows of
    ``dual[i] * row[i]``, kept up to date; ``ahead`` is the extrapolated ``coef``.
    """
    d = coef.shape[0]
    size = rates.batch_size
    boost = rates.n_samples / size
    inverse = rates.ridge + 1.0 / rates.tau
    gap_square = 0.0
    for j in range(d):
        gap_square += gap[j] * gap[j]
    change = np.empty(d)
    target = np.empty(d)
    for low in range(0, rows.shape[0] - size + 1, size):
        for j in range(d):
            change[j] = 0.0
        for k in range(low, low + size):
            score = 0.0
            for j in range(d):
                score += ahead[j] * rows[k, j]
            old = dual[ids[k]]
            new = (old + rates.sigma * score) / (1.0 + rates.sigma)
            dual[ids[k]] = new
            step = (new - old) / rates.n_samples
            for j in range(d):
                change[j] += step * rows[k, j]
        along = 0.0
        for j in range(d):
            target[j] = coef[j] / rates.tau - dual_mean[j] - boost * change[j] - gap[j]
            along += gap[j] * target[j]
        # Sherman and Morrison for (inverse I + gap gap')^-1.
        share = along / (inverse + gap_square)
        for j in range(d):
            dual_mean[j] += change[j]
            new_coef = (target[j] - share * gap[j]) / inverse
            ahead[j] = new_coef + rates.theta * (new_coef - coef[j])
            coef[j] = new_coef


@jit
def primal_dual_sparse_steps(
    data: FloatArray,
    indices: IntArray,
    indptr: IntArray,
    which: IntArray,
    means: FloatArray,
    roots: FloatArray,
    ids: IntArray,
    gap: FloatArray,
    rates: Rates,
    dual: FloatArray,
    dual_mean: FloatArray,
    coef: FloatArray,
    ahead: FloatArray,
) -> None:
    """Run the same steps on rows in CSR, which are centred and scaled on the way.

    Row k belongs to class ``which[k]`` and stands for ``(row - means[which[k]]) /
    roots[which[k]]``. Cost of a step: its nonzeros, and a few vectors of coefficients.
    """
    d = coef.shape[0]
    size = rates.batch_size
    boost = rates.n_samples / size
    inverse = rates.ridge + 1.0 / rates.tau
    gap_square = 0.0
    for j in range(d):
        gap_square += gap[j] * gap[j]
    change = np.empty(d)
    target = np.empty(d)
    mean_score = np.empty(2)
    total = np.empty(2)
    for low in range(0, ids.shape[0] - size + 1, size):
        mean_score[:] = 0.0
        total[:] = 0.0
        for j in range(d):
            change[j] = 0.0
            mean_score[0] += ahead[j] * means[0, j]
            mean_score[1] += ahead[j] * means[1, j]
        for k in range(low, low + size):
            c = which[k]
            score = -mean_score[c]
            for m in range(indptr[k], indptr[k + 1]):
                score += ahead[indices[m]] * data[m]
            old = dual[ids[k]]
            new = (old + rates.sigma * score / roots[c]) / (1.0 + rates.sigma)
            dual[ids[k]] = new
            step = (new - old) / (rates.n_samples * roots[c])
            total[c] += step
            for m in range(indptr[k], indptr[k + 1]):
                change[indices[m]] += step * data[m]
        for j in range(d):
            change[j] -= total[0] * means[0, j] + total[1] * means[1, j]
        along = 0.0
        for j in range(d):
            target[j] = coef[j] / rates.tau - dual_mean[j] - boost * change[j] - gap[j]
            along += gap[j] * target[j]
        # Sherman and Morrison for (inverse I + gap gap')^-1.
        share = along / (inverse + gap_square)
        for j in range(d):
            dual_mean[j] += change[j]
            new_coef = (target[j] - share * gap[j]) / inverse
            ahead[j] = new_coef + rates.theta * (new_coef - coef[j])
            coef[j] = new_coef
