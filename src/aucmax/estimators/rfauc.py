# SPDX-License-Identifier: BSD-3-Clause
"""Kernel AUC on random Fourier features."""

from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from aucmax import _kernels
from aucmax._utils.memory import parse_bytes
from aucmax._utils.state import expect, expect_finite, expect_type
from aucmax._utils.typing import Matrix
from aucmax._utils.validation import COUNT, POSITIVE, FitInputs, StrOptions
from aucmax.design import MappedDesign
from aucmax.design.mapped import BLOCK_ROWS
from aucmax.estimators._fit import WeightedFit
from aucmax.estimators._kernel_choice import choose_kernel, working_dtype
from aucmax.estimators._mapped_fit import fit_mapped
from aucmax.features.fourier import FourierFeatures
from aucmax.solvers.base import Result


class RFAUC(WeightedFit):
    r"""Kernel scorer over all pairs, on random Fourier features.

    The model and objective of :class:`NBAUC`, with features that do not look at the
    data: cosines and sines of random projections. Landmarks follow the data and mostly
    score better with as many features; Fourier features need no factorisation and no
    landmarks.

    Parameters
    ----------
    n_features : int, default=1600
        Number of Fourier features, a cosine and a sine for each frequency.
    kernel : {"rbf", "laplacian"}, default="rbf"
        The kernel whose values the features approximate.
    gamma : "auto", "scale-mean" or float, default="auto"
        Inverse width of the kernel. "auto" chooses it together with ``alpha`` on a
        bounded sub-sample, by the AUC of rows left out; "scale-mean" is one over the
        mean squared distance of the rows to their mean.
    alpha : "auto" or float, default="auto"
        Strength of the penalty, relative to the mean over pairs.
    orthogonal : bool, default=False
        Orthogonal frequencies (rbf only): a better approximation of the kernel.
    tol : float, default=1e-3
        Relative accuracy of the objective.
    max_iter : int, default=1000
        Most steps of the solver.
    memory_budget : int or str, default="4GB"
        Room for the features of the rows, 4 bytes each (8 in small problems). What does
        not fit is computed again for every pass over the rows.
    random_state : int, RandomState instance or None, default=None
        Draws the frequencies.
    verbose : int, default=0
        1 writes one line per width tried and per step to standard error.

    Attributes
    ----------
    gamma_, alpha_ : float
        Width and penalty used.
    tuning_ : ndarray of shape (n_tried, 3)
        Gamma, alpha and left-out AUC of what "auto" has tried: by the squared loss for
        the width, then by the squared hinge for the penalty.
    feature_map_ : FourierFeatures
        The fitted map.
    coef_ : ndarray of shape (1, n_features)
        Weights of the Fourier features.
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
    NBAUC : Landmarks instead of random frequencies.

    References
    ----------
    Khalid, Ray and Chitsaz, "Scalable Nonlinear AUC Maximization Methods", 2018.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from aucmax import RFAUC
    >>> X, y = make_moons(300, noise=0.2, random_state=0)
    >>> model = RFAUC(n_features=100, random_state=0).fit(X[:200], y[:200])
    >>> bool(model.score(X[200:], y[200:]) > 0.98)
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_features": [COUNT],
        "kernel": [StrOptions({"rbf", "laplacian"})],
        "gamma": [POSITIVE, StrOptions({"auto", "scale-mean"})],
        "alpha": [POSITIVE, StrOptions({"auto"})],
        "orthogonal": ["boolean"],
        "tol": [POSITIVE],
        "max_iter": [COUNT],
        "memory_budget": [COUNT, str],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }

    def __init__(  # noqa: PLR0913
        self,
        n_features: int = 1600,
        *,
        kernel: str = "rbf",
        gamma: str | float = "auto",
        alpha: str | float = "auto",
        orthogonal: bool = False,
        tol: float = 1e-3,
        max_iter: int = 1000,
        memory_budget: int | str = "4GB",
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_features = n_features
        self.kernel = kernel
        self.gamma = gamma
        self.alpha = alpha
        self.orthogonal = orthogonal
        self.tol = tol
        self.max_iter = max_iter
        self.memory_budget = memory_budget
        self.random_state = random_state
        self.verbose = verbose

    def _fit(self, inputs: FitInputs) -> Result:
        budget = parse_bytes(self.memory_budget)
        inputs = inputs.drop_zero_weight()
        seed = check_random_state(self.random_state).randint(2**31 - 1)
        choice = choose_kernel(inputs, self, partial(self._fit_map, seed=seed))
        feature_map = self._fit_map(inputs, choice.gamma, self.n_features, seed=seed)
        design = MappedDesign(
            inputs.X,
            feature_map.transform_rows,
            feature_map._n_features_out,
            dtype=feature_map.dtype_,
            memory_budget=budget,
        )
        result, choice = fit_mapped(self, design, inputs, choice)
        self._keep_progress(result)
        self.gamma_, self.alpha_, self.tuning_ = choice
        self.classes_ = inputs.classes
        self.feature_map_ = feature_map
        self.coef_ = result.coef[None, :]
        self._set_threshold(inputs)
        return result

    def _scores(self, X: Matrix) -> NDArray[Any]:
        scores = np.empty(X.shape[0])
        for low in range(0, X.shape[0], BLOCK_ROWS):
            rows = slice(low, low + BLOCK_ROWS)
            features = self.feature_map_.transform_rows(X[rows])
            _kernels.products.row_scores(features, self.coef_[0], scores[rows])
        return scores

    def _check_fitted(self) -> None:
        feature_map = expect_type(self, "feature_map_", FourierFeatures)
        fits = feature_map.n_features_in_ == self.n_features_in_
        expect(fits, self, "feature_map_ is of other features")
        expect_finite(self, "coef_", (1, feature_map._n_features_out))
        expect_finite(self, "intercept_", (1,))

    def _fit_map(
        self, inputs: FitInputs, gamma: float, n_features: int, *, seed: int
    ) -> FourierFeatures:
        return FourierFeatures(
            n_features=n_features,
            kernel=self.kernel,
            gamma=gamma,
            orthogonal=self.orthogonal,
            dtype=working_dtype(inputs.X, n_features),
            random_state=seed,
        ).fit(inputs.X, sample_weight=inputs.weight)
