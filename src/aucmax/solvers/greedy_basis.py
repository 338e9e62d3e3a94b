# SPDX-License-Identifier: BSD-3-Clause
"""Growing a sum of kernel functions from a few candidates at a time (kakkar2017)."""

import itertools
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aucmax._utils.typing import FloatArray, IntArray
from aucmax.losses import Terms
from aucmax.saved import saved_as
from aucmax.solvers._candidates import CandidateModel, MapBlocks
from aucmax.solvers._expansion import Expansion
from aucmax.solvers._search import search_line

# Most candidates in one pool of a joint choice: 32 MB of values at 4,000 rows.
MAX_POOL = 2000
# The best weight of a function is found when the slope has fallen to this share.
SLOPE_TOL = 1e-6


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
    per_doubling = 4 if retrain == "quarters" else 1
    last = 0
    for j in itertools.count():
        # Not a product of roots, which ends just below the powers of two.
        size = int(np.ceil(2.0 ** (j / per_doubling)))
        if size > last:
            yield size
        last = size


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
    grow = _grow_jointly if settings.select == "joint" else _grow_one_by_one
    with ExitStack() as stack:
        map_blocks: MapBlocks = map
        if n_threads > 1:
            map_blocks = stack.enter_context(ThreadPoolExecutor(n_threads)).map
        for size in schedule(settings.retrain):
            first = len(expansion.index)
            grow(expansion, min(size, n_basis), settings, rng, map_blocks)
            if len(expansion.index) > first:
                stages.append(Stage(len(expansion.index), expansion.objective))
                if on_stage is not None and on_stage(stages[-1]):
                    break
            if len(expansion.index) < size:
                break
    return stages


def _grow_jointly(
    expansion: Expansion,
    size: int,
    settings: GreedySettings,
    rng: np.random.RandomState,
    map_blocks: MapBlocks,
) -> None:
    """Add functions up to ``size``; train all weights after each pool."""
    n_candidates = settings.n_candidates
    while (missing := size - len(expansion.index)) > 0:
        n_picks = -(-missing // -(-missing * n_candidates // MAX_POOL))
        pool = _draw(expansion, n_picks * n_candidates, rng)
        picks = CandidateModel(expansion, pool, map_blocks).pick_jointly(n_picks)
        if not _append(expansion, picks, pool):
            break
        expansion.retrain(settings.tol)


def _grow_one_by_one(
    expansion: Expansion,
    size: int,
    settings: GreedySettings,
    rng: np.random.RandomState,
    map_blocks: MapBlocks,
) -> None:
    """Add functions up to ``size``, each with its best weight; then train them all."""
    first = len(expansion.index)
    while (last := len(expansion.index)) < size:
        pool = _draw(expansion, settings.n_candidates, rng)
        if settings.select == "newton":
            gains = CandidateModel(expansion, pool, map_blocks).newton_gains()
        else:
            gains = np.array([*map_blocks(partial(_exact_gain, expansion), pool)])
        best = pool[[int(np.argmax(gains))]] if gains.max() > 0.0 else pool[:0]
        if not _append(expansion, best, pool):
            break
        found = _best_weight(expansion, int(best[0]), expansion.columns[:, last])
        expansion.coef[last] = found.weight
        expansion.move_to(found.scores, found.terms)
    if len(expansion.index) > first:
        expansion.retrain(settings.tol)


def _append(expansion: Expansion, picks: IntArray, pool: IntArray) -> bool:
    """Add functions; say whether any gains something.

    One is added where none does and there is no other, so that there is a model.
    """
    if len(picks) > 0:
        expansion.append(picks)
    elif len(expansion.index) == 0:
        expansion.append(pool[:1])
    return len(picks) > 0


def _draw(expansion: Expansion, count: int, rng: np.random.RandomState) -> IntArray:
    is_free = expansion.weight > 0.0
    is_free[expansion.index] = False
    free = np.flatnonzero(is_free)
    drawn: IntArray = rng.choice(free, size=min(count, len(free)), replace=False)
    return drawn


class _Best(NamedTuple):
    """The best weight of one more function, what it gains, and where it leads."""

    weight: float
    gain: float
    scores: FloatArray
    terms: Terms


def _exact_gain(expansion: Expansion, row: int) -> float:
    rows = np.arange(len(expansion.is_pos))
    column = expansion.values(rows, np.array([row]))[:, 0]
    return _best_weight(expansion, row, column).gain


def _best_weight(expansion: Expansion, row: int, column: NDArray[Any]) -> _Best:
    """Minimise the objective over the weight of one more function, others fixed.

    ``column`` holds its values at all rows.
    """
    end = _Best(0.0, 0.0, expansion.scores, expansion.terms)
    start, value = end.scores, end.terms.value
    along = column.astype(np.float64)
    ridge_slope = expansion.alpha * float(start[row])
    ridge_curvature = expansion.alpha * float(along[row])
    slope = end.terms.slope(along) + ridge_slope
    sign = -1.0 if slope > 0.0 else 1.0
    along, slope, ridge_slope = sign * along, sign * slope, sign * ridge_slope
    if not slope < 0.0:
        return end

    def slope_at(t: float) -> float:
        nonlocal end
        scores = start + t * along
        terms = expansion.loss.evaluate(scores, expansion.is_pos, expansion.weight)
        gain = value - terms.value - t * (ridge_slope + 0.5 * t * ridge_curvature)
        end = _Best(sign * t, gain, scores, terms)
        return terms.slope(along) + ridge_slope + t * ridge_curvature

    def curvature() -> float:
        return end.terms.curvature(along) + ridge_curvature

    step = -slope / curvature() if curvature() > 0.0 else 1.0
    search_line(slope_at, curvature, first=step, enough=SLOPE_TOL * -slope)
    return end
