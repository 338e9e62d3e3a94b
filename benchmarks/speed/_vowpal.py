# SPDX-License-Identifier: BSD-3-Clause
"""A logistic model of Vowpal Wabbit, given rows it has parsed before it is timed."""

import contextlib

import numpy as np
from scipy import sparse

with contextlib.suppress(ImportError):
    import vowpalwabbit

IS_INSTALLED = "vowpalwabbit" in globals()
OPTIONS = "--loss_function logistic --bit_precision 18 --quiet"


class Vowpal:
    """The model, and rows in memory; an example takes some 30 kB, whatever is in it."""

    def __init__(self, X, y):
        self.workspace = vowpalwabbit.Workspace(OPTIONS)
        self.examples = self.parse(X, y)

    def parse(self, X, y=None):
        return [self.workspace.parse(line) for line in lines(X, y)]

    def learn(self, rows=slice(None), n_passes=1):
        learn = self.workspace.learn
        for _ in range(n_passes):
            for example in self.examples[rows]:
                learn(example)

    def scores(self, examples):
        return np.array([self.workspace.predict(example) for example in examples])


def lines(X, y=None):
    """Yield the rows in the format of Vowpal Wabbit, with labels if there are any."""
    for k in range(X.shape[0]):
        columns, values = _row(X, k)
        label = "" if y is None else ("1" if y[k] else "-1")
        pairs = zip(columns, values, strict=True)
        yield f"{label} | " + " ".join(f"{j}:{v:.6g}" for j, v in pairs)


def _row(X, k):
    if not sparse.issparse(X):
        return range(X.shape[1]), X[k].tolist()
    part = slice(X.indptr[k], X.indptr[k + 1])
    return X.indices[part].tolist(), X.data[part].tolist()
