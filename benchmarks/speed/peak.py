# SPDX-License-Identifier: BSD-3-Clause
"""Peak memory of a fit above the loaded data, ours beside what others take.

Each fit has a process of its own, which has loaded its library, fitted 2,000 rows, and
loaded the data before the resident set is watched. covtype is cut to 100,000 rows.
Memory hardly changes from run to run, so there is one turn. Fits that keep less than
one MB count as one.
"""

import json
import os
import subprocess
import sys

import _boosting
import _suite
from _data import load
from _memory import CAN_READ, ENVIRONMENT, MEGABYTE, WHY_NOT, peak_beyond
from threadpoolctl import threadpool_limits

ROWS = {"ijcnn1": None, "connect-4": None, "covtype": 100_000}
LOGISTIC = "scikit-learn LogisticRegression newton-cholesky"
LINEAR_SVC = "scikit-learn LinearSVC"
NYSTROEM = "scikit-learn Nystroem(400) + LogisticRegression"
LIGHTGBM, XGBOOST = "LightGBM, 300 trees", "XGBoost, 300 trees"
PAIRS = {
    "RankSVM": [LOGISTIC, LINEAR_SVC],
    "OPAUC": [LOGISTIC, LINEAR_SVC],
    "NBAUC(400)": [NYSTROEM, LIGHTGBM, XGBOOST],
    "NBAUC(1600)": [NYSTROEM, LIGHTGBM, XGBOOST],
    "AUCClassifier": [LIGHTGBM, XGBOOST],
}
# It fits dozens of models: on the smallest set only, with a budget of seconds.
ENSEMBLE_SETS, ENSEMBLE_SECONDS = ["ijcnn1"], 20


def measurements(*, quick=False):
    if not CAN_READ:
        _suite.leave_out(WHY_NOT)
        return
    absent = [name for name in (LIGHTGBM, XGBOOST) if not _boosting.is_there(name)]
    pairs = {"RankSVM": [LOGISTIC]} if quick else PAIRS
    for name in ["ijcnn1"] if quick else ROWS:
        used = {
            ours: [other for other in others if other not in absent]
            for ours, others in pairs.items()
            if ours != "AUCClassifier" or name in ENSEMBLE_SETS
        }
        models = dict.fromkeys(
            [*used, *(o for others in used.values() for o in others)]
        )
        peaks = {model: in_own_process(name, model, quick) for model in models}
        for ours, others in used.items():
            for other in others:
                yield beside(peaks, ours, other)


def beside(peaks, ours, other):
    mine, theirs = (max(1.0, peaks[name]["MB"]) for name in (ours, other))
    return _suite.Measurement(
        what=f"{ours} fit, peak memory beyond the data",
        where=peaks[ours]["where"],
        against=other,
        kind="peer",
        ours=mine,
        other=theirs,
        unit="MB",
        ratio=mine / theirs,
        low=mine / theirs,
        high=mine / theirs,
        details={"data, MB": peaks[ours]["data"]},
    )


def in_own_process(name, model, quick):
    command = [sys.executable, __file__, "child", name, model, str(int(quick))]
    return json.loads(
        subprocess.check_output(command, text=True, env=os.environ | ENVIRONMENT)
    )


def child(name, model, quick):
    data = load(name, quick=quick)
    data = data.first(ROWS[name]) if ROWS[name] else data
    # A copy of the rows alone, so that a part does not keep the whole.
    X, y = data.X.copy(), data.y.copy()
    with threadpool_limits(1):
        make(model).fit(X[:2000], y[:2000])
        found = peak_beyond(lambda: make(model).fit(X, y))
    size = round(X.nbytes / MEGABYTE, 1)
    print(json.dumps({"MB": found / MEGABYTE, "where": data.where, "data": size}))


def make(model):
    if model in (LIGHTGBM, XGBOOST):
        return _boosting.make(model, 300)
    if model in (LOGISTIC, LINEAR_SVC, NYSTROEM):
        return make_scikit_learn(model)
    import aucmax

    return {
        "RankSVM": lambda: aucmax.RankSVM(),
        "OPAUC": lambda: aucmax.OPAUC(),
        "NBAUC(400)": lambda: aucmax.NBAUC(400, **KERNEL),
        "NBAUC(1600)": lambda: aucmax.NBAUC(1600, **KERNEL),
        "AUCClassifier": lambda: aucmax.AUCClassifier(
            time_budget=ENSEMBLE_SECONDS, random_state=0
        ),
    }[model]()


# Given, so that the fit is measured and not the choice of a kernel.
KERNEL = {"gamma": "scale-mean", "alpha": 1e-4, "random_state": 0}


def make_scikit_learn(model):
    from sklearn.kernel_approximation import Nystroem
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.svm import LinearSVC

    if model == LOGISTIC:
        return LogisticRegression(solver="newton-cholesky")
    if model == LINEAR_SVC:
        return LinearSVC(dual=False)
    return make_pipeline(
        Nystroem(gamma=0.05, n_components=400, random_state=0),
        LogisticRegression(max_iter=100),
    )


if __name__ == "__main__":
    if sys.argv[1:2] == ["child"]:
        child(sys.argv[2], sys.argv[3], sys.argv[4] == "1")
    else:
        _suite.main(measurements)
