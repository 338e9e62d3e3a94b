# SPDX-License-Identifier: BSD-3-Clause
"""River's logistic regression, and rows as the dicts it wants, made before."""

import numpy as np
from _suite import leave_out

try:
    from river.linear_model import LogisticRegression
except ImportError:
    LogisticRegression = None

RIVER = "River LogisticRegression.learn_one"


def is_there():
    if LogisticRegression is None:
        leave_out("River is not installed.")
    return LogisticRegression is not None


class River:
    """The model and its rows."""

    def __init__(self, X, y):
        self.model = LogisticRegression()
        self.records = [record(X, k) for k in range(X.shape[0])]
        self.labels = [bool(label) for label in y]

    def learn(self, rows=slice(None)):
        learn = self.model.learn_one
        for row, label in zip(self.records[rows], self.labels[rows], strict=True):
            learn(row, label)

    def scores(self, rows):
        predict = self.model.predict_proba_one
        return np.array([predict(row)[True] for row in self.records[rows]])


def record(X, k):
    if isinstance(X, np.ndarray):
        return dict(enumerate(X[k].tolist()))
    part = slice(X.indptr[k], X.indptr[k + 1])
    return dict(zip(X.indices[part].tolist(), X.data[part].tolist(), strict=True))
