# SPDX-License-Identifier: BSD-3-Clause
"""What a score costs: one row at a time, and many rows at once.

All models are fitted to the same 5,000 drawn rows of 30 features, and asked for scores
through their public methods, checks and all: `decision_function`, or `predict_proba`
where there is none. `x @ w` is the arithmetic of a linear score and nothing else. One
thread, CPU time.
"""

from functools import partial

import _boosting
import _suite
import numpy as np
from _timing import take_turns
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from aucmax import KNNOAM, NBAUC, OPAUC, AUCClassifier, RankSVM

D = 30
CALLS = 20
LOGISTIC = "scikit-learn LogisticRegression"
NYSTROEM = "scikit-learn Nystroem(400) + LogisticRegression"
SVC_RBF = "scikit-learn SVC rbf"
NEIGHBOURS = "scikit-learn KNeighborsClassifier(50)"
LIGHTGBM, XGBOOST = "LightGBM, 100 trees", "XGBoost, 100 trees"
# What each of ours is held against: what its user would have taken instead.
PAIRS = {
    "RankSVM": [LOGISTIC, "x @ w"],
    "OPAUC": [LOGISTIC, "x @ w"],
    "NBAUC(400)": [NYSTROEM, SVC_RBF, LIGHTGBM, XGBOOST],
    "AUCClassifier": [LIGHTGBM, XGBOOST, SVC_RBF],
    "KNNOAM": [NEIGHBOURS, SVC_RBF],
}
# Rows at once. Models that take longer, or keep all features of the rows, are asked for
# fewer, and so is what they stand beside.
MANY, FEWER, FEWEST = 1_000_000, 200_000, 2_000
AT_MOST = {
    NYSTROEM: FEWER,
    SVC_RBF: FEWEST,
    NEIGHBOURS: FEWEST,
    "AUCClassifier": FEWEST,
    "KNNOAM": FEWEST,
}
LINEAR = ("RankSVM", "OPAUC")


def measurements(*, quick=False):
    X, y = draw(400 if quick else 5_000)
    models = fitted(X, y, quick=quick)
    yield from one_row(models, X, quick=quick)
    yield from many_rows(models, quick=quick)


def draw(n):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, D))
    margin = X[:, 0] + X[:, 1] * X[:, 2] + 0.5 * rng.standard_normal(n)
    return X, (margin > 1).astype(int)


def fitted(X, y, *, quick):
    """Return the scoring method of each model."""
    families = ["linear"] if quick else "auto"
    models = {
        "RankSVM": RankSVM(),
        "OPAUC": OPAUC(),
        "NBAUC(400)": NBAUC(400, gamma=1 / D, alpha=1e-4, random_state=0),
        "AUCClassifier": AUCClassifier(families, cv=3, random_state=0),
        "KNNOAM": KNNOAM(random_state=0),
        LOGISTIC: LogisticRegression(),
        SVC_RBF: SVC(),
        NYSTROEM: make_pipeline(
            Nystroem(gamma=1 / D, n_components=400, random_state=0),
            LogisticRegression(max_iter=1000),
        ),
        NEIGHBOURS: KNeighborsClassifier(50),
        **{
            name: _boosting.make(name, 100)
            for name in (LIGHTGBM, XGBOOST)
            if _boosting.is_there(name)
        },
    }
    scorers = {name: scorer(model.fit(X, y)) for name, model in models.items()}
    coef = models["RankSVM"].coef_[0]
    return scorers | {"x @ w": lambda rows: rows @ coef}


def scorer(model):
    if hasattr(model, "decision_function"):
        return model.decision_function
    return model.predict_proba


def one_row(models, X, *, quick):
    row = X[:1].copy()

    def calls(score):
        def run():
            for _ in range(CALLS):
                score(row)

        return run

    turns = take_turns(
        {name: calls(score) for name, score in models.items()},
        repeats=2 if quick else 7,
    )
    for ours, others in PAIRS.items():
        for other in filter(turns.__contains__, others):
            yield _suite.ratio(
                turns,
                ours,
                other,
                per=CALLS,
                unit="us per call",
                where=f"score of one row, {D} features",
                kind="limit" if other == "x @ w" else "peer",
            )


def many_rows(models, *, quick):
    most = 1_000 if quick else MANY
    for ours, others in PAIRS.items():
        by_size = {}
        for other in filter(models.__contains__, others):
            n = min(most, *(AT_MOST.get(name, MANY) for name in (ours, other)))
            by_size.setdefault(n, []).append(other)
        for n, asked in by_size.items():
            yield from at_once(models, n, ours, asked, repeats=1 if quick else 3)


def at_once(models, n, ours, asked, repeats):
    rows, _ = draw(n)
    turns = take_turns(
        {name: partial(models[name], rows) for name in (ours, *asked)},
        repeats=repeats,
        # The others take seconds, and every loop was compiled for the single rows.
        warm_up=ours in LINEAR,
    )
    for other in asked:
        yield _suite.ratio(
            turns,
            ours,
            other,
            per=n,
            unit="us per row",
            where=f"scores of {n:,} rows, {D} features",
            kind="limit" if other == "x @ w" else "peer",
        )


if __name__ == "__main__":
    _suite.main(measurements)
