# SPDX-License-Identifier: BSD-3-Clause
"""Growing a sum of kernel functions from a few candidates at a time (kakkar2017)."""

import itertools
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import ExitStack
from typing import NamedTuple

import numpy as np

from aucmax import _kernels
from aucmax._utils.typing import FloatArray, IntArray
from aucmax.losses import Terms
from aucmax.saved import saved_as
from aucmax.solvers._candidates import newton_gains, pick_jointly
from aucmax.solvers._expansion import Expansion

# Most candidates in one pool of a joint choice: 32 MB of values at 4,000 rows.
MAX_POOL = 2000
# A weight is found when the slope has fallen to this share of its first value.
SLOPE_TOL = 1e-6
MAX_SEARCH = 60


@saved_as("BasisStage")
class Stage(NamedTuple):
    """A size at which all weights were trained.

    Attributes
    ----------
    n_basis : int
        Number of functions.
    value : float
        Objective.
    """

    n_basis: int
    value: float


OnStage = Callable[[Stage], bool]


# Sizes per doubling at which all weights are trained.
PER_DOUBLING = {"quarters": 4, "doublings": 1}


def schedule(retrain: str = "quarters") -> Iterator[int]:
    """Yield the sizes at which all weights are trained, rising.

    Parameters
    ----------
    retrain : {"quarters", "doublings", "always"}, default="quarters"
        "quarters": ``ceil(2 ** (j / 4))``, four per doubling, so that all of them
        together cost a small multiple of the last; "doublings": powers of two;
        "always": every size.

    Yields
    ------
    size : int
        Number of functions.
    """
    if retrain == "always":
        yield from itertools.count(1)
    last, j = 0, 0
    while True:
        # Not a product of roots, which ends just below the powers of two.
        size = int(np.ceil(2.0 ** (j / PER_DOUBLING[retrain])))
        if size > last:
            yield size
        last, j = size, j + 1


class GreedySettings(NamedTuple):
    """How functions are chosen and trained.

    Attributes
    ----------
    n_basis : int
        Most functions. Fewer where no candidate lowers the objective, or where there
        are fewer rows of positive weight.
    n_candidates : int
        Rows drawn per function, without replacement, among those of positive weight
        that are not in use.
    select : {"joint", "newton", "exact"}
        What a candidate promises. "newton": the gain of one Newton step in its weight,
        all others fixed; "exact": the gain of the best weight for it, one sort per
        trial. Both add one function at a time, with its best weight. "joint": the gain
        of a Newton step in all weights; between two stages the candidates of up to
        2,000 draws compete for all places at once, and all weights are trained then.
    retrain : {"quarters", "doublings", "always"}
        When all weights are trained: see `schedule`.
    tol : float
        Relative accuracy to which all weights are trained.
    """

    n_basis: int
    n_candidates: int = 100
    select: str = "joint"
    retrain: str = "quarters"
    tol: float = 1e-3


def greedy_basis(
    expansion: Expansion,
    settings: GreedySettings,
    rng: np.random.RandomState,
    *,
    n_threads: int = 1,
    on_stage: OnStage | None = None,
) -> list[Stage]:
    """Add functions to ``expansion``; return size and objective of every stage.

    ``rng`` draws the candidates. The result is the same for any number of threads.
    ``on_stage`` is called after each training of all weights at a scheduled size, and
    returns whether to stop.
    """
    stages: list[Stage] = []
    n_basis = min(settings.n_basis, int(np.count_nonzero(expansion.weight)))
    with ExitStack() as stack:
        executor = (
            stack.enter_context(ThreadPoolExecutor(n_threads))
            if n_threads > 1
            else None
        )
        for size in schedule(settings.retrain):
            grown = _grow(expansion, min(size, n_basis), settings, rng, executor)
            if grown:
                stages.append(Stage(len(expansion.index), expansion.objective))
                if on_stage is not None and on_stage(stages[-1]):
                    break
            if len(expansion.index) < size:
                break
    return stages


def _grow(
    expansion: Expansion,
    size: int,
    settings: GreedySettings,
    rng: np.random.RandomState,
    executor: Executor | None,
) -> bool:
    """Add functions up to ``size`` and train all weights; say whether any was added."""
    first = len(expansion.index)
    _, n_candidates, select, _, tol = settings
    while (missing := size - len(expansion.index)) > 0:
        if select == "joint":
            n_rounds = -(-missing * n_candidates // MAX_POOL)
            n_picks = -(-missing // n_rounds)
            pool = _draw(expansion, n_picks * n_candidates, rng)
            picks = pick_jointly(expansion, pool, n_picks, executor)
        else:
            choose = _choose_newton if select == "newton" else _choose_exact
            pool = _draw(expansion, n_candidates, rng)
            picks = choose(expansion, pool, executor)
        if len(picks) == 0:
            # One function at least, where nothing gains, so that there is a model.
            if len(expansion.index) == 0:
                expansion.append(pool[:1])
            break
        if select == "joint":
            expansion.append(picks)
            expansion.retrain(tol)
        else:
            _add_one(expansion, int(picks[0]))
    grown = len(expansion.index) > first
    if grown and select != "joint":
        expansion.retrain(tol)
    return grown


def _draw(expansion: Expansion, count: int, rng: np.random.RandomState) -> IntArray:
    is_free = expansion.weight > 0.0
    is_free[expansion.index] = False
    free = np.flatnonzero(is_free)
    drawn: IntArray = rng.choice(free, size=min(count, len(free)), replace=False)
    return drawn


def _choose_newton(
    expansion: Expansion, pool: IntArray, executor: Executor | None
) -> IntArray:
    return _best(pool, newton_gains(expansion, pool, executor))


def _choose_exact(
    expansion: Expansion, pool: IntArray, executor: Executor | None
) -> IntArray:
    def gain(row: int) -> float:
        return _best_weight(expansion, row, _column(expansion, row)).gain

    gains = list(map(gain, pool) if executor is None else executor.map(gain, pool))
    return _best(pool, np.array(gains))


def _best(pool: IntArray, gains: FloatArray) -> IntArray:
    if len(pool) == 0 or not gains.max() > 0.0:
        return pool[:0]
    return pool[[int(np.argmax(gains))]]


def _column(expansion: Expansion, row: int) -> FloatArray:
    rows = np.arange(len(expansion.is_pos))
    values = expansion.values(rows, np.array([row]))[:, 0]
    column: FloatArray = values.astype(np.float64, copy=False)
    return column


def _add_one(expansion: Expansion, row: int) -> None:
    size = len(expansion.index)
    expansion.append(np.array([row]), np.zeros(1))
    column = expansion.columns[:, size].astype(np.float64)
    best = _best_weight(expansion, row, column)
    expansion.coef[size] = best.weight
    expansion.move_to(expansion.scores + best.weight * column, best.terms)


class _Best(NamedTuple):
    """The best weight of one more function, and the objective it saves."""

    weight: float
    gain: float
    terms: Terms


def _best_weight(expansion: Expansion, row: int, column: FloatArray) -> _Best:
    """Minimise the objective over the weight of one more function, others fixed.

    The slope is increasing and piecewise linear: Newton's method inside a bracket.
    """
    alpha, terms = expansion.alpha, expansion.terms
    ridge_slope = alpha * float(expansion.scores[row])
    ridge_curvature = alpha * float(column[row])
    slope = first_slope = _kernels.products.dot(terms.grad, column) + ridge_slope
    low, high, weight = -np.inf, np.inf, 0.0
    for _ in range(MAX_SEARCH):
        if abs(slope) <= SLOPE_TOL * abs(first_slope) and terms is not expansion.terms:
            break
        low, high = (weight, high) if slope < 0.0 else (low, weight)
        curvature = (
            _kernels.products.dot(column, terms.hess_dot(column)) + ridge_curvature
        )
        step = -slope / curvature if curvature > 0.0 else np.nan
        weight = weight + step
        if not low < weight < high:
            weight = 0.5 * (low + high)
        if not np.isfinite(weight):
            return _Best(0.0, 0.0, expansion.terms)
        terms = expansion.loss.evaluate(
            expansion.scores + weight * column, expansion.is_pos, expansion.weight
        )
        slope = (
            _kernels.products.dot(terms.grad, column)
            + ridge_slope
            + weight * ridge_curvature
        )
    gain = expansion.terms.value - terms.value
    gain -= weight * ridge_slope + 0.5 * weight**2 * ridge_curvature
    return _Best(weight, gain, terms)
