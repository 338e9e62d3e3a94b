# SPDX-License-Identifier: BSD-3-Clause
"""The pairwise square loss as a saddle point, one cheap step per row."""

from typing import Any, ClassVar

import numpy as np

from aucmax._utils.typing import Matrix
from aucmax._utils.validation import COUNT, POSITIVE, StrOptions
from aucmax.estimators._online_base import OnlineLinear
from aucmax.solvers.online.solam import SaddlePointLearner


class SOLAM(OnlineLinear):
    r"""Linear scorer from steps that cost no more than reading the row.

    Moves towards the minimum of the mean over all pairs of a positive and a negative
    row

    .. math:: (1 - (s_+ - s_-))^2 + \frac{\alpha}{2} \|w\|^2, \quad s = X w,

    or of the first term alone within a ball. Neither rows nor covariances are kept:
    given the mean scores of both classes the loss of a pair is a sum over its two rows.
    The model is the average of the weights over all steps. It tends to that of
    :class:`LeastSquaresAUC`, which is faster up to some hundreds of features.

    Parameters
    ----------
    alpha : float, default=1e-3
        Strength of the penalty, relative to the mean over pairs. Not used by "ball".
    penalty : {"l2", "ball"}, default="l2"
        "l2" is the objective above, within the ball of radius ``sqrt(2 / alpha)`` in
        which its minimum must lie: regSOLAM in the paper. "ball" has no other penalty
        than the norm of the weights being at most ``radius``: SOLAM.
    radius : float, default=100.0
        Of "ball".
    duals : {"exact", "paper"}, default="exact"
        How the mean scores of the classes are found. "exact" keeps the mean row of each
        class; the mean of all rows is then subtracted from every row, which changes no
        difference of scores but lets features far from zero do no harm. "paper" learns
        them by steps of their own, on rows as they are.
    step_size : "auto" or float, default="auto"
        "auto" takes constant steps, half of the largest stable one ("paper": an
        eighth), found from the running sizes of the rows of both classes, so that rows
        may have any scale; the average has equal weights. A number is ``zeta`` in the
        papers: step t is ``zeta / sqrt(t)``, which is also its weight in the average.
    n_passes : int, default=1
        How often ``fit`` goes over its rows. The papers have 15.
    shuffle : bool, default=True
        Whether ``fit`` takes the rows in a new random order in every pass.
        ``partial_fit`` never does.
    random_state : int, RandomState instance or None, default=None
        Draws the order. Pass an int for reproducible fits.
    verbose : int, default=0
        1 writes lines of progress to standard error.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features)
        Weights of the features.
    intercept_ : ndarray of shape (1,)
        Minus the threshold with the best balanced accuracy on a sample of at most 256
        rows of each class.
    classes_ : ndarray of shape (2,)
        The labels; ``classes_[1]`` is the positive one.
    n_samples_seen_ : int
        Rows learned so far, those of later passes included.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, when X has string names.

    See Also
    --------
    LeastSquaresAUC : The minimum itself, from all rows at once.
    OPAUC : The minimum for all rows so far, with covariances.

    Notes
    -----
    The papers' method is ``duals="paper"`` with a number as ``step_size``, on rows
    divided by their norms: put :class:`sklearn.preprocessing.Normalizer` before it in a
    pipeline. Weights start at zero, and not in a corner of the ball. A pipeline with
    :class:`Nystroem` before it is NSOLAM. CSR rows cost their nonzeros, whatever the
    number of features. There is no ``sample_weight``: a step with a weight is not the
    same as several steps.

    References
    ----------
    Ying, Wen and Lyu, "Stochastic Online AUC Maximization", 2016. Natole, Ying and Lyu,
    "Stochastic AUC Optimization Algorithms With Linear Convergence", 2019; the penalty
    printed there lacks a factor p (1 - p), which is in place here.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from aucmax import SOLAM
    >>> X, y = make_classification(1000, weights=[0.9], random_state=0)
    >>> model = SOLAM()
    >>> for low in range(0, 1000, 100):
    ...     part = slice(low, low + 100)
    ...     model = model.partial_fit(X[part], y[part], classes=[0, 1])
    >>> round(model.score(X, y), 2)
    0.98
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "alpha": [POSITIVE],
        "penalty": [StrOptions({"l2", "ball"})],
        "radius": [POSITIVE],
        "duals": [StrOptions({"exact", "paper"})],
        "step_size": [POSITIVE, StrOptions({"auto"})],
        "n_passes": [COUNT],
        "shuffle": ["boolean"],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }

    def __init__(  # noqa: PLR0913
        self,
        alpha: float = 1e-3,
        *,
        penalty: str = "l2",
        radius: float = 100.0,
        duals: str = "exact",
        step_size: float | str = "auto",
        n_passes: int = 1,
        shuffle: bool = True,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.alpha = alpha
        self.penalty = penalty
        self.radius = radius
        self.duals = duals
        self.step_size = step_size
        self.n_passes = n_passes
        self.shuffle = shuffle
        self.random_state = random_state
        self.verbose = verbose

    def _begin(self, X: Matrix, rng: np.random.Generator) -> SaddlePointLearner:
        is_ball = self.penalty == "ball"
        return SaddlePointLearner(
            X,
            alpha=0.0 if is_ball else self.alpha,
            radius=self.radius if is_ball else (2.0 / self.alpha) ** 0.5,
            step_size=None if isinstance(self.step_size, str) else self.step_size,
            exact_duals=self.duals == "exact",
        )
