# SPDX-License-Identifier: BSD-3-Clause
"""Which rows train and which are left out."""

from typing import Any, NamedTuple

import numpy as np
from sklearn.model_selection import (
    StratifiedKFold,
    StratifiedShuffleSplit,
    check_cv,
)

from aucmax._utils.typing import BoolArray, IntArray

# One part left out replaces the folds where it has so many positives, or where rows are
# so many that time counts more.
LARGE_ROWS, ENOUGH_POSITIVES = 20_000, 250
HUGE_ROWS, FEW_POSITIVES = 100_000, 100
HELD_OUT = 0.2


class Fold(NamedTuple):
    """Numbers of the rows to train on, and of those left out."""

    train: IntArray
    test: IntArray


def make_folds(X: Any, is_pos: BoolArray, cv: Any, seed: int) -> list[Fold]:
    """Return the folds; none where a class has but one row."""
    if not is_number(cv):
        return _given_folds(X, is_pos, cv)
    cv = 5 if cv is None else cv
    n_pos = int(np.count_nonzero(is_pos))
    n_least = min(n_pos, len(is_pos) - n_pos)
    if n_least < 2:
        return []
    if is_one_enough(len(is_pos), n_least):
        splitter = StratifiedShuffleSplit(1, test_size=HELD_OUT, random_state=seed)
    else:
        splitter = StratifiedKFold(min(cv, n_least), shuffle=True, random_state=seed)
    return [Fold(*split) for split in splitter.split(np.zeros(len(is_pos)), is_pos)]


def is_number(cv: Any) -> bool:
    """Say whether ``cv`` only tells how many folds there are."""
    return cv is None or isinstance(cv, int | np.integer)


def _given_folds(X: Any, is_pos: BoolArray, cv: Any) -> list[Fold]:
    splits = check_cv(cv, is_pos, classifier=True).split(X, is_pos)
    numbers = np.arange(len(is_pos))
    # Numbers of rows, or masks of them.
    folds = [Fold(numbers[train], numbers[test]) for train, test in splits]
    if not folds:
        raise ValueError(
            "cv gives no split. A generator can be used only once: pass a list."
        )
    for number, rows in enumerate(folds):
        for part, name in zip(rows, Fold._fields, strict=True):
            if len(np.unique(is_pos[part])) < 2:
                raise ValueError(
                    f"The {name} rows of split {number} of cv hold {len(part)} rows of "
                    "one class. Pass splits with both classes in either part, such as "
                    "those of StratifiedKFold."
                )
    return folds


def is_one_enough(n: int, n_least: int) -> bool:
    """Say whether one part left out says as much as folds."""
    held_out = HELD_OUT * n_least
    return (n >= LARGE_ROWS and held_out >= ENOUGH_POSITIVES) or (
        n >= HUGE_ROWS and held_out >= FEW_POSITIVES
    )


def balanced_subsample(is_pos: BoolArray, n_kept: int, seed: int) -> IntArray:
    """Return the numbers of ``n_kept`` rows, up to half of them of the rarer class.

    AUC does not depend on the shares of the classes, so the rarer one, which decides
    how much can be learned, is kept as far as possible.
    """
    n = len(is_pos)
    if n <= n_kept:
        return np.arange(n)
    rng = np.random.default_rng(seed)
    pos, neg = np.flatnonzero(is_pos), np.flatnonzero(~is_pos)
    rare, common = (pos, neg) if len(pos) <= len(neg) else (neg, pos)
    n_rare = min(len(rare), n_kept // 2)
    chosen = [
        rng.choice(rare, n_rare, replace=False),
        rng.choice(common, n_kept - n_rare, replace=False),
    ]
    return np.sort(np.concatenate(chosen))
