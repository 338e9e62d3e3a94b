# SPDX-License-Identifier: BSD-3-Clause
"""Stochastic primal-dual AUC maximisation."""

from typing import Any, ClassVar

import numpy as np
from sklearn.utils import check_random_state

from aucmax._utils.validation import COUNT, POSITIVE, SHARE, FitInputs
from aucmax.design import LocalDesign
from aucmax.estimators._base import LinearScorer
from aucmax.estimators._fit import UnweightedFit
from aucmax.solvers.primal_dual import primal_dual


class SPDAM(UnweightedFit, LinearScorer):
    r"""Pairwise square loss by a stochastic primal-dual method of linear convergence.

    Converges to the solution of :class:`LeastSquaresAUC` at a rate of
    :math:`1 - O(\sqrt{\alpha m / n})` per step of :math:`m` rows. For up to a few
    thousand features the closed form is faster; this is the method of the literature.

    Parameters
    ----------
    alpha : float, default=1e-2
        Strength of the penalty, relative to the mean over pairs. Convergence slows down
        as it goes to zero.
    batch_size : int or float, default=1
        Rows per step: a number, or a share of the rows below one. 1 gains most per
        pass; 0.1 is the choice of the paper.
    tol : float, default=1e-4
        Norm of the gradient, relative to that at zero, at which to stop.
    max_iter : int, default=1000
        Most passes over the rows.
    random_state : int, RandomState instance or None, default=None
        Draws the rows. Pass an int for reproducible fits.
    verbose : int, default=0
        1 writes one line per pass to standard error.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features)
        Weights of the features, in the precision of X.
    intercept_ : ndarray of shape (1,)
        Minus the threshold with the best balanced accuracy on the training rows.
    classes_ : ndarray of shape (2,)
        The labels; ``classes_[1]`` is the positive one.
    n_iter_ : int
        Passes taken.
    objective_ : float
        Value of the objective reached.
    history_ : list of Step
        Objective, relative norm of the gradient, and trips over the rows after each
        pass, those that measure the gradient included.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, when X has string names.

    See Also
    --------
    LeastSquaresAUC : The same solution in closed form.

    Notes
    -----
    There is no ``sample_weight``: the method draws rows, so a weight would change the
    path and not count as exact repetition.

    References
    ----------
    M. Natole, Y. Ying, S. Lyu, "Stochastic AUC Optimization Algorithms With Linear
    Convergence", Frontiers in Applied Mathematics and Statistics, 2019. The constants
    here are re-derived; those printed converge to another point or more slowly.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from aucmax import SPDAM
    >>> X, y = make_classification(weights=[0.9], random_state=0)
    >>> round(SPDAM(random_state=0).fit(X, y).score(X, y), 2)
    1.0
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "alpha": [POSITIVE],
        "batch_size": [COUNT, SHARE],
        "tol": [POSITIVE],
        "max_iter": [COUNT],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        alpha: float = 1e-2,
        *,
        batch_size: float = 1,
        tol: float = 1e-4,
        max_iter: int = 1000,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ) -> None:
        self.alpha = alpha
        self.batch_size = batch_size
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.verbose = verbose

    def _fit(self, inputs: FitInputs) -> None:
        n = inputs.X.shape[0]
        share = self.batch_size * n if self.batch_size < 1 else self.batch_size
        seed = check_random_state(self.random_state).randint(2**31 - 1)
        result = primal_dual(
            LocalDesign(inputs.X),
            inputs.is_pos,
            alpha=self.alpha,
            batch_size=min(n, max(1, round(share))),
            tol=self.tol,
            max_iter=self.max_iter,
            rng=np.random.default_rng(seed),
            on_step=self._on_step(),
        )
        self._store(result, inputs)
        self._warn_unless_converged(result)
