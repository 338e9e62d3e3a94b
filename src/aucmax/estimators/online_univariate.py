# SPDX-License-Identifier: BSD-3-Clause
"""Class-balanced losses of single rows, one cheap step per row."""

from typing import Any, ClassVar

import numpy as np

from aucmax._utils.typing import Matrix
from aucmax._utils.validation import COUNT, POSITIVE, StrOptions
from aucmax.estimators._online_base import OnlineLinear
from aucmax.solvers.online.univariate import LOSSES, Loss, UnivariateLearner


class OnlineUnivariate(OnlineLinear):
    r"""Linear scorer from steps on a class-balanced loss of single rows.

    Moves towards the minimum over weights and an intercept :math:`b` of

    .. math:: \tfrac12 \big(\operatorname{mean}_{+}\, \ell(s + b)
        + \operatorname{mean}_{-}\, \ell(-s - b)\big) + \frac{\alpha}{2} \|w\|^2

    with :math:`\ell(m) = e^{-m}`, :math:`(1 - m)^2 / 2` or :math:`\log(1 + e^{-m})`, as
    :class:`UnivariateAUC` does from all rows at once. A row is weighted with half the
    inverse of the share of its class so far.

    Parameters
    ----------
    alpha : float, default=1e-3
        Strength of the penalty, relative to the balanced mean over rows (a loss of
        single rows has no mean over pairs).
    loss : {"exponential", "square", "logistic"}, default="exponential"
        The exponential loss is that of Uni-Exp in the papers.
    step_size : "auto" or float, default="auto"
        "auto" takes constant steps, half of the largest stable one for the square loss,
        found from the running sizes of the rows of both classes, so that rows may have
        any scale. A number is a constant step as in the papers.
    fit_intercept : bool, default=True
        Whether an intercept is learned with the weights. It helps to learn them; the
        ``intercept_`` of the fitted model is our threshold.
    center : bool, default=True
        Whether the mean of the rows so far is subtracted from each. That only moves the
        intercept, but rows far from the origin need far smaller steps. False, as in the
        papers, makes steps on rows as they are.
    average : bool, default=True
        Whether the weights are the average over all steps; False takes the last, as in
        the papers.
    max_class_weight : float, default=100.0
        Largest weight of a row.
    n_passes : int, default=1
        How often ``fit`` goes over its rows.
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
    UnivariateAUC : The minimum itself, from all rows at once, with weights.
    SOLAM : Steps of the same cost on the pairwise square loss.

    Notes
    -----
    A step on the exponential loss is cut where its exponent is above 30 or where it
    moves the weights further than 10; with "auto", every step where it changes the
    score of its own row by more than 2. CSR rows cost their nonzeros, whatever the
    number of features. There is no ``sample_weight``: a step with a weight is not the
    same as several steps.

    References
    ----------
    Kotlowski, Dembczynski and Huellermeier, "Bipartite Ranking through Minimization of
    Univariate Loss", 2011.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from aucmax import OnlineUnivariate
    >>> X, y = make_classification(1000, weights=[0.9], random_state=0)
    >>> model = OnlineUnivariate()
    >>> for low in range(0, 1000, 100):
    ...     part = slice(low, low + 100)
    ...     model = model.partial_fit(X[part], y[part], classes=[0, 1])
    >>> round(model.score(X, y), 2)
    0.98
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "alpha": [POSITIVE],
        "loss": [StrOptions(set(LOSSES))],
        "step_size": [POSITIVE, StrOptions({"auto"})],
        "fit_intercept": ["boolean"],
        "center": ["boolean"],
        "average": ["boolean"],
        "max_class_weight": [POSITIVE],
        "n_passes": [COUNT],
        "shuffle": ["boolean"],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }

    def __init__(  # noqa: PLR0913
        self,
        alpha: float = 1e-3,
        *,
        loss: Loss = "exponential",
        step_size: float | str = "auto",
        fit_intercept: bool = True,
        center: bool = True,
        average: bool = True,
        max_class_weight: float = 100.0,
        n_passes: int = 1,
        shuffle: bool = True,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.alpha = alpha
        self.loss = loss
        self.step_size = step_size
        self.fit_intercept = fit_intercept
        self.center = center
        self.average = average
        self.max_class_weight = max_class_weight
        self.n_passes = n_passes
        self.shuffle = shuffle
        self.random_state = random_state
        self.verbose = verbose

    def _begin(self, X: Matrix, rng: np.random.Generator) -> UnivariateLearner:
        return UnivariateLearner(
            X,
            loss=self.loss,
            alpha=self.alpha,
            step_size=None if isinstance(self.step_size, str) else self.step_size,
            fit_intercept=bool(self.fit_intercept),
            center=bool(self.center),
            max_class_weight=self.max_class_weight,
            average=bool(self.average),
        )
