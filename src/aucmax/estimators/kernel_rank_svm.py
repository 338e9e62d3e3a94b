# SPDX-License-Identifier: BSD-3-Clause
"""Kernel RankSVM over all pairs, with the kernel between all rows."""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from aucmax._utils.memory import parse_bytes
from aucmax._utils.progress import report
from aucmax._utils.typing import Matrix, is_sparse, to_dense
from aucmax._utils.validation import COUNT, POSITIVE, FitInputs
from aucmax.design.gram import TILE, Gram, KernelColumns, KernelFactory, RowSelection
from aucmax.estimators._fit import WeightedFit
from aucmax.estimators._kernel_base import KernelScorer
from aucmax.estimators._kernel_choice import tune_kernel
from aucmax.features.kernels import Kernel
from aucmax.losses import SquaredHinge
from aucmax.solvers.base import Result
from aucmax.solvers.kernel_newton import kernel_newton

# With so many rows a product takes some ten seconds, and a fit up to a hundred of them.
MAX_ROWS = 100_000
# Bytes that the columns of a tile may take when sparse rows are made dense.
DENSE_BYTES = 64 * 2**20


class KernelRankSVM(WeightedFit, KernelScorer):
    r"""Kernel scorer that ranks positives above negatives by a margin.

    Minimises the mean over all pairs of a positive and a negative row

    .. math:: \max(0, 1 - (f(x_+) - f(x_-)))^2 + \frac{\alpha}{2} \|f\|^2, \quad
              f(x) = \sum_i \beta_i\, k(x, x_i)

    over the whole space of the kernel: no landmarks, no random features. Time and
    memory grow with the square of the number of rows; with more than some 20,000 of
    them, :class:`NBAUC` scores nearly as well in a fraction of the time.

    Parameters
    ----------
    kernel : {"rbf", "laplacian", "polynomial"} or callable, default="rbf"
        The kernel function; a callable takes two matrices of rows and returns all
        values, symmetric and positive semi-definite.
    gamma : "auto", "scale-mean" or float, default="auto"
        Inverse width of the kernel. "auto" chooses it together with ``alpha`` on a
        bounded sub-sample, by the AUC of rows left out; "scale-mean" is one over the
        mean squared distance of the rows to their mean.
    degree, coef0 : float, default=3, 1
        Of the polynomial kernel.
    alpha : "auto" or float, default="auto"
        Strength of the penalty, relative to the mean over pairs. A paper's ``C`` times
        the *sum* over pairs equals ``alpha = 1 / (C * n_pos * n_neg)``.
    tol : float, default=1e-4
        Relative accuracy of the objective, estimated. With at most 1000 rows in active
        pairs the solution is exact to rounding.
    max_iter : int, default=1000
        Most steps of the solver, of one product with the kernel matrix each.
    memory_budget : int or str, default="4GB"
        Room for half the kernel matrix, which is symmetric: in float64 where that fits
        (up to 31,000 rows in 4 GB), else in float32 (44,000). What does not fit is
        computed again for every product: slower, with the same result as float32.
    random_state : int, RandomState instance or None, default=None
        Used by "auto".
    verbose : int, default=0
        1 writes one line per width tried and per step to standard error.

    Attributes
    ----------
    gamma_, alpha_ : float
        Width and penalty used.
    tuning_ : ndarray of shape (n_tried, 3)
        Gamma, alpha and left-out AUC of what "auto" has tried: by the squared loss for
        the width, then by the squared hinge for the penalty.
    support_ : ndarray of shape (n_support,)
        Rows with a coefficient: those in pairs less than a margin apart.
    basis_ : ndarray of shape (n_support, n_features)
        Those rows, in float64.
    dual_coef_ : ndarray of shape (1, n_support)
        Their coefficients.
    intercept_ : ndarray of shape (1,)
        Minus the threshold with the best balanced accuracy on the training rows.
    classes_ : ndarray of shape (2,)
        The labels; ``classes_[1]`` is the positive one.
    n_iter_ : int
        Steps taken.
    objective_ : float
        Value of the objective reached.
    history_ : list of Step
        Objective, relative gap and products with the kernel after each step.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, when X has string names.

    See Also
    --------
    NBAUC : Nystroem features: time and memory linear in the number of rows.
    SparseKernelAUC : Few kernel functions, chosen greedily.
    RankSVM : Linear.

    Notes
    -----
    Scale continuous features, for example with ``StandardScaler``. Besides the budget,
    the solver keeps the kernel against about ``5 sqrt(n)`` landmarks, by which it
    preconditions its steps.

    References
    ----------
    Kuo, Lee and Lin, "Large-scale Kernel RankSVM", SIAM International Conference on
    Data Mining, 2014. The solver, in the kernel's own inner product, is ours.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from aucmax import KernelRankSVM
    >>> X, y = make_moons(300, noise=0.2, random_state=0)
    >>> model = KernelRankSVM(gamma=1.0, alpha=1e-3).fit(X[:200], y[:200])
    >>> bool(model.score(X[200:], y[200:]) > 0.98)
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **KernelScorer._kernel_constraints,
        "tol": [POSITIVE],
        "max_iter": [COUNT],
        "memory_budget": [COUNT, str],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }

    def __init__(  # noqa: PLR0913
        self,
        kernel: Any = "rbf",
        *,
        gamma: str | float = "auto",
        degree: float = 3.0,
        coef0: float = 1.0,
        alpha: str | float = "auto",
        tol: float = 1e-4,
        max_iter: int = 1000,
        memory_budget: int | str = "4GB",
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.alpha = alpha
        self.tol = tol
        self.max_iter = max_iter
        self.memory_budget = memory_budget
        self.random_state = random_state
        self.verbose = verbose

    def _fit(self, inputs: FitInputs) -> Result:
        budget = parse_bytes(self.memory_budget)
        used = np.flatnonzero(inputs.weight)
        inputs = inputs.drop_zero_weight()
        _refuse_many_rows(len(used), budget)
        seed = check_random_state(self.random_state).randint(2**31 - 1)
        choice = tune_kernel(inputs, self, seed)
        self.gamma_, self.alpha_, self.tuning_ = choice
        kernel = Kernel(self.kernel, self.gamma_, self.degree, self.coef0)
        result = self._solve(kernel, inputs, budget)
        self._keep_progress(result)
        # One row at least: an empty sum has no shape.
        support = np.flatnonzero(result.coef) if np.any(result.coef) else np.array([0])
        self.support_ = used[support]
        # Coefficients of near neighbours are large and cancel.
        basis = to_dense(inputs.X[support]).astype(np.float64)
        self._keep_expansion(kernel, basis, result.coef[support], inputs)
        return result

    def _solve(self, kernel: Kernel, inputs: FitInputs, budget: int) -> Result:
        gram = Gram(
            _kernel_against(kernel, inputs.X),
            len(inputs.is_pos),
            memory_budget=budget,
            tile=_tile(inputs.X),
        )
        if self.verbose:
            kept, total = gram.n_bytes_kept / 1e9, gram.n_bytes / 1e9
            rest = ", the rest computed anew" if kept < total else ""
            report(
                f"[KernelRankSVM] kernel of {gram.n} rows in {gram.dtype}: "
                f"{kept:.3g} of {total:.3g} GB kept{rest}"
            )
        return kernel_newton(
            gram,
            inputs.is_pos,
            inputs.weight,
            loss=SquaredHinge(),
            alpha=self.alpha_,
            tol=self.tol,
            max_iter=self.max_iter,
            on_step=self._on_step(),
        )


def _kernel_against(kernel: Kernel, X: Matrix) -> KernelFactory:
    """Return the kernel between any training rows, as `Gram` asks for it."""

    def against(columns: RowSelection, dtype: np.dtype[Any]) -> KernelColumns:
        prepared = kernel.prepare(X[columns], like=X, dtype=dtype)

        def values(rows: RowSelection, out: NDArray[Any] | None = None) -> NDArray[Any]:
            return prepared(X[rows], out)

        return values

    return against


def _tile(X: Matrix) -> int:
    if not is_sparse(X):
        return TILE
    return int(np.clip(DENSE_BYTES // (8 * X.shape[1]), 64, TILE))


def _refuse_many_rows(n: int, budget: int) -> None:
    if n > MAX_ROWS:
        raise ValueError(
            f"KernelRankSVM needs the kernel between all {n} rows, which takes "
            f"{2 * n**2 / 1e9:.3g} GB (half of it, in float32) against a memory_budget "
            f"of {budget / 1e9:.3g} GB, and over ten seconds per step of the solver. "
            "Use NBAUC or SparseKernelAUC, whose cost is linear in the rows, or pass "
            f"at most {MAX_ROWS} rows."
        )
