# SPDX-License-Identifier: BSD-3-Clause
"""Kernel AUC by stochastic steps: Nystroem features and random pairs."""

import copy
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from aucmax import _kernels
from aucmax._utils.memory import parse_bytes
from aucmax._utils.progress import report
from aucmax._utils.state import expect, expect_finite, expect_number, expect_type
from aucmax._utils.typing import BoolArray, FloatArray, IntArray
from aucmax._utils.validation import (
    COUNT,
    POSITIVE,
    SHARE,
    FitInputs,
    StrOptions,
    check_batch,
    restore_attributes_on_error,
    validated,
)
from aucmax.estimators._fit import UnweightedFit
from aucmax.estimators._holdout import hold_out
from aucmax.estimators._kernel_base import KernelScorer
from aucmax.estimators._kernel_choice import MAX_ROWS, tune_kernel, working_dtype
from aucmax.features.nystroem import Nystroem
from aucmax.metrics.auc import roc_auc
from aucmax.metrics.threshold import balanced_threshold
from aucmax.solvers._step_size import choose_step_size
from aucmax.solvers.pair_sgd import (
    N_FIRST,
    PairSGD,
    RowBlock,
    Stage,
    descend,
    plan_stages,
)
from aucmax.streams.embedded_blocks import (
    MIN_BLOCK_ROWS,
    EmbeddedBlocks,
    embed,
    row_bytes,
)
from aucmax.streams.pairs import PairStream, empty_sample, sample_block

# More rows are never held out: their AUC is known to 0.002, and its gains much better.
MAX_VALIDATION_ROWS = 20_000
# All rows and landmarks want a smaller penalty than a part of them; NBAUC, which looks,
# finds a tenth or a hundredth on connect-4 and covtype, and steps cut short regularise.
MORE_ROWS = 0.1


class NSAUC(UnweightedFit, KernelScorer):
    r"""Kernel scorer by averaged stochastic gradient on random pairs.

    Minimises the mean over all pairs of a positive and a negative row

    .. math:: \ell(1 - (f(x_+) - f(x_-))) + \frac{\alpha}{2} \|f\|^2, \quad
              f(x) = \sum_j \beta_j\, k(x, u_j)

    over the functions spanned by ``n_landmarks`` landmarks :math:`u_j`, as
    :class:`NBAUC` does, by cheap steps on pairs drawn at random: a step costs two reads
    of a row, whatever the number of rows. The result is the average over the last half
    of the steps. ``average=False`` is the method NSVMSGD2 of the paper.

    Parameters
    ----------
    n_landmarks : int, default=1600
        Landmarks; more is better and slower. All distinct rows where there are fewer.
    kernel : {"rbf", "laplacian", "polynomial"} or callable, default="rbf"
        The kernel function; a callable takes two matrices of rows.
    gamma : "auto", "scale-mean" or float, default="auto"
        Inverse width of the kernel. "auto" chooses it together with ``alpha`` on a
        bounded sub-sample, by the AUC of rows left out; "scale-mean" is one over the
        mean squared distance of the rows to their mean, as in the paper.
    degree, coef0 : float, default=3, 1
        Of the polynomial kernel.
    alpha : "auto" or float, default="auto"
        Strength of the penalty, relative to the mean over pairs. With more rows than
        the sub-sample holds, "auto" takes a tenth of what was best there.
    landmarks : {"uniform", "kmeans", "stratified"} or array-like, default="uniform"
        How landmarks are chosen. Uniform rows cost nothing and score as well as
        k-means, which the paper uses.
    loss : {"squared_hinge", "hinge"}, default="squared_hinge"
        :math:`\ell(m) = \max(0, m)^2` or :math:`\max(0, m)`.
    average : bool, default=True
        Whether to return the average of the steps, not the last one. Without it the
        AUC is 0.7 to 4 points lower on covtype.
    block_size : int, default=8
        Positives, and negatives, per step; all pairs of them are used. Blocks of 8 are
        worth twice as many passes of single pairs at the same number of rows read.
    max_passes : int, default=200
        Most passes. A pass is as many visits of pairs as there are rows; a block counts
        as ``block_size`` visits.
    step_size : "auto" or float, default="auto"
        First step. "auto" tries powers of two on a thousand pairs.
    early_stopping : bool, default=True
        Stop when twice the visits gain less than ``tol``, but not before 20 passes and
        5 million visits. Rows are held out only where that is less than ``max_passes``:
        from 25,000 rows on. Without it ``fit`` takes exactly ``max_passes``.
    validation_fraction : float, default=0.1
        Share of the rows held out to decide when to stop; 20,000 rows at most.
    tol : float, default=5e-4
        Gain in AUC on these rows per doubling of the visits below which to stop.
    memory_budget : int or str, default="4GB"
        Room for the features of the rows, as in "500MB" or "1GiB". What does not fit is
        embedded a random block of rows at a time, with pairs inside a block, anew for
        every 20 passes: slower, and a little less exact where blocks are small.
    random_state : int, RandomState instance or None, default=None
        Chooses landmarks, rows held out, and pairs. Pass an int for reproducible fits.
    verbose : int, default=0
        1 writes one line per stage to standard error.

    Attributes
    ----------
    gamma_, alpha_ : float
        Width and penalty used.
    tuning_ : ndarray of shape (n_tried, 3)
        Gamma, alpha and left-out AUC of what "auto" has tried: by the squared loss for
        the width, then by the squared hinge for the penalty.
    step_size_ : float
        First step used.
    feature_map_ : Nystroem
        The fitted map.
    coef_ : ndarray of shape (1, rank)
        Weights of the Nystroem features.
    basis_ : ndarray of shape (n_landmarks, n_features)
        The landmarks.
    dual_coef_ : ndarray of shape (1, n_landmarks)
        Weights of the kernel functions at the landmarks.
    intercept_ : ndarray of shape (1,)
        Minus the threshold with the best balanced accuracy on the training rows; after
        ``partial_fit``, on a sample of them.
    classes_ : ndarray of shape (2,)
        The labels; ``classes_[1]`` is the positive one.
    n_iter_ : int
        Visits of pairs that went into the model.
    history_ : list of Stage
        Visits and AUC on the rows held out (NaN without) after each stage of ``fit``;
        each stage doubles the visits.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, when X has string names.

    See Also
    --------
    NBAUC : The same model to the minimum, by Newton steps over all pairs.
    RankSVM : Linear.

    Notes
    -----
    There is no ``sample_weight``: pairs are drawn, so a weight would change the draws
    and not count as exact repetition.

    The AUC grows with the number of steps, slowly and for long: 95.4, 95.7 and 95.9 %
    after 10, 30 and 60 passes over 80,000 rows of covtype. Where the last tenths
    matter, :class:`NBAUC` reaches more. Scale continuous features, for example with
    ``StandardScaler``; leave one-hot columns as they are.

    References
    ----------
    Khalid, Ray and Chitsaz, "Scalable Nonlinear AUC Maximization Methods", 2018.
    Differs from the algorithm as printed where that does not minimise its objective,
    in the slope of the hinge and the weights of the average, and averages the last half
    of the steps, not all.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from aucmax import NSAUC
    >>> X, y = make_moons(300, noise=0.2, random_state=0)
    >>> model = NSAUC(n_landmarks=100, random_state=0).fit(X[:200], y[:200])
    >>> bool(model.score(X[200:], y[200:]) > 0.98)
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **KernelScorer._kernel_constraints,
        "n_landmarks": [COUNT],
        "landmarks": [StrOptions({"uniform", "kmeans", "stratified"}), "array-like"],
        "loss": [StrOptions({"squared_hinge", "hinge"})],
        "average": ["boolean"],
        "block_size": [COUNT],
        "max_passes": [COUNT],
        "step_size": [POSITIVE, StrOptions({"auto"})],
        "early_stopping": ["boolean"],
        "validation_fraction": [SHARE],
        "tol": [POSITIVE],
        "memory_budget": [COUNT, str],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }

    def __init__(  # noqa: PLR0913
        self,
        n_landmarks: int = 1600,
        *,
        kernel: Any = "rbf",
        gamma: str | float = "auto",
        degree: float = 3.0,
        coef0: float = 1.0,
        alpha: str | float = "auto",
        landmarks: Any = "uniform",
        loss: str = "squared_hinge",
        average: bool = True,
        block_size: int = 8,
        max_passes: int = 200,
        step_size: str | float = "auto",
        early_stopping: bool = True,
        validation_fraction: float = 0.1,
        tol: float = 5e-4,
        memory_budget: int | str = "4GB",
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_landmarks = n_landmarks
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.alpha = alpha
        self.landmarks = landmarks
        self.loss = loss
        self.average = average
        self.block_size = block_size
        self.max_passes = max_passes
        self.step_size = step_size
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.tol = tol
        self.memory_budget = memory_budget
        self.random_state = random_state
        self.verbose = verbose

    def _fit(self, inputs: FitInputs) -> None:
        budget = parse_bytes(self.memory_budget)
        rng = self._choose_map(inputs)
        pos, neg, held = self._hold_out(inputs.is_pos, rng)
        blocks = EmbeddedBlocks(inputs.X, pos, neg, self.feature_map_, budget, rng)
        block = blocks.load(0)
        sample = sample_block(block, len(neg), len(pos), rng)
        sgd, self.history_ = descend(
            self._begin(block, rng),
            blocks,
            self._plan(len(pos) + len(neg)),
            rng,
            is_averaged=self.average,
            validate=self._auc_on(inputs, held) if len(held) else None,
            tol=self.tol,
            on_stage=self._show if self.verbose else None,
        )
        self.classes_ = inputs.classes
        self._stream = PairStream(sgd, rng, sample)
        self._publish(sgd)
        self._set_threshold(inputs)

    @validated
    def partial_fit(
        self, X: Any, y: ArrayLike, classes: ArrayLike | None = None
    ) -> "NSAUC":
        """Go on with the rows of one more batch.

        Every row is paired eight times with rows of the other class, drawn from the
        batch and from 512 rows of each class kept from before, so a batch may hold one
        class only. Landmarks, ``gamma``, ``alpha`` and ``step_size`` stay as ``fit``
        has chosen them. Without a ``fit`` before, the first batch chooses them: it
        should be large, and like those to come. Nothing is held out.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows of the batch.
        y : array-like of shape (n_samples,)
            Their labels.
        classes : array-like of shape (2,), default=None
            All labels there will be; needed in the first call if its rows hold only one
            of them.

        Returns
        -------
        self : NSAUC
            The estimator; after an error, as it was before.
        """
        with restore_attributes_on_error(self):
            budget = parse_bytes(self.memory_budget)
            is_first = not hasattr(self, "classes_")
            X, is_pos, self.classes_ = check_batch(self, X, y, classes)
            if is_first:
                self._open_stream(
                    FitInputs(X, is_pos, np.ones(len(is_pos)), self.classes_)
                )
            stream = copy.deepcopy(self._stream)
            size = max(MIN_BLOCK_ROWS, budget // row_bytes(self.feature_map_))
            for low in range(0, X.shape[0], size):
                part = slice(low, low + size)
                rows = self.feature_map_.transform_rows(X[part])
                stream.learn(rows, is_pos[part], self._begin)
            self._stream = stream
            self._publish(stream.sgd)
            rows, is_pos = stream.sample.rows()
            if 0 < np.count_nonzero(is_pos) < len(is_pos):
                scores = rows @ self.coef_[0]
                threshold = balanced_threshold(scores, is_pos, np.ones(len(scores)))
                self.intercept_ = np.array([-threshold])
        return self

    def _check_fitted(self) -> None:
        super()._check_fitted()
        expect_number(self, "alpha_")
        feature_map = expect_type(self, "feature_map_", Nystroem)
        stream = expect_type(self, "_stream", PairStream)
        expect(
            feature_map.n_features_in_ == self.n_features_in_
            and feature_map._n_features_out == stream.n_features,
            self,
            "its feature map is another",
        )
        expect_finite(self, "coef_", (1, stream.n_features))

    def _choose_map(self, inputs: FitInputs) -> np.random.Generator:
        """Set width, penalty and feature map; return the source of all other draws."""
        seed = check_random_state(self.random_state).randint(2**31 - 1)
        choice = tune_kernel(inputs, self, seed, n_landmarks=self.n_landmarks)
        self.gamma_, self.alpha_, self.tuning_ = choice
        if self.alpha == "auto" and len(inputs.is_pos) > MAX_ROWS:
            self.alpha_ *= MORE_ROWS
        self.feature_map_ = Nystroem(
            n_landmarks=self.n_landmarks,
            kernel=self.kernel,
            gamma=choice.gamma,
            degree=self.degree,
            coef0=self.coef0,
            landmarks=self.landmarks,
            dtype=working_dtype(inputs.X, self.n_landmarks),
            random_state=seed,
        ).fit(inputs.X, inputs.is_pos)
        return np.random.default_rng(seed)

    def _plan(self, n_rows: int) -> list[int]:
        return plan_stages(n_rows, self.max_passes, may_stop=self.early_stopping)

    def _hold_out(
        self, is_pos: BoolArray, rng: np.random.Generator
    ) -> tuple[IntArray, IntArray, IntArray]:
        """Return positives, negatives and rows to hold out, if they can decide."""
        may_stop = len(self._plan(len(is_pos))) > N_FIRST
        fraction = self.validation_fraction if may_stop else 0.0
        return hold_out(is_pos, fraction, MAX_VALIDATION_ROWS, rng)

    def _auc_on(
        self, inputs: FitInputs, index: IntArray
    ) -> Callable[[FloatArray], float]:
        rows = embed(self.feature_map_, inputs.X, index)
        scores = np.empty(len(rows))

        def auc(coef: FloatArray) -> float:
            _kernels.products.row_scores(rows, coef, scores)
            return roc_auc(inputs.is_pos[index], scores)

        return auc

    def _begin(self, block: RowBlock, rng: np.random.Generator) -> PairSGD:
        step_size = self.step_size
        if isinstance(step_size, str):
            step_size = choose_step_size(
                block,
                rng,
                alpha=self.alpha_,
                loss=self.loss,
                block_size=self.block_size,
                is_averaged=self.average,
            )
        return PairSGD(
            block.rows,
            alpha=self.alpha_,
            step_size=step_size,
            loss=self.loss,
            block_size=self.block_size,
        )

    def _publish(self, sgd: PairSGD | None) -> None:
        """Set what is fitted, from the state of the descent."""
        feature_map = self.feature_map_
        coef = np.zeros(feature_map.normalization_.shape[1])
        if sgd is not None:
            coef = sgd.average() if self.average else sgd.last()
            self.step_size_ = sgd.step_size
        self.n_iter_ = 0 if sgd is None else sgd.n_visits
        self.coef_ = coef[None, :]
        self.kernel_, self.basis_ = feature_map.kernel_, feature_map.landmarks_
        self.dual_coef_ = (feature_map.normalization_ @ coef)[None, :]

    def _open_stream(self, inputs: FitInputs) -> None:
        """Prepare for batches with the first of them."""
        n_pos = np.count_nonzero(inputs.is_pos)
        if not 0 < n_pos < len(inputs.is_pos) and "auto" in (self.gamma, self.alpha):
            raise ValueError(
                "The first batch holds only one class, from which gamma and alpha "
                "cannot be chosen. Pass both as numbers, or a first batch with rows of "
                "both classes."
            )
        rng = self._choose_map(inputs)
        none = self.feature_map_.transform_rows(inputs.X[:1])
        self._stream = PairStream(None, rng, empty_sample(none, rng))
        self.history_ = list[Stage]()
        self.intercept_ = np.zeros(1)

    def _show(self, stage: Stage) -> None:
        auc = "" if np.isnan(stage.auc) else f"  AUC left out {stage.auc:.5f}"
        report(f"[{type(self).__name__}] visits {stage.n_visits}{auc}")
