# SPDX-License-Identifier: BSD-3-Clause
"""NBAUC on ijcnn1 beside scikit-learn's Nystroem and logistic regression.

Official split, standardised; gamma is one over the number of features on both sides.
One thread, CPU time.
"""

import _suite
from _data import load
from _timing import take_turns
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from aucmax import NBAUC
from aucmax.metrics import roc_auc

BAR, LEAST_AUC = 1.0, 99.7


def measurements(*, quick=False):
    data = load("ijcnn1", quick=quick)
    X, X_test, y, y_test = data
    n_landmarks, n_components = (100, 50) if quick else (1600, 400)
    gamma = 1 / X.shape[1]
    models = {
        f"NBAUC({n_landmarks})": NBAUC(
            n_landmarks, gamma=gamma, alpha=1e-5, random_state=0
        ),
        f"scikit-learn Nystroem({n_components}) + LogisticRegression": make_pipeline(
            Nystroem(gamma=gamma, n_components=n_components, random_state=0),
            LogisticRegression(C=1000, max_iter=1000),
        ),
    }
    ours, rival = models
    for model in models.values():
        model.fit(X[:2000], y[:2000])  # compiles
    turns = take_turns(
        {name: lambda m=model: m.fit(X, y) for name, model in models.items()},
        repeats=1 if quick else 3,
        warm_up=False,
    )
    auc, rival_auc = (
        100 * roc_auc(y_test, model.decision_function(X_test))
        for model in models.values()
    )
    yield _suite.ratio(
        turns,
        ours,
        rival,
        what=f"{ours} fit",
        where=data.where,
        kind="peer",
        bar=BAR,
        goal=6,
        details={"AUC": round(auc, 2), "rival's AUC": round(rival_auc, 2)},
    )
    yield _suite.absolute(
        LEAST_AUC - auc,
        what=f"{ours}, test AUC short of {LEAST_AUC}",
        where=data.where,
        unit="AUC points",
        bar=0.0 if data.is_real else None,
        goal=6,
    )


if __name__ == "__main__":
    _suite.main(measurements)
