# SPDX-License-Identifier: BSD-3-Clause
"""The pairwise hinge loss with a Gaussian kernel in one pass, on a budget."""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from aucmax import _kernels
from aucmax._utils.typing import Matrix, is_sparse
from aucmax._utils.validation import (
    COUNT,
    POSITIVE,
    SHARE,
    StrOptions,
)
from aucmax.estimators._online_base import OnlineScorer
from aucmax.solvers.online.base import Learner
from aucmax.solvers.online.oilk import OILKLearner


class OILK(OnlineScorer):
    r"""Kernel scorer that learns row by row and keeps few rows of each class.

    Scores are :math:`f(x) = \sum_i a_i k(x, s_i)` with :math:`k(x, s) = \exp(-\gamma |x
    - s|^2)`. A row :math:`x` of class :math:`y = \pm 1` is compared with the support
    rows of the other class; :math:`V` are those with a loss :math:`\ell_i = 1 - y (f(x)
    - f(s_i)) > 0`. Then all weights shrink to :math:`(1 - \eta) a_i`, those of
    :math:`V` lose :math:`\eta C_t y`, and :math:`x` becomes a support row with weight
    :math:`\eta C_t |V| y`, where :math:`C_t = C \max(1, M / N)` and M is the number of
    rows of the other class so far.

    Parameters
    ----------
    policy : {"reservoir", "fifo"}, default="reservoir"
        Which rows are kept once there are ``budget`` of a class: a uniform sample of
        all so far, or the latest.
    budget : int, default=100
        N, support rows kept of each class.
    n_neighbors : int, default=None
        Compare a row only with that many of V, the nearest. None compares with all.
        Once the budget is used up this needs ``compensate=True``: weights that are
        dropped then leave the classes unbalanced, and AUCs below 0.5 have been seen.
    compensate : bool, default=False
        Whether the weight of a row that is not kept goes to the support row of its
        class that is nearest to it, instead of being dropped. That gains 0.01 to 0.05
        AUC on most sets once the budget is used up; OILK in the papers does not do it.
    gamma : "auto" or float, default="auto"
        Inverse width of the kernel. "auto" is one over the mean squared distance of the
        first 100 rows to their mean; they are learned as soon as they are there.
    step_size : "auto" or float, default="auto"
        :math:`\eta`. A number forgets all but the latest :math:`1 / \eta` rows; the
        paper has 0.01. "auto" takes :math:`\min(1/200, 2/t)` at row t, so that all rows
        count; the first of both for "fifo".
    loss_weight : "auto" or float, default="auto"
        :math:`C`. "auto" takes :math:`10 \sqrt{\max(t, 400)} / t` at row t, times
        :math:`t^2 / (4 n_+ n_-)`, at most 25, for classes of different sizes.
    loss : {"hinge", "squared_hinge"}, default="hinge"
        With the squared hinge, steps are :math:`2 \ell_i` times as long; an automatic
        ``loss_weight`` then keeps :math:`\eta C_t |V|` below 1/4, for stable steps.
    shuffle : bool, default=True
        Whether ``fit`` takes the rows in random order. ``partial_fit`` never does.
    random_state : int, RandomState instance or None, default=None
        Draws order and sample. Pass an int for reproducible fits.
    verbose : int, default=0
        1 writes lines of progress to standard error.

    Attributes
    ----------
    basis_ : ndarray or sparse matrix of shape (n_basis, n_features)
        Support rows, those of ``classes_[0]`` first; CSR if the rows learned were.
    dual_coef_ : ndarray of shape (1, n_basis)
        Their weights.
    gamma_ : float
        Inverse width of the kernel.
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
    OAM : Linear scores.
    SparseKernelAUC : Few support rows too, chosen from all rows at once.

    Notes
    -----
    A row takes 2 N kernel values and N sums of 2 N; the kernel between support rows, 4
    N^2 values, is kept. ``step_size=0.01, loss_weight=1.0`` is OILK as in the papers;
    ``n_neighbors=10`` makes it KOIL, and ``compensate=True`` KOIL++. There is no
    ``sample_weight``: a step with a weight is not the same as several.

    References
    ----------
    Hu, Yang, King and Lyu, "Kernelized Online Imbalanced Learning with Fixed Budgets",
    2015.

    Examples
    --------
    >>> from sklearn.datasets import make_circles
    >>> from aucmax import OILK
    >>> X, y = make_circles(1000, noise=0.1, factor=0.5, random_state=0)
    >>> model = OILK(random_state=0)
    >>> for low in range(0, 1000, 100):
    ...     part = slice(low, low + 100)
    ...     model = model.partial_fit(X[part], y[part], classes=[0, 1])
    >>> model.score(X, y) > 0.99
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "policy": [StrOptions({"reservoir", "fifo"})],
        "budget": [COUNT],
        "n_neighbors": [COUNT, None],
        "compensate": ["boolean"],
        "gamma": [POSITIVE, StrOptions({"auto"})],
        "step_size": [SHARE, StrOptions({"auto"})],
        "loss_weight": [POSITIVE, StrOptions({"auto"})],
        "loss": [StrOptions({"hinge", "squared_hinge"})],
        "shuffle": ["boolean"],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }

    def __init__(  # noqa: PLR0913
        self,
        *,
        policy: str = "reservoir",
        budget: int = 100,
        n_neighbors: int | None = None,
        compensate: bool = False,
        gamma: float | str = "auto",
        step_size: float | str = "auto",
        loss_weight: float | str = "auto",
        loss: str = "hinge",
        shuffle: bool = True,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.policy = policy
        self.budget = budget
        self.n_neighbors = n_neighbors
        self.compensate = compensate
        self.gamma = gamma
        self.step_size = step_size
        self.loss_weight = loss_weight
        self.loss = loss
        self.shuffle = shuffle
        self.random_state = random_state
        self.verbose = verbose

    @property
    def basis_(self) -> Matrix:
        """Support rows."""
        return self._model.basis

    @property
    def dual_coef_(self) -> NDArray[Any]:
        """Weights of the support rows, of shape (1, n_basis)."""
        coef: NDArray[Any] = self._model.coef
        return coef[None, :]

    @property
    def gamma_(self) -> float:
        """Inverse width of the kernel."""
        return float(self._model.gamma)

    def _begin(self, X: Matrix, rng: np.random.Generator) -> Learner:
        settings = _kernels.oilk.Settings(
            gamma=_number(self.gamma),
            step_size=_number(self.step_size),
            loss_weight=_number(self.loss_weight),
            n_neighbors=int(self.n_neighbors or 0),
            is_squared=self.loss == "squared_hinge",
            is_fifo=self.policy == "fifo",
            compensate=bool(self.compensate),
        )
        n_features, sparse_rows = X.shape[1], is_sparse(X)
        return OILKLearner(
            n_features, settings, sparse_rows=sparse_rows, budget=self.budget, rng=rng
        )


def _number(value: float | str) -> float:
    """Return the number, or zero for "auto"."""
    return 0.0 if isinstance(value, str) else float(value)
