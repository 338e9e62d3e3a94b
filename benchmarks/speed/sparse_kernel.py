# SPDX-License-Identifier: BSD-3-Clause
"""SparseKernelAUC with 200 functions beside NBAUC on ijcnn1.

Official split, standardised, rbf of width 4 (gamma = 1/32), alpha = 1e-5: the settings
at which the sparse model was tuned on other rows. NBAUC runs with the same two. The bar
is for the default selection. One thread, CPU time, one turn each.
"""

import time

import _suite
from _data import load
from _timing import take_turns

from aucmax import NBAUC, SparseKernelAUC
from aucmax.metrics import roc_auc

BAR = 3
FIXED = {"gamma": 1 / 32, "alpha": 1e-5, "random_state": 0}
FORMS = {
    "SparseKernelAUC": {"early_stopping": False},
    "SparseKernelAUC, early stopping": {},
    "SparseKernelAUC, refined": {"early_stopping": False, "refine": "centres"},
    "SparseKernelAUC, newton (the paper)": {
        "early_stopping": False,
        "select": "newton",
    },
}


def measurements(*, quick=False):
    data = load("ijcnn1", quick=quick)
    X, X_test, y, y_test = data
    base = f"NBAUC({100 if quick else 1600})"
    n_basis = 10 if quick else 200
    models = {base: NBAUC(100 if quick else 1600, **FIXED)}
    for name, options in FORMS.items():
        models[name] = SparseKernelAUC(n_basis, **FIXED, **options)
    for model in models.values():
        model.fit(X[:1000], y[:1000])  # compiles
    turns = take_turns(
        {name: lambda m=model: m.fit(X, y) for name, model in models.items()},
        repeats=1,
        warm_up=False,
    )
    scoring, auc = {}, {}
    for name, model in models.items():
        start = time.process_time()
        scores = model.decision_function(X_test)
        scoring[name] = time.process_time() - start
        auc[name] = round(100 * roc_auc(y_test, scores), 2)
    for name in FORMS:
        yield _suite.ratio(
            turns,
            name,
            base,
            what=f"{name} fit",
            where=data.where,
            kind="own",
            bar=BAR if name == "SparseKernelAUC" else None,
            details={
                "functions": len(models[name].basis_),
                "AUC": auc[name],
                "AUC of NBAUC": auc[base],
                "scoring / NBAUC": round(scoring[name] / scoring[base], 2),
            },
        )


if __name__ == "__main__":
    _suite.main(measurements)
