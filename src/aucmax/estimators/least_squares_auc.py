# SPDX-License-Identifier: BSD-3-Clause
"""The pairwise square loss in closed form."""

from typing import Any, ClassVar

from aucmax._utils.typing import is_sparse
from aucmax._utils.validation import COUNT, POSITIVE, FitInputs, StrOptions
from aucmax.design import Design, LocalDesign
from aucmax.estimators._base import LinearScorer, TrainingRows
from aucmax.estimators._fit import StreamedFit
from aucmax.solvers.base import Checkpointing, Result
from aucmax.solvers.closed_form import (
    MANY_FEATURES,
    auto_alpha,
    collect_moments,
    estimate_alpha,
    solve_implicit,
    solve_moments,
)
from aucmax.streams.passes import StreamInputs
from aucmax.summaries import ClassMoments

# Up to so many features of sparse rows, a d x d matrix is cheaper than many passes.
DIRECT_SPARSE = 512


class LeastSquaresAUC(StreamedFit, LinearScorer):
    r"""Linear scorer that pulls every pair to a difference of one, in closed form.

    Minimises the mean over all pairs of

    .. math:: (1 - (s_+ - s_-))^2 + \frac{\alpha}{2} \|w\|^2, \quad s = X w,

    which depends on the rows only through class means and covariances:
    :math:`(S_+ + S_- + \delta\delta^\top + \frac{\alpha}{2} I) w = \delta` with
    :math:`\delta = \bar x_+ - \bar x_-`. The direction is that of a regularised Fisher
    discriminant.

    Parameters
    ----------
    alpha : "auto" or float, default="auto"
        Strength of the penalty, relative to the mean over pairs. "auto" is 2e-4 of
        the mean squared distance between a positive and a negative row, so that it
        follows the scale of the features. "cg" estimates this distance.
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
    alpha_ : float
        Strength of the penalty that was used.
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

    Notes
    -----
    With ``fit_stream``, the direct solver reads all batches three times: to check them,
    for the moments, and for the threshold. Its checkpoints hold the moments after each
    batch; "cg" takes none.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from aucmax import LeastSquaresAUC
    >>> X, y = make_classification(weights=[0.9], random_state=0)
    >>> round(LeastSquaresAUC().fit(X, y).score(X, y), 2)
    1.0
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "alpha": [POSITIVE, StrOptions({"auto"})],
        "solver": [StrOptions({"auto", "direct", "cg"})],
        "tol": [POSITIVE],
        "max_iter": [COUNT],
    }

    def __init__(
        self,
        alpha: float | str = "auto",
        *,
        solver: str = "auto",
        tol: float = 1e-8,
        max_iter: int = 10_000,
    ) -> None:
        self.alpha = alpha
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter

    def _fit(self, inputs: FitInputs) -> Result:
        if self._is_direct(inputs.X.shape[1], is_sparse(inputs.X)):
            moments = collect_moments([inputs.X], inputs.is_pos, inputs.weight)
            return self._fit_moments(*moments, inputs)
        return self._fit_implicit(LocalDesign(inputs.X), inputs)

    def _fit_batches(
        self, inputs: StreamInputs, checkpointing: Checkpointing
    ) -> Result:
        if self._is_direct(inputs.shape[1], inputs.is_sparse):
            moments = collect_moments(
                inputs, inputs.is_pos, inputs.weight, *checkpointing
            )
            return self._fit_moments(*moments, inputs)
        if checkpointing.offer is not None:
            raise ValueError(
                f"checkpoint= works with the direct solver, but solver={self.solver!r} "
                f"means conjugate gradients for {inputs.shape[1]} features, which "
                'cannot be interrupted. Choose solver="direct", or leave checkpoint= '
                "out."
            )
        return self._fit_implicit(inputs.design(), inputs)

    def _is_direct(self, n_features: int, is_sparse: bool) -> bool:
        if self.solver != "auto":
            return self.solver == "direct"
        return n_features <= (DIRECT_SPARSE if is_sparse else MANY_FEATURES)

    def _fit_moments(
        self, pos: ClassMoments, neg: ClassMoments, rows: TrainingRows
    ) -> Result:
        alpha = self.alpha
        self.alpha_ = auto_alpha(pos, neg) if isinstance(alpha, str) else alpha
        result = solve_moments(pos, neg, alpha=self.alpha_)
        self._store(result, rows)
        return result

    def _fit_implicit(self, design: Design, rows: TrainingRows) -> Result:
        labels, alpha = (rows.is_pos, rows.weight), self.alpha
        if isinstance(alpha, str):
            alpha = estimate_alpha(design, *labels)
        self.alpha_ = alpha
        result = solve_implicit(
            design, *labels, alpha=alpha, tol=self.tol, max_iter=self.max_iter
        )
        self._store(result, rows)
        return result
