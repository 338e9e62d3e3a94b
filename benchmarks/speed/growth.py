# SPDX-License-Identifier: BSD-3-Clause
"""How costs grow with the rows: the exponent between n rows and ten times as many.

1 is linear. Drawn rows of 30 features; CPU time on one thread.
"""

from collections.abc import Iterator
from functools import partial
from math import log
from statistics import median

from data import draw_dense
from peers import label, lightgbm
from sklearn.base import BaseEstimator
from sklearn.linear_model import LogisticRegression, SGDClassifier
from timing import QUICK, Row, row, take_turns

from aucmax import NBAUC, OPAUC, RankSVM

N_FEATURES, FACTOR = 30, 10
KERNEL = {"gamma": 1 / N_FEATURES, "alpha": 1e-4, "random_state": 0}


def rows() -> Iterator[Row]:
    most = 400 if QUICK else 1_000_000
    newton = LogisticRegression(solver="newton-cholesky")
    sgd = SGDClassifier(max_iter=1, tol=None, random_state=0)
    for n, ours, peer in (
        (most, RankSVM(), newton),
        (most, OPAUC(random_state=0), sgd),
        (most // 4, NBAUC(100, **KERNEL), lightgbm()),
    ):
        yield in_rows(ours, peer, n)


def in_rows(ours: BaseEstimator, peer: BaseEstimator, most: int) -> Row:
    costs = []
    for n in (most // FACTOR, most):
        X, y = draw_dense(n, N_FEATURES)
        turns = take_turns(partial(ours.fit, X, y), partial(peer.fit, X, y))
        costs.append([median(seconds) for seconds in zip(*turns, strict=True)])
    pairs = zip(*costs, strict=True)
    exponents = tuple(log(large / small, FACTOR) for small, large in pairs)
    data = f"{most // FACTOR:,} to {most:,} rows"
    return row(label(ours), data, label(peer), [exponents], unit="exponent")
