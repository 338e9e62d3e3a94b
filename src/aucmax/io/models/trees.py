# SPDX-License-Identifier: BSD-3-Clause
"""Trees of scikit-learn from a file: checked before they are followed.

Their nodes are places in an array, which scikit-learn follows without looking.
"""

import functools
import sys
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_array

from aucmax.io.models.sklearn_parts import FUNCTION, is_instance

# Where scikit-learn has its two kinds of trees; imported only if there is one.
TREE = ("sklearn.tree._tree", "Tree")
BOOSTED = ("sklearn.ensemble._hist_gradient_boosting.predictor", "TreePredictor")
BAGGING = ("sklearn.ensemble._bagging", "BaseBagging")
ORDINAL = ("sklearn.preprocessing._encoders", "OrdinalEncoder")
# Of a set of up to 256 categories, one bit each.
WORDS_PER_SET = 8


def check_trees(parts: Sequence[Any]) -> None:
    """Raise ValueError unless each tree of a model fits the estimator that owns it."""
    owned = set()
    for part in parts:
        for tree, features in _owned(part):
            _check(tree, features)
            owned.add(id(tree))
    for part in parts:
        is_tree = is_instance(part, *TREE) or is_instance(part, *BOOSTED)
        if is_tree and id(part) not in owned:
            raise ValueError("it holds a tree that belongs to no model")


def _owned(part: Any) -> Iterator[tuple[Any, Any]]:
    """Yield the trees that an estimator follows by itself, with what it checks of rows.

    Of a boosted one, this is the number of features and which are categories.
    """
    state = getattr(part, "__dict__", {})
    if is_instance(state.get("tree_"), *TREE):
        yield state["tree_"], state.get("n_features_in_")
    if "_predictors" in state:
        is_category = _check_boosting(state)
        for stage in state["_predictors"]:
            for tree in stage:
                yield tree, is_category
    yield from _grown(part, state)


def _check_boosting(state: dict[str, Any]) -> NDArray[Any]:
    """Return which features are categories; raise unless rows are made to have them."""
    mapper, steps = state.get("_bin_mapper"), state.get("_preprocessor")
    is_category = np.asarray(getattr(mapper, "is_categorical_", ()), dtype=bool)
    n_features = state.get("n_features_in_")
    if steps is not None:
        n_features = sum(_width(*each) for each in steps.transformers_)
    if (
        is_category.ndim != 1
        or not len(is_category) == state.get("_n_features") == n_features
        # While it learns, it takes rows of another kind, unseen.
        or state.get("_in_fit", False)
    ):
        raise ValueError("its boosted trees do not tell their features")
    return is_category


def _width(name: str, step: Any, columns: Any) -> int:
    """Return how many columns a step before boosted trees takes, and gives."""
    if step == "drop":
        return 0
    keeps_width = is_instance(step, *ORDINAL) or (
        is_instance(step, *FUNCTION)
        and isinstance(step.func, functools.partial)
        and step.func.func is check_array
    )
    if not keeps_width:
        raise ValueError(f"its boosted trees come after a strange step, {name}")
    columns = np.asarray(columns)
    return int(columns.sum() if columns.dtype == bool else columns.size)


def _grown(part: Any, state: dict[str, Any]) -> Iterator[tuple[Any, Any]]:
    """Yield the trees of a forest, which looks at rows once for all of them."""
    members = state.get("estimators_")
    if isinstance(members, np.ndarray):
        members = members.ravel().tolist()
    if not isinstance(members, list | tuple):
        return
    # Those of a bag take columns of their own, and look at them again.
    if is_instance(part, *BAGGING):
        return
    for member in members:
        tree = getattr(member, "__dict__", {}).get("tree_")
        if is_instance(tree, *TREE):
            yield tree, getattr(part, "n_features_in_", None)


def _check(tree: Any, features: Any) -> None:
    if is_instance(tree, *TREE):
        _check_tree(tree, features)
    elif is_instance(tree, *BOOSTED):
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
        or tree.binned_left_cat_bitsets.shape != sets.shape
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
