# SPDX-License-Identifier: BSD-3-Clause
"""The pairwise hinge loss in one pass, with a buffer of rows of each class."""

from typing import Any, ClassVar

import numpy as np

from aucmax._utils.typing import Matrix, is_sparse
from aucmax._utils.validation import COUNT, POSITIVE, StrOptions
from aucmax.estimators._online_base import OnlineLinear
from aucmax.solvers.online.base import Learner
from aucmax.solvers.online.oam import OAMLearner


class OAM(OnlineLinear):
    r"""Linear scorer that compares each row with a few kept rows of the other class.

    A uniform sample of the rows so far is kept of each class. A row :math:`x` of class
    :math:`y = \pm 1` makes steps on the hinge losses :math:`\ell = \max(0, 1 - y w^\top
    u)` of its pairs with the rows kept of the other class, :math:`u = x - x_i`.

    Parameters
    ----------
    update : {"sequential", "gradient"}, default="sequential"
        "sequential" makes one step :math:`\min(C_t / 2, \ell / |u|^2) \, y u` per pair,
        each from the weights that the last one left. "gradient" makes one step for all
        pairs together, :math:`C_t / 2` times the sum of :math:`y u` over those with a
        loss. :math:`C_t = C \max(1, M / N)` for N rows kept out of M.
    buffer_size : int, default=100
        N, rows kept of each class.
    step_size : "auto" or float, default="auto"
        C of the paper. "auto" takes :math:`C = 3 / (t v)` at row t, where v is the mean
        squared distance :math:`|u|^2` of all pairs so far: no tuning, whatever the
        scale of the features.
    average : bool, default=True
        Whether the model is the mean of the weights after each row. The last weights,
        the model of the paper, follow the last few rows of the smaller class.
    shuffle : bool, default=True
        Whether ``fit`` takes the rows in random order. ``partial_fit`` never does.
    random_state : int, RandomState instance or None, default=None
        Draws order and sample. Pass an int for reproducible fits.
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
    OPAUC : The square loss of all pairs, without a buffer.
    OILK : Kernels in place of linear scores.
    Nystroem : In a pipeline with it, kernels as well (NOAM).

    Notes
    -----
    A row takes time proportional to ``buffer_size * n_features``, and of sparse rows
    only nonzeros are kept and touched. ``step_size`` of a constant and
    ``average=False`` are the paper's algorithm; its grid for C, 2^-10 to 2^10, ends
    where the best values of most sets begin. There is no ``sample_weight``: a step with
    a weight is not the same as several steps.

    References
    ----------
    Zhao, Hoi, Jin and Yang, "Online AUC Maximization", 2011.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from aucmax import OAM
    >>> X, y = make_classification(1000, weights=[0.9], random_state=0)
    >>> model = OAM(random_state=0)
    >>> for low in range(0, 1000, 100):
    ...     part = slice(low, low + 100)
    ...     model = model.partial_fit(X[part], y[part], classes=[0, 1])
    >>> model.score(X, y) > 0.93
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "update": [StrOptions({"sequential", "gradient"})],
        "buffer_size": [COUNT],
        "step_size": [POSITIVE, StrOptions({"auto"})],
        "average": ["boolean"],
        "shuffle": ["boolean"],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        *,
        update: str = "sequential",
        buffer_size: int = 100,
        step_size: float | str = "auto",
        average: bool = True,
        shuffle: bool = True,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.update = update
        self.buffer_size = buffer_size
        self.step_size = step_size
        self.average = average
        self.shuffle = shuffle
        self.random_state = random_state
        self.verbose = verbose

    def _begin(self, X: Matrix, rng: np.random.Generator) -> Learner:
        return OAMLearner(
            X.shape[1],
            sparse_rows=is_sparse(X),
            is_sequential=self.update == "sequential",
            buffer_size=self.buffer_size,
            step_size=None if isinstance(self.step_size, str) else self.step_size,
            average=self.average,
            rng=rng,
        )
