# SPDX-License-Identifier: BSD-3-Clause
"""The real sets as questions of two classes, with the splits that all methods share."""

import functools
from dataclasses import dataclass

import numpy as np
from scipy import sparse
from sklearn.model_selection import train_test_split

from aucmax.datasets import load

# Parts at hand, cheapest set first.
SETS = {
    "sonar": ("all",),
    "glass": ("all",),
    "ionosphere": ("all",),
    "balance": ("all",),
    "australian": ("all",),
    "diabetes": ("all",),
    "vehicle": ("all",),
    "fourclass": ("all",),
    "vowel": ("train", "test"),
    "german": ("all",),
    "rcv1-small": ("all",),
    "svmguide3": ("train", "test"),
    "segment": ("all",),
    "splice": ("train", "test"),
    "protein": ("val",),
    "spambase": ("all",),
    "svmguide1": ("train", "test"),
    "satimage": ("train", "test"),
    "a2a": ("train", "test"),
    "usps": ("train", "test"),
    "sector": ("train", "test"),
    "magic04": ("all",),
    "letter": ("train", "test"),
    "poker": ("train",),
    "news20": ("train",),
    "a9a": ("train", "test"),
    "cod-rna": ("train",),
    "w8a": ("train", "test"),
    "ijcnn1": ("train", "test"),
    "connect-4": ("all",),
    "skin": ("all",),
    "mnist": ("train", "test"),
    "covtype": ("all",),
}
# Below so many rows in all, one split says little: five random ones, even where an
# official one exists.
FEW_ROWS = 5000
N_SPLITS = 5
TEST_SHARE = 0.2
MAX_DENSE_FEATURES = 2000
# With fewer positives there is nothing to learn from, or to measure by.
MIN_POS_TRAIN = 10
MIN_POS_TEST = 5


@dataclass(frozen=True, slots=True, eq=False)
class Task:
    """A set with two classes, and the rows of its splits."""

    name: str
    X: object
    y: np.ndarray
    splits: list
    how: str
    positive: str
    n_passed_over: int

    def take(self, number):
        """Return X_train, X_test, y_train, y_test of a split."""
        train, test = self.splits[number]
        return self.X[train], self.X[test], self.y[train], self.y[test]


@functools.lru_cache(maxsize=1)
def task(name):
    """Return a set as a question of two classes."""
    parts = [load(name, part) for part in SETS[name]]
    X = sparse.vstack([part.X for part in parts], "csr")
    labels = np.concatenate([part.y for part in parts])
    if X.shape[1] <= MAX_DENSE_FEATURES:
        X = X.toarray()
    given = len(parts[0].y) if len(parts) == 2 and len(labels) >= FEW_ROWS else None
    # A stratified split keeps the order of the counts, so all rows tell it too.
    classes, counts = np.unique(labels[:given], return_counts=True)
    order = np.argsort(counts, kind="stable")
    for label in classes[order]:
        y = (labels == label).astype(np.int8)
        splits, how = _splits(y, given)
        if _is_measurable(y, *splits[0]):
            break
    else:
        raise ValueError(f"No class of {name} has enough rows to train and test by.")
    n_passed_over = int(np.flatnonzero(classes[order] == label)[0])
    return Task(name, X, y, splits, how, f"{label:g}", n_passed_over)


def _splits(y, given):
    rows = np.arange(len(y))
    if given is not None:
        return [(rows[:given], rows[given:])], "official"
    n_splits = N_SPLITS if len(y) < FEW_ROWS else 1
    splits = [
        train_test_split(rows, test_size=TEST_SHARE, stratify=y, random_state=seed)
        if min(np.bincount(y)) > 1
        else (rows, rows[:0])
        for seed in range(n_splits)
    ]
    return splits, f"{n_splits} x 80/20"


def _is_measurable(y, train, test):
    return y[train].sum() >= MIN_POS_TRAIN and y[test].sum() >= MIN_POS_TEST
