# SPDX-License-Identifier: BSD-3-Clause
"""Class-balanced losses of single rows: the baselines that see no pairs."""

from collections.abc import Callable
from typing import Any, ClassVar

from aucmax._utils.validation import COUNT, POSITIVE, FitInputs, StrOptions
from aucmax.design import LocalDesign
from aucmax.estimators._base import LinearScorer
from aucmax.estimators._fit import WeightedFit
from aucmax.losses import Exponential, Logistic, PairLoss, UnivariateSquare
from aucmax.solvers.base import Problem, Result
from aucmax.solvers.nonlinear_cg import nonlinear_cg

LOSSES: dict[str, Callable[[], PairLoss]] = {
    "logistic": Logistic,
    "square": UnivariateSquare,
    "exponential": Exponential,
}


class UnivariateAUC(WeightedFit, LinearScorer):
    r"""Linear scorer from a class-balanced loss of single rows.

    Minimises, over the weights and a free intercept :math:`b`,

    .. math:: \tfrac12 \big(\operatorname{mean}_{+}\, \ell(s + b)
        + \operatorname{mean}_{-}\, \ell(-s - b)\big) + \frac{\alpha}{2} \|w\|^2

    with :math:`\ell(m) = \log(1 + e^{-m})`, :math:`(1 - m)^2 / 2` or :math:`e^{-m}`.
    Such losses are consistent for AUC when classes are balanced, and are the usual
    baselines. The intercept is minimised out and replaced by our threshold.

    Parameters
    ----------
    alpha : float, default=1e-3
        Strength of the penalty. ``loss="logistic"`` equals scikit-learn's
        ``LogisticRegression(class_weight="balanced", C=1 / (alpha * n_samples))``.
    loss : {"logistic", "square", "exponential"}, default="logistic"
        The square loss ranks exactly as :class:`LeastSquaresAUC` with four times its
        alpha; the exponential is the square root of the pairwise exponential loss.
    tol : float, default=1e-3
        Relative accuracy of the objective.
    max_iter : int, default=1000
        Most Newton steps.
    warm_start : bool, default=False
        Start from the coefficients of the previous ``fit``.
    verbose : int, default=0
        1 writes one line per step to standard error.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features)
        Weights of the features, in the precision of X.
    intercept_ : ndarray of shape (1,)
        Minus the threshold with the best balanced accuracy on the training rows.
    classes_ : ndarray of shape (2,)
        The labels; ``classes_[1]`` is the positive one.
    n_iter_ : int
        Newton steps taken.
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
    RankSVM : Sees all pairs.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from aucmax import UnivariateAUC
    >>> X, y = make_classification(weights=[0.9], random_state=0)
    >>> round(UnivariateAUC(alpha=0.1).fit(X, y).score(X, y), 2)
    1.0
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "alpha": [POSITIVE],
        "loss": [StrOptions(set(LOSSES))],
        "tol": [POSITIVE],
        "max_iter": [COUNT],
        "warm_start": ["boolean"],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        alpha: float = 1e-3,
        *,
        loss: str = "logistic",
        tol: float = 1e-3,
        max_iter: int = 1000,
        warm_start: bool = False,
        verbose: int = 0,
    ) -> None:
        self.alpha = alpha
        self.loss = loss
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.verbose = verbose

    def _fit(self, inputs: FitInputs) -> Result:
        loss = LOSSES[self.loss]()
        result = nonlinear_cg(
            Problem(LocalDesign(inputs.X), loss, inputs.is_pos, inputs.weight),
            self.alpha,
            start=self._start(inputs.X.shape[1]),
            tol=self.tol,
            max_iter=self.max_iter,
            on_step=self._on_step(),
        )
        self._store(result, inputs)
        return result
