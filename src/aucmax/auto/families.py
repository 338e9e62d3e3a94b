# SPDX-License-Identifier: BSD-3-Clause
"""What takes part: groups of candidates that share their work, one class per kind.

A group is fitted once and scores rows by all its members: the penalties of one
regularisation path, or a boosted model after several numbers of rounds.
"""

from contextlib import AbstractContextManager, nullcontext
from typing import Any, Protocol

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.ensemble import (
    ExtraTreesClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)

from aucmax._utils.optional import import_optional
from aucmax._utils.state import expect_type, is_fitted
from aucmax._utils.threads import one_thread
from aucmax._utils.typing import BoolArray, FloatArray, Matrix, is_sparse
from aucmax._utils.validation import check_entries, ignoring_overflow, n_threads
from aucmax.auto.lightgbm_text import LightGBMText
from aucmax.auto.sampling import balanced_subsample
from aucmax.design import LocalDesign
from aucmax.features.nystroem import Nystroem
from aucmax.losses import SquaredHinge
from aucmax.preparation.features import make_features
from aucmax.saved import saved_as
from aucmax.solvers.base import Problem
from aucmax.solvers.path import regularisation_path

# Ranking needs no more digits than this.
TOL = 1e-3
MAX_ITER = 200
# With fewer rows, waking threads takes longer than they save: far longer where other
# programs keep the cores busy.
THREAD_ROWS = 30_000
# Many kernel values are kept in single precision, for half the time and memory.
SINGLE_ROWS = 10_000
# Rows scored at a time.
BLOCK_ROWS = 20_000
# So few are scored without what only many are worth.
FEW_ROWS = 100
# Kernels and forests gain little from more rows, and take memory in proportion.
KERNEL_ROWS = 50_000
FOREST_ROWS = 100_000


def threads_for(n: int) -> AbstractContextManager[Any]:
    """Keep the libraries underneath to one thread, unless there are many rows."""
    if n >= THREAD_ROWS:
        return nullcontext()
    return one_thread()


def block_scores(group: "Group", X: Matrix) -> FloatArray:
    """Return the scores of the rows, one column per member, a block at a time.

    Kernel features take a thousand values per row: of all rows they need not fit.
    """
    # Whoever calls looks whether the scores are finite.
    with ignoring_overflow():
        blocks = [
            group.scores(X[low : low + BLOCK_ROWS])
            for low in range(0, X.shape[0], BLOCK_ROWS)
        ]
    return blocks[0] if len(blocks) == 1 else np.vstack(blocks)


class Group(Protocol):
    """Candidates of one family that are fitted together."""

    family: str
    members: tuple[str, ...]

    def fit(self, X: Matrix, is_pos: BoolArray, is_categorical: BoolArray) -> "Group":
        """Fit all members to the rows."""

    def scores(self, X: Matrix) -> FloatArray:
        """Return the scores of the rows, one column per member."""

    def cost(self, n: int, width: float) -> float:
        """Return about how many seconds a fit takes on one ordinary core.

        For ``n`` rows of ``width`` values that are not zero. Fitted by eye to times on
        the sets of the benchmarks; how fast this machine is, the race finds out.
        """


@saved_as("LinearGroup")
class LinearGroup(BaseEstimator):
    """Squared hinge over all pairs, for several penalties."""

    family = "linear"

    def __init__(
        self, alphas: tuple[float, ...], *, scale: str = "standard", seed: int = 0
    ) -> None:
        self.alphas = alphas
        self.scale = scale
        self.seed = seed

    @property
    def members(self) -> tuple[str, ...]:
        """One name per penalty."""
        rows = " on tf-idf" if self.scale == "tf-idf" else ""
        return tuple(f"linear{rows}, alpha={alpha:g}" for alpha in self.alphas)

    def fit(
        self, X: Matrix, is_pos: BoolArray, is_categorical: BoolArray
    ) -> "LinearGroup":
        """Fit the path."""
        self.features_ = make_features(
            X, is_categorical, scale=self.scale, seed=self.seed
        )
        with ignoring_overflow():
            Z = self.features_.fit_transform(X)
        self.coef_ = _fit_path(Z, is_pos, self.alphas)
        return self

    def scores(self, X: Matrix) -> FloatArray:
        """Return the scores of the rows, one column per penalty."""
        return np.asarray(check_entries(self.features_.transform(X)) @ self.coef_)

    def cost(self, n: int, width: float) -> float:
        """Return about how many seconds a fit takes."""
        return 0.02 + 1.5e-7 * n * width


@saved_as("KernelGroup")
class KernelGroup(BaseEstimator):
    """The same on Nystroem features of an RBF kernel, whose width is relative.

    ``width=1`` is one over the mean squared distance of the rows to their mean.
    """

    family = "kernel"

    def __init__(
        self,
        alphas: tuple[float, ...],
        *,
        width: float,
        n_landmarks: int,
        scale: str = "standard",
        seed: int = 0,
    ) -> None:
        self.alphas = alphas
        self.width = width
        self.n_landmarks = n_landmarks
        self.scale = scale
        self.seed = seed

    @property
    def members(self) -> tuple[str, ...]:
        """One name per penalty."""
        rows = " of ranks" if self.scale == "normal" else ""
        start = f"kernel{rows}, gamma={self.width:g}/variance"
        return tuple(f"{start}, alpha={alpha:g}" for alpha in self.alphas)

    def fit(
        self, X: Matrix, is_pos: BoolArray, is_categorical: BoolArray
    ) -> "KernelGroup":
        """Choose landmarks, then fit the path; of very many rows, to a part."""
        if len(is_pos) > KERNEL_ROWS:
            rows = balanced_subsample(is_pos, KERNEL_ROWS, self.seed)
            X, is_pos = X[rows], is_pos[rows]
        self.features_ = make_features(
            X, is_categorical, scale=self.scale, seed=self.seed
        )
        with ignoring_overflow():
            Z = self.features_.fit_transform(X)
        variance = _total_variance(Z)
        self.map_ = Nystroem(
            self.n_landmarks,
            # Rows that are all the same have any width.
            gamma=self.width / variance if variance > 0.0 else 1.0,
            landmarks="stratified",
            dtype="float32" if Z.shape[0] >= SINGLE_ROWS else "float64",
            random_state=self.seed,
        )
        features = self.map_.fit(Z, is_pos).transform(Z)
        self.coef_ = _fit_path(features, is_pos, self.alphas)
        return self

    def scores(self, X: Matrix) -> FloatArray:
        """Return the scores of the rows, one column per penalty."""
        features = self.map_.transform(self.features_.transform(X))
        return np.asarray(features @ self.coef_, dtype=np.float64)

    def cost(self, n: int, width: float) -> float:
        """Return about how many seconds a fit takes."""
        n, size = min(n, KERNEL_ROWS), min(n, self.n_landmarks)
        per_row = size * (1.5e-7 + 2e-10 * width)
        return 0.02 + 1e-9 * size**3 + n * per_row


@saved_as("BoostingGroup")
class BoostingGroup(BaseEstimator):
    """Boosted trees after several numbers of rounds.

    Parameters
    ----------
    library : {"sklearn", "lightgbm"}
        Whose implementation.
    rounds : tuple of int
        Numbers of trees, increasing; one member each.
    settings : dict
        Parameters of the implementation.
    """

    family = "boosting"

    def __init__(
        self,
        library: str,
        rounds: tuple[int, ...],
        settings: dict[str, Any],
        *,
        seed: int = 0,
    ) -> None:
        self.library = library
        self.rounds = rounds
        self.settings = settings
        self.seed = seed

    @property
    def members(self) -> tuple[str, ...]:
        """One name per number of rounds."""
        is_light = self.library == "lightgbm"
        name = "LightGBM" if is_light else "HistGradientBoosting"
        leaves = self.settings["num_leaves" if is_light else "max_leaf_nodes"]
        return tuple(f"{name}, {n} trees of {leaves} leaves" for n in self.rounds)

    def fit(
        self, X: Matrix, is_pos: BoolArray, is_categorical: BoolArray
    ) -> "BoostingGroup":
        """Fit the largest number of trees."""
        if self.library == "lightgbm":
            self.model_ = self._light(len(is_pos))
            columns = np.flatnonzero(is_categorical).tolist()
            self.model_.fit(
                X, is_pos.astype(int), categorical_feature=columns or "auto"
            )
        else:
            # It refuses columns without a value.
            is_empty = np.isnan(X).all(axis=0)
            X = np.where(is_empty, 0.0, X) if is_empty.any() else X
            self.model_ = HistGradientBoostingClassifier(
                max_iter=self.rounds[-1],
                early_stopping=False,
                categorical_features=is_categorical if is_categorical.any() else None,
                random_state=self.seed,
                **self.settings,
            ).fit(X, is_pos)
        return self

    def _light(self, n: int) -> Any:
        lightgbm = import_optional("lightgbm", "boost")
        return lightgbm.LGBMClassifier(
            n_estimators=self.rounds[-1],
            n_jobs=n_threads() if n >= THREAD_ROWS else 1,
            random_state=self.seed,
            deterministic=True,
            force_row_wise=True,
            verbose=-1,
            **self.settings,
        )

    def scores(self, X: Matrix) -> FloatArray:
        """Return the log-odds of the rows, one column per number of rounds."""
        if self.library == "lightgbm":
            columns = [
                self.model_.predict(X, raw_score=True, num_iteration=n)
                for n in self.rounds
            ]
            return np.column_stack(columns)
        if len(self.rounds) == 1:
            return np.asarray(self.model_.decision_function(X))[:, None]
        stages = self.model_.staged_decision_function(X)
        return np.column_stack(
            [
                np.ravel(stage).copy()
                for n, stage in enumerate(stages, start=1)
                if n in self.rounds
            ]
        )

    def __getstate__(self) -> dict[str, Any]:
        """Return what is saved: of LightGBM's trees a text, which can be checked."""
        state: dict[str, Any] = super().__getstate__()
        if self.library == "lightgbm" and "model_" in state:
            state = state | {"model_": LightGBMText.of(state["model_"])}
        return state

    def cost(self, n: int, width: float) -> float:
        """Return about how many seconds a fit takes."""
        is_light = self.library == "lightgbm"
        leaves = self.settings["num_leaves" if is_light else "max_leaf_nodes"]
        per_leaf, per_value = (4e-5, 6e-10) if is_light else (1e-4, 2e-9)
        values = n * width * leaves**0.5
        return float(self.rounds[-1] * (leaves * per_leaf + values * per_value))


@saved_as("ForestGroup")
class ForestGroup(BaseEstimator):
    """A random forest, or extremely random trees with balanced classes."""

    family = "forest"

    def __init__(self, kind: str, n_trees: int, *, seed: int = 0) -> None:
        self.kind = kind
        self.n_trees = n_trees
        self.seed = seed

    @property
    def members(self) -> tuple[str, ...]:
        """One name."""
        name = {"random": "random forest", "extra": "extra trees"}[self.kind]
        return (f"{name}, {self.n_trees} trees",)

    def fit(
        self, X: Matrix, is_pos: BoolArray, is_categorical: BoolArray
    ) -> "ForestGroup":
        """Grow the trees; they see categories as numbers, of many rows a part."""
        if len(is_pos) > FOREST_ROWS:
            rows = balanced_subsample(is_pos, FOREST_ROWS, self.seed)
            X, is_pos = X[rows], is_pos[rows]
        options = {
            "n_estimators": self.n_trees,
            "n_jobs": n_threads() if len(is_pos) >= THREAD_ROWS else 1,
            "random_state": self.seed,
        }
        if self.kind == "random":
            self.model_ = RandomForestClassifier(min_samples_leaf=2, **options)
        else:
            self.model_ = ExtraTreesClassifier(
                min_samples_leaf=3,
                max_features=0.5,
                class_weight="balanced",
                **options,
            )
        with ignoring_overflow():
            self.model_.fit(_in_single_precision(X), is_pos)
        return self

    def check_state(self) -> None:
        """Raise ValueError unless the arrays of a loaded object fit together."""
        if is_fitted(self):
            forest = expect_type(
                self, "model_", RandomForestClassifier, ExtraTreesClassifier
            )
            expect_type(forest, "estimators_", list)

    def scores(self, X: Matrix) -> FloatArray:
        """Return the mean share of positives in the leaves."""
        rows = _in_single_precision(X)
        if is_sparse(rows) or len(rows) > FEW_ROWS:
            with ignoring_overflow():
                return np.asarray(self.model_.predict_proba(rows))[:, 1:]
        # The same sum; checks and threads of the forest take longer than its trees.
        rows = np.ascontiguousarray(rows, dtype=np.float32)
        trees = (tree.tree_ for tree in self.model_.estimators_)
        total = sum(tree.predict(rows)[:, 1:] for tree in trees)
        return np.asarray(total / len(self.model_.estimators_))

    def cost(self, n: int, width: float) -> float:
        """Return about how many seconds a fit takes."""
        n = min(n, FOREST_ROWS)
        tried = width**0.5 if self.kind == "random" else 0.5 * width
        return self.n_trees * (3e-4 + 2e-8 * n * float(np.log2(n + 1)) * tried)


def _in_single_precision(X: Matrix) -> Matrix:
    """Return rows whose values scikit-learn's forests can hold."""
    limit = float(np.finfo(np.float32).max)
    return X if is_sparse(X) else np.clip(X, -limit, limit)


def _fit_path(Z: Matrix, is_pos: BoolArray, alphas: tuple[float, ...]) -> FloatArray:
    """Return the coefficients, one column per penalty."""
    problem = Problem(LocalDesign(Z), SquaredHinge(), is_pos, np.ones(len(is_pos)))
    path = regularisation_path(problem, alphas, tol=TOL, max_iter=MAX_ITER)
    return np.column_stack([result.coef for result, _ in path])


def _total_variance(Z: Matrix) -> float:
    """Return the mean squared distance of the rows to their mean."""
    if is_sparse(Z):
        mean = np.asarray(Z.mean(axis=0)).ravel()
        square = float(Z.multiply(Z).sum()) / Z.shape[0]
        return float(max(square - mean @ mean, 0.0))
    return float(Z.var(axis=0).sum())
