# SPDX-License-Identifier: BSD-3-Clause
"""NBAUC on ijcnn1 beside scikit-learn's Nystroem and logistic regression.

Official split, standardised; gamma is one over the number of features on both sides.
The bar is for the rival with its usual precision and solver; a second rival, which the
bar is not for, gets float32 and newton-cholesky. Last, once and after the turns of the
others, NBAUC with its own defaults, which choose gamma and alpha. One thread, CPU time.
"""

import _suite
import numpy as np
from _data import load
from _timing import take_turns
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from aucmax import NBAUC
from aucmax.metrics import roc_auc

BAR, LEAST_AUC = 1.0, 99.7
# More than any of the fits needs.
MEMORY = 10**9


def measurements(*, quick=False):
    data = load("ijcnn1", quick=quick)
    n_landmarks, n_components = (100, 50) if quick else (1600, 400)
    gamma = 1 / data.X.shape[1]
    ours, chosen = f"NBAUC({n_landmarks})", f"NBAUC({n_landmarks}), kernel chosen"
    rival = f"scikit-learn Nystroem({n_components}) + LogisticRegression"
    quicker = f"{rival} newton-cholesky, float32"

    def nystroem(**options):
        return make_pipeline(
            Nystroem(gamma=gamma, n_components=n_components, random_state=0),
            LogisticRegression(C=1000, max_iter=1000, **options),
        )

    models = {
        ours: NBAUC(n_landmarks, gamma=gamma, alpha=1e-5, random_state=0),
        rival: nystroem(),
        quicker: nystroem(solver="newton-cholesky"),
    }
    turns, auc = race(models, data, quicker, repeats=1 if quick else 3)
    for other in (rival, quicker):
        has_bar = other == rival
        yield _suite.ratio(
            turns,
            ours,
            other,
            what=f"{ours} fit",
            where=data.where,
            kind="peer",
            bar=BAR if has_bar else None,
            goal=6 if has_bar else None,
            details={"AUC": round(auc[ours], 2), "rival's AUC": round(auc[other], 2)},
        )
    yield _suite.outcome(
        LEAST_AUC - auc[ours],
        what=f"{ours}, test AUC short of {LEAST_AUC}",
        where=data.where,
        unit="AUC points",
        **_suite.bar_if(data.is_real, 0.0),
        goal=6,
    )
    if quick:
        return
    # Takes long, so once.
    models = {chosen: NBAUC(n_landmarks, random_state=0)}
    found, auc_chosen = race(models, data, None, repeats=1)
    yield _suite.ratio(
        found | {rival: [min(turns[rival])]},
        chosen,
        rival,
        what=f"{chosen} fit",
        where=data.where,
        kind="peer",
        details={
            "AUC": round(auc_chosen[chosen], 2),
            "rival's AUC": round(auc[rival], 2),
        },
    )


def race(models, data, in_float32, repeats):
    """Return the turns of all fits and the test AUC of each; one gets float32."""
    rows = dict.fromkeys(models, data)
    if in_float32:
        rows[in_float32] = data.astype(np.float32)
    for name, model in models.items():
        model.fit(rows[name].X[:2000], data.y[:2000])  # compiles
    turns = take_turns(
        {
            name: lambda m=model, part=rows[name]: m.fit(part.X, part.y)
            for name, model in models.items()
        },
        repeats=repeats,
        warm_up=False,
        touch=MEMORY,
    )
    return turns, {
        name: 100 * roc_auc(data.y_test, model.decision_function(rows[name].X_test))
        for name, model in models.items()
    }


if __name__ == "__main__":
    _suite.main(measurements)
