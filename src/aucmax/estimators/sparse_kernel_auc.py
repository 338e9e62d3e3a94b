# SPDX-License-Identifier: BSD-3-Clause
"""Kernel AUC with few kernel functions, chosen greedily."""

from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from aucmax._utils.progress import report
from aucmax._utils.typing import BoolArray, FloatArray, IntArray, to_dense
from aucmax._utils.validation import (
    COUNT,
    POSITIVE,
    SHARE,
    FitInputs,
    StrOptions,
)
from aucmax.estimators._fit import UnweightedFit
from aucmax.estimators._kernel_base import KernelScorer
from aucmax.estimators._kernel_choice import tune_kernel, working_dtype
from aucmax.features.kernels import Kernel
from aucmax.losses import SquaredHinge
from aucmax.metrics.auc import roc_auc
from aucmax.solvers._expansion import Expansion
from aucmax.solvers.base import Step
from aucmax.solvers.centres import CentresProblem, Moved, refine_centres
from aucmax.solvers.greedy_basis import GreedySettings, Stage, greedy_basis

# Landmarks that stand for a chosen function when gamma and alpha are tuned. More allow
# for less penalty than few functions want.
LANDMARKS_PER_FUNCTION = 2
# Held-out rows of either class below which an AUC is too coarse to stop by.
FEWEST_HELD_OUT = 50
# The number of functions may grow by this factor without this gain in held-out AUC.
PATIENCE, LEAST_GAIN = 4, 1e-4
# Of the first few functions, none says much.
FIRST_FUNCTIONS = 4


class SparseKernelAUC(UnweightedFit, KernelScorer):
    r"""Kernel scorer over all pairs that is a sum of few kernel functions.

    Minimises the mean over all pairs of a positive and a negative row

    .. math:: \max(0, 1 - (f(x_+) - f(x_-)))^2 + \frac{\alpha}{2} \|f\|^2, \quad
              f(x) = \sum_{j \in J} \beta_j\, k(x, x_j)

    over the weights :math:`\beta` and, greedily, over the rows J whose functions are
    used. Scoring a row costs one kernel value per function, so a model is as fast and
    as small as it has functions.

    Parameters
    ----------
    n_basis : int, default=200
        Most kernel functions. Fewer when the AUC of rows held out stops rising, or
        where there are fewer rows.
    kernel : {"rbf", "laplacian", "polynomial"} or callable, default="rbf"
        The kernel function; a callable takes two matrices of rows and is symmetric.
    gamma : "auto", "scale-mean" or float, default="auto"
        Inverse width of the kernel. "auto" chooses it together with ``alpha``, on a
        bounded sub-sample with two landmarks per function, by the AUC of rows left out;
        "scale-mean" is one over the mean squared distance of the rows to their mean.
    degree, coef0 : float, default=3, 1
        Of the polynomial kernel.
    alpha : "auto" or float, default="auto"
        Strength of the penalty, relative to the mean over pairs.
    n_candidates : int, default=100
        Rows drawn as candidates per function to add.
    select : {"joint", "newton", "exact"}, default="joint"
        How candidates compare. "newton" and "exact" are the paper's: by what the
        candidate's own weight gains, from one Newton step or exactly (slow: a few sorts
        each). "joint" lets the other weights move along: fewer functions reach the same
        AUC, in less time.
    retrain : {"quarters", "doublings", "always"}, default="quarters"
        When all weights are trained: four times per doubling of the number of
        functions, once per doubling, or after every function, which takes long.
    early_stopping : bool, default=True
        Hold out rows and stop when their AUC has not risen by 1e-4 while the number of
        functions grew fourfold; the best number is kept, and the weights are then
        trained on all rows. Without effect where fewer than 50 rows of either class
        would be held out.
    validation_fraction : float, default=0.1
        Share of the rows of each class to hold out.
    refine : None or "centres", default=None
        "centres" moves the functions off their rows, centres and weights together, by
        L-BFGS: the most accurate, at several times the time. For ``kernel="rbf"``.
    refine_iter : int, default=200
        Most iterations of the refinement.
    tol : float, default=1e-3
        Relative accuracy to which all weights are trained, whenever they are.
    n_jobs : int, default=None
        Threads that judge candidates. The result is the same for any number.
    random_state : int, RandomState instance or None, default=None
        Draws the rows held out and the candidates.
    verbose : int, default=0
        1 writes one line per training of all weights to standard error.

    Attributes
    ----------
    gamma_, alpha_ : float
        Width and penalty used.
    tuning_ : ndarray of shape (n_tried, 3)
        Gamma, alpha and left-out AUC of what "auto" has tried: by the squared loss for
        the width, then by the squared hinge for the penalty.
    support_ : ndarray of shape (n_basis_,)
        Rows whose functions were chosen, in the order of choice.
    n_basis_ : int
        Number of kernel functions.
    basis_ : ndarray of shape (n_basis_, n_features)
        Where the functions are centred: ``X[support_]``, moved if refined.
    dual_coef_ : ndarray of shape (1, n_basis_)
        Weights of the functions.
    intercept_ : ndarray of shape (1,)
        Minus the threshold with the best balanced accuracy on the training rows.
    classes_ : ndarray of shape (2,)
        The labels; ``classes_[1]`` is the positive one.
    validation_scores_ : ndarray of shape (n_stages,) or None
        AUC of the rows held out at each entry of ``history_``; None if none were.
    objective_ : float
        Value of the objective reached, over all rows.
    history_ : list of Stage
        Number of functions and objective, over the rows not held out, after each
        training of all weights at a scheduled size.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, when X has string names.

    See Also
    --------
    NBAUC : Many functions at once, at random rows.
    KernelRankSVM : The full kernel.

    Notes
    -----
    There is no ``sample_weight``: candidates are drawn row by row, so a row of weight
    two would not be drawn like two rows. Scale continuous features, for example with
    ``StandardScaler``. Memory: one value of 4 bytes per row and function (8 where there
    are fewer than a million).

    All weights are trained at 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, ...
    functions, four times per doubling.

    References
    ----------
    Kakkar, Shevade, Sundararajan and Garg, "A Sparse Non-linear Classifier Design Using
    AUC Optimization", SIAM International Conference on Data Mining, 2017. The joint
    choice and the refinement are ours.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from aucmax import SparseKernelAUC
    >>> X, y = make_moons(300, noise=0.2, random_state=0)
    >>> model = SparseKernelAUC(n_basis=12, gamma=1.0, random_state=0)
    >>> bool(model.fit(X[:200], y[:200]).score(X[200:], y[200:]) > 0.98)
    True
    >>> model.basis_.shape
    (12, 2)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **KernelScorer._kernel_constraints,
        "n_basis": [COUNT],
        "n_candidates": [COUNT],
        "select": [StrOptions({"joint", "newton", "exact"})],
        "retrain": [StrOptions({"quarters", "doublings", "always"})],
        "early_stopping": ["boolean"],
        "validation_fraction": [SHARE],
        "refine": [StrOptions({"centres"}), None],
        "refine_iter": [COUNT],
        "tol": [POSITIVE],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }

    def __init__(  # noqa: PLR0913
        self,
        n_basis: int = 200,
        *,
        kernel: Any = "rbf",
        gamma: str | float = "auto",
        degree: float = 3.0,
        coef0: float = 1.0,
        alpha: str | float = "auto",
        n_candidates: int = 100,
        select: str = "joint",
        retrain: str = "quarters",
        early_stopping: bool = True,
        validation_fraction: float = 0.1,
        refine: str | None = None,
        refine_iter: int = 200,
        tol: float = 1e-3,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_basis = n_basis
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.alpha = alpha
        self.n_candidates = n_candidates
        self.select = select
        self.retrain = retrain
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.refine = refine
        self.refine_iter = refine_iter
        self.tol = tol
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _fit(self, inputs: FitInputs) -> None:
        if self.refine == "centres" and self.kernel != "rbf":
            raise ValueError(
                'refine="centres" moves the centres of kernel="rbf", but the kernel is '
                f"{self.kernel!r}. Set refine=None or kernel='rbf'."
            )
        rng = check_random_state(self.random_state)
        seed = rng.randint(2**31 - 1)
        n_landmarks = LANDMARKS_PER_FUNCTION * self.n_basis
        chosen = tune_kernel(inputs, self, seed, n_landmarks=n_landmarks)
        self.gamma_, self.alpha_, self.tuning_ = chosen
        kernel = Kernel(self.kernel, self.gamma_, self.degree, self.coef0)
        expansion = self._grow(kernel, inputs, rng)
        self.support_ = expansion.index
        self.n_basis_ = len(self.support_)
        basis = to_dense(inputs.X[self.support_])
        coef = expansion.coef
        self.objective_ = expansion.objective
        if self.refine == "centres":
            del expansion  # its columns take as much room as refining needs
            moved = self._refine(kernel, inputs, basis, coef)
            basis, coef = moved.centres.astype(basis.dtype), moved.coef
            self.objective_ = moved.value
        self._keep_expansion(kernel, basis, coef, inputs)

    def _grow(
        self, kernel: Kernel, inputs: FitInputs, rng: np.random.RandomState
    ) -> Expansion:
        """Choose the functions; return them with weights trained on all rows."""
        X, n_basis = inputs.X, min(self.n_basis, inputs.X.shape[0])
        dtype = working_dtype(X, n_basis)
        held_out = self._hold_out(inputs.is_pos, rng)

        def values(rows: IntArray, index: IntArray) -> NDArray[Any]:
            return kernel.prepare(X[index], like=X, dtype=dtype)(X[rows])

        expansion = Expansion(
            values,
            inputs.is_pos,
            np.where(held_out, 0.0, 1.0),
            loss=SquaredHinge(),
            alpha=self.alpha_,
            capacity=n_basis,
            dtype=dtype,
        )
        watch = _Watch(expansion, held_out, self.verbose)
        self.history_ = greedy_basis(
            expansion,
            GreedySettings(
                n_basis, self.n_candidates, self.select, self.retrain, self.tol
            ),
            rng,
            n_threads=effective_n_jobs(self.n_jobs),
            on_stage=watch.see,
        )
        self.validation_scores_ = None
        if held_out.any():
            self.validation_scores_ = np.array(watch.scores)
            expansion.truncate(watch.best)
            expansion.weight = inputs.weight
            expansion.retrain(self.tol)
        return expansion

    def _refine(
        self, kernel: Kernel, inputs: FitInputs, basis: NDArray[Any], coef: FloatArray
    ) -> Moved:
        X, dtype = inputs.X, working_dtype(inputs.X, len(basis))

        def show(step: Step) -> None:
            report(f"[SparseKernelAUC] refining: objective {step.value:.6g}")

        problem = CentresProblem(
            X,
            inputs.is_pos,
            inputs.weight,
            kernel=lambda centres: kernel.prepare(centres, like=X, dtype=dtype),
            gamma=self.gamma_,
            loss=SquaredHinge(),
            alpha=self.alpha_,
        )
        return refine_centres(
            problem,
            basis.astype(np.float64),
            coef,
            max_iter=self.refine_iter,
            tol=self.tol,
            on_step=show if self.verbose else None,
        )

    def _hold_out(self, is_pos: BoolArray, rng: np.random.RandomState) -> BoolArray:
        """Draw the rows held out, the same share of either class; maybe none."""
        held_out = np.zeros(len(is_pos), dtype=bool)
        if not self.early_stopping:
            return held_out
        for mask in (is_pos, ~is_pos):
            rows = np.flatnonzero(mask)
            count = round(self.validation_fraction * len(rows))
            if not FEWEST_HELD_OUT <= count < len(rows):
                return np.zeros(len(is_pos), dtype=bool)
            held_out[rng.choice(rows, size=count, replace=False)] = True
        return held_out


class _Watch:
    """Judges each stage by the AUC of the rows held out; keeps the best weights."""

    def __init__(self, expansion: Expansion, held_out: BoolArray, verbose: int) -> None:
        self.scores: list[float] = []
        self.best: FloatArray = np.empty(0)
        self._expansion = expansion
        self._held_out = held_out if held_out.any() else None
        self._verbose = verbose
        self._to_beat, self._risen_at = -np.inf, np.inf

    def see(self, stage: Stage) -> bool:
        """Take note of a stage; say whether to stop."""
        line = (
            f"[SparseKernelAUC] {stage.n_basis} functions, objective {stage.value:.6g}"
        )
        if self._held_out is not None:
            auc = roc_auc(
                self._expansion.is_pos[self._held_out],
                self._expansion.scores[self._held_out],
            )
            line += f", held-out AUC {auc:.5f}"
            # Of equals the larger, which has the lower objective.
            if not self.scores or auc >= max(self.scores):
                self.best = self._expansion.coef.copy()
            self.scores.append(auc)
            if auc >= self._to_beat + LEAST_GAIN:
                self._to_beat = auc
                self._risen_at = max(stage.n_basis, FIRST_FUNCTIONS)
        if self._verbose:
            report(line)
        return stage.n_basis >= PATIENCE * self._risen_at
