# SPDX-License-Identifier: BSD-3-Clause
"""Linear RankSVM over all pairs."""

from typing import Any, ClassVar

from numpy.typing import ArrayLike

from aucmax._utils.checkpoint import Checkpoint
from aucmax._utils.typing import FloatArray
from aucmax._utils.validation import (
    COUNT,
    POSITIVE,
    StrOptions,
    check_fit_inputs,
    restore_attributes_on_error,
    validated,
)
from aucmax.design import Design, LocalDesign
from aucmax.estimators._base import LinearScorer, TrainingRows
from aucmax.losses import Hinge, SquaredHinge
from aucmax.solvers.base import Problem, Result
from aucmax.solvers.bundle import bundle
from aucmax.solvers.nonlinear_cg import nonlinear_cg
from aucmax.streams.passes import check_source, resume_fit
from aucmax.streams.source import Source, name_features


class RankSVM(LinearScorer):
    r"""Linear scorer that ranks positives above negatives by a margin.

    Minimises the mean over all pairs of a positive and a negative row

    .. math:: \ell(1 - (s_+ - s_-)) + \frac{\alpha}{2} \|w\|^2, \quad s = X w

    with :math:`\ell(m) = \max(0, m)^2` (``loss="squared_hinge"``, by truncated Newton)
    or :math:`\max(0, m)` (``loss="hinge"``, by a bundle method with a certified gap).
    All pairs count, at the cost of one sort: a pass takes O(n d + n log n). There is no
    intercept in the objective, because it cancels in every pair.

    Parameters
    ----------
    alpha : float, default=1e-3
        Strength of the penalty, relative to the mean over pairs, so that it means the
        same for any number of rows. A paper's ``C`` times the *sum* over pairs equals
        ``alpha = 1 / (C * n_pos * n_neg)``. See :class:`RankSVMCV` to have it chosen.
    loss : {"squared_hinge", "hinge"}, default="squared_hinge"
        The squared hinge is smooth and several times faster to fit; the rankings are
        usually alike.
    tol : float, default=1e-3
        Relative accuracy of the objective. The hinge stops when the gap is proved to be
        below it, the squared hinge when Newton's model estimates it to be.
    max_iter : int, default=1000
        Most Newton or bundle steps.
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
        Steps taken.
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
    RankSVMCV : Chooses ``alpha`` by cross-validation along a path.
    LeastSquaresAUC : The square loss instead, in closed form.

    Notes
    -----
    Extra memory is about a dozen vectors of n floats (squared hinge, dense rows); X is
    not copied when it is a float64 or float32 array or CSR. Features should have
    comparable scales, for example through ``StandardScaler``; the hinge in particular
    takes very long where one column is a thousand times as wide as the others.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from aucmax import RankSVM
    >>> X, y = make_classification(weights=[0.9], random_state=0)
    >>> model = RankSVM(alpha=0.01).fit(X, y)
    >>> round(model.score(X, y), 3)
    1.0
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "alpha": [POSITIVE],
        "loss": [StrOptions({"squared_hinge", "hinge"})],
        "tol": [POSITIVE],
        "max_iter": [COUNT],
        "warm_start": ["boolean"],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        alpha: float = 1e-3,
        *,
        loss: str = "squared_hinge",
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

    @validated
    def fit(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> "RankSVM":
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
        self : RankSVM
            The fitted estimator.
        """
        with restore_attributes_on_error(self):
            inputs = check_fit_inputs(self, X, y, sample_weight)
            start = self._start(inputs.X.shape[1])
            self._store(self._solve(LocalDesign(inputs.X), inputs, start), inputs)
        return self

    @validated
    def fit_stream(
        self, source: Source, *, checkpoint: Checkpoint | None = None
    ) -> "RankSVM":
        """Fit the weights to rows that are never all in memory.

        The coefficients are those of ``fit``, to rounding (``loss="hinge"``: the
        objective, to ``tol``; float32: to its digits). About a dozen vectors with
        one number per row are held, and one or two batches; every step of the solver
        reads all batches a few times.

        Parameters
        ----------
        source : re-iterable of (X, y) or (X, y, sample_weight)
            Batches of rows, the same ones each time it is iterated over: a list, or
            what :func:`aucmax.io.read_batches` returns. A batch may hold one class
            only.
        checkpoint : Checkpoints, default=None
            Where to keep the state after each step, and to go on from; see
            :class:`aucmax.io.Checkpoints`. Only with ``loss="squared_hinge"``.

        Returns
        -------
        self : RankSVM
            The fitted estimator.

        Examples
        --------
        >>> from sklearn.datasets import make_classification
        >>> from aucmax import RankSVM
        >>> X, y = make_classification(weights=[0.9], random_state=0)
        >>> source = [(X[:60], y[:60]), (X[60:], y[60:])]
        >>> model = RankSVM(alpha=0.01).fit_stream(source)
        >>> round(model.score(X, y), 3)
        1.0
        """
        if checkpoint is not None and self.loss == "hinge":
            raise ValueError(
                'checkpoint= works with loss="squared_hinge", but loss="hinge" was '
                "chosen, whose solver keeps too much. Choose the former, or leave "
                "checkpoint= out."
            )
        with restore_attributes_on_error(self):
            inputs = check_source(self, source, checkpoint)
            start = self._start(inputs.shape[1])
            result = self._solve(
                inputs.design(),
                inputs,
                start,
                checkpointing=resume_fit(self, inputs, checkpoint),
            )
            self._store(result, inputs)
            name_features(self, source)
        return self

    def _solve(
        self,
        design: Design,
        rows: TrainingRows,
        start: FloatArray | None,
        **resumed: Any,
    ) -> Result:
        shared: dict[str, Any] = {
            "start": start,
            "tol": self.tol,
            "max_iter": self.max_iter,
            "on_step": self._on_step(),
        }
        if self.loss == "hinge":
            problem = Problem(design, Hinge(), rows.is_pos, rows.weight)
            return bundle(problem, self.alpha, **shared)
        problem = Problem(design, SquaredHinge(), rows.is_pos, rows.weight)
        return nonlinear_cg(problem, self.alpha, **shared, **resumed)
