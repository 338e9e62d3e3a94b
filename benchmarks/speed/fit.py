# SPDX-License-Identifier: BSD-3-Clause
"""A full linear fit beside LogisticRegression(solver="newton-cholesky"), and a path.

Standardised rows. RankSVM is fitted to a relative objective accuracy of 1e-3, which is
checked against a fit to 1e-10 and has a bar of its own; fits with the default, 1e-4,
stand beside it. alpha is 1 / (C * n) of the rival's C = 1, so that both penalise alike.
A path is 20 alphas down to that one, each fit started from the one before. One thread:
CPU time; two threads, which the goal is not about: wall time.
"""

import time

import _suite
import numpy as np
from _data import load
from _timing import take_turns
from sklearn.linear_model import LogisticRegression

from aucmax import RankSVM
from aucmax.design import LocalDesign
from aucmax.losses import SquaredHinge
from aucmax.metrics import roc_auc
from aucmax.solvers.path import regularisation_path

SETS = ["magic04", "connect-4", "covtype"]
TOL = 1e-3
FIT_BAR, PATH_BAR, AUC_BAR = 0.5, 4, 0.2
RIVAL = "LogisticRegression newton-cholesky"


def measurements(*, quick=False):
    for name in SETS[:1] if quick else SETS:
        for dtype in (np.float64, np.float32):
            data = load(name, quick=quick).astype(dtype)
            for threads in (1, 2):
                yield from beside_rival(data, threads, repeats=1 if quick else 3)


def beside_rival(data, threads, repeats):
    X, X_test, y, y_test = data
    alpha = 1 / len(y)
    ours, finer = RankSVM(alpha=alpha, tol=TOL), RankSVM(alpha=alpha)
    theirs = LogisticRegression(solver="newton-cholesky")
    weight = np.ones(len(y))
    alphas = list(np.logspace(0, np.log10(alpha), 20))

    def path():
        # Made here, where the number of threads is set.
        design = LocalDesign(X)
        fits = regularisation_path(
            design, y, weight, loss=SquaredHinge(), alphas=alphas, tol=TOL
        )
        return list(fits)

    turns = take_turns(
        {
            "fit": lambda: ours.fit(X, y),
            "rival": lambda: theirs.fit(X, y),
            "finer": lambda: finer.fit(X, y),
            "path": path,
        },
        repeats=repeats,
        threads=threads,
        clock=time.process_time if threads == 1 else time.perf_counter,
    )
    auc, finer_auc, rival_auc = (
        100 * roc_auc(y_test, model.decision_function(X_test))
        for model in (ours, finer, theirs)
    )
    where = data.where if threads == 1 else f"{data.where}, two threads"
    for run, model, reached in (("fit", ours, auc), ("finer", finer, finer_auc)):
        has_bar = run == "fit"
        yield _suite.ratio(
            turns,
            run,
            "rival",
            what=f"RankSVM fit to {model.tol:g}",
            where=where,
            against=RIVAL,
            kind="peer",
            bar=FIT_BAR if has_bar else None,
            goal=3 if has_bar and threads == 1 else None,
            details={
                "AUC": round(reached, 2),
                "rival's AUC": round(rival_auc, 2),
                "passes": round(model.history_[-1].n_passes),
            },
        )
    yield _suite.ratio(
        turns,
        "path",
        "fit",
        what="RankSVM path of 20 alphas",
        where=where,
        against="one RankSVM fit",
        kind="own",
        bar=PATH_BAR,
    )
    if threads == 1:
        optimum = RankSVM(alpha=alpha, tol=1e-10).fit(X.astype(float), y).objective_
        yield _suite.outcome(
            ours.objective_ / optimum - 1,
            what=f"RankSVM fit to {TOL:g}, above the optimum",
            where=where,
            unit="of the objective",
            bar=TOL,
            goal=3,
        )
        yield _suite.outcome(
            rival_auc - auc,
            what=f"RankSVM, test AUC behind {RIVAL}",
            where=where,
            unit="AUC points",
            **_suite.bar_if(data.is_real, AUC_BAR),
            goal=3,
        )


if __name__ == "__main__":
    _suite.main(measurements)
