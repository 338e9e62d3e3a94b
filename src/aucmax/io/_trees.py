# SPDX-License-Identifier: BSD-3-Clause
"""Trees of scikit-learn from a file: checked before they are followed.

Their nodes are places in an array, which scikit-learn follows without looking. They
are safe to hold, so they are checked after loading and before any row is scored.
"""

import gc
import sys
import types
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucmax._utils.state import check_state
from aucmax.io._boosters import LightText, clean

# Where scikit-learn has its two kinds of trees; imported only if there is one.
TREE = ("sklearn.tree._tree", "Tree")
BOOSTED = ("sklearn.ensemble._hist_gradient_boosting.predictor", "TreePredictor")
# What leads out of a model into the code around it.
CODE = (
    type,
    types.ModuleType,
    types.FunctionType,
    types.BuiltinFunctionType,
    types.CodeType,
)
# Of a set of up to 256 categories, one bit each.
WORDS_PER_SET = 8


def check_trees(model: Any) -> None:
    """Raise ValueError if a tree in a model points to a place that it does not have."""
    found, owned = [], set()
    owners: dict[int, Any] = {}
    for part in _parts(model):
        check_state(part, owners)
        if _is(part, TREE) or _is(part, BOOSTED):
            found.append(part)
        elif isinstance(part, LightText):
            clean(part.text)
        else:
            for tree, n_features in _owned(part):
                _check(tree, n_features)
                owned.add(id(tree))
    if any(id(tree) not in owned for tree in found):
        raise ValueError("it holds a tree that belongs to no model")


def _is(part: Any, kind: tuple[str, str]) -> bool:
    module = sys.modules.get(kind[0])
    return module is not None and isinstance(part, getattr(module, kind[1]))


def _parts(model: Any) -> Iterator[Any]:
    """Yield everything that a model is made of."""
    seen, waiting = set(), [model]
    while waiting:
        part = waiting.pop()
        if id(part) in seen or isinstance(part, CODE):
            continue
        seen.add(id(part))
        yield part
        if isinstance(part, np.ndarray) and part.dtype == object:
            waiting.extend(part.ravel().tolist())
        else:
            waiting.extend(gc.get_referents(part))


def _owned(part: Any) -> Iterator[tuple[Any, Any]]:
    """Yield the trees that an estimator follows by itself, with what it checks of rows.

    Of a boosted one, this is the number of features and which are categories.
    """
    state = getattr(part, "__dict__", {})
    if _is(state.get("tree_"), TREE):
        yield state["tree_"], state.get("n_features_in_")
    if "_predictors" in state:
        mapper = state.get("_bin_mapper")
        is_category = np.asarray(getattr(mapper, "is_categorical_", ()), dtype=bool)
        if is_category.shape != (state.get("_n_features"),):
            raise ValueError("its boosted trees do not tell their features")
        for stage in state["_predictors"]:
            for tree in stage:
                yield tree, is_category
    yield from _grown(state)


def _grown(state: dict[str, Any]) -> Iterator[tuple[Any, Any]]:
    """Yield the trees of a forest, which looks at rows once for all of them."""
    members = state.get("estimators_")
    if isinstance(members, np.ndarray):
        members = members.ravel().tolist()
    if not isinstance(members, list):
        return
    parts = state.get("estimators_features_")
    for number, member in enumerate(members):
        tree = getattr(member, "__dict__", {}).get("tree_")
        if _is(tree, TREE):
            width = state.get("n_features_in_") if parts is None else len(parts[number])
            yield tree, width


def _check(tree: Any, features: Any) -> None:
    if _is(tree, TREE):
        _check_tree(tree, features)
    elif _is(tree, BOOSTED):
        _check_boosted(tree, features)
    else:
        raise ValueError(f"it holds a {type(tree).__name__} in the place of a tree")


def _check_tree(tree: Any, n_features: Any) -> None:
    if tree.n_features != n_features or not 0 < tree.node_count <= tree.capacity:
        raise ValueError("a tree has other features or nodes than it says")
    nodes = tree.__getstate__()["nodes"]
    left, right = nodes["left_child"], nodes["right_child"]
    is_leaf = left == -1
    _check_nodes(left, right, nodes["feature"], is_leaf, n_features)
    if _depth(left, right, is_leaf) > tree.max_depth:
        raise ValueError("a tree is deeper than it says")


def _check_boosted(tree: Any, is_category: NDArray[Any]) -> None:
    common = sys.modules["sklearn.ensemble._hist_gradient_boosting.common"]
    nodes, sets = tree.nodes, tree.raw_left_cat_bitsets
    if (
        nodes.dtype != common.PREDICTOR_RECORD_DTYPE
        or nodes.ndim != 1
        or not nodes.size
    ):
        raise ValueError("a boosted tree has nodes of another kind")
    is_leaf, feature = nodes["is_leaf"] != 0, nodes["feature_idx"]
    # The numbers of nodes have no sign, so that differences would go wrong.
    left, right = (nodes[side].astype(np.int64) for side in ("left", "right"))
    _check_nodes(left, right, feature, is_leaf, len(is_category))
    by_category = (nodes["is_categorical"] != 0) & ~is_leaf
    if not by_category.any():
        return
    if (
        not is_category[feature[by_category]].all()
        or sets.shape[1:] != (WORDS_PER_SET,)
        or nodes["bitset_idx"][by_category].max() >= len(sets)
    ):
        raise ValueError("a boosted tree has categories that there are not")


def _check_nodes(
    left: NDArray[Any],
    right: NDArray[Any],
    feature: NDArray[Any],
    is_leaf: NDArray[Any],
    n_features: int,
) -> None:
    """Raise unless branches lead to a later node each, and all features are there."""
    inner = np.flatnonzero(~is_leaf)
    children = np.concatenate([left[inner], right[inner]])
    if (
        (children <= np.tile(inner, 2)).any()
        or (children >= len(left)).any()
        or len(np.unique(children)) < len(children)
    ):
        raise ValueError("a tree has a branch to nowhere")
    if (feature[inner] < 0).any() or (feature[inner] >= n_features).any():
        raise ValueError("a tree has a feature that there is not")


def _depth(left: NDArray[Any], right: NDArray[Any], is_leaf: NDArray[Any]) -> int:
    depth, level = 0, np.zeros(1, dtype=np.int64)
    while len(inner := level[~is_leaf[level]]):
        depth, level = depth + 1, np.concatenate([left[inner], right[inner]])
    return depth
