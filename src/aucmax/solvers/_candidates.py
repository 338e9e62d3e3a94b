# SPDX-License-Identifier: BSD-3-Clause
"""What a new kernel function would gain, for many candidates at once.

Two models, both quadratic at the present scores. ``newton_gains`` moves the weight of
the new function alone (kakkar2017). ``pick_jointly`` lets all weights move: kernel
functions overlap so much that the others make up for most of what a new one promises,
and the best one alone is rarely the best one to add.
"""

from collections.abc import Callable
from concurrent.futures import Executor
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from aucmax import _kernels
from aucmax._utils.typing import FloatArray, IntArray
from aucmax.losses.squared_hinge import shift_positives
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
CURVATURE_ROWS, CURVATURE_ROWS_PER_FUNCTION = 4000, 8
# Share of a candidate's curvature that the other weights cannot make up for: below
# this, what a sample of rows says is noise.
LEAST_RESIDUE = 1e-4


class _SortedRows(NamedTuple):
    """Drawn rows along their scores, for ``add_slopes_and_curvatures``."""

    rows: IntArray
    mass: FloatArray
    signed: FloatArray
    partners: FloatArray


def newton_gains(
    expansion: Expansion, candidates: IntArray, executor: Executor | None = None
) -> FloatArray:
    """Return what one Newton step in each candidate's weight takes off the objective.

    ``slope^2 / (2 curvature)``. One pass over the rows that are in active pairs, or
    over 50,000 of them drawn by the size of their gradient.
    """
    rows, chance = _draw_by_gradient(expansion)
    along = _sort_rows(expansion, rows, chance)
    grad = expansion.terms.grad[along.rows] * (
        along.mass / expansion.weight[along.rows]
    )

    def measure(block: IntArray) -> FloatArray:
        slope, curvature = _sweep(expansion, along, grad, block)
        slope += expansion.alpha * expansion.scores[block]
        return _ratio(slope * slope, 2.0 * curvature)

    return np.concatenate(_for_each_block(measure, candidates, executor))


def pick_jointly(
    expansion: Expansion,
    pool: IntArray,
    n_picks: int,
    executor: Executor | None = None,
) -> IntArray:
    """Return the rows of ``pool`` to add, best first, ``n_picks`` or fewer.

    Each is the one that takes most off the objective's quadratic model when the weights
    of all functions, those picked before it included, move along. Slopes come from all
    active rows (see ``newton_gains``), curvature from a few thousand of them, drawn by
    their share in it. Fewer are returned where none gains anything.
    """
    dtype, alpha = expansion.columns.dtype, expansion.alpha
    slope = _slopes(expansion, pool, executor) + alpha * expansion.scores[pool]
    along = _draw_by_curvature(expansion)
    values = np.empty((len(along.rows), len(pool)), dtype=dtype)

    def measure(block: slice) -> FloatArray:
        return _sweep(
            expansion, along, np.zeros(len(along.rows)), pool[block], values[:, block]
        )[1]

    blocks = _blocks(len(pool))
    curvature = np.concatenate(_map(measure, blocks, executor))
    curved = _curvature_product(expansion, along)
    reduced = _project_out(expansion, along.rows, curved, values, pool, slope)

    residue = curvature - np.einsum("ij,ij->j", reduced, reduced)
    floor = LEAST_RESIDUE * curvature
    is_free = np.ones(len(pool), dtype=bool)
    picks: list[int] = []
    for _ in range(min(n_picks, len(pool))):
        np.maximum(residue, floor, out=residue)
        gain = np.where(is_free, _ratio(slope * slope, residue), 0.0)
        best = int(np.argmax(gain))
        if not gain[best] > 0.0:
            break
        picks.append(best)
        is_free[best] = False
        # One more row of the Cholesky factor: what its weight makes up for elsewhere.
        row = (curved(values[:, best]).astype(dtype) @ values).astype(np.float64)
        row += alpha * expansion.values(pool, pool[best : best + 1])[:, 0]
        row -= reduced[:, best] @ reduced
        row /= np.sqrt(residue[best])
        slope -= row * (slope[best] / np.sqrt(residue[best]))
        residue -= row * row
        reduced = np.vstack([reduced, row])
    return pool[picks]


def _project_out(
    expansion: Expansion,
    rows: IntArray,
    curved: Callable[[FloatArray], FloatArray],
    values: NDArray[Any],
    pool: IntArray,
    slope: FloatArray,
) -> FloatArray:
    """Take out of ``slope`` what the present weights can make up for.

    Returns ``inv(L) @ H_JQ``, with ``L L' = H_JJ`` the curvature in the present
    weights: the squares of a column add up to what they make up for of its curvature.
    """
    if len(expansion.index) == 0:
        return np.empty((0, len(pool)))
    alpha, columns = expansion.alpha, expansion.columns
    present = columns[rows]
    curved_present = np.empty((columns.shape[1], len(rows)), dtype=columns.dtype)
    for j in range(columns.shape[1]):
        curved_present[j] = curved(present[:, j])
    hessian = curved_present @ present
    hessian += columns.dtype.type(alpha) * columns[expansion.index]
    factor = factorise_gram(hessian)
    cross = (curved_present @ values).astype(np.float64)
    cross += alpha * columns[pool].T
    unit = float(np.abs(expansion.terms.grad).max()) or 1.0
    grad = (expansion.terms.grad / unit).astype(columns.dtype)
    present_slope = alpha * expansion.scores[expansion.index]
    present_slope += unit * (columns.T @ grad)
    reduced: FloatArray = solve_triangular(factor, cross, lower=True)
    slope -= solve_triangular(factor, present_slope, lower=True) @ reduced
    return reduced


def _slopes(
    expansion: Expansion, candidates: IntArray, executor: Executor | None
) -> FloatArray:
    """Return the derivative of the loss in each candidate's weight."""
    rows, chance = _draw_by_gradient(expansion)
    grad = expansion.terms.grad[rows] / chance
    unit = float(np.abs(grad).max(initial=0.0)) or 1.0
    grad = (grad / unit).astype(expansion.columns.dtype)

    def measure(block: IntArray) -> FloatArray:
        pivot, total = np.zeros((2, len(block)))
        for low in range(0, len(rows), BLOCK_ROWS):
            part = slice(low, low + BLOCK_ROWS)
            values = expansion.values(rows[part], block)
            if low == 0:
                pivot = _middle(values)
            total += grad[part] @ values
        # The gradient sums to zero over all rows; over drawn ones it need not.
        result: FloatArray = unit * (total - pivot * grad.sum(dtype=np.float64))
        return result

    return np.concatenate(_for_each_block(measure, candidates, executor))


def _sweep(
    expansion: Expansion,
    along: _SortedRows,
    grad: FloatArray,
    candidates: IntArray,
    keep: NDArray[Any] | None = None,
) -> tuple[FloatArray, FloatArray]:
    """Return slope of the loss and curvature of the objective in each weight.

    The kernel values of the rows go to ``keep`` where given.
    """
    pivot, first, slope, curvature = np.zeros((4, len(candidates)))
    for low in range(0, len(along.rows), BLOCK_ROWS):
        part = slice(low, low + BLOCK_ROWS)
        values = expansion.values(along.rows[part], candidates)
        if low == 0:
            pivot = _middle(values)
        if keep is not None:
            keep[part] = values
        _kernels.candidates.add_slopes_and_curvatures(
            values,
            along.signed[part],
            grad[part],
            along.partners[part],
            pivot,
            first,
            slope,
            curvature,
        )
    curvature *= 2.0 / expansion.pair_mass
    own = np.diagonal(expansion.values(candidates, candidates))
    return slope, curvature + expansion.alpha * own


def _draw_by_gradient(expansion: Expansion) -> tuple[IntArray, FloatArray]:
    """Return the rows in active pairs, or some of them, and their chances."""
    importance = np.abs(expansion.terms.grad)
    importance /= float(importance.max()) or 1.0
    return draw_rows(importance.astype(np.float32), expansion.is_pos, SLOPE_ROWS)


def _draw_by_curvature(expansion: Expansion) -> _SortedRows:
    importance = np.sqrt(expansion.terms.hess_diag())
    importance /= float(importance.max()) or 1.0
    size = CURVATURE_ROWS_PER_FUNCTION * len(expansion.index)
    rows, chance = draw_rows(
        importance.astype(np.float32), expansion.is_pos, max(CURVATURE_ROWS, size)
    )
    return _sort_rows(expansion, rows, chance)


def _sort_rows(expansion: Expansion, rows: IntArray, chance: FloatArray) -> _SortedRows:
    is_pos, mass = expansion.is_pos[rows], expansion.weight[rows] / chance
    shifted = shift_positives(expansion.scores[rows], is_pos, expansion.loss.margin)
    order = _kernels.order.argsort(shifted)
    pairs = _kernels.active_pairs.find_active_pairs(order, is_pos, mass)
    partners = pairs.partner_mass
    signed = np.where(is_pos, mass, -mass)
    return _SortedRows(rows[order], mass[order], signed[order], partners[order])


def _curvature_product(
    expansion: Expansion, along: _SortedRows
) -> Callable[[NDArray[Any]], FloatArray]:
    """Return the product with the Hessian of the loss, estimated from drawn rows."""
    is_pos = expansion.is_pos[along.rows]
    mass_pos = float(along.mass[is_pos].sum())
    mass_neg = float(along.mass[~is_pos].sum())
    if mass_pos * mass_neg == 0.0:
        return lambda vector: np.zeros(len(vector))
    terms = expansion.loss.evaluate(expansion.scores[along.rows], is_pos, along.mass)
    # A loss divides by the mass it sees.
    share = mass_pos * mass_neg / expansion.pair_mass
    return lambda vector: share * terms.hess_dot(vector.astype(np.float64))


def _middle(values: NDArray[Any]) -> FloatArray:
    with np.errstate(over="ignore", invalid="ignore"):
        mean: FloatArray = values.mean(axis=0, dtype=np.float64)
    check_kernel(mean)
    return mean


def _ratio(top: FloatArray, bottom: FloatArray) -> FloatArray:
    """Return the quotient, zero where it means nothing."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        ratio = top / bottom
    return np.where((bottom > 0.0) & np.isfinite(ratio), ratio, 0.0)


def _blocks(n: int) -> list[slice]:
    """Cut candidates into blocks, the same for any number of threads."""
    return [slice(k, k + BLOCK_CANDIDATES) for k in range(0, n, BLOCK_CANDIDATES)]


def _for_each_block(
    measure: Callable[[IntArray], FloatArray],
    candidates: IntArray,
    executor: Executor | None,
) -> list[FloatArray]:
    blocks = _blocks(len(candidates))
    return _map(lambda block: measure(candidates[block]), blocks, executor)


def _map(
    function: Callable[[slice], FloatArray],
    blocks: list[slice],
    executor: Executor | None,
) -> list[FloatArray]:
    return list(
        map(function, blocks) if executor is None else executor.map(function, blocks)
    )
