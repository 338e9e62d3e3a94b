# SPDX-License-Identifier: BSD-3-Clause
"""RankSVMCV beside logistic regression on the real sets that ship with aucmax.

Run it with ``make demo``, or with ``python examples/demo.py`` once aucmax is installed.
"""

import time
from typing import Any

from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from aucmax import RankSVMCV, metrics
from aucmax.datasets import Bundle, list_bundled, load_bundled

MODELS = {
    "RankSVMCV": RankSVMCV(),
    "LogisticRegression": LogisticRegression(max_iter=1000),
}
INTRO = """\
Two linear models score the test rows of real, imbalanced data (standardised features).
RankSVMCV trains on all pairs and chooses among 20 alphas by 5-fold cross-validation;
LogisticRegression is fitted once, with scikit-learn's default C.
"""
HEAD = f"{'':9}{'training':>11}" + "".join(f"{name:>28}" for name in MODELS)
SUBHEAD = (
    f"{'data set':9}{'rows':>11}"
    + f"{'test AUC [95%]':>22}{'fit s':>6}" * len(MODELS)
    + f"{'p-value':>8}"
)
NOTES = """
Rows are given with the share of positives, AUC with its 95% DeLong interval. The
p-value is of the paired DeLong test: above 0.05 there is no evidence that the two AUCs
differ, and one value below it among several sets, on one split each, is weak evidence.
Averaged over data sets, linear models have about the same AUC however they are trained.
The rows of satimage overlap, so its intervals and its p-value claim too much.
Times leave out loading or compiling the machine code, once per process ({once:.1f} s).

Next: README.md lists the estimators and says what alpha means; examples/demo.py, which
printed this table, is short."""


def main() -> None:
    """Fit both models on every bundled set and print one line per set."""
    started = time.perf_counter()
    RankSVMCV().fit([[0.0], [1.0]] * 5, [0, 1] * 5)
    once = time.perf_counter() - started

    print(INTRO)
    print(HEAD)
    print(SUBHEAD)
    for name in list_bundled():
        print(compare(load_bundled(name)))
    print(NOTES.format(once=once))


def compare(data: Bundle) -> str:
    """Return the line of the table for one data set."""
    share = data.y.mean()
    line = f"{data.name:9}{f'{len(data.y):,} ({share:.0%})':>11}"
    scores = []
    for model in MODELS.values():
        test_scores, seconds = fit_and_score(model, data)
        auc = metrics.roc_auc_interval(data.y_test, test_scores)
        line += f"{f'{auc.auc:.3f} [{auc.low:.3f}, {auc.high:.3f}]':>22}{seconds:6.2f}"
        scores.append(test_scores)
    return line + f"{metrics.roc_auc_test(data.y_test, *scores).p_value:8.3f}"


def fit_and_score(model: Any, data: Bundle) -> tuple[Any, float]:
    """Return the scores of the test rows, and the seconds that ``fit`` took."""
    pipeline = make_pipeline(StandardScaler(), model)
    started = time.perf_counter()
    pipeline.fit(data.X, data.y)
    seconds = time.perf_counter() - started
    return pipeline.decision_function(data.X_test), seconds


if __name__ == "__main__":
    main()
