# SPDX-License-Identifier: BSD-3-Clause
"""Training time beside what a user would take instead, and the time to equal AUC.

Ours and the peers are fitted with usual settings, one thread, CPU time, in turns; the
ratio is of these fits, and the AUC of both on held-out rows stands beside it. As a fit
that takes half the time may also rank worse, every model is fitted again with cheaper
settings, if it has any: a coarser tolerance, fewer passes, trees or landmarks. "to
equal AUC" is what the cheapest setting takes that reaches the smaller of both AUCs with
usual settings, no less. Settings are defaults but for those named; none was chosen for
a set.

Dense rows are standardised; a9a, w8a and news20 are sparse, as they are. Sets are cut
to 20,000 rows, for kernels and trees to 15,000, but for a last round on 100,000 of
covtype; 10,000 rows are held out. Vowpal Wabbit has parsed its rows before it is timed,
and lightning, which fits without an intercept, runs in a process of its own. Linear
models have two turns; of the others, those that take less than 5 s have three.
"""

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import _boosting
import _suite
import _vowpal
import numpy as np
from _data import load
from _lightning import PYTHON, Lightning
from _timing import take_turns
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC
from threadpoolctl import threadpool_limits

from aucmax import NBAUC, OPAUC, AUCClassifier, LeastSquaresAUC, RankSVM
from aucmax.metrics import roc_auc

LINEAR_SETS = ["magic04", "ijcnn1", "connect-4", "covtype", "a9a", "w8a", "news20"]
SPARSE_SETS = ["a9a", "w8a", "news20"]
OTHER_SETS = ["magic04", "ijcnn1", "connect-4", "covtype"]
LINEAR_ROWS, OTHER_ROWS, TEST_ROWS = 20_000, 15_000, 10_000
LARGE_SET, LARGE_ROWS = "covtype", 100_000
# Fits that take longer have one turn, others so many more.
LONG_SECONDS, MORE_TURNS = 5, 2
# Takes as long as it is given: on one set only.
ENSEMBLE_SET, ENSEMBLE_SECONDS = "magic04", 15
# More features than this, and covariances are sketched.
WIDE = 5_000

NEWTON = "scikit-learn LogisticRegression newton-cholesky"
LIBLINEAR = "scikit-learn LogisticRegression liblinear"
LINEAR_SVC = "scikit-learn LinearSVC"
SGD = "scikit-learn SGDClassifier"
ONE_PASS, FIVE_PASSES = "Vowpal Wabbit, 1 pass", "Vowpal Wabbit, 5 passes"
CD, SAGA = "lightning CDClassifier", "lightning SAGAClassifier"
NYSTROEM = "scikit-learn Nystroem(400) + LogisticRegression"
SMALL_LIGHTGBM, LIGHTGBM = "LightGBM, 100 trees", "LightGBM, 300 trees"
XGBOOST = "XGBoost, 300 trees"
PAIRS = {
    "RankSVM": [
        *[NEWTON, LIBLINEAR, LINEAR_SVC, SGD, ONE_PASS, FIVE_PASSES, CD, SAGA],
        LIGHTGBM,
    ],
    "LeastSquaresAUC": [NEWTON, LIBLINEAR, LINEAR_SVC],
    "OPAUC, one pass": [SGD, ONE_PASS, LIBLINEAR],
    "NBAUC": [NYSTROEM, SMALL_LIGHTGBM, LIGHTGBM, XGBOOST],
    "NBAUC, kernel given": [NYSTROEM, SMALL_LIGHTGBM, LIGHTGBM, XGBOOST],
    "AUCClassifier": [LIGHTGBM, XGBOOST],
}


@dataclass
class Contender:
    """A fit with usual settings, and a function that tries the cheaper ones.

    `curve` returns pairs of CPU seconds and AUC, the last of the usual settings; the
    AUC of a fit that diverged is None. `warm` fits a copy to a few rows.
    """

    fit: Callable[[], object]
    curve: Callable[[], list[tuple[float, float]]]
    warm: Callable[[], object] | None = None


def measurements(*, quick=False):
    warnings.simplefilter("ignore", ConvergenceWarning)
    tell_what_is_missing()
    for name in LINEAR_SETS[:1] if quick else LINEAR_SETS:
        data = load(name, standardise=name not in SPARSE_SETS, quick=quick)
        yield from linear(cut(data, LINEAR_ROWS), quick=quick)
    for name in OTHER_SETS[:1] if quick else OTHER_SETS:
        data = cut(load(name, quick=quick), OTHER_ROWS)
        yield from others(data, name == ENSEMBLE_SET and not quick, quick=quick)
    data = cut(load(LARGE_SET, quick=quick), LARGE_ROWS)
    yield from large(data, quick=quick)


def tell_what_is_missing():
    if not _vowpal.IS_INSTALLED:
        _suite.leave_out("Vowpal Wabbit is not installed.")
    if not PYTHON:
        _suite.leave_out("lightning: AUCMAX_LIGHTNING_PYTHON names no Python with it.")


def cut(data, n):
    X_test, y_test = data.X_test[:TEST_ROWS], data.y_test[:TEST_ROWS]
    return replace(data.first(n), X_test=X_test, y_test=y_test)


def linear(data, *, quick):
    X, X_test, y, y_test = data
    is_sparse = sparse.issparse(X)
    rank = 50 if X.shape[1] > WIDE else None
    steps = [{"max_iter": 1, "tol": None}, {"max_iter": 3, "tol": None}]
    contenders = {
        "RankSVM": tried(data, RankSVM(), [{"tol": 0.1}, {"tol": 0.01}]),
        "LeastSquaresAUC": tried(data, LeastSquaresAUC()),
        "OPAUC, one pass": tried(data, OPAUC(rank=rank, random_state=0)),
        LINEAR_SVC: tried(data, LinearSVC(), [{"tol": 1.0}, {"tol": 0.1}]),
        SGD: tried(data, SGDClassifier(loss="log_loss", random_state=0), steps),
    }
    if is_sparse:
        model = LogisticRegression(solver="liblinear")
        contenders[LIBLINEAR] = tried(data, model, [{"tol": 1.0}, {"tol": 0.1}])
    else:
        model = LogisticRegression(solver="newton-cholesky")
        contenders[NEWTON] = tried(data, model, [{"max_iter": 1}, {"max_iter": 3}])
    if _vowpal.IS_INSTALLED:
        contenders |= passes(data)
    child = Lightning(X, y, X_test, y_test) if PYTHON else None
    if child:
        fits = {"CDClassifier": (CD, [1, 5, 50]), "SAGAClassifier": (SAGA, [1, 3, 10])}
        for model, (name, ladder) in fits.items():
            contenders[name] = in_child(child, model, ladder, len(y))
    yield from compare(
        data,
        contenders,
        repeats=1 if quick else 2,
        # What is wide takes seconds, so that the first turn has to do.
        warm_up=rank is None,
        clock=child.clock if child else time.process_time,
    )
    if child:
        child.close()


def others(data, with_ensemble, *, quick):
    landmarks = n_landmarks(quick)
    nystroem = make_pipeline(
        Nystroem(gamma=1 / data.X.shape[1], n_components=400, random_state=0),
        # As in kernel_fit.py: features of length one want a weak penalty.
        LogisticRegression(C=1000, max_iter=1000),
    )
    components = [{"nystroem__n_components": n} for n in (50, 100, 200)]
    components.append({"logisticregression__C": 1.0})
    contenders = {
        "NBAUC, kernel given": tried(data, NBAUC(landmarks, **GIVEN), FEWER),
        NYSTROEM: tried(data, nystroem, components),
        **boosted(data, (SMALL_LIGHTGBM, LIGHTGBM, XGBOOST), quick),
    }
    if not quick:
        # Cheaper than choosing a kernel is not choosing one.
        rungs = [GIVEN | rung for rung in (*FEWER, {})]
        contenders["NBAUC"] = tried(data, NBAUC(landmarks, random_state=0), rungs)
    if with_ensemble:
        model = AUCClassifier(time_budget=ENSEMBLE_SECONDS, random_state=0)
        contenders["AUCClassifier"] = tried(data, model)
    yield from compare(data, contenders, repeats=1, warm_up=False)


def large(data, *, quick):
    model = NBAUC(n_landmarks(quick), **GIVEN)
    contenders = {
        "RankSVM": tried(data, RankSVM(), [{"tol": 0.1}, {"tol": 0.01}]),
        "NBAUC, kernel given": tried(data, model, FEWER),
        **boosted(data, (LIGHTGBM,), quick),
    }
    yield from compare(data, contenders, repeats=1, warm_up=False)


# What the paper takes, without a search.
GIVEN = {"gamma": "scale-mean", "alpha": 1e-4, "random_state": 0}
FEWER = [{"n_landmarks": n} for n in (100, 400)]


def n_landmarks(quick):
    return 50 if quick else 1600


def boosted(data, names, quick):
    found = {}
    for name in filter(_boosting.is_there, names):
        most = 100 if name == SMALL_LIGHTGBM else 300
        rungs = [{"n_estimators": n} for n in (10, 30, 100) if n < most]
        model = _boosting.make(name, 10 if quick else most)
        found[name] = tried(data, model, rungs)
    return found


def tried(data, model, rungs=()):
    """Return the contender of a model, and of copies with cheaper settings."""

    def curve():
        cheaper = [clone(model).set_params(**rung) for rung in rungs]
        points = [(seconds_of(one, data), held_out_auc(one, data)) for one in cheaper]
        # Fitted in its turns, which know the seconds.
        return [*points, (np.inf, held_out_auc(model, data))]

    return Contender(
        lambda: model.fit(data.X, data.y),
        curve,
        # Compiles, and loads what is loaded late.
        lambda: clone(model).fit(data.X[:1000], data.y[:1000]),
    )


def seconds_of(model, data):
    start = time.process_time()
    model.fit(data.X, data.y)
    return time.process_time() - start


def held_out_auc(model, data):
    if hasattr(model, "decision_function"):
        scores = model.decision_function(data.X_test)
    else:
        scores = model.predict_proba(data.X_test)[:, 1]
    return roc_auc(data.y_test, scores)


def passes(data):
    """Return contenders of one and of five passes over rows that were parsed before.

    A pass takes as long whatever was learned before, so turns go on with one model.
    """
    model = _vowpal.Vowpal(data.X, data.y)
    held_out = model.parse(data.X_test)
    points, spent = [], 0.0
    for _ in range(5):
        start = time.process_time()
        model.learn()
        spent += time.process_time() - start
        points.append((spent, roc_auc(data.y_test, model.scores(held_out))))
    return {
        name: Contender(partial(model.learn, n_passes=n), lambda n=n: points[:n])
        for name, n in ((ONE_PASS, 1), (FIVE_PASSES, 5))
    }


def in_child(child, model, ladder, n):
    """Return the contender of a logistic model of lightning, by most iterations."""
    options = {"loss": "log", "random_state": 0}
    # Both as C = 1 of scikit-learn.
    options |= {"C": 1.0} if model == "CDClassifier" else {"alpha": 1 / n}
    fits = [partial(child.fit, model, max_iter=most, **options) for most in ladder]

    def curve():
        points = []
        for fit in fits:
            start = child.seconds
            fit()
            points.append((child.seconds - start, child.auc()))
        return points

    return Contender(fits[-1], curve)


def compare(data, contenders, *, warm_up, **how):
    runs = {name: one.fit for name, one in contenders.items()}
    if not warm_up:
        for one in contenders.values():
            if one.warm:
                one.warm()
    turns = take_turns(runs, warm_up=warm_up, **how)
    if how["repeats"] == 1:
        short = {n: run for n, run in runs.items() if turns[n][0] < LONG_SECONDS}
        how |= {"repeats": MORE_TURNS, "warm_up": False}
        again = take_turns(short, **how)
        turns |= {name: turns[name] + again[name] for name in short}
    with threadpool_limits(1):
        curves = {name: one.curve() for name, one in contenders.items()}
    for name, curve in list(curves.items()):
        if curve[-1][1] is None:
            _suite.leave_out(f"{name} diverged on {data.name}.")
            del curves[name]
        else:
            curve[-1] = (min(turns[name]), curve[-1][1])
    for name in filter(curves.__contains__, PAIRS):
        for other in filter(curves.__contains__, PAIRS[name]):
            mine, theirs = curves[name], curves[other]
            target = min(mine[-1][1], theirs[-1][1])
            yield _suite.ratio(
                turns,
                name,
                other,
                what=f"{name} fit",
                where=data.where,
                kind="peer",
                details={
                    "AUC": round(mine[-1][1], 4),
                    "its AUC": round(theirs[-1][1], 4),
                },
            )
            yield _suite.ratio(
                {name: reaches(mine, target), other: reaches(theirs, target)},
                name,
                other,
                what=f"{name} to equal AUC",
                where=data.where,
                kind="peer",
                details={"AUC to reach": round(target, 4)},
            )


def reaches(curve, target):
    """Return the seconds of the cheapest setting with that AUC, as a list of one."""
    found = [seconds for seconds, auc in curve if auc is not None and auc >= target]
    return [min(found)]


if __name__ == "__main__":
    _suite.main(measurements)
