# SPDX-License-Identifier: BSD-3-Clause
"""Fits with usual settings, and the AUC on test rows.

Dense rows: CPU time on one thread. Sparse rows: wall time with the default threads.
Kernels are given on both sides (gamma is one over the number of features), so that fits
are compared; what choosing them costs is in `choices`.
"""

from collections.abc import Iterator

import numpy as np
from data import Data, bundled, load
from peers import Vowpal, features, label, lightgbm, stack, test_auc
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.linear_model import LogisticRegression, RidgeClassifier, SGDClassifier
from sklearn.svm import SVC, LinearSVC
from timing import Goal, Row, row, take_turns

import aucmax
from aucmax.metrics import roc_auc

TEXT_SETS = ["w8a", "a9a", "rcv1-small", "sector", "news20"]
DENSE_SETS = ["magic04", "connect-4", "covtype"]
# From coarse to the default.
TOLERANCES = [1e-1, 1e-2, 1e-3, 1e-4]
# Compiles what a fit needs.
WARM_UP_ROWS = 2_000


def rows() -> Iterator[Row]:
    yield from sparse_linear()
    yield from dense_linear()
    yield from kernels()
    yield beside(aucmax.AUCClassifier(random_state=0), stack(), bundled("german"))


def beside(
    ours: BaseEstimator,
    peer: BaseEstimator,
    data: Data,
    *,
    goal: Goal | None = None,
    wall: bool = False,
    task: str | None = None,
) -> Row:
    for model in (ours, peer):
        clone(model).fit(data.X[:WARM_UP_ROWS], data.y[:WARM_UP_ROWS])
    turns = take_turns(
        lambda: ours.fit(data.X, data.y), lambda: peer.fit(data.X, data.y), wall=wall
    )
    return row(
        task or label(ours),
        data.title,
        label(peer),
        turns,
        unit="s wall" if wall else "s",
        auc=test_auc(ours, data),
        peer_auc=test_auc(peer, data),
        goal=goal if data.is_real else None,
    )


def sparse_linear() -> Iterator[Row]:
    for name in TEXT_SETS:
        goal = Goal(ratio=1.0, auc=True)
        yield beside(aucmax.RankSVM(), LinearSVC(), load(name), goal=goal, wall=True)
        if name == "w8a":
            yield to_equal_auc(load(name), Goal(ratio=1.0, auc=True))
            sgd = SGDClassifier(random_state=0)
            yield beside(aucmax.OPAUC(random_state=0), sgd, load(name), wall=True)
    data, liblinear = load("news20"), LogisticRegression(solver="liblinear")
    goal = Goal(auc=True)
    yield beside(aucmax.LeastSquaresAUC(), liblinear, data, goal=goal, wall=True)
    yield beside_vowpal(data)


def to_equal_auc(data: Data, goal: Goal) -> Row:
    """Compare with SGDClassifier; ours stops as soon as it reaches its AUC."""
    peer = SGDClassifier(random_state=0).fit(data.X, data.y)
    wanted = test_auc(peer, data)
    for tol in TOLERANCES:
        ours = aucmax.RankSVM(tol=tol).fit(data.X, data.y)
        if test_auc(ours, data) >= wanted:
            break
    task = f"RankSVM(tol={tol:g}), to equal AUC"
    return beside(ours, peer, data, goal=goal, wall=True, task=task)


def beside_vowpal(data: Data) -> Row:
    n = len(data.y)
    X = sparse.vstack([data.X, data.X_test]).tocsr()
    y = np.concatenate([data.y, data.y_test])
    peer, train = Vowpal(X, y), slice(n)
    peer.learn(train)
    peer_auc = roc_auc(data.y_test, peer.scores(slice(n, None)))
    ours = aucmax.RankSVM()
    turns = take_turns(
        lambda: ours.fit(data.X, data.y), lambda: peer.learn(train), wall=True
    )
    aucs = {"auc": test_auc(ours, data), "peer_auc": float(peer_auc)}
    name = "Vowpal Wabbit, 1 pass, parsed before"
    return row(label(ours), data.title, name, turns, unit="s wall", **aucs)


def dense_linear() -> Iterator[Row]:
    newton = LogisticRegression(solver="newton-cholesky")
    for name in DENSE_SETS:
        data = load(name)
        # The same penalty as the peer's C = 1.
        ours = aucmax.RankSVM(alpha=1 / len(data.y))
        yield beside(ours, newton, data, goal=Goal(ratio=0.5))
    data = load("covtype").first(100_000)
    yield beside(aucmax.LeastSquaresAUC(), RidgeClassifier(), data)
    yield beside(aucmax.UnivariateAUC(), newton, data)


def kernels() -> Iterator[Row]:
    data = load("ijcnn1")
    gamma = 1 / data.X.shape[1]
    ours = aucmax.NBAUC(1600, gamma=gamma, alpha=1e-5, random_state=0)
    yield beside(ours, features(Nystroem, 400, gamma), data, goal=Goal(ratio=1.15))
    data = load("magic04")
    gamma = 1 / data.X.shape[1]
    kernel = {"gamma": gamma, "alpha": 1e-5, "random_state": 0}
    yield beside(aucmax.NBAUC(400, **kernel), lightgbm(), data)
    yield beside(aucmax.NSAUC(400, **kernel), features(Nystroem, 400, gamma), data)
    yield beside(aucmax.RFAUC(400, **kernel), features(RBFSampler, 400, gamma), data)
    yield beside(aucmax.SparseKernelAUC(100, **kernel), SVC(gamma=gamma), data)
    yield beside(aucmax.KernelRankSVM(**kernel), SVC(gamma=gamma), data.first(4_000))
