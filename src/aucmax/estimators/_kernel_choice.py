# SPDX-License-Identifier: BSD-3-Clause
"""Choosing the width of a kernel and its penalty by the AUC of rows left out.

A wider kernel wants a smaller penalty, so neither can be tuned at a fixed value of the
other. The width is chosen by the pairwise squared loss, whose minimum for every penalty
follows from the moments of the classes. The squared hinge agrees with it under a large
penalty, where all pairs are active, and otherwise wants a smaller one: its own penalty
is then found at that width, from the one of the squared loss downwards.
"""

from collections.abc import Callable
from functools import partial, reduce
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from aucmax._utils.progress import report
from aucmax._utils.threads import one_blas_thread
from aucmax._utils.typing import BoolArray, FloatArray, Matrix
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
from aucmax.solvers.closed_form import merge_both, moments_of_block
from aucmax.solvers.path import regularisation_path
from aucmax.streams.passes import StreamInputs

# Widths are compared on so many rows and features, every row left out once.
WIDTH_ROWS, WIDTH_FEATURES, WIDTH_FOLDS = 6000, 200, 3
# They are tried in steps of this factor, no further than this from the paper's rule.
STEP, FARTHEST = 2.0, 64.0
ALPHAS = np.logspace(-1, -8, 8)
# An AUC is better only by so much, and a width that is worse by so much as good.
GAIN, TOLERATED = 1e-4, 1e-3
# The penalty falls so far below that of the squared loss. Where rows are few, they are
# all left out in turn, else one of so many parts.
LOWER = 10.0 ** np.arange(6)
FEW_ROWS, N_FOLDS = 2000, 5
TOL = 1e-2
# With a single row of a class, or all alike, there is nothing to judge by.
FALLBACK_ALPHA = 1e-3
# Models that do not minimise over mapped rows choose the penalty on so many of them.
MAX_ROWS, MAX_LANDMARKS = 20_000, 800
BUDGET = 2**30
# Up to so many values are kept in float64.
PRECISE_VALUES = 2**22


class FeatureMap(Protocol):
    """A fitted map to features whose inner products approximate a kernel."""

    def transform_rows(
        self, rows: Matrix, out: NDArray[Any] | None = None
    ) -> NDArray[Any]:
        """Return the features of validated rows."""
        ...


MakeMap = Callable[[FitInputs, float, int], FeatureMap]


class KernelChoice(NamedTuple):
    """What was chosen, and from what.

    Attributes
    ----------
    gamma, alpha : float
        The width and the penalty.
    tried : ndarray of shape (n_tried, 3)
        Gamma, alpha and left-out AUC of all that was tried.
    """

    gamma: float
    alpha: float
    tried: FloatArray


def choose_kernel(inputs: FitInputs, model: Any, make_map: MakeMap) -> KernelChoice:
    """Choose what is "auto" by the squared loss; see `refine_alpha` for the penalty.

    Parameters
    ----------
    inputs : FitInputs
        The training data.
    model : estimator
        Its ``kernel``, ``gamma``, ``alpha`` and ``verbose`` are read.
    make_map : callable
        ``make_map(inputs, gamma, n_features)`` returns a fitted map.
    """
    rule = scale_mean_gamma(model.kernel, inputs.X, inputs.weight)
    gamma = rule if isinstance(model.gamma, str) else float(model.gamma)
    alpha = FALLBACK_ALPHA if model.alpha == "auto" else float(model.alpha)
    unjudged = KernelChoice(gamma, alpha, np.empty((0, 3)))
    if "auto" not in (model.gamma, model.alpha):
        return unjudged
    sample = _sample(inputs, WIDTH_ROWS)
    folds = _folds(sample, WIDTH_FOLDS)
    if not folds:
        return unjudged
    alphas = ALPHAS if model.alpha == "auto" else np.array([alpha])
    tried: dict[float, FloatArray] = {}

    def auc_at(width: float) -> float:
        if width not in tried:
            with one_blas_thread():
                features = make_map(sample, width, WIDTH_FEATURES).transform_rows(
                    sample.X
                )
                tried[width] = _squared_loss_aucs(features, sample, folds, alphas)
            if model.verbose:
                report(
                    f"[kernel] gamma {width:.3g} ({width / rule:g} times the rule): "
                    f"AUC {tried[width].max():.4f}"
                )
        return float(tried[width].max())

    if model.gamma == "auto" and not callable(model.kernel):
        gamma = _best_width(auc_at, rule)
    else:
        auc_at(gamma)
    table = [
        (width, *pair)
        for width, aucs in tried.items()
        for pair in zip(alphas, aucs, strict=True)
    ]
    best = float(alphas[np.argmax(tried[gamma])])
    return KernelChoice(gamma, best, np.array(table))


def tune_kernel(
    inputs: FitInputs, model: Any, seed: int, *, n_landmarks: int = MAX_LANDMARKS
) -> KernelChoice:
    """Choose what is "auto" for a model that is none of mapped rows.

    The penalty is that of a sub-sample seen through a map of ``n_landmarks``, or 800.
    """
    make_map = partial(uniform_nystroem, model, seed)
    choice = choose_kernel(inputs, model, make_map)
    if model.alpha != "auto" or not len(choice.tried):
        return choice
    sample = _sample(inputs, MAX_ROWS)
    with one_blas_thread():
        feature_map = make_map(sample, choice.gamma, min(n_landmarks, MAX_LANDMARKS))
        design = nystroem_mapped(sample.X, feature_map, BUDGET)
        return refine_alpha(design, sample, choice, verbose=model.verbose)[0]


def uniform_nystroem(
    model: Any, seed: int, inputs: FitInputs, gamma: float, n_landmarks: int
) -> Nystroem:
    """Return the map of the model's kernel to some of the rows, drawn uniformly."""
    return Nystroem(
        n_landmarks=n_landmarks,
        kernel=model.kernel,
        gamma=gamma,
        degree=model.degree,
        coef0=model.coef0,
        dtype=working_dtype(inputs.X, n_landmarks),
        random_state=seed,
    ).fit(inputs.X, sample_weight=inputs.weight)


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
    design: Design, rows: TrainingRows, choice: KernelChoice, *, verbose: int = 0
) -> tuple[KernelChoice, FloatArray]:
    """Choose the penalty for the squared hinge on these rows, at the width chosen.

    Returns coefficients as well, from which a fit on all rows is a short way.
    """
    folds = _folds(rows, N_FOLDS)
    if np.count_nonzero(rows.weight) > FEW_ROWS:
        folds = folds[:1]
    alphas = choice.alpha / LOWER
    paths = [
        regularisation_path(
            Problem(
                design,
                SquaredHinge(),
                rows.is_pos,
                np.where(left_out, 0.0, rows.weight),
            ),
            list(alphas),
            tol=TOL,
        )
        for left_out in folds
    ]
    tried = []
    best, alpha, coef = -np.inf, choice.alpha, np.zeros(design.shape[1])
    for step, *results in zip(alphas, *paths, strict=True):
        aucs = [
            _auc(scores[left_out], rows, left_out)
            for (_, scores), left_out in zip(results, folds, strict=True)
        ]
        auc = float(np.mean(aucs))
        tried.append((choice.gamma, step, auc))
        if verbose:
            report(f"[kernel] alpha {step:.0e}: AUC {auc:.4f}")
        if auc <= best + GAIN:
            break
        best, alpha, coef = auc, float(step), results[0][0].coef
    table = np.concatenate([choice.tried, tried])
    return KernelChoice(choice.gamma, alpha, table), coef


def _sample(inputs: FitInputs, max_rows: int) -> FitInputs:
    keys = row_hashes(inputs.X)
    index = thin_rows(keys, inputs.is_pos, inputs.weight, max_rows)
    return FitInputs(
        inputs.X[index], inputs.is_pos[index], inputs.weight[index], inputs.classes
    )


def _folds(rows: TrainingRows, n_folds: int) -> list[BoolArray]:
    """Return masks of the rows to leave out in turn; none where a class has one row."""
    keys = rows.collect(row_hashes)
    sizes = [len(np.unique(keys[mask])) for mask in (rows.is_pos, ~rows.is_pos)]
    n_folds = min(n_folds, *sizes)
    if n_folds < 2:
        return []
    dealt = deal_rows(keys, rows.is_pos, rows.weight, n_folds)
    return [dealt == fold for fold in range(n_folds)]


def _squared_loss_aucs(
    features: NDArray[Any], rows: FitInputs, folds: list[BoolArray], alphas: FloatArray
) -> FloatArray:
    """Return the mean AUC of rows left out for each alpha."""
    moments = [
        moments_of_block(features[fold], rows.is_pos[fold], rows.weight[fold])
        for fold in folds
    ]
    aucs = []
    for k, fold in enumerate(folds):
        pos, neg = reduce(merge_both, moments[:k] + moments[k + 1 :])
        values, vectors = np.linalg.eigh(pos.covariance + neg.covariance)
        gap = vectors.T @ (pos.mean - neg.mean)
        penalised = np.maximum(values, 0.0)[:, None] + 0.5 * alphas
        scores = features[fold] @ (vectors @ (gap[:, None] / penalised))
        aucs.append([_auc(column, rows, fold) for column in scores.T])
    return np.asarray(np.mean(aucs, axis=0))


def _auc(scores: FloatArray, rows: TrainingRows, mask: BoolArray) -> float:
    """Return the AUC of the scores of the rows in the mask."""
    return roc_auc(rows.is_pos[mask], scores, sample_weight=rows.weight[mask])


def _best_width(auc_at: Callable[[float], float], rule: float) -> float:
    """Go from the rule in steps while the AUC rises; return a width of about the best.

    More rows and features than are compared want narrower kernels, and what is a little
    worse may be so by chance: of the nearly best, the nearest to the rule.
    """
    aucs = {rule: auc_at(rule)}
    for factor in (1 / STEP, STEP):
        width = rule
        while 1 / FARTHEST < width / rule < FARTHEST:
            last, width = width, width * factor
            aucs[width] = auc_at(width)
            if aucs[width] <= aucs[last] + GAIN:
                break
        if max(aucs, key=aucs.__getitem__) < rule:
            break
    enough = max(aucs.values()) - TOLERATED
    return min(
        (width for width, auc in aucs.items() if auc >= enough),
        key=lambda width: abs(np.log(width / rule)),
    )
