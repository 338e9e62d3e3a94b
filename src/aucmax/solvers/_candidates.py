# SPDX-License-Identifier: BSD-3-Clause
"""What a new kernel function would gain, for many candidates at once.

Two choices, both by a quadratic model at the present scores. ``newton_gains`` moves the
weight of the new function alone (kakkar2017). ``pick_jointly`` lets all weights move:
kernel functions overlap so much that the others make up for most of what a new one
promises, and the best one alone is rarely the best one to add.
"""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from aucmax._utils.typing import FloatArray, IntArray
from aucmax.solvers._expansion import Expansion, check_kernel, factorise_gram
from aucmax.solvers._sampling import draw_rows

# Candidates per block, the unit of work of a thread, and rows per block, whose values
# then stay in the cache.
BLOCK_CANDIDATES, BLOCK_ROWS = 256, 2048
# Slopes are sums that nearly cancel: with 10,000 of ijcnn1's 45,000 rows the objective
# at 182 functions was a quarter higher. Up to so many active rows are all used.
SLOPE_ROWS = 50_000
# Curvature is a sum of squares, for which 2,000 rows do nearly as well as 8,000. And at
# least so many per function.
CURVATURE_ROWS, CURVATURE_ROWS_PER_FUNCTION = 2000, 8
# Share of a candidate's curvature that the other weights cannot make up for: below
# this, what a sample of rows says is noise.
LEAST_RESIDUE = 1e-4

# ``map``, or that of a pool of threads.
MapBlocks = Callable[..., Iterable[Any]]


class CandidateModel:
    """The quadratic model of the objective in the weights of some candidates.

    Slopes come from all rows in active pairs, or from 50,000 of them drawn by the size
    of their gradient; curvature from a few thousand, drawn by their share in it.

    Parameters
    ----------
    expansion : Expansion
        The functions in use, and the loss at their scores.
    pool : ndarray of int
        The candidates, training rows.
    map_blocks : callable, default=map
        Maps a function over blocks of candidates.
    """

    def __init__(
        self, expansion: Expansion, pool: IntArray, map_blocks: MapBlocks = map
    ) -> None:
        self.expansion = expansion
        self.pool = pool
        self._sample_curvature()
        slope_rows, grad = self._sample_gradient()
        dtype = expansion.columns.dtype
        self._values = np.empty((len(pool), len(self._rows)), dtype=dtype)

        def measure(block: slice) -> FloatArray:
            candidates = pool[block]
            slope = np.zeros(len(candidates))
            for low in range(0, len(slope_rows), BLOCK_ROWS):
                part = slice(low, low + BLOCK_ROWS)
                values = expansion.values(slope_rows[part], candidates)
                slope += grad[part] @ values
            self._values[block] = expansion.values(self._rows, candidates).T
            values = self._values[block]
            own = np.diagonal(expansion.values(candidates, candidates))
            curvature = np.einsum("ij,ij->i", values, self._curved(values))
            return np.stack([slope, curvature + expansion.alpha * own])

        starts = range(0, len(pool), BLOCK_CANDIDATES)
        blocks = [slice(low, low + BLOCK_CANDIDATES) for low in starts]
        slope, self._curvature = np.hstack([*map_blocks(measure, blocks)])
        check_kernel(slope)
        self._slope = self._unit * slope + expansion.alpha * expansion.scores[pool]

    def newton_gains(self) -> FloatArray:
        """Return what one Newton step in each candidate's weight takes off."""
        return _ratio(self._slope**2, 2.0 * self._curvature)

    def pick_jointly(self, n_picks: int) -> IntArray:
        """Return the candidates to add, best first, ``n_picks`` or fewer.

        Each is the one that takes most off the model when the weights of all functions,
        those picked before it included, move along. Fewer where none gains anything.
        """
        alpha, pool = self.expansion.alpha, self.pool
        slope, reduced = self._project_out()
        residue = self._curvature - np.einsum("ij,ij->j", reduced, reduced)
        floor = LEAST_RESIDUE * self._curvature
        is_free = np.ones(len(pool), dtype=bool)
        picks: list[int] = []
        for _ in range(min(n_picks, len(pool))):
            np.maximum(residue, floor, out=residue)
            gain = np.where(is_free, _ratio(slope**2, residue), 0.0)
            best = int(np.argmax(gain))
            if not gain[best] > 0.0:
                break
            picks.append(best)
            is_free[best] = False
            # One more row of the Cholesky factor: what its weight makes up for.
            row = (self._values @ self._curved(self._values[best])).astype(np.float64)
            row += alpha * self.expansion.values(pool, pool[best : best + 1])[:, 0]
            row -= reduced[:, best] @ reduced
            row /= np.sqrt(residue[best])
            slope -= row * (slope[best] / np.sqrt(residue[best]))
            residue -= row * row
            reduced = np.vstack([reduced, row])
        return pool[picks]

    def _project_out(self) -> tuple[FloatArray, FloatArray]:
        """Return the slopes less what the weights in use can make up for.

        With them ``inv(L) @ H_JQ``, where ``L L' = H_JJ`` is the curvature in these
        weights: the squares of a column add up to what they make up for of its
        curvature.
        """
        expansion, alpha = self.expansion, self.expansion.alpha
        if len(expansion.index) == 0:
            return self._slope.copy(), np.empty((0, len(self.pool)))
        columns = expansion.columns
        present = np.ascontiguousarray(columns[self._rows].T)
        curved = self._curved(present)
        hessian = (
            curved @ present.T + columns.dtype.type(alpha) * columns[expansion.index]
        )
        factor = factorise_gram(hessian)
        cross = (curved @ self._values.T).astype(np.float64)
        cross += alpha * columns[self.pool].T
        grad = (expansion.terms.grad / self._unit).astype(columns.dtype)
        slope = self._unit * (columns.T @ grad)
        slope += alpha * expansion.scores[expansion.index]
        reduced: FloatArray = solve_triangular(factor, cross, lower=True)
        made_up = solve_triangular(factor, slope, lower=True) @ reduced
        return self._slope - made_up, reduced

    def _sample_gradient(self) -> tuple[IntArray, NDArray[Any]]:
        """Draw rows by the size of their gradient; return it in units of the largest.

        It may be out of float32's range.
        """
        expansion = self.expansion
        self._unit = float(np.abs(expansion.terms.grad).max()) or 1.0
        grad = expansion.terms.grad / self._unit
        size = np.abs(grad).astype(np.float32)
        rows, chance = draw_rows(size, expansion.is_pos, SLOPE_ROWS)
        grad = grad[rows] / chance
        # Over all rows it sums to zero.
        grad -= np.abs(grad) * (grad.sum() / (np.abs(grad).sum() or 1.0))
        return rows, grad.astype(expansion.columns.dtype)

    def _sample_curvature(self) -> None:
        """Draw rows by their curvature, and evaluate the loss on them alone."""
        expansion = self.expansion
        size = CURVATURE_ROWS_PER_FUNCTION * len(expansion.index)
        importance = np.sqrt(expansion.terms.hess_diag())
        importance /= float(importance.max()) or 1.0
        self._rows, chance = draw_rows(
            importance.astype(np.float32), expansion.is_pos, max(CURVATURE_ROWS, size)
        )
        is_pos = expansion.is_pos[self._rows]
        mass = expansion.weight[self._rows] / chance
        self._share = 0.0
        if len(self._rows):
            self._terms = expansion.loss.evaluate(
                expansion.scores[self._rows], is_pos, mass
            )
            # A loss divides by the mass it sees.
            seen = _pair_mass(is_pos, mass)
            self._share = seen / _pair_mass(expansion.is_pos, expansion.weight)

    def _curved(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return the Hessian of the loss times each row of values at drawn rows."""
        if self._share == 0.0:
            return np.zeros_like(values)
        curved: NDArray[Any] = self._terms.hess_dot(values, out=np.empty_like(values))
        curved *= values.dtype.type(self._share)
        return curved


def _pair_mass(is_pos: NDArray[np.bool_], weight: FloatArray) -> float:
    return float(weight[is_pos].sum() * weight[~is_pos].sum())


def _ratio(top: FloatArray, bottom: FloatArray) -> FloatArray:
    """Return the quotient, zero where it means nothing."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        ratio = top / bottom
    return np.where((bottom > 0.0) & np.isfinite(ratio), ratio, 0.0)
