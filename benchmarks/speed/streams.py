# SPDX-License-Identifier: BSD-3-Clause
"""Rows per second through learners of streams, in batches of 1, 100 and 1,000 rows.

Ours and scikit-learn's SGDClassifier get batches through `partial_fit`, checks and all;
River's LogisticRegression and Vowpal Wabbit's logistic model learn row by row, from
dicts and parsed examples that were made before. First all run once over 10,000 rows,
scoring each 1,000 before they learn them: the mean AUC of these stands beside each
ratio. One thread, CPU time.

The pairs that have bars are in ``online.py`` and ``opauc.py``, and not repeated here.
"""

import _river
import _suite
import numpy as np
from _data import draw_words
from _river import RIVER
from _timing import take_turns
from _vowpal import IS_INSTALLED, Vowpal
from sklearn.linear_model import SGDClassifier

from aucmax import OAM, OPAUC, SOLAM, AdaOAM, OnlineUnivariate
from aucmax.metrics import roc_auc

BLOCK, N_BLOCKS = 1000, 10
SIZES = (1, 100, 1000)
SGD = "scikit-learn SGDClassifier.partial_fit"
VOWPAL = "Vowpal Wabbit learn"
LINEAR = {
    "SOLAM": lambda: SOLAM(random_state=0),
    "OnlineUnivariate": lambda: OnlineUnivariate(random_state=0),
    "OAM": lambda: OAM(random_state=0),
}
DENSE = {
    "OPAUC": lambda: OPAUC(random_state=0),
    'OPAUC(solver="gradient")': lambda: OPAUC(solver="gradient", random_state=0),
    **LINEAR,
    "AdaOAM": lambda: AdaOAM(random_state=0),
}
# AdaOAM keeps a matrix of features by features.
SPARSE = {
    "OPAUC(rank=50)": lambda: OPAUC(rank=50, random_state=0),
    'OPAUC(rank=50, solver="gradient")': lambda: OPAUC(
        rank=50, solver="gradient", random_state=0
    ),
    **LINEAR,
}
# Held against a bar elsewhere, with batches of 1,000.
ELSEWHERE = {
    *((name, SGD) for name in ("SOLAM", "OnlineUnivariate")),
    *((name, RIVER) for name in ("SOLAM", "OnlineUnivariate")),
    ('OPAUC(solver="gradient")', RIVER),
}


def measurements(*, quick=False):
    if not IS_INSTALLED:
        _suite.leave_out("Vowpal Wabbit is not installed.")
    for where, rows, ours in (
        ("dense, 54 features", draw_dense(54), DENSE),
        ("CSR, 100 words of 50,000", draw_sparse(50_000, 100), SPARSE),
    ):
        for size in (1000,) if quick else SIZES:
            yield from beside_peers(where, rows, ours, size, quick=quick)


def draw_dense(d):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((BLOCK * N_BLOCKS, d))
    return X, labels(X @ rng.standard_normal(d), rng)


def draw_sparse(d, n_words):
    rng = np.random.default_rng(0)
    X = draw_words(BLOCK * N_BLOCKS, d, n_words, rng)
    return X, labels(X @ rng.standard_normal(d), rng)


def labels(score, rng):
    """Return labels, a fifth of them positive, that follow a noisy score."""
    score = score / score.std() + 0.5 * rng.standard_normal(len(score))
    return (score > np.quantile(score, 0.8)).astype(int)


def beside_peers(where, rows, ours, size, *, quick):
    learners = {name: Batches(make(), *rows, size) for name, make in ours.items()}
    learners[SGD] = Batches(SGDClassifier(loss="log_loss"), *rows, size)
    # Batches mean nothing to them: between 1 and 1,000 rows nothing changes.
    if size != 100:
        learners |= row_by_row(*rows)
    aucs = {name: prequential_auc(learner) for name, learner in learners.items()}
    turns = take_turns(
        {name: learner.learn_next for name, learner in learners.items()},
        repeats=1 if quick else 5,
    )
    for name in ours:
        for other in (SGD, RIVER, VOWPAL):
            is_elsewhere = (name, other) in ELSEWHERE and size == 1000
            if other not in learners or (is_elsewhere and is_barred(where, other)):
                continue
            yield _suite.ratio(
                turns,
                name,
                other,
                per=BLOCK,
                unit="us per row",
                where=f"{where}, batches of {size:,}",
                kind="peer",
                details={
                    "rows/s": int(BLOCK / min(turns[name])),
                    "its rows/s": int(BLOCK / min(turns[other])),
                    "AUC": round(aucs[name], 4),
                    "its AUC": round(aucs[other], 4),
                },
            )


def is_barred(where, other):
    """River is held against a bar on dense rows alone."""
    return other == SGD or where.startswith("dense")


def row_by_row(X, y):
    found = {}
    if _river.is_there():
        found[RIVER] = Records(X, y)
    if IS_INSTALLED:
        found[VOWPAL] = Parsed(X, y)
    return found


def prequential_auc(learner):
    """Run once over all blocks; return the mean AUC of them before they are learned."""
    aucs = []
    for k in range(N_BLOCKS):
        if k:
            aucs.append(roc_auc(learner.y[learner.rows(k)], learner.scores(k)))
        learner.learn_next()
    return float(np.mean(aucs))


class Learner:
    """Something that learns the next block, and from the last goes on to the first."""

    def __init__(self, X, y):
        self.X, self.y, self.turn = X, y, 0

    def learn_next(self):
        self.learn(self.turn)
        self.turn = (self.turn + 1) % N_BLOCKS

    def rows(self, k):
        return slice(k * BLOCK, (k + 1) * BLOCK)


class Batches(Learner):
    """A model with `partial_fit`, and batches cut before."""

    def __init__(self, model, X, y, size):
        super().__init__(X, y)
        self.model = model
        cuts = [slice(low, low + size) for low in range(0, X.shape[0], size)]
        batches = [(X[cut], y[cut]) for cut in cuts]
        per_block = BLOCK // size
        self.blocks = [
            batches[k * per_block : (k + 1) * per_block] for k in range(N_BLOCKS)
        ]
        # Rows of one class may come first.
        self.options = {"classes": np.array([0, 1])}

    def learn(self, k):
        for X, y in self.blocks[k]:
            self.model.partial_fit(X, y, **self.options)
            self.options = {}

    def scores(self, k):
        return self.model.decision_function(self.X[self.rows(k)])


class Records(Learner):
    """River's model, and a dict per row."""

    def __init__(self, X, y):
        super().__init__(X, y)
        self.model = _river.River(X, y)

    def learn(self, k):
        self.model.learn(self.rows(k))

    def scores(self, k):
        return self.model.scores(self.rows(k))


class Parsed(Learner):
    """Vowpal Wabbit's model and its examples."""

    def __init__(self, X, y):
        super().__init__(X, y)
        self.model = Vowpal(X, y)

    def learn(self, k):
        self.model.learn(self.rows(k))

    def scores(self, k):
        return self.model.scores(self.model.examples[self.rows(k)])


if __name__ == "__main__":
    _suite.main(measurements)
