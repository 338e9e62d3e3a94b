# SPDX-License-Identifier: BSD-3-Clause
"""Kernel AUC at a cost linear in the rows: Nystroem features and all pairs."""

from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import check_random_state

from aucmax._utils.memory import parse_bytes
from aucmax._utils.state import expect_type
from aucmax._utils.validation import COUNT, POSITIVE, FitInputs, StrOptions
from aucmax.design import Design
from aucmax.estimators._base import TrainingRows
from aucmax.estimators._fit import StreamedFit
from aucmax.estimators._kernel_base import KernelScorer
from aucmax.estimators._kernel_choice import (
    KernelChoice,
    choose_kernel,
    nystroem_mapped,
    streamed_nystroem,
    uniform_nystroem,
    working_dtype,
)
from aucmax.estimators._mapped_fit import fit_mapped
from aucmax.features.nystroem import Nystroem
from aucmax.solvers.base import Checkpointing, Result
from aucmax.solvers.nonlinear_cg import NO_CHECKPOINTS
from aucmax.streams.passes import StreamInputs


class NBAUC(StreamedFit, KernelScorer):
    r"""Kernel scorer over all pairs, on Nystroem features.

    Minimises the mean over all pairs of a positive and a negative row

    .. math:: \max(0, 1 - (f(x_+) - f(x_-)))^2 + \frac{\alpha}{2} \|f\|^2, \quad
              f(x) = \sum_j \beta_j\, k(x, u_j)

    over the functions spanned by ``n_landmarks`` landmarks :math:`u_j`, with the norm
    of the kernel's own space. Where every row is a landmark this is the full kernel
    RankSVM; with fewer, time and memory are linear in the number of rows.

    Parameters
    ----------
    n_landmarks : int, default=1600
        Landmarks; more is better and slower. All distinct rows where there are fewer.
    kernel : {"rbf", "laplacian", "polynomial"} or callable, default="rbf"
        The kernel function; a callable takes two matrices of rows.
    gamma : "auto", "scale-mean" or float, default="auto"
        Inverse width of the kernel. "auto" chooses it together with ``alpha`` on a
        bounded sub-sample, by the AUC of rows left out; "scale-mean" is one over the
        mean squared distance of the rows to their mean, as in the paper.
    degree, coef0 : float, default=3, 1
        Of the polynomial kernel.
    alpha : "auto" or float, default="auto"
        Strength of the penalty, relative to the mean over pairs.
    landmarks : {"uniform", "kmeans", "stratified"} or array-like, default="uniform"
        How landmarks are chosen. Uniform rows cost nothing and score as well as
        k-means, which the paper uses.
    tol : float, default=1e-3
        Relative accuracy of the objective.
    max_iter : int, default=1000
        Most steps of the solver.
    memory_budget : int or str, default="4GB"
        Room for kernel values between rows and landmarks, 4 bytes each (8 in small
        problems). What does not fit is computed again for every pass over the rows:
        slower, with the same result. Landmarks come on top; they are dense, which for
        text with many thousand features can be the larger part.
    random_state : int, RandomState instance or None, default=None
        Chooses the landmarks.
    verbose : int, default=0
        1 writes one line per width tried and per step to standard error.

    Attributes
    ----------
    gamma_, alpha_ : float
        Width and penalty used.
    tuning_ : ndarray of shape (n_tried, 3)
        Gamma, alpha and left-out AUC of what "auto" has tried: by the squared loss for
        the width, then by the squared hinge for the penalty.
    feature_map_ : Nystroem
        The fitted map.
    coef_ : ndarray of shape (1, rank)
        Weights of the Nystroem features.
    basis_ : ndarray of shape (n_landmarks, n_features)
        The landmarks.
    dual_coef_ : ndarray of shape (1, n_landmarks)
        Weights of the kernel functions at the landmarks.
    intercept_ : ndarray of shape (1,)
        Minus the threshold with the best balanced accuracy on the training rows.
    classes_ : ndarray of shape (2,)
        The labels; ``classes_[1]`` is the positive one.
    n_iter_ : int
        Steps taken.
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
    NSAUC : The same model by stochastic steps: faster, a little less exact.
    RFAUC : Fourier features instead of landmarks.
    KernelRankSVM : The full kernel.
    RankSVM : Linear.

    Notes
    -----
    Scale continuous features, for example with ``StandardScaler``; leave one-hot
    columns as they are: scaling blows up the rare ones.

    With ``fit_stream``, what is "auto" and the landmarks are chosen on a spread of at
    most 100,000 rows, fewer of wide ones. Some vectors with one number per row are
    held, one or two batches, and as many values between rows and landmarks as
    ``memory_budget`` allows; the others are computed at every pass.

    References
    ----------
    Khalid, Ray and Chitsaz, "Scalable Nonlinear AUC Maximization Methods", 2018.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from aucmax import NBAUC
    >>> X, y = make_moons(300, noise=0.2, random_state=0)
    >>> model = NBAUC(n_landmarks=100, random_state=0).fit(X[:200], y[:200])
    >>> bool(model.score(X[200:], y[200:]) > 0.98)
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **KernelScorer._kernel_constraints,
        "n_landmarks": [COUNT],
        "landmarks": [StrOptions({"uniform", "kmeans", "stratified"}), "array-like"],
        "tol": [POSITIVE],
        "max_iter": [COUNT],
        "memory_budget": [COUNT, str],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }

    def __init__(  # noqa: PLR0913
        self,
        n_landmarks: int = 1600,
        *,
        kernel: Any = "rbf",
        gamma: str | float = "auto",
        degree: float = 3.0,
        coef0: float = 1.0,
        alpha: str | float = "auto",
        landmarks: Any = "uniform",
        tol: float = 1e-3,
        max_iter: int = 1000,
        memory_budget: int | str = "4GB",
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_landmarks = n_landmarks
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.alpha = alpha
        self.landmarks = landmarks
        self.tol = tol
        self.max_iter = max_iter
        self.memory_budget = memory_budget
        self.random_state = random_state
        self.verbose = verbose

    def _fit(self, inputs: FitInputs) -> Result:
        inputs, budget = inputs.drop_zero_weight(), parse_bytes(self.memory_budget)
        return self._fit_rows(
            inputs, inputs, lambda found: nystroem_mapped(inputs.X, found, budget)
        )

    def _fit_batches(
        self, inputs: StreamInputs, checkpointing: Checkpointing
    ) -> Result:
        inputs, budget = inputs.drop_zero_weight(), parse_bytes(self.memory_budget)
        sample = inputs.sample()
        return self._fit_rows(
            sample,
            inputs,
            lambda found: streamed_nystroem(inputs, sample.X, found, budget),
            checkpointing,
        )

    def _fit_rows(
        self,
        sample: FitInputs,
        rows: TrainingRows,
        make_design: Callable[[Nystroem], Design],
        checkpointing: Checkpointing = NO_CHECKPOINTS,
    ) -> Result:
        """Choose width, penalty and landmarks by a sample, and fit to all rows."""
        saved, n_rows = checkpointing.saved, len(rows.is_pos)
        if saved is None:
            seed = check_random_state(self.random_state).randint(2**31 - 1)
            choice = self._choose(sample, seed)
        else:
            seed = saved["seed"]
            choice = KernelChoice(saved["gamma"], saved["alpha"], saved["tried"])
        self.feature_map_ = self._fit_map(sample, choice.gamma, seed, n_rows)
        result, choice = fit_mapped(
            self,
            make_design(self.feature_map_),
            rows,
            choice,
            checkpointing=checkpointing,
            chosen={"seed": seed},
        )
        self.gamma_, self.alpha_, self.tuning_ = choice
        self._keep_progress(result)
        self.coef_ = result.coef[None, :]
        self._keep_expansion(
            self.feature_map_.kernel_,
            self.feature_map_.landmarks_,
            self.feature_map_.normalization_ @ result.coef,
            rows,
        )
        return result

    def _check_fitted(self) -> None:
        super()._check_fitted()
        expect_type(self, "feature_map_", Nystroem)

    def _choose(self, inputs: FitInputs, seed: int) -> KernelChoice:
        return choose_kernel(inputs, self, partial(uniform_nystroem, self, seed))

    def _fit_map(
        self, inputs: FitInputs, gamma: float, seed: int, n_rows: int
    ) -> Nystroem:
        return Nystroem(
            n_landmarks=self.n_landmarks,
            kernel=self.kernel,
            gamma=gamma,
            degree=self.degree,
            coef0=self.coef0,
            landmarks=self.landmarks,
            dtype=working_dtype(inputs.X, self.n_landmarks, n_rows),
            random_state=seed,
        ).fit(inputs.X, np.asarray(inputs.is_pos), sample_weight=inputs.weight)
