# SPDX-License-Identifier: BSD-3-Clause
"""OPAUC's gradient with a step size per feature."""

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval

from aucmax._utils.typing import Matrix
from aucmax._utils.validation import POSITIVE, StrOptions
from aucmax.estimators._online_base import OnlineLinear
from aucmax.solvers.online.ada_oam import AdaptiveLearner
from aucmax.solvers.online.base import Learner

NOT_NEGATIVE = Interval(Real, 0, None, closed="left")


class AdaOAM(OnlineLinear):
    r"""Linear scorer by one adaptive gradient step per row, which is not kept.

    Minimises the mean over all pairs of a positive and a negative row

    .. math:: (1 - (s_+ - s_-))^2 + \frac{\alpha}{2} \|w\|^2, \quad s = X w,

    as :class:`OPAUC` does, with the same gradient from the count, mean and covariance
    of each class. Each feature has its own step size, which falls with the gradients it
    has had, so rare features take long steps and frequent ones short.

    Parameters
    ----------
    alpha : float, default=1e-3
        Strength of the penalty, relative to the mean over pairs.
    sparse : bool, default=False
        Whether to add :math:`l_1 \|w\|_1` to the objective, after which some weights
        are exactly zero. The paper calls this SAdaOAM.
    l1 : float, default=0.01
        Strength of that penalty; only with ``sparse``. The paper's theta is half of it.
        Zeros cost AUC: on a9a, 0.01 leaves 72 % of the weights and loses 0.001, 0.1
        leaves 48 % and loses 0.018. Weights that noise moves at each step are seldom
        zero.
    step_size : "auto" or float, default="auto"
        "auto" follows the size of the rows and, unless ``sparse``, averages the weights
        of all steps, later ones more. A number is that of the paper, whose model is the
        weights after the last step.
    offset : float, default=0.5
        Added to the root of the sum of squared gradients, by which a step is divided.
        With ``step_size="auto"`` relative to the size of the rows.
    shuffle : bool, default=True
        Whether ``fit`` takes the rows in random order. ``partial_fit`` never does.
    random_state : int, RandomState instance or None, default=None
        Draws the order. Pass an int for reproducible fits.
    verbose : int, default=0
        1 writes lines of progress to standard error.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features)
        Weights of the features, dense also when ``sparse``;
        ``scipy.sparse.csr_array(model.coef_)`` keeps only those that are not zero.
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
    OPAUC : The minimum itself, or plain steps towards it; also for many features.

    Notes
    -----
    Memory is two matrices of ``n_features`` squared, and a row takes as long as a
    product of one with a vector, however many rows came before.

    There is no ``sample_weight``: a step with a weight is not the same as several
    steps.

    References
    ----------
    Ding, Zhao, Hoi and Ong, "An Adaptive Gradient Method for Online AUC Maximization",
    2015; "Adaptive Subgradient Methods for Online AUC Maximization", 2016. Steps out of
    the ball in which the minimum lies are scaled back, not projected in the metric of
    the step.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from aucmax import AdaOAM
    >>> X, y = make_classification(1000, weights=[0.9], random_state=0)
    >>> model = AdaOAM(random_state=0).fit(X, y)
    >>> round(model.score(X, y), 2)
    0.98
    >>> sparse = AdaOAM(sparse=True, l1=0.3, random_state=0).fit(X, y)
    >>> bool((sparse.coef_ != 0).sum() < 20)
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "alpha": [POSITIVE],
        "sparse": ["boolean"],
        "l1": [NOT_NEGATIVE],
        "step_size": [POSITIVE, StrOptions({"auto"})],
        "offset": [NOT_NEGATIVE],
        "shuffle": ["boolean"],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        alpha: float = 1e-3,
        *,
        sparse: bool = False,
        l1: float = 0.01,
        step_size: float | str = "auto",
        offset: float = 0.5,
        shuffle: bool = True,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.alpha = alpha
        self.sparse = sparse
        self.l1 = l1
        self.step_size = step_size
        self.offset = offset
        self.shuffle = shuffle
        self.random_state = random_state
        self.verbose = verbose

    def _begin(self, X: Matrix, rng: np.random.Generator) -> Learner:
        return AdaptiveLearner(
            X.shape[1],
            alpha=self.alpha,
            l1=self.l1 if self.sparse else 0.0,
            step_size=None if isinstance(self.step_size, str) else self.step_size,
            offset=self.offset,
            averaged=not self.sparse,
        )
