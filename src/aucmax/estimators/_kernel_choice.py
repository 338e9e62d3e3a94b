# SPDX-License-Identifier: BSD-3-Clause
"""Choosing the width of a kernel and the penalty together, on a bounded sub-sample.

A wider kernel wants a smaller penalty, so neither can be tuned at a fixed value of the
other: for each width one path of penalties, warm-started, judged by the AUC of rows
left out.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aucmax._utils.progress import report
from aucmax._utils.threads import one_blas_thread
from aucmax._utils.typing import BoolArray, FloatArray, IntArray, Matrix
from aucmax._utils.validation import FitInputs
from aucmax.design import Design, MappedDesign, StreamedDesign, mixed_design
from aucmax.design.mapped import BLOCK_ROWS, RowMap
from aucmax.design.streamed import CHANGED
from aucmax.estimators._base import TrainingRows
from aucmax.estimators._holdout import deal_rows, row_hashes, thin_rows
from aucmax.features.kernels import scale_mean_gamma
from aucmax.features.nystroem import Nystroem
from aucmax.losses import SquaredHinge
from aucmax.metrics.auc import roc_auc
from aucmax.solvers.base import Problem
from aucmax.solvers.path import regularisation_path
from aucmax.streams.passes import StreamInputs

# Rows to train and to validate on, and landmarks: what is found there carries over.
MAX_ROWS, MAX_LANDMARKS = 20_000, 800
# Folds to leave out in turn where rows are few, and one of these many where not.
FEW_ROWS, N_FOLDS, N_PARTS = 2000, 5, 3
# Widths are tried in steps of this factor from the rule of the paper, finer around the
# best, and no further than this to either side.
COARSE, FINE, FARTHEST = 4.0, 2.0, 64.0
ALPHAS = np.logspace(-1, -8, 8)
# A path ends after so many penalties without a gain of this much AUC.
PATIENCE, GAIN = 2, 1e-4
TOLERATED = 1e-3
TOL = 1e-2
# With a single row of a class, or all alike, there is nothing to judge by.
FALLBACK_ALPHA = 1e-3
BUDGET = 2**30
# Up to so many values are kept in float64.
PRECISE_VALUES = 2**22

MakeDesign = Callable[[FitInputs, float], Design]


class KernelChoice(NamedTuple):
    """What was chosen, and how.

    Attributes
    ----------
    gamma, alpha : float
        The width and the penalty.
    tried : ndarray of shape (n_tried, 3)
        Gamma, alpha and left-out AUC of all that was tried.
    is_from_a_part : bool
        Whether only some of the rows were looked at.
    """

    gamma: float
    alpha: float
    tried: FloatArray
    is_from_a_part: bool


def choose_kernel(  # noqa: PLR0913
    inputs: FitInputs,
    *,
    kernel: Any,
    gamma: str | float,
    alpha: str | float,
    degree: float = 3.0,
    coef0: float = 1.0,
    random_state: Any = None,
    verbose: int = 0,
    make_design: MakeDesign | None = None,
) -> KernelChoice:
    """Return the gamma and alpha to use, choosing what is "auto".

    Parameters
    ----------
    inputs : FitInputs
        The training data.
    kernel, degree, coef0
        Of the kernel function.
    gamma : "auto", "scale-mean" or float
        The width; "scale-mean" is the paper's rule.
    alpha : "auto" or float
        The penalty.
    random_state : int, RandomState or None
        Chooses landmarks.
    verbose : int
        Whether to report each width.
    make_design : callable, default=None
        Makes the design of some rows for one gamma; by default Nystroem's.
    """
    base = scale_mean_gamma(kernel, inputs.X, inputs.weight)
    center = base if isinstance(gamma, str) else float(gamma)
    if gamma != "auto" and alpha != "auto":
        return KernelChoice(center, float(alpha), np.empty((0, 3)), False)
    sample, folds = _sample(inputs)
    alphas: FloatArray = ALPHAS if alpha == "auto" else np.array([float(alpha)])
    if not folds:
        chosen = FALLBACK_ALPHA if alpha == "auto" else float(alpha)
        return KernelChoice(center, chosen, np.empty((0, 3)), False)

    def default_design(data: FitInputs, width: float) -> Design:
        feature_map = Nystroem(
            n_landmarks=MAX_LANDMARKS,
            kernel=kernel,
            gamma=width,
            degree=degree,
            coef0=coef0,
            dtype=working_dtype(data.X, MAX_LANDMARKS),
            random_state=random_state,
        ).fit(data.X, sample_weight=data.weight)
        return nystroem_mapped(data.X, feature_map, BUDGET)

    make = default_design if make_design is None else make_design
    tried: dict[float, list[tuple[float, float]]] = {}

    def auc_at(width: float) -> float:
        if width not in tried:
            with one_blas_thread():
                tried[width] = _score_width(make(sample, width), sample, folds, alphas)
            if verbose:
                best = max(tried[width], key=lambda pair: pair[1])
                report(
                    f"[kernel] gamma {width:.3g} ({width / base:g} times the rule): "
                    f"AUC {best[1]:.4f} at alpha {best[0]:.0e}"
                )
        return max(auc for _, auc in tried[width])

    if gamma == "auto" and not callable(kernel):
        _climb(auc_at, base)
        # More rows and landmarks than here want narrower kernels, and what is a little
        # worse may be so by chance: the nearest to the rule among the nearly best.
        enough = max(map(auc_at, tried)) - TOLERATED
        center = min(
            (width for width in tried if auc_at(width) >= enough),
            key=lambda width: abs(np.log(width / base)),
        )
    else:
        auc_at(center)
    chosen = max(tried[center], key=lambda pair: pair[1])[0]
    table = [(w, a, auc) for w, path in tried.items() for a, auc in path]
    n_used = int(np.count_nonzero(inputs.weight))
    is_from_a_part = len(sample.is_pos) < n_used
    return KernelChoice(center, chosen, np.array(table), is_from_a_part)


def working_dtype(X: Any, n_landmarks: int, n_rows: int | None = None) -> str:
    """Return the precision to map rows in: float32 unless the problem is small.

    It halves time and memory, and with sums in float64 costs no AUC. ``n_rows`` is how
    many there are, where X holds only some of them.
    """
    n = X.shape[0] if n_rows is None else n_rows
    is_double = X.dtype == np.float64 and n * n_landmarks <= PRECISE_VALUES
    return "float64" if is_double else "float32"


def nystroem_mapped(X: Any, feature_map: Nystroem, memory_budget: int) -> Design:
    """Return X seen through a fitted Nystroem map."""
    make = partial(
        MappedDesign, X, dtype=feature_map.dtype_, memory_budget=memory_budget
    )
    return nystroem_design(make, X, feature_map)


def nystroem_design(
    make: Callable[[RowMap, int], Design], like: Matrix, feature_map: Nystroem
) -> Design:
    """Return rows such as ``like`` through a fitted map; see `mixed_design`."""
    dtype = feature_map.dtype_
    columns = feature_map.kernel_.prepare(
        feature_map.landmarks_, like=like, dtype=dtype
    )
    return mixed_design(make, columns, feature_map.normalization_, dtype=dtype)


def streamed_nystroem(
    inputs: StreamInputs, like: Matrix, feature_map: Nystroem, memory_budget: int
) -> Design:
    """Return rows that come in batches, such as ``like``, through a fitted map.

    Mapped batches stay in memory while there is room.
    """
    dtype = feature_map.dtype_

    def make_streamed(row_map: RowMap, n_columns: int) -> Design:
        empty = MappedDesign(like[:0], row_map, n_columns, dtype=dtype, memory_budget=0)
        kept: dict[int, NDArray[Any]] = {}

        def make(number: int, rows: Matrix) -> MappedDesign:
            if number in kept:
                if len(kept[number]) != rows.shape[0]:
                    raise ValueError(CHANGED.format(inputs.shape[0], "other batches"))
                return empty.over(rows, cache=kept[number])
            n_kept = sum(len(cache) for cache in kept.values()) + rows.shape[0]
            # Whole batches only; the rows themselves go when the next ones come.
            if n_kept * n_columns * dtype.itemsize > memory_budget:
                return empty.over(rows)
            design = empty.over(rows, memory_budget=memory_budget)
            if design.is_cached:
                kept[number] = design.cache
            return design

        # Rows are mapped in the same blocks as in memory, and so rounded alike.
        shape = inputs.shape[0], n_columns
        return StreamedDesign(inputs, shape, make, multiple=BLOCK_ROWS)

    return nystroem_design(make_streamed, like, feature_map)


def refine_alpha(
    design: Design,
    rows: TrainingRows,
    keys: FloatArray,
    alpha: float,
    *,
    tol: float,
    verbose: int = 0,
) -> tuple[float, FloatArray]:
    """Try penalties around ``alpha`` on all rows, a part left out by weight zero.

    The part is chosen by the rows' ``keys``.

    More rows and landmarks than the sub-sample had usually want a smaller penalty.
    Returns the best and its coefficients, from which a fit on all rows is a short way.
    """
    left_out = deal_rows(keys, rows.is_pos, rows.weight, 2 * N_FOLDS) == 0
    best = (-np.inf, alpha, np.zeros(design.shape[1]))
    weight = np.where(left_out, 0.0, rows.weight)
    path = regularisation_path(
        Problem(design, SquaredHinge(), rows.is_pos, weight),
        [alpha, alpha / 10, alpha / 100],
        tol=tol,
    )
    for step, (result, scores) in zip((1.0, 0.1, 0.01), path, strict=False):
        auc = _left_out_auc(scores, rows, left_out)
        if verbose:
            report(f"[kernel] all rows, alpha {alpha * step:.0e}: AUC {auc:.4f}")
        if auc <= best[0] + GAIN:
            break
        best = (auc, alpha * step, result.coef)
    return best[1], best[2]


def _sample(inputs: FitInputs) -> tuple[FitInputs, list[BoolArray]]:
    """Return a sub-sample and the masks of the rows to leave out of it, in turn."""
    keys = row_hashes(inputs.X)
    index = thin_rows(keys, inputs.is_pos, inputs.weight, MAX_ROWS)
    sample = FitInputs(
        inputs.X[index], inputs.is_pos[index], inputs.weight[index], inputs.classes
    )
    keys = keys[index]
    sizes = [len(np.unique(keys[mask])) for mask in (sample.is_pos, ~sample.is_pos)]
    n_folds = min(N_FOLDS if len(index) <= FEW_ROWS else N_PARTS, *sizes)
    if n_folds < 2:
        return sample, []
    fold = deal_rows(keys, sample.is_pos, sample.weight, n_folds)
    n_used = n_folds if len(index) <= FEW_ROWS else 1
    return sample, [fold == k for k in range(n_used)]


def _score_width(
    design: Design, sample: FitInputs, folds: list[BoolArray], alphas: FloatArray
) -> list[tuple[float, float]]:
    """Return the mean AUC of left-out rows for each alpha, until it stops rising."""
    paths = [
        regularisation_path(
            Problem(
                design,
                SquaredHinge(),
                sample.is_pos,
                np.where(left_out, 0.0, sample.weight),
            ),
            list(alphas),
            tol=TOL,
        )
        for left_out in folds
    ]
    done: list[tuple[float, float]] = []
    best, since = -np.inf, 0
    for alpha, *results in zip(alphas, *paths, strict=False):
        aucs = [
            _left_out_auc(scores, sample, left_out)
            for (_, scores), left_out in zip(results, folds, strict=True)
        ]
        done.append((float(alpha), float(np.mean(aucs))))
        since += 1
        if done[-1][1] > best + GAIN:
            best, since = done[-1][1], 0
        if since >= PATIENCE:
            break
    return done


def _left_out_auc(scores: FloatArray, data: TrainingRows, left_out: BoolArray) -> float:
    rows: IntArray = np.flatnonzero(left_out)
    return roc_auc(data.is_pos[rows], scores[rows], sample_weight=data.weight[rows])


def _climb(auc_at: Callable[[float], float], start: float) -> None:
    """Try widths in coarse steps while they get better, then a fine step each way."""
    best = start
    for factor in (1 / COARSE, COARSE):
        while (
            auc_at(best * factor) > auc_at(best) + GAIN
            and 1 / FARTHEST < best * factor / start < FARTHEST
        ):
            best *= factor
        if best != start:
            break
    for factor in (1 / FINE, FINE):
        if auc_at(best * factor) > auc_at(best) + GAIN:
            break
