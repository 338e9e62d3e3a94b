# SPDX-License-Identifier: BSD-3-Clause
"""RankSVM with the penalty chosen by cross-validation."""

from numbers import Integral
from typing import Any, ClassVar, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import ArrayLike
from sklearn.model_selection import check_cv

from aucmax._utils.progress import report
from aucmax._utils.typing import FloatArray, IntArray
from aucmax._utils.validation import COUNT, POSITIVE, FitInputs
from aucmax.design import Design, LocalDesign
from aucmax.estimators._base import LinearScorer
from aucmax.estimators._fit import WeightedFit
from aucmax.losses import SquaredHinge
from aucmax.metrics.auc import roc_auc
from aucmax.solvers.base import Problem, Result
from aucmax.solvers.nonlinear_cg import nonlinear_cg
from aucmax.solvers.path import curvature_scale, regularisation_path


class RankSVMCV(WeightedFit, LinearScorer):
    r"""Linear RankSVM (squared hinge) with ``alpha`` chosen by cross-validated AUC.

    For each fold one regularisation path from large to small alpha, each solution
    started from the one before: twenty alphas cost two to four fits, not twenty. The
    rows of a fold are left out by a weight of zero, so X is never copied.

    Parameters
    ----------
    alphas : int or array-like of shape (n_alphas,), default=20
        Penalties to try; a number asks for that many, logarithmically spaced from 10 to
        1e-6 times the curvature of the loss at zero, which makes the choice independent
        of the scale of the features.
    cv : int, cross-validation generator or iterable, default=5
        Number of stratified folds (fewer where a class has fewer rows), or anything
        scikit-learn accepts as ``cv``.
    tol : float, default=1e-3
        Relative accuracy of the objective.
    max_iter : int, default=1000
        Most Newton steps for one alpha.
    n_jobs : int, default=None
        Folds fitted at the same time, in threads. None means 1.
    verbose : int, default=0
        1 writes a line per fold and per step of the last fit to standard error.

    Attributes
    ----------
    alpha_ : float
        Penalty with the best mean AUC over the folds; the largest of equals.
    alphas_ : ndarray of shape (n_alphas,)
        Penalties tried, from large to small.
    cv_scores_ : ndarray of shape (n_alphas, n_folds)
        AUC of each on each left-out fold.
    coef_ : ndarray of shape (1, n_features)
        Weights of the features, fitted on all rows, in the precision of X.
    intercept_ : ndarray of shape (1,)
        Minus the threshold with the best balanced accuracy on the training rows.
    classes_ : ndarray of shape (2,)
        The labels; ``classes_[1]`` is the positive one.
    n_iter_ : int
        Newton steps of the last fit.
    objective_ : float
        Value of the objective reached.
    history_ : list of Step
        Objective, relative gap and passes over the rows after each step.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, when X has string names.

    See Also
    --------
    RankSVM : One given alpha.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from aucmax import RankSVMCV
    >>> X, y = make_classification(weights=[0.8], random_state=0)
    >>> model = RankSVMCV(alphas=[0.1, 1.0]).fit(X, y)
    >>> model.cv_scores_.shape
    (2, 5)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "alphas": [COUNT, "array-like"],
        "cv": ["cv_object"],
        "tol": [POSITIVE],
        "max_iter": [COUNT],
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        alphas: int | ArrayLike = 20,
        *,
        cv: Any = 5,
        tol: float = 1e-3,
        max_iter: int = 1000,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.alphas = alphas
        self.cv = cv
        self.tol = tol
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _fit(self, inputs: FitInputs) -> Result:
        design = LocalDesign(inputs.X)
        alphas = self._check_alphas(design, inputs)
        folds_done = Parallel(n_jobs=self.n_jobs, prefer="threads")(
            delayed(self._score_fold)(design, inputs, alphas, fold, k + 1)
            for k, fold in enumerate(self._check_folds(inputs))
        )
        self.alphas_ = alphas
        self.cv_scores_ = np.array([aucs for aucs, _ in folds_done]).T
        self.alpha_ = float(alphas[np.argmax(self.cv_scores_.mean(axis=1))])
        result = nonlinear_cg(
            Problem(design, SquaredHinge(), inputs.is_pos, inputs.weight),
            self.alpha_,
            tol=self.tol,
            max_iter=self.max_iter,
            on_step=self._on_step(),
        )
        self._store(result, inputs)
        # One warning is enough.
        return next((short for _, rest in folds_done for short in rest), result)

    def _check_alphas(self, design: Design, inputs: FitInputs) -> FloatArray:
        """Return the alphas to try, from large to small."""
        if isinstance(self.alphas, int | np.integer):
            problem = Problem(design, SquaredHinge(), inputs.is_pos, inputs.weight)
            scale = curvature_scale(problem)
            return scale * np.logspace(1, -6, int(self.alphas))
        alphas = np.atleast_1d(np.asarray(self.alphas, dtype=np.float64))
        if (
            alphas.ndim != 1
            or alphas.size == 0
            or not np.all((alphas > 0) & np.isfinite(alphas))
        ):
            raise ValueError(
                "alphas must be a number of penalties or a list of positive penalties, "
                f"got {self.alphas!r}."
            )
        return np.unique(alphas)[::-1]

    def _check_folds(self, inputs: FitInputs) -> list["_Fold"]:
        """Return the folds, with both classes on either side of each."""
        # Rows without weight are absent, also when rows are dealt into folds.
        rows = np.arange(len(inputs.is_pos))
        n_folds = self.cv
        if isinstance(self.cv, int | np.integer):
            rows = np.flatnonzero(inputs.weight > 0)
            smallest = int(np.bincount(inputs.is_pos[rows]).min())
            if smallest < 2:
                raise ValueError(
                    "RankSVMCV needs at least two rows of each class to leave one out, "
                    f"but the smaller class has {smallest}. Use RankSVM, which needs "
                    "no folds."
                )
            n_folds = min(int(self.cv), smallest)
        codes = inputs.is_pos[rows].astype(np.int64)
        cv = check_cv(n_folds, codes, classifier=True)
        folds = []
        for k, (train, test) in enumerate(cv.split(rows[:, None], codes)):
            # A row drawn twice counts twice; one in neither part is left out of both.
            times = np.bincount(rows[train], minlength=len(inputs.is_pos))
            fold = _Fold(inputs.weight * times, rows[test])
            scored = fold.test[inputs.weight[fold.test] > 0]
            for part in (fold.weight > 0, scored):
                present = inputs.is_pos[part]
                if present.all() or not present.any():
                    raise ValueError(
                        f"Fold {k + 1} of cv has only one class among its left-out or "
                        "its training rows, so its AUC is not defined. Use stratified "
                        "folds."
                    )
            folds.append(fold)
        if not folds:
            raise ValueError("cv holds no folds. Pass at least one split of the rows.")
        return folds

    def _score_fold(
        self,
        design: Design,
        inputs: FitInputs,
        alphas: FloatArray,
        fold: "_Fold",
        number: int,
    ) -> tuple[list[float], list[Result]]:
        """AUC on the left-out rows for each alpha, and the fits that fell short."""
        test = fold.test
        path = regularisation_path(
            Problem(design, SquaredHinge(), inputs.is_pos, fold.weight),
            list(alphas),
            tol=self.tol,
            max_iter=self.max_iter,
        )
        aucs, short = [], []
        for result, scores in path:
            weight = inputs.weight[test]
            aucs.append(
                roc_auc(inputs.is_pos[test], scores[test], sample_weight=weight)
            )
            if not result.converged:
                short.append(result)
        if self.verbose:
            best = int(np.argmax(aucs))
            report(
                f"[RankSVMCV] fold {number}: best AUC {aucs[best]:.4f} at alpha "
                f"{alphas[best]:.1e}"
            )
        return aucs, short


class _Fold(NamedTuple):
    """Weights that leave out all but the training rows, and the rows to score."""

    weight: FloatArray
    test: IntArray
