# SPDX-License-Identifier: BSD-3-Clause
"""Which groups take part, by the size of the data, in the order they are tried."""

from collections.abc import Collection
from importlib.util import find_spec

from aucmax._utils.typing import Matrix, is_sparse
from aucmax.auto.families import (
    BoostingGroup,
    ForestGroup,
    Group,
    KernelGroup,
    LinearGroup,
)

FAMILIES = ("linear", "kernel", "boosting", "forest")

# From strong to weak; the more rows, the less a model must be held back.
SMALL_LINEAR, LINEAR = (3.0, 0.3, 0.03, 3e-3), (0.3, 0.03, 3e-3, 3e-4)
SMALL_KERNEL, KERNEL = (0.03, 3e-3, 3e-4, 3e-5), (3e-3, 3e-4, 3e-5, 3e-6)
TEXT_ALPHAS = (1.0, 0.1, 0.01, 1e-3, 1e-4)
MEDIUM_ROWS = 1500
LARGE_ROWS = 20_000


def choose_groups(
    X: Matrix, families: Collection[str], *, n_train: int, seed: int
) -> list[Group]:
    """Return the groups for training on ``n_train`` rows like ``X``.

    The order is that of what they bring for their time: when time runs out, those at
    the end are left out.
    """
    groups = _for_sparse(X, seed) if is_sparse(X) else _for_dense(n_train, seed)
    chosen = [group for group in groups if group.family in families]
    if not chosen:
        possible = sorted({group.family for group in groups})
        raise ValueError(
            f"families={list(families)} cannot take sparse rows of "
            f"{X.shape[1]:,} columns. Choose of {', '.join(possible)}."
        )
    return chosen


def _for_dense(n: int, seed: int) -> list[Group]:
    is_small = n < MEDIUM_ROWS
    alphas = SMALL_KERNEL if is_small else KERNEL
    size = _n_landmarks(n)
    n_trees = 200 if is_small else 100
    first: list[Group] = [
        LinearGroup(SMALL_LINEAR if is_small else LINEAR, seed=seed),
        KernelGroup(alphas, width=1.0, n_landmarks=size, seed=seed),
        *_boosting(n, seed),
        KernelGroup(alphas, width=0.25, n_landmarks=size, seed=seed),
        ForestGroup("random", n_trees, seed=seed),
        KernelGroup(alphas, width=4.0, n_landmarks=size, seed=seed),
    ]
    # Of many rows these take longer than boosting, and are behind it.
    others: list[Group] = [
        KernelGroup(alphas, width=0.5, n_landmarks=size, scale="normal", seed=seed),
        ForestGroup("extra", n_trees, seed=seed),
    ]
    return first if n >= LARGE_ROWS else [*first, *others]


def _for_sparse(X: Matrix, seed: int) -> list[Group]:
    """Return what works on many thousand columns that are mostly zero."""
    groups: list[Group] = [LinearGroup(TEXT_ALPHAS, scale="length", seed=seed)]
    if not X.nnz or float(X.data.min()) >= 0.0:
        groups.append(LinearGroup(TEXT_ALPHAS, scale="tf-idf", seed=seed))
    if find_spec("lightgbm") is not None:
        groups.append(_light(8, (200,), seed))
    return [*groups, ForestGroup("random", 100, seed=seed)]


def _n_landmarks(n: int) -> int:
    if n < MEDIUM_ROWS:
        return 200
    return 400 if n < 4000 else 1000


def _boosting(n: int, seed: int) -> list[Group]:
    has_light = find_spec("lightgbm") is not None
    small = BoostingGroup(
        "sklearn",
        (100,),
        {
            "max_leaf_nodes": 6,
            "learning_rate": 0.06,
            "min_samples_leaf": 8,
            "l2_regularization": 1.0,
            "max_features": 0.5,
        },
        seed=seed,
    )
    if n < MEDIUM_ROWS:
        light = [_light(8, (200,), seed), _light(4, (150,), seed)]
        return [small, *(light if has_light else [])]
    big = {"max_leaf_nodes": 31, "learning_rate": 0.1}
    if n < LARGE_ROWS:
        rounds = (100, 300)
        if not has_light:
            return [small, BoostingGroup("sklearn", rounds, big, seed=seed)]
        return [
            small,
            _light(8, (200,), seed),
            _light(31, rounds, seed),
            BoostingGroup("sklearn", (100,), big, seed=seed),
        ]
    huge = {"max_leaf_nodes": 127, "learning_rate": 0.1, "max_features": 0.5}
    if not has_light:
        return [
            BoostingGroup("sklearn", (100, 300), big, seed=seed),
            BoostingGroup("sklearn", (200, 400), huge, seed=seed),
        ]
    return [_light(31, (100, 200, 400), seed), _light(127, (200, 400, 800), seed)]


def _light(leaves: int, rounds: tuple[int, ...], seed: int) -> Group:
    """Return LightGBM; the more leaves, the larger their steps and their sample."""
    if leaves < 31:
        settings = {
            "num_leaves": leaves,
            "learning_rate": 0.05,
            "min_child_samples": 5,
            "subsample": 0.8,
            "subsample_freq": 1,
            "colsample_bytree": 0.5,
        }
    else:
        settings = {
            "num_leaves": leaves,
            "learning_rate": 0.1 if leaves == 31 else 0.06,
            "colsample_bytree": 0.7 if leaves == 31 else 0.5,
        }
    return BoostingGroup("lightgbm", rounds, settings, seed=seed)
