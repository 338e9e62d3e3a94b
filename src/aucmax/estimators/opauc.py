# SPDX-License-Identifier: BSD-3-Clause
"""The pairwise square loss in one pass."""

from typing import Any, ClassVar

import numpy as np
from sklearn.utils.metaestimators import available_if

from aucmax._utils.typing import Matrix
from aucmax._utils.validation import COUNT, POSITIVE, StrOptions
from aucmax.estimators._online_base import OnlineLinear
from aucmax.estimators._reduction import choose_projection
from aucmax.solvers.closed_form import MANY_FEATURES
from aucmax.solvers.online.base import Learner
from aucmax.solvers.online.exact import ExactLearner
from aucmax.solvers.online.low_rank import LowRankExact, LowRankGradient
from aucmax.solvers.online.opauc import GradientLearner
from aucmax.solvers.online.reduced import Reduced

# What "auto" means: the rank of the paper, and a penalty known before the first row.
PAPER_RANK = 50
GRADIENT_ALPHA = 1e-3


def _is_online(estimator: Any) -> bool:
    """Say whether no rows are needed to begin; raise why not."""
    if estimator.reduce == "pca":
        raise AttributeError(
            "OPAUC(reduce='pca') has no partial_fit: it needs all rows to find their "
            "principal components. Use reduce='projection', which needs none, or fit."
        )
    return True


class OPAUC(OnlineLinear):
    r"""Linear scorer from one pass over the rows, which are not kept.

    Minimises the mean over all pairs of a positive and a negative row

    .. math:: (1 - (s_+ - s_-))^2 + \frac{\alpha}{2} \|w\|^2, \quad s = X w,

    as :class:`LeastSquaresAUC` does, from the count, mean and covariance of each class,
    to which every row is added as it comes.

    Parameters
    ----------
    alpha : "auto" or float, default="auto"
        Strength of the penalty, relative to the mean over pairs. "auto" is 2e-4 of
        the mean squared distance between a positive and a negative row, 1e-4 of it with
        sketches, and 1e-3 for "gradient".
    solver : {"exact", "gradient"}, default="exact"
        "exact" solves for the minimum over all rows so far when scores are asked for:
        no step size, and the order of the rows does not matter. "gradient" makes one
        step per row, as in the paper.
    rank : "auto", int or None, default="auto"
        None keeps the covariances, two matrices of ``n_features`` squared. A number
        keeps random sketches of that rank instead, for thousands of features and more;
        of sparse rows only the nonzeros are touched. The paper has 50, as has "auto"
        for more than 4,096 features; for fewer it is None.
    reduce : {"features", "projection", "pca"}, default=None
        Work on ``n_components`` features instead: some drawn at random, random
        combinations of all, or the principal components of the rows given to ``fit``.
    n_components : int, default=1000
        How many; no more than there are features.
    step_size : "auto" or float, default="auto"
        Of "gradient". "auto" divides each gradient by the curvature of the loss so far,
        which cannot diverge, and averages the weights of all steps, later ones more. A
        number is that of the paper: the same in all steps, and the weights after the
        last are the model.
    shuffle : bool, default=True
        Whether ``fit`` takes the rows in random order, which "gradient" needs.
        ``partial_fit`` never does.
    random_state : int, RandomState instance or None, default=None
        Draws order, sketches and reduced features. Pass an int for reproducible fits.
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
        Rows learned so far.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, when X has string names.

    See Also
    --------
    LeastSquaresAUC : The same solution from all rows at once, with weights.
    AdaOAM : The same gradient with a step size per feature.

    Notes
    -----
    With ``rank=None`` memory is two matrices of ``n_features`` squared. A row takes,
    however many came before, about as long as a product of one of them with a vector
    ("gradient"), or a share of a product of matrices ("exact"), which then solves once
    per change when scores are asked for.

    The paper writes half the loss and :math:`\frac{\lambda}{2} \|w\|^2`, so
    ``alpha`` is twice its :math:`\lambda`; ``step_size`` is its :math:`\eta`.

    There is no ``sample_weight``: a step of "gradient" with a weight is not the same as
    several steps. :class:`LeastSquaresAUC` has one.

    With ``rank`` a number, "gradient" keeps the sketch of the paper. "exact" keeps
    another one, not in the paper, whose sketch fails on its own: covariances in random
    directions, and the variance of every feature. Below some thousand features,
    ``rank=None`` is better.

    References
    ----------
    Gao, Jin, Zhu and Zhou, "One-Pass AUC Optimization", 2013. The update of the
    covariance printed there is not one; the sketch is centred here.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from aucmax import OPAUC
    >>> X, y = make_classification(1000, weights=[0.9], random_state=0)
    >>> model = OPAUC()
    >>> for low in range(0, 1000, 100):
    ...     part = slice(low, low + 100)
    ...     model = model.partial_fit(X[part], y[part], classes=[0, 1])
    >>> round(model.score(X, y), 2)
    0.98
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "alpha": [POSITIVE, StrOptions({"auto"})],
        "solver": [StrOptions({"exact", "gradient"})],
        "rank": [COUNT, None, StrOptions({"auto"})],
        "reduce": [StrOptions({"features", "projection", "pca"}), None],
        "n_components": [COUNT],
        "step_size": [POSITIVE, StrOptions({"auto"})],
        "shuffle": ["boolean"],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }

    def __init__(  # noqa: PLR0913
        self,
        alpha: float | str = "auto",
        *,
        solver: str = "exact",
        rank: int | str | None = "auto",
        reduce: str | None = None,
        n_components: int = 1000,
        step_size: float | str = "auto",
        shuffle: bool = True,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.alpha = alpha
        self.solver = solver
        self.rank = rank
        self.reduce = reduce
        self.n_components = n_components
        self.step_size = step_size
        self.shuffle = shuffle
        self.random_state = random_state
        self.verbose = verbose

    partial_fit = available_if(_is_online)(OnlineLinear.partial_fit)

    def _begin(self, X: Matrix, rng: np.random.Generator) -> Learner:
        if self.reduce is None:
            return self._begin_plain(X.shape[1], rng)
        size = min(self.n_components, X.shape[1])
        projection = choose_projection(self.reduce, X, size, rng)
        return Reduced(self._begin_plain(size, rng), projection)

    def _begin_plain(self, n_features: int, rng: np.random.Generator) -> Learner:
        step_size = None if isinstance(self.step_size, str) else self.step_size
        alpha = None if isinstance(self.alpha, str) else self.alpha
        rank = self.rank
        if isinstance(rank, str):
            rank = PAPER_RANK if n_features > MANY_FEATURES else None
        if self.solver == "exact":
            if rank is None:
                return ExactLearner(n_features, alpha=alpha)
            return LowRankExact(n_features, rank=rank, alpha=alpha, rng=rng)
        alpha = GRADIENT_ALPHA if alpha is None else alpha
        if rank is None:
            return GradientLearner(n_features, alpha=alpha, step_size=step_size)
        return LowRankGradient(
            n_features, rank=rank, alpha=alpha, step_size=step_size, rng=rng
        )
