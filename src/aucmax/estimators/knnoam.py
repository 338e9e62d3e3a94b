# SPDX-License-Identifier: BSD-3-Clause
"""Scores from the labels of the nearest rows."""

from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from aucmax._utils.state import expect_type
from aucmax._utils.typing import BoolArray, FloatArray, IntArray, Matrix, is_sparse
from aucmax._utils.validation import (
    COUNT,
    StrOptions,
    check_features,
    check_is_fitted,
)
from aucmax.estimators._online_base import OnlineScorer
from aucmax.neighbors.auto import BACKENDS, make_index
from aucmax.neighbors.curve import scores_while_learning
from aucmax.neighbors.embedded import EmbeddedIndex
from aucmax.neighbors.index import Index
from aucmax.neighbors.learner import NeighborLearner
from aucmax.neighbors.rows import density
from aucmax.neighbors.votes import Ties, n_voters
from aucmax.solvers.online.base import Learner


class KNNOAM(OnlineScorer):
    r"""Share of positives among the nearest of all rows so far.

    No surrogate loss and no shape of the scores is assumed: the share estimates the
    probability of the positive class, and no scores have a larger AUC than that. As
    rows come in, it reaches the largest AUC there is, where linear scores can stay far
    below.

    Parameters
    ----------
    k : "2log2n", int or callable, default="2log2n"
        Number of neighbours. "2log2n" is :math:`\lfloor 2 \log_2 n \rfloor` after n
        rows. A function is called with the number of rows, and its value rounded down;
        ``math.sqrt`` would be one. There is at least one, and at most n.
    weights : {"uniform", "distance"}, default="uniform"
        Whether neighbours count alike, or as one over their distance. With "distance",
        rows that equal the one to score count alone.
    ties : {"average", "random", "index"}, default="average"
        Rows at the same distance as the k-th nearest compete for the last places. With
        "average" all of them share these: the mean over all choices, which does not
        depend on the order of the rows. "random" is the paper: every row has a random
        number, and those nearest to another, drawn anew after every row, count.
        "index" takes the oldest.
    backend : {"auto", "brute", "tree", "approximate"}, default="auto"
        How neighbours are found. The first three find the same ones: "brute" computes
        all distances, "tree" skips most where features are few or rows are many and lie
        near a surface, and "auto" is "tree" for up to three features, otherwise
        "brute". "approximate" misses some.
    reduce : transformer, default=None
        With ``partial_fit`` and ``transform``, such as :class:`OnlinePCA`; distances
        are those of transformed rows. A clone of it learns from the rows whenever there
        are twice as many, the first 64 to begin with, and all rows are then transformed
        anew.
    random_state : int, RandomState instance or None, default=None
        Draws the numbers of "random", and seeds ``reduce`` if that has no seed. Pass an
        int for reproducible scores.
    verbose : int, default=0
        1 writes lines of progress to standard error.

    Attributes
    ----------
    k_ : int
        Number of neighbours after the rows so far.
    intercept_ : ndarray of shape (1,)
        Minus the share of positives among all rows: the threshold with the best
        balanced accuracy if the scores were the true probabilities.
    reduce_ : transformer
        The map in use; absent without ``reduce`` and for fewer than 64 rows.
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
    OILK : Not linear either; keeps few rows.
    OPAUC : Linear, keeps none.

    Notes
    -----
    All rows are kept. Rows are cheap to learn and scores are not: with the default
    ``backend``, each takes all distances, 50 us among 100,000 rows of 10 features.
    Distances are Euclidean, so features need a common scale, for example that of
    ``MinMaxScaler``.

    Scored on rows it has learned, a model looks better than it is, for each of these is
    its own nearest neighbour.

    Batches of any sizes give the same scores, bit for bit; with ``reduce``, if its
    ``transform`` gives a row the same values alone and among others.

    References
    ----------
    Szörényi, Cohen and Mannor, "Non-parametric Online AUC Maximization", 2017.

    Examples
    --------
    >>> from sklearn.datasets import make_circles
    >>> from aucmax import KNNOAM
    >>> X, y = make_circles(1000, noise=0.1, factor=0.5, random_state=0)
    >>> model = KNNOAM()
    >>> for low in range(0, 800, 100):
    ...     part = slice(low, low + 100)
    ...     model = model.partial_fit(X[part], y[part], classes=[0, 1])
    >>> model.k_
    19
    >>> model.score(X[800:], y[800:]) > 0.98
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "k": [COUNT, StrOptions({"2log2n"}), callable],
        "weights": [StrOptions({"uniform", "distance"})],
        "ties": [StrOptions({"average", "random", "index"})],
        "backend": [StrOptions(set(BACKENDS))],
        "reduce": "no_validation",
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }

    # Only "index" depends on the order, and wants that of the rows given.
    shuffle = False
    _sample_rows = 0

    def __init__(
        self,
        k: int | str | Callable[[int], float] = "2log2n",
        *,
        weights: str = "uniform",
        ties: Ties = "average",
        backend: str = "auto",
        reduce: Any = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.k = k
        self.weights = weights
        self.ties: Ties = ties
        self.backend = backend
        self.reduce = reduce
        self.random_state = random_state
        self.verbose = verbose

    @property
    def intercept_(self) -> NDArray[Any]:
        """Minus the share of positives among all rows."""
        return np.array([-self._learner.share_pos])

    @property
    def k_(self) -> int:
        """Number of neighbours after the rows so far."""
        return self._learner.n_voters

    @property
    def reduce_(self) -> Any:
        """The map in use."""
        index = self._learner.index
        if not isinstance(index, EmbeddedIndex) or not index.n_mapped:
            raise AttributeError(
                "KNNOAM has no reduce_ without reduce=, nor before row 64."
            )
        return index.mapping

    def recall(self, X: Any) -> float:
        """Return the share of the nearest rows that are found.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows to look for; some hundreds are enough.

        Returns
        -------
        recall : float
            One, unless ``backend="approximate"``; then these rows are searched exactly
            as well.
        """
        learner, X = self._learner, check_features(self, X)
        with self._stream.lock:
            return learner.index.recall(X, self.k_)

    def memory_usage(self) -> int:
        """Return the bytes held by rows, index and labels.

        Returns
        -------
        n_bytes : int
            Without what ``reduce`` holds.
        """
        return self._learner.memory_usage()

    def _scores_while_learning(
        self, X: Matrix, is_pos: BoolArray, points: IntArray, exclude_self: bool
    ) -> Iterator[FloatArray] | None:
        """Score all rows so far at each point, as `metrics.auc_curve` does.

        Returns None where the neighbours have to be searched anew at each point.
        """
        if (
            self.ties == "random"
            or self.weights != "uniform"
            or self.backend == "approximate"
            or self.reduce is not None
            or is_sparse(X)
        ):
            return None
        return scores_while_learning(
            X,
            is_pos,
            points,
            k=self.k,
            shares_ties=self.ties == "average",
            counts_itself=not exclude_self,
        )

    @property
    def _learner(self) -> NeighborLearner:
        check_is_fitted(self)
        learner: Any = self._stream.learner
        assert isinstance(learner, NeighborLearner)
        return learner

    def _check_fitted(self) -> None:
        super()._check_fitted()
        expect_type(self._stream, "learner", NeighborLearner)

    def _begin(self, X: Matrix, rng: np.random.Generator) -> Learner:
        n_voters(self.k, 1)  # raises now rather than when scores are asked for
        index: Index = make_index(X.shape[1], backend=self.backend, density=density(X))
        if self.reduce is not None:
            mapping = _begin_map(self.reduce, rng)
            index = EmbeddedIndex(mapping, index, self.backend)
        return NeighborLearner(
            index,
            sparse_rows=is_sparse(X),
            k=self.k,
            by_distance=self.weights == "distance",
            ties=self.ties,
            rng=rng,
        )


def _begin_map(reduce: Any, rng: np.random.Generator) -> Any:
    """Return a copy of the transformer that has seen no rows."""
    is_transformer = hasattr(reduce, "partial_fit") and hasattr(reduce, "transform")
    if not is_transformer or isinstance(reduce, type):
        raise ValueError(
            "reduce needs the methods partial_fit and transform, but "
            f"{reduce!r} is no object with both. Pass a transformer such as "
            "OnlinePCA(), or None."
        )
    mapping = clone(reduce)
    if mapping.get_params().get("random_state", 0) is None:
        mapping.set_params(random_state=int(rng.integers(2**31 - 1)))
    return mapping
