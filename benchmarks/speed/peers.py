# SPDX-License-Identifier: BSD-3-Clause
"""Models of other libraries, each with its usual settings, on one thread."""

from collections.abc import Iterable

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.ensemble import HistGradientBoostingClassifier, StackingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.svm import SVC

from aucmax.metrics import roc_auc

# Not shown in names: what groups say of all their models.
HIDDEN = {
    "random_state", "max_iter", "gamma", "Cs", "cv", "scoring", "l1_ratios",
    "use_legacy_attributes",
}  # fmt: skip
VOWPAL_OPTIONS = "--loss_function logistic --bit_precision 18 --quiet"


def label(model: BaseEstimator) -> str:
    """Return the name of a model and of the parameters that are not the defaults."""
    if isinstance(model, Pipeline):
        return " + ".join(label(step) for _, step in model.steps)
    if isinstance(model, StackingClassifier):
        return "Stacking of LogisticRegression, SVC, HistGradientBoosting"
    module = type(model).__module__.split(".")[0]
    if module in ("lightgbm", "xgboost"):
        library = {"lightgbm": "LightGBM", "xgboost": "XGBoost"}[module]
        return f"{library}, {model.n_estimators} trees"
    defaults = type(model)().get_params(deep=False)
    shown = [
        f"{name}={value:.2g}" if isinstance(value, float) else f"{name}={value!r}"
        for name, value in model.get_params(deep=False).items()
        if name not in HIDDEN and value != defaults[name]
    ]
    return f"{type(model).__name__}({', '.join(shown)})".removesuffix("()")


def features(map_: type, n_components: int, gamma: float) -> Pipeline:
    """Return a linear model on features by Nystroem or RBFSampler."""
    made = map_(gamma=gamma, n_components=n_components, random_state=0)
    return make_pipeline(made, LogisticRegression(C=1000, max_iter=1000))


def stack() -> StackingClassifier:
    """Return the mixture of families that scikit-learn offers."""
    models = [LogisticRegression(), SVC(), HistGradientBoostingClassifier()]
    return StackingClassifier([(type(m).__name__, m) for m in models], cv=5)


def lightgbm(n_trees: int = 100) -> BaseEstimator:
    from lightgbm import LGBMClassifier

    return LGBMClassifier(n_estimators=n_trees, n_jobs=1, verbose=-1)


def xgboost(n_trees: int = 100) -> BaseEstimator:
    from xgboost import XGBClassifier

    return XGBClassifier(n_estimators=n_trees, n_jobs=1)


def scores(model: BaseEstimator, X) -> np.ndarray:
    if hasattr(model, "decision_function"):
        return model.decision_function(X)
    return model.predict_proba(X)[:, 1]


def test_auc(model: BaseEstimator, data) -> float:
    return float(roc_auc(data.y_test, scores(model, data.X_test)))


class River:
    """A River classifier, and rows as the dicts it takes, made before it is timed."""

    def __init__(self, model, X, y, *, score_first: bool = False):
        self.model, self.score_first = model, score_first
        self.rows = [dict(zip(*row, strict=True)) for row in rows_of(X)]
        self.labels = y.tolist()

    def learn(self, rows: slice) -> None:
        learn, predict = self.model.learn_one, self.model.predict_proba_one
        for x, label_ in zip(self.rows[rows], self.labels[rows], strict=True):
            if self.score_first:
                predict(x)
            learn(x, label_)

    def scores(self, rows: slice) -> np.ndarray:
        predict = self.model.predict_proba_one
        return np.array([predict(x).get(True, 0.0) for x in self.rows[rows]])


class Vowpal:
    """Logistic regression of Vowpal Wabbit, and examples parsed before it is timed."""

    def __init__(self, X, y):
        from vowpalwabbit import Workspace

        self.workspace = Workspace(VOWPAL_OPTIONS)
        pairs = zip(rows_of(X), y.tolist(), strict=True)
        self.examples = [self.workspace.parse(_line(*pair)) for pair in pairs]

    def learn(self, rows: slice = slice(None)) -> None:
        for example in self.examples[rows]:
            self.workspace.learn(example)

    def scores(self, rows: slice) -> np.ndarray:
        predict = self.workspace.predict
        return np.array([predict(example) for example in self.examples[rows]])


def rows_of(X) -> Iterable[tuple[Iterable[int], list[float]]]:
    """Yield the columns and values of each row."""
    if not sparse.issparse(X):
        yield from ((range(X.shape[1]), values) for values in X.tolist())
        return
    for low, high in zip(X.indptr[:-1], X.indptr[1:], strict=True):
        yield X.indices[low:high].tolist(), X.data[low:high].tolist()


def _line(row, is_positive: bool) -> str:
    pairs = " ".join(f"{j}:{v:.6g}" for j, v in zip(*row, strict=True))
    return f"{1 if is_positive else -1} | {pairs}"
