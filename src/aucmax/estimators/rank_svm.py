# SPDX-License-Identifier: BSD-3-Clause
"""Linear RankSVM over all pairs."""

from collections.abc import Callable, Iterable
from typing import Any, ClassVar

import numpy as np

from aucmax._utils.typing import FloatArray, Matrix
from aucmax._utils.validation import COUNT, POSITIVE, FitInputs, StrOptions
from aucmax.design import Design, LocalDesign
from aucmax.design.streamed import CHANGED
from aucmax.estimators._base import LinearScorer, TrainingRows
from aucmax.estimators._fit import StreamedFit
from aucmax.estimators._holdout import row_hashes
from aucmax.losses import Hinge, SquaredHinge
from aucmax.solvers.base import Checkpointing, Problem, Result
from aucmax.solvers.bundle import bundle
from aucmax.solvers.nonlinear_cg import NO_CHECKPOINTS, nonlinear_cg
from aucmax.solvers.path import default_alpha
from aucmax.streams.passes import StreamInputs
from aucmax.summaries import RowSpread


class RankSVM(StreamedFit, LinearScorer):
    r"""Linear scorer that ranks positives above negatives by a margin.

    Minimises the mean over all pairs of a positive and a negative row

    .. math:: \ell(1 - (s_+ - s_-)) + \frac{\alpha}{2} \|w\|^2, \quad s = X w

    with :math:`\ell(m) = \max(0, m)^2` (``loss="squared_hinge"``, by truncated Newton)
    or :math:`\max(0, m)` (``loss="hinge"``, by a bundle method with a certified gap).
    All pairs count, at the cost of one sort: a pass takes O(n d + n log n). There is no
    intercept in the objective, because it cancels in every pair.

    Parameters
    ----------
    alpha : "auto" or float, default="auto"
        Strength of the penalty, relative to the mean over pairs. "auto" is 0.7 times
        the mean squared distance between a positive and a negative row, divided by the
        number of different rows (but at least 700), so that it follows the scale of the
        features and falls as rows become more. A paper's ``C`` times the *sum* over
        pairs equals ``alpha = 1 / (C * n_pos * n_neg)``. See :class:`RankSVMCV` to have
        it chosen by cross-validation.
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
    alpha_ : float
        Strength of the penalty that was used.
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

    With ``fit_stream``, ``loss="hinge"`` reaches the same objective to ``tol``, and
    takes no checkpoints. About a dozen vectors with one number per row are held, and
    one or two batches; every step of the solver reads all batches a few times.

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
        "alpha": [POSITIVE, StrOptions({"auto"})],
        "loss": [StrOptions({"squared_hinge", "hinge"})],
        "tol": [POSITIVE],
        "max_iter": [COUNT],
        "warm_start": ["boolean"],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        alpha: float | str = "auto",
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

    def _fit(self, inputs: FitInputs) -> Result:
        self._set_alpha(lambda: alpha_for([inputs.X], inputs))
        return self._fit_design(LocalDesign(inputs.X), inputs)

    def _refuse_checkpoints(self) -> None:
        if self.loss == "hinge":
            raise ValueError(
                'checkpoint= works with loss="squared_hinge", but loss="hinge" was '
                "chosen, whose solver keeps too much. Choose the former, or leave "
                "checkpoint= out."
            )

    def _fit_batches(
        self, inputs: StreamInputs, checkpointing: Checkpointing
    ) -> Result:
        self._set_alpha(lambda: alpha_for(inputs, inputs))
        return self._fit_design(inputs.design(), inputs, checkpointing)

    def _set_alpha(self, choose: Callable[[], float]) -> None:
        self.alpha_ = choose() if isinstance(self.alpha, str) else self.alpha

    def _fit_design(
        self,
        design: Design,
        rows: TrainingRows,
        checkpointing: Checkpointing = NO_CHECKPOINTS,
    ) -> Result:
        shared: dict[str, Any] = {
            "start": self._start(design.shape[1]),
            "tol": self.tol,
            "max_iter": self.max_iter,
            "on_step": self._on_step(),
        }
        if self.loss == "hinge":
            problem = Problem(design, Hinge(), rows.is_pos, rows.weight)
            result = bundle(problem, self.alpha_, **shared)
        else:
            problem = Problem(design, SquaredHinge(), rows.is_pos, rows.weight)
            result = nonlinear_cg(
                problem, self.alpha_, checkpointing=checkpointing, **shared
            )
        self._store(result, rows)
        return result


def alpha_for(batches: Iterable[Matrix], rows: TrainingRows) -> float:
    """Return the penalty to use for all batches when none is given, in one pass."""
    n, low = len(rows.is_pos), 0
    spread: RowSpread | None = None
    keys: list[FloatArray] = []
    for batch in batches:
        here = slice(low, low + batch.shape[0])
        low = here.stop
        if low > n:
            raise ValueError(CHANGED.format(n, "more"))
        part = RowSpread.of_rows(batch, rows.is_pos[here], rows.weight[here])
        spread = part if spread is None else spread.merge(part)
        keys.append(row_hashes(batch))
    if spread is None or low < n:
        raise ValueError(CHANGED.format(n, low))
    used = np.concatenate(keys)[rows.weight > 0.0]
    return default_alpha(spread.squared_distance(), len(np.unique(used)))
