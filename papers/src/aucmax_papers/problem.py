# SPDX-License-Identifier: BSD-3-Clause
"""A data set as a paper used it: two classes, scaled, split into runs."""

import functools
from dataclasses import dataclass
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.model_selection import StratifiedKFold, StratifiedShuffleSplit
from sklearn.preprocessing import MinMaxScaler, StandardScaler, normalize

from aucmax._utils.typing import BoolArray, IntArray, Matrix
from aucmax.datasets import load
from aucmax_papers.protocol import SetUse

# Wider sets stay sparse; they are text, which no paper scales.
MAX_DENSE_FEATURES = 2000
MAX_NEGATIVES_PER_POSITIVE = 50
FIRST_SEED = 0

Split = tuple[IntArray, IntArray]


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """Rows of two classes, and how to split them.

    Attributes
    ----------
    use : SetUse
        How the paper used the set.
    X : ndarray or CSR of shape (n_rows, n_features)
        Rows, scaled as far as that needs no training rows.
    is_pos : ndarray of shape (n_rows,)
        Which are positive.
    n_given : int
        Number of training rows, where the split is given; they come first.
    """

    use: SetUse
    X: Matrix
    is_pos: BoolArray
    n_given: int

    def split(self, run: int) -> Split:
        """Return numbers of the training rows and of the test rows of a run."""
        use, y = self.use, self.is_pos
        if use.split == "given":
            every = np.arange(len(y))
            return every[: self.n_given], every[self.n_given :]
        if use.split == "holdout":
            share = 1 / use.n_folds
            folds: Any = StratifiedShuffleSplit(1, test_size=share, random_state=run)
            return _split(folds, y, 0)
        repeat, fold = divmod(run, use.n_folds)
        folds = StratifiedKFold(use.n_folds, shuffle=True, random_state=repeat)
        return _split(folds, y, fold)

    def tuning_rows(self, n_tuned: int) -> IntArray:
        """Return those training rows of the first run that are tuned by."""
        return draw_at_most(self.split(0)[0], n_tuned, FIRST_SEED)

    def inner_splits(self, n_tuned: int) -> list[Split]:
        """Return splits inside the training rows of the first run, to tune by."""
        use = self.use
        rows = self.tuning_rows(n_tuned)
        y = self.is_pos[rows]
        splits = [
            (rows[train], rows[test])
            for repeat in range(use.n_inner_repeats)
            for train, test in StratifiedKFold(
                use.n_inner_folds, shuffle=True, random_state=repeat
            ).split(y[:, None], y)
        ]
        return splits[: use.n_inner_used or None]

    def take(self, train: IntArray, test: IntArray) -> tuple[Matrix, Matrix]:
        """Return the rows, z-scored by the training rows if the paper did so."""
        X_train, X_test = self.X[train], self.X[test]
        if "zscore" not in self.use.scaling:
            return X_train, X_test
        scaler = StandardScaler().fit(X_train)
        return scaler.transform(X_train), scaler.transform(X_test)


def _split(folds: Any, y: BoolArray, number: int) -> Split:
    train, test = list(folds.split(y[:, None], y))[number]
    return train, test


def n_runs(use: SetUse) -> int:
    """Return how many runs a set has in one partition of its classes."""
    if use.n_partitions > 1:
        return 1
    every = use.n_repeats * (use.n_folds if use.split == "folds" else 1)
    return min(every, use.n_runs) if use.n_runs else every


def draw_at_most(rows: IntArray, limit: int, seed: int) -> IntArray:
    """Return at most so many of the rows, drawn at random, in their order."""
    if not limit or len(rows) <= limit:
        return rows
    kept = np.random.default_rng(seed).choice(len(rows), limit, replace=False)
    return rows[np.sort(kept)]


def load_problem(use: SetUse, partition: int) -> Problem:
    """Return a set as the paper used it.

    Parameters
    ----------
    use : SetUse
        How the paper used it.
    partition : int
        Which random half of the classes is positive, where that is random.

    Returns
    -------
    problem : Problem
        Rows, labels and splits.
    """
    X, labels, n_given = _load_rows(
        use.data, use.part, use.split == "given", use.scaling, use.max_rows
    )
    return Problem(use, X, binarise(labels, use.positive, partition), n_given)


# A run goes set by set, and a set may take half a gigabyte.
@functools.lru_cache(maxsize=1)
def _load_rows(
    name: str, part: str, is_given: bool, scaling: tuple[str, ...], max_rows: int
) -> tuple[Matrix, NDArray[Any], int]:
    """Return rows, labels, and how many come before the given test rows."""
    parts = [load(name, p) for p in (("train", "test") if is_given else (part,))]
    X = sparse.vstack([part.X for part in parts], "csr")
    labels = np.concatenate([part.y for part in parts])
    if max_rows and not is_given:
        rows = draw_at_most(np.arange(len(labels)), max_rows, FIRST_SEED)
        X, labels = X[rows], labels[rows]
    return scale(X, scaling), labels, len(parts[0].y)


def binarise(labels: NDArray[Any], positive: Any, partition: int) -> BoolArray:
    """Return the mask of the positive rows.

    Parameters
    ----------
    labels : ndarray of shape (n_rows,)
        As in the file.
    positive : str or sequence of labels
        See `SetUse`.
    partition : int
        Seed of "halves".

    Returns
    -------
    is_pos : ndarray of shape (n_rows,)
        Which rows are positive.
    """
    if labels.ndim == 2 and positive == "largest":
        # Several labels per row: the most frequent against the rest.
        return np.asarray(labels[:, np.argmax(labels.sum(axis=0))], dtype=bool)
    classes, counts = np.unique(labels, return_counts=True)
    if positive == "larger":
        if len(classes) != 2:
            raise ValueError(
                f"There are {len(classes)} classes; say which are positive."
            )
        return np.asarray(labels == classes[1])
    if positive == "halves":
        return np.isin(labels, draw_half(classes, partition))
    if positive == "smallest":
        eligible = (len(labels) - counts) / counts < MAX_NEGATIVES_PER_POSITIVE
        return np.asarray(labels == classes[eligible][np.argmin(counts[eligible])])
    if positive == "largest":
        return np.asarray(labels == classes[np.argmax(counts)])
    chosen = np.isin(labels, positive)
    if not chosen.any() or chosen.all():
        raise ValueError(f"positive = {positive!r}, but the labels are {classes}.")
    return chosen


def draw_half(classes: NDArray[Any], number: int) -> NDArray[Any]:
    """Return a random half of the classes; another for every number.

    Parameters
    ----------
    classes : ndarray of shape (n_classes,)
        The labels.
    number : int
        Which half; of n classes there are n over n // 2.

    Returns
    -------
    half : ndarray of shape (n_classes // 2,)
        Labels of the positive rows.
    """
    size = len(classes) // 2
    if number >= comb(len(classes), size):
        raise ValueError(
            f"{len(classes)} classes have {comb(len(classes), size)} halves, but "
            f"number {number} (from 0) was asked for. Lower n_partitions."
        )
    found: dict[frozenset[Any], NDArray[Any]] = {}
    seed = 0
    while len(found) <= number:
        drawn = np.random.default_rng(seed).permutation(classes)[:size]
        found.setdefault(frozenset(drawn.tolist()), drawn)
        seed += 1
    return list(found.values())[number]


def scale(X: Matrix, steps: tuple[str, ...]) -> Matrix:
    """Return the rows after those steps that need no training rows."""
    if X.shape[1] <= MAX_DENSE_FEATURES:
        X = X.toarray()
    for step in steps:
        if step == "range":
            X = MinMaxScaler((-1, 1)).fit_transform(X)
        elif step == "center":
            X = X - X.mean(axis=1, keepdims=True)
        elif step == "unit":
            X = normalize(X)
    return X
