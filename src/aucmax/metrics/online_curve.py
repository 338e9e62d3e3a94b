# SPDX-License-Identifier: BSD-3-Clause
"""The online protocol: the AUC over all rows so far, while a model learns them."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils import (
    check_array,
    check_consistent_length,
    check_random_state,
    column_or_1d,
)

from aucmax._utils.progress import report
from aucmax._utils.typing import BoolArray, FloatArray, IntArray, Matrix
from aucmax._utils.validation import split_labels
from aucmax.metrics.auc import roc_auc

# Where a grid begins that is given by its size: before, the AUC is mostly chance.
FIRST_ROWS = 10


class AUCCurve(NamedTuple):
    """The AUC over time.

    Attributes
    ----------
    n_rows : ndarray of shape (n_points,)
        Numbers of rows t.
    auc : ndarray of shape (n_points,)
        Over rows 1 to t, scored by the model that learned rows 1 to t - 1; NaN where
        these rows hold one class only.
    """

    n_rows: IntArray
    auc: FloatArray


class MeanCurve(NamedTuple):
    """The AUC over time, in several orders of the rows.

    Attributes
    ----------
    n_rows : ndarray of shape (n_points,)
        Numbers of rows t.
    mean, std : ndarray of shape (n_points,)
        Mean and standard deviation (divisor n_runs) over the orders; NaN until all of
        them have shown both classes.
    runs : ndarray of shape (n_runs, n_points)
        The AUC in each order.
    """

    n_rows: IntArray
    mean: FloatArray
    std: FloatArray
    runs: FloatArray


def auc_curve(
    model: Any,
    X: Any,
    y: ArrayLike,
    *,
    grid: int | ArrayLike = 100,
    order: ArrayLike | None = None,
    exclude_self: bool = False,
) -> AUCCurve:
    r"""Return the AUC of a model over all rows so far, while it learns them.

    At each point t of the grid, the model that has learned rows 1 to t - 1 scores rows
    1 to t, and the exact AUC of these scores is taken. All but one of the rows were
    learned before, so this is no estimate of the AUC on new rows; for that, see
    :func:`aucmax.metrics.evaluate_stream`.

    Parameters
    ----------
    model : classifier with ``partial_fit``
        With ``decision_function`` or ``predict_proba``. A clone of it is trained.
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Rows.
    y : array-like of shape (n_samples,)
        Labels, two distinct values; the larger is positive.
    grid : int or array-like of int, default=100
        Numbers of rows t, from 2 on, increasing; or about how many, evenly on a
        logarithmic scale from 10 to all.
    order : array-like of int, default=None
        Which row comes when; None is the order given. It may leave out rows.
    exclude_self : bool, default=False
        Of :class:`aucmax.KNNOAM` alone: whether a row does not count among its own
        neighbours. It is the nearest of them, which makes the AUC look larger than it
        is.

    Returns
    -------
    curve : AUCCurve
        ``n_rows`` and ``auc``.

    Notes
    -----
    Between two points, rows are learned in one batch; aucmax's models do not care. A
    grid of g even points costs as much as scoring g n / 2 rows. The neighbours of
    :class:`aucmax.KNNOAM` are kept up from point to point, so that any grid costs one
    comparison of all pairs of rows; only with ``ties="random"``,
    ``weights="distance"``, ``reduce``, the approximate ``backend`` or sparse rows they
    are searched anew at each point.

    References
    ----------
    Szörényi, Cohen and Mannor, "Non-parametric Online AUC Maximization", 2017.

    Examples
    --------
    >>> from sklearn.datasets import make_circles
    >>> from aucmax.metrics import auc_curve
    >>> from aucmax import KNNOAM
    >>> X, y = make_circles(1000, noise=0.1, factor=0.5, random_state=0)
    >>> curve = auc_curve(KNNOAM(), X, y, grid=[10, 100, 1000])
    >>> bool(curve.auc[0] < curve.auc[-1])
    True
    """
    rows, labels = _check_rows(X, y)
    if order is not None:
        index = _check_order(order, len(labels))
        rows, labels = rows[index], labels[index]
    points = _check_grid(grid, len(labels))
    classes, _ = split_labels(np.ravel(y), name="auc_curve")
    is_pos = labels == classes[1]
    model = clone(model)
    kept_up = None
    if hasattr(model, "_scores_while_learning"):
        kept_up = model._scores_while_learning(rows, is_pos, points, exclude_self)
    if kept_up is not None:
        # Complains of parameters and values.
        model.partial_fit(rows, labels, classes=classes)
        auc = np.array([_auc(is_pos[: len(scores)], scores) for scores in kept_up])
    elif exclude_self:
        raise ValueError(
            "exclude_self=True needs KNNOAM with uniform weights, ties='average' or "
            f"'index', no reduce, an exact backend and dense rows, but got {model!r}. "
            "Pass exclude_self=False."
        )
    else:
        auc = _run(model, rows, labels, is_pos, classes, points)
    return AUCCurve(points, auc)


def online_curves(  # noqa: PLR0913
    models: Mapping[str, Any],
    X: Any,
    y: ArrayLike,
    *,
    n_runs: int = 20,
    grid: int | ArrayLike = 100,
    exclude_self: bool = False,
    random_state: Any = None,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> dict[str, MeanCurve]:
    """Return the curves of several models, averaged over random orders of the rows.

    Parameters
    ----------
    models : dict of str to classifier
        Models by name, as in :func:`auc_curve`. All see the same orders. Their
        parameters ``random_state`` are set anew in each run.
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Rows.
    y : array-like of shape (n_samples,)
        Labels, two distinct values; the larger is positive.
    n_runs : int, default=20
        Number of orders.
    grid : int or array-like of int, default=100
        As in :func:`auc_curve`.
    exclude_self : bool, default=False
        As in :func:`auc_curve`; all models must be :class:`aucmax.KNNOAM`.
    random_state : int, RandomState instance or None, default=None
        Draws orders and seeds. Pass an int for reproducible curves.
    n_jobs : int, default=None
        How many processes; None is one, -1 all cores.
    verbose : int, default=0
        1 writes a line per run and model to standard error.

    Returns
    -------
    curves : dict of str to MeanCurve
        ``n_rows``, ``mean``, ``std`` and ``runs`` by the names of the models.

    See Also
    --------
    aucmax.plots.CurveDisplay : Plot the curves.

    Examples
    --------
    >>> from aucmax import OPAUC
    >>> from aucmax.metrics import online_curves
    >>> from aucmax.datasets import load_bundled
    >>> data = load_bundled("vehicle")
    >>> curves = online_curves(
    ...     {"OPAUC": OPAUC()}, data.X, data.y, n_runs=3, grid=[60, 592], random_state=0
    ... )
    >>> curves["OPAUC"].mean.shape
    (2,)
    """
    if n_runs < 1:
        raise ValueError(f"n_runs={n_runs}, but at least one order is needed.")
    rows, labels = _check_rows(X, y)
    points = _check_grid(grid, len(labels))
    rng = check_random_state(random_state)
    draws = [
        (rng.permutation(len(labels)), rng.randint(2**31 - 1)) for _ in range(n_runs)
    ]

    def follow(name: str, run: int) -> FloatArray:
        order, seed = draws[run]
        curve = auc_curve(
            _seeded(models[name], seed),
            rows,
            labels,
            grid=points,
            order=order,
            exclude_self=exclude_self,
        )
        if verbose:
            report(
                f"[online_curves] run {run + 1} of {n_runs}  {name}  "
                f"AUC {curve.auc[-1]:.4f} after {points[-1]} rows"
            )
        return curve.auc

    tasks = [(name, run) for run in range(n_runs) for name in models]
    done = Parallel(n_jobs=n_jobs)(delayed(follow)(*task) for task in tasks)
    aucs = dict(zip(tasks, done, strict=True))
    return {
        name: _averaged(points, np.array([aucs[name, run] for run in range(n_runs)]))
        for name in models
    }


def _run(
    model: Any,
    rows: Matrix,
    labels: NDArray[Any],
    is_pos: BoolArray,
    classes: NDArray[Any],
    points: IntArray,
) -> FloatArray:
    """Learn up to each point, score all rows, take the AUC."""
    auc = np.empty(len(points))
    n_learned = 0
    for i, t in enumerate(points):
        part = slice(n_learned, t - 1)
        try:
            if n_learned == 0:
                model.partial_fit(rows[part], labels[part], classes=classes)
            elif n_learned < t - 1:
                model.partial_fit(rows[part], labels[part])
            auc[i] = _auc(is_pos[:t], _scores(model, rows[:t]))
        except Exception as error:  # of any kind: it goes on, and says where it was
            error.add_note(f"This was in the first {t} rows.")
            raise
        n_learned = t - 1
    return auc


def _scores(model: Any, rows: Matrix) -> NDArray[Any]:
    if hasattr(model, "decision_function"):
        return np.asarray(model.decision_function(rows))
    return np.asarray(model.predict_proba(rows))[:, 1]


def _auc(is_pos: BoolArray, scores: NDArray[Any]) -> float:
    if is_pos.all() or not is_pos.any():
        return np.nan
    return roc_auc(is_pos, scores)


def _averaged(points: IntArray, runs: FloatArray) -> MeanCurve:
    return MeanCurve(points, runs.mean(axis=0), runs.std(axis=0), runs)


def _seeded(model: Any, seed: int) -> Any:
    """Return a clone with its own seeds, also of its parts."""
    model = clone(model)
    names = [
        name
        for name in model.get_params()
        if name == "random_state" or name.endswith("__random_state")
    ]
    return model.set_params(**dict.fromkeys(names, seed))


def _check_rows(X: Any, y: ArrayLike) -> tuple[Matrix, NDArray[Any]]:
    rows = check_array(X, accept_sparse="csr", dtype=[np.float64, np.float32])
    labels = np.asarray(column_or_1d(y, warn=True))
    check_consistent_length(rows, labels)
    return rows, labels


def _check_order(order: ArrayLike, n: int) -> IntArray:
    index = np.asarray(order)
    if (
        index.ndim != 1
        or index.dtype.kind not in "iu"
        or len(index) < 2
        or index.min() < 0
        or index.max() >= n
    ):
        raise ValueError(
            f"order must hold at least two numbers of rows, each from 0 to {n - 1}, "
            f"got {order!r}. Pass a permutation, such as rng.permutation({n})."
        )
    return index


def _check_grid(grid: int | ArrayLike, n: int) -> IntArray:
    """Return numbers of rows from 2 to n, increasing."""
    points = np.asarray(grid)
    if points.ndim == 0 and points.dtype.kind in "iu" and points >= 1 and n >= 2:
        spaced = np.geomspace(n, min(FIRST_ROWS, n), int(points))
        return np.unique(np.maximum(2, spaced.round())).astype(np.int64)
    if (
        points.ndim != 1
        or points.dtype.kind not in "iu"
        or len(points) == 0
        or points[0] < 2
        or points[-1] > n
        or np.any(np.diff(points) <= 0)
    ):
        raise ValueError(
            f"grid={grid!r} must be a number of points, or increasing numbers of rows "
            f"from 2 to {n}, how many there are."
        )
    return points.astype(np.int64)
