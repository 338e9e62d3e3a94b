# SPDX-License-Identifier: BSD-3-Clause
"""Kernel AUC at a cost linear in the rows: Nystroem features and all pairs."""

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

from aucmax._utils.checkpoint import Checkpoint, State
from aucmax._utils.memory import parse_bytes
from aucmax._utils.state import expect_type
from aucmax._utils.validation import (
    COUNT,
    POSITIVE,
    FitInputs,
    StrOptions,
    check_fit_inputs,
    restore_attributes_on_error,
    validated,
)
from aucmax.design.mixed import shortens_rows
from aucmax.estimators._kernel_base import KernelScorer
from aucmax.estimators._kernel_choice import (
    KernelChoice,
    choose_kernel,
    nystroem_mapped,
    streamed_nystroem,
    working_dtype,
)
from aucmax.estimators._mapped_fit import MappedFit, fit_mapped
from aucmax.features.nystroem import Nystroem
from aucmax.solvers.base import Checkpointing
from aucmax.streams.passes import check_source, resume_fit
from aucmax.streams.source import Source, name_features


class NBAUC(KernelScorer):
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
        Gamma, alpha and left-out AUC of what "auto" has tried on a sub-sample.
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

    @validated
    def fit(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> "NBAUC":
        """Choose what is "auto", then landmarks, and fit.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training rows.
        y : array-like of shape (n_samples,)
            Labels, two distinct values; the larger is positive.
        sample_weight : array-like of shape (n_samples,), default=None
            A row of weight two counts as two rows in the objective, exactly, and a pair
            weighs the product of its rows; the solutions agree to ``tol``.

        Returns
        -------
        self : NBAUC
            The fitted estimator.
        """
        with restore_attributes_on_error(self):
            budget = parse_bytes(self.memory_budget)
            inputs = check_fit_inputs(self, X, y, sample_weight).drop_zero_weight()
            seed = check_random_state(self.random_state).randint(2**31 - 1)
            choice = self._choose(inputs, seed)
            feature_map = self._fit_map(inputs, choice.gamma, seed)
            design = nystroem_mapped(inputs.X, feature_map, budget)
            fit = fit_mapped(self, design, inputs, choice)
            self._keep(feature_map, choice, fit, inputs.classes)
            # The design scores rows as the expansion does, block by block.
            self._set_threshold(
                self._expand(inputs.X)
                if shortens_rows(feature_map.normalization_)
                else design.scores(fit.result.coef),
                inputs,
            )
        return self

    @validated
    def fit_stream(
        self, source: Source, *, checkpoint: Checkpoint | None = None
    ) -> "NBAUC":
        """Fit to rows that are never all in memory.

        What is "auto" and the landmarks are chosen on a spread of at most 100,000 rows,
        fewer of wide ones. Where that is all rows, or with ``gamma``, ``alpha`` and
        ``landmarks`` given, the coefficients are those of ``fit``, to rounding. Some
        vectors with one number per row are held, one or two batches, and as many values
        between rows and landmarks as ``memory_budget`` allows; the others are computed
        at every pass.

        Parameters
        ----------
        source : re-iterable of (X, y) or (X, y, sample_weight)
            Batches of rows, the same ones each time it is iterated over: a list, or
            what :func:`aucmax.io.read_batches` returns. A batch may hold one class
            only.
        checkpoint : Checkpoints, default=None
            Where to keep the state after each step of the last solve, and to go on
            from; see :class:`aucmax.io.Checkpoints`.

        Returns
        -------
        self : NBAUC
            The fitted estimator.

        Examples
        --------
        >>> from sklearn.datasets import make_moons
        >>> from aucmax import NBAUC
        >>> X, y = make_moons(300, noise=0.2, random_state=0)
        >>> source = [(X[:150], y[:150]), (X[150:], y[150:])]
        >>> model = NBAUC(n_landmarks=100, random_state=0).fit_stream(source)
        >>> bool(model.score(X, y) > 0.98)
        True
        """
        with restore_attributes_on_error(self):
            budget = parse_bytes(self.memory_budget)
            inputs = check_source(self, source, checkpoint).drop_zero_weight()
            saved, offer = resume_fit(self, inputs, checkpoint)
            seed = check_random_state(self.random_state).randint(2**31 - 1)
            sample = inputs.sample()
            if saved is None:
                choice = self._choose(sample, seed)
                if len(choice.tried) and len(sample.is_pos) < inputs.shape[0]:
                    choice = choice._replace(is_from_a_part=True)
            else:
                seed = saved["seed"]
                choice = KernelChoice(saved["gamma"], 0.0, saved["tried"], False)
            feature_map = self._fit_map(sample, choice.gamma, seed, inputs.shape[0])
            design = streamed_nystroem(inputs, sample.X, feature_map, budget)
            chosen = {"seed": seed, "gamma": choice.gamma, "tried": choice.tried}

            def offer_all(state: Callable[[], State]) -> None:
                if offer is not None:
                    offer(lambda: chosen | state())

            fit = fit_mapped(
                self,
                design,
                inputs,
                choice,
                checkpointing=Checkpointing(
                    saved, None if offer is None else offer_all
                ),
            )
            self._keep(feature_map, choice, fit, inputs.classes)
            self._set_threshold(inputs.collect(self._expand), inputs)
            name_features(self, source)
        return self

    def _keep(
        self,
        feature_map: Nystroem,
        choice: KernelChoice,
        fit: MappedFit,
        classes: NDArray[Any],
    ) -> None:
        result, self.alpha_ = fit
        self._warn_unless_converged(result)
        self._keep_progress(result)
        self.gamma_, self.tuning_ = choice.gamma, choice.tried
        self.feature_map_ = feature_map
        self.coef_ = result.coef[None, :]
        self._keep_expansion(
            feature_map.kernel_,
            feature_map.landmarks_,
            feature_map.normalization_ @ result.coef,
            classes,
        )

    def _check_fitted(self) -> None:
        super()._check_fitted()
        expect_type(self, "feature_map_", Nystroem)

    def _choose(self, inputs: FitInputs, seed: int) -> KernelChoice:
        return choose_kernel(
            inputs,
            kernel=self.kernel,
            gamma=self.gamma,
            alpha=self.alpha,
            degree=self.degree,
            coef0=self.coef0,
            random_state=seed,
            verbose=self.verbose,
        )

    def _fit_map(
        self, inputs: FitInputs, gamma: float, seed: int, n_rows: int | None = None
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
