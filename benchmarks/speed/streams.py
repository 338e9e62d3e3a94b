# SPDX-License-Identifier: BSD-3-Clause
"""Learning from a stream, in batches of 1,000 rows and row by row; CPU time per row.

Ours and SGDClassifier get batches through `partial_fit`, checks and all. River and
Vowpal Wabbit learn row by row, from dicts and parsed examples made before. AUC is that
of the last 1,000 rows, which nobody learns.
"""

from collections.abc import Iterator
from itertools import cycle

import numpy as np
from data import Data, load
from peers import River, Vowpal, label
from sklearn.base import BaseEstimator
from sklearn.linear_model import SGDClassifier
from timing import QUICK, Goal, Row, row, take_turns

from aucmax import KNNOAM, OAM, OPAUC, SOLAM, AdaOAM, OnlineUnivariate
from aucmax.metrics import roc_auc

BLOCK, N_BLOCKS = (100, 3) if QUICK else (1000, 10)
SGD, RIVER, VOWPAL = "SGDClassifier", "River LogisticRegression", "Vowpal Wabbit"
LINEAR_GOAL, RIVER_GOAL = Goal(ratio=0.5), Goal(ratio=0.15)
SEED = {"random_state": 0}


def rows() -> Iterator[Row]:
    dense, sparse, text = (stream(name) for name in ("covtype", "w8a", "news20"))
    yield beside(OPAUC(**SEED), SGD, dense)
    yield beside(OPAUC(solver="gradient", **SEED), RIVER, dense, goal=RIVER_GOAL)
    yield beside(AdaOAM(**SEED), SGD, dense)
    yield beside(OAM(**SEED), SGD, dense)
    yield beside(SOLAM(**SEED), SGD, dense, goal=LINEAR_GOAL)
    yield beside(OnlineUnivariate(**SEED), SGD, dense, goal=LINEAR_GOAL)
    yield beside(SOLAM(**SEED), SGD, sparse)
    yield beside(SOLAM(**SEED), SGD, text)
    yield beside(OPAUC(**SEED), SGD, sparse)
    yield beside(OPAUC(rank=50, **SEED), VOWPAL, text)
    for peer in (SGD, RIVER, VOWPAL):
        yield beside(SOLAM(**SEED), peer, dense, size=1)
    yield beside(OPAUC(**SEED), RIVER, dense, size=1)
    yield knn(stream("magic04"))


def stream(name: str) -> Data:
    return load(name).first(BLOCK * (N_BLOCKS + 1))


def beside(
    model: BaseEstimator,
    peer: str,
    data: Data,
    *,
    size: int = BLOCK,
    goal: Goal | None = None,
) -> Row:
    how = "row by row" if size == 1 else f"batches of {size:,}"
    ours = Batches(model, data, size)
    goal = goal if data.is_real else None
    return compare(f"{label(model)}, {how}", peer, ours, other(peer, data, size), goal)


def other(name: str, data: Data, size: int) -> "Batches | River | Vowpal":
    if name == SGD:
        return Batches(SGDClassifier(loss="log_loss", **SEED), data, size)
    if name == VOWPAL:
        return Vowpal(data.X, data.y)
    from river.linear_model import LogisticRegression

    return River(LogisticRegression(), data.X, data.y)


def knn(data: Data) -> Row:
    """Compare nearest neighbours; each block is scored before it is learned."""
    from river.neighbors import KNNClassifier, LazySearch

    engine = LazySearch(window_size=1000)
    peer = River(KNNClassifier(20, engine=engine), data.X, data.y, score_first=True)
    ours = Batches(KNNOAM(**SEED), data, BLOCK, score_first=True)
    name = "River KNNClassifier(20), of the last 1,000 rows"
    return compare("KNNOAM, score and learn, of all rows", name, ours, peer)


class Batches:
    """A model with `partial_fit`, and batches cut before it is timed."""

    def __init__(
        self, model: BaseEstimator, data: Data, size: int, *, score_first: bool = False
    ):
        self.model, self.data, self.size = model, data, size
        self.score_first = score_first
        cuts = [slice(low, low + size) for low in range(0, BLOCK * N_BLOCKS, size)]
        self.batches = {cut.start: (data.X[cut], data.y[cut]) for cut in cuts}
        # Rows of one class may come first.
        self.options = {"classes": np.array([False, True])}

    def learn(self, rows: slice) -> None:
        for low in range(rows.start, rows.stop, self.size):
            X, y = self.batches[low]
            if self.score_first and not self.options:
                self.model.decision_function(X)
            self.model.partial_fit(X, y, **self.options)
            self.options = {}

    def scores(self, rows: slice) -> np.ndarray:
        return self.model.decision_function(self.data.X[rows])


def compare(
    task: str,
    name: str,
    ours: Batches,
    peer: Batches | River | Vowpal,
    goal: Goal | None = None,
) -> Row:
    """Let both learn all blocks once, then time one block after the other."""
    data, held_out = ours.data, slice(BLOCK * N_BLOCKS, BLOCK * (N_BLOCKS + 1))
    blocks = [slice(k * BLOCK, (k + 1) * BLOCK) for k in range(N_BLOCKS)]
    aucs = []
    for learner in (ours, peer):
        for block in blocks:
            learner.learn(block)
        aucs.append(float(roc_auc(data.y[held_out], learner.scores(held_out))))
    mine, theirs = cycle(blocks), cycle(blocks)
    turns = take_turns(lambda: ours.learn(next(mine)), lambda: peer.learn(next(theirs)))
    more = {"unit": "s per row", "auc": aucs[0], "peer_auc": aucs[1], "goal": goal}
    return row(task, data.title, name, turns, per=BLOCK, **more)
