# SPDX-License-Identifier: BSD-3-Clause
"""What choices cost: the kernel's width and penalty, a path of penalties, threads.

"Chosen" is a fit that chooses gamma and alpha by itself beside the same fit with both
given: a ratio of 3 means that the choice took as long as two fits. "Default threads" is
a fit beside the same fit on one thread, wall time.
"""

from collections.abc import Iterator
from functools import partial

from data import Data, load
from fits import WARM_UP_ROWS, beside
from peers import label
from sklearn.base import BaseEstimator, clone
from sklearn.linear_model import LogisticRegressionCV
from threadpoolctl import ThreadpoolController
from timing import Goal, Row, row, take_turns

import aucmax

N_PENALTIES = 20
KERNEL_RANK_ROWS = 4_000


def rows() -> Iterator[Row]:
    yield from paths()
    yield from chosen()
    yield from default_threads()


def paths() -> Iterator[Row]:
    """Compare searches over 20 penalties by the AUC of five folds."""
    for name, solver, wall in (
        ("magic04", "newton-cholesky", False),
        ("a9a", "lbfgs", True),
    ):
        peer = LogisticRegressionCV(
            Cs=N_PENALTIES, cv=5, solver=solver, scoring="roc_auc",
            l1_ratios=(0,), use_legacy_attributes=False,
        )  # fmt: skip
        yield beside(aucmax.RankSVMCV(N_PENALTIES), peer, load(name), wall=wall)


def chosen() -> Iterator[Row]:
    data = load("magic04")
    yield given_beside_chosen(aucmax.NBAUC(400, random_state=0), data)
    yield given_beside_chosen(aucmax.NSAUC(400, random_state=0), data)
    yield given_beside_chosen(aucmax.RFAUC(400, random_state=0), data)
    yield given_beside_chosen(aucmax.SparseKernelAUC(100, random_state=0), data)
    few = data.first(KERNEL_RANK_ROWS)
    yield given_beside_chosen(aucmax.KernelRankSVM(random_state=0), few)


def given_beside_chosen(model: BaseEstimator, data: Data) -> Row:
    clone(model).fit(data.X[:WARM_UP_ROWS], data.y[:WARM_UP_ROWS])
    found = clone(model).fit(data.X, data.y)
    given = clone(model).set_params(gamma=found.gamma_, alpha=found.alpha_)
    turns = take_turns(
        lambda: model.fit(data.X, data.y), lambda: given.fit(data.X, data.y)
    )
    task, peer = f"{label(model)}, kernel chosen", "the same, kernel given"
    goal = Goal(ratio=3.0) if data.is_real else None
    return row(task, data.title, peer, turns, goal=goal)


def default_threads() -> Iterator[Row]:
    kernel = {"gamma": 0.1, "alpha": 1e-5, "random_state": 0}
    magic = load("magic04")
    for model, data in (
        (aucmax.SparseKernelAUC(100, **kernel), magic),
        (aucmax.KernelRankSVM(**kernel), magic.first(KERNEL_RANK_ROWS)),
        (aucmax.NBAUC(400, **kernel), load("ijcnn1")),
        (aucmax.RankSVM(), load("w8a")),
        (aucmax.LeastSquaresAUC(), load("news20")),
    ):
        yield one_thread(model, data)


def one_thread(model: BaseEstimator, data: Data) -> Row:
    fit = partial(model.fit, data.X, data.y)
    libraries = ThreadpoolController()

    def fit_on_one_thread() -> None:
        with libraries.limit(limits=1):
            fit()

    fit()
    turns = take_turns(fit, fit_on_one_thread, wall=True)
    task, peer = f"{label(model)}, default threads", "the same, one thread"
    return row(task, data.title, peer, turns, unit="s wall", goal=Goal(ratio=1.1))
