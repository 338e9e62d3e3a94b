# SPDX-License-Identifier: BSD-3-Clause
"""The pairwise square loss in closed form."""

from typing import Any, ClassVar

from numpy.typing import ArrayLike

from aucmax._utils.typing import is_sparse
from aucmax._utils.validation import (
    COUNT,
    POSITIVE,
    FitInputs,
    StrOptions,
    all_or_nothing,
    check_fit_inputs,
    validated,
)
from aucmax.design import LocalDesign
from aucmax.estimators._base import LinearScorer
from aucmax.solvers._base import Result
from aucmax.solvers.closed_form import collect_moments, solve_implicit, solve_moments

# Up to these many features a d x d matrix is cheaper than many passes over the rows.
DIRECT_DENSE = 4096
DIRECT_SPARSE = 512


class LeastSquaresAUC(LinearScorer):
    r"""Linear scorer that pulls every pair to a difference of one, in closed form.

    Minimises the mean over all pairs of

    .. math:: (1 - (s_+ - s_-))^2 + \frac{\alpha}{2} \|w\|^2, \quad s = X w,

    which depends on the rows only through class means and covariances:
    :math:`(S_+ + S_- + \delta\delta^\top + \frac{\alpha}{2} I) w = \delta` with
    :math:`\delta = \bar x_+ - \bar x_-`. The direction is that of a regularised Fisher
    discriminant.

    Parameters
    ----------
    alpha : float, default=1e-3
        Strength of the penalty, relative to the mean over pairs.
    solver : {"auto", "direct", "cg"}, default="auto"
        "direct" forms the covariances, O(n d^2 + d^3), one pass. "cg" never forms them,
        two passes a step: for many or sparse features. "auto" decides by their number.
    tol : float, default=1e-8
        Relative residual at which "cg" stops.
    max_iter : int, default=10000
        Most steps of "cg".

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features)
        Weights of the features, in the precision of X.
    intercept_ : ndarray of shape (1,)
        Minus the threshold with the best balanced accuracy on the training rows.
    classes_ : ndarray of shape (2,)
        The labels; ``classes_[1]`` is the positive one.
    n_iter_ : int
        Steps taken; 1 for the direct solver.
    objective_ : float
        Value of the objective reached.
    history_ : list of Step
        Objective and passes over the rows after each step.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, when X has string names.

    See Also
    --------
    RankSVM : Ignores pairs that are far enough apart; often better, a little slower.
    SPDAM : The same solution by a stochastic method.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from aucmax import LeastSquaresAUC
    >>> X, y = make_classification(weights=[0.9], random_state=0)
    >>> round(LeastSquaresAUC().fit(X, y).score(X, y), 2)
    1.0
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "alpha": [POSITIVE],
        "solver": [StrOptions({"auto", "direct", "cg"})],
        "tol": [POSITIVE],
        "max_iter": [COUNT],
    }

    def __init__(
        self,
        alpha: float = 1e-3,
        *,
        solver: str = "auto",
        tol: float = 1e-8,
        max_iter: int = 10_000,
    ) -> None:
        self.alpha = alpha
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter

    @validated
    def fit(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> "LeastSquaresAUC":
        """Fit the weights.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training rows.
        y : array-like of shape (n_samples,)
            Labels, two distinct values; the larger is positive.
        sample_weight : array-like of shape (n_samples,), default=None
            A row of weight two counts as two rows, exactly; a pair weighs the product
            of its rows.

        Returns
        -------
        self : LeastSquaresAUC
            The fitted estimator.
        """
        with all_or_nothing(self):
            inputs = check_fit_inputs(self, X, y, sample_weight)
            self._store(self._solve(inputs), inputs)
        return self

    def _solve(self, inputs: FitInputs) -> Result:
        design = LocalDesign(inputs.X)
        limit = DIRECT_SPARSE if is_sparse(inputs.X) else DIRECT_DENSE
        direct = self.solver == "auto" and inputs.X.shape[1] <= limit
        if direct or self.solver == "direct":
            pos, neg = collect_moments(design, inputs.is_pos, inputs.weight)
            return solve_moments(pos, neg, alpha=self.alpha)
        return solve_implicit(
            design,
            inputs.is_pos,
            inputs.weight,
            alpha=self.alpha,
            tol=self.tol,
            max_iter=self.max_iter,
        )
