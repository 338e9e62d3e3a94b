# SPDX-License-Identifier: BSD-3-Clause
"""Boosted trees of LightGBM as text that is checked before LightGBM reads it.

LightGBM follows the numbers in such a text wherever they point. So only what the trees
consist of is taken from a file, and every number that is a place is looked at first.
"""

import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from aucmax._utils.optional import import_optional
from aucmax._utils.typing import IntArray
from aucmax.saved import saved_as

END = "end of trees"
MOST_LEAVES = 2**20
# LightGBM calls itself once for each.
MOST_DEPTH = 4096
# What a tree is made of; other lines tell of its training.
KEYS = (
    "num_leaves",
    "num_cat",
    "split_feature",
    "threshold",
    "decision_type",
    "left_child",
    "right_child",
    "leaf_value",
    "cat_boundaries",
    "cat_threshold",
    "shrinkage",
)

# How scores become probabilities, and whether they are means over the trees.
KEPT = re.compile(r"^(objective=binary sigmoid:[0-9.e+-]+|average_output)\n", re.M)
VALUE = re.compile(r"[-+.0-9eEinfa ]*")
HEADER = """\
tree
version=v4
num_class=1
num_tree_per_iteration=1
label_index=0
max_feature_idx={last}
{kept}feature_names={names}
feature_infos={infos}

"""
IS_CATEGORY = 1


@saved_as("LightGBMText")
class LightGBMText:
    """A fitted booster of two classes that is saved as text.

    Parameters
    ----------
    text : str
        What LightGBM writes of it.
    n_threads : int
        How many threads score rows.
    """

    def __init__(self, text: str, n_threads: int = 1) -> None:
        self.text = text
        self.n_threads = n_threads

    @classmethod
    def of(cls, model: Any) -> "LightGBMText":
        """Return the text of a fitted LGBMClassifier, or a text as it is."""
        if isinstance(model, cls):
            return model
        text = model.booster_.model_to_string(importance_type="split")
        return cls(clean(text), int(model.n_jobs or 0))

    def predict(self, X: Any, *, raw_score: bool, num_iteration: int) -> Any:
        """Return the scores of the rows, as the model would."""
        if getattr(self, "_booster", None) is None:
            lightgbm = import_optional("lightgbm", "boost")
            self._booster = lightgbm.Booster(model_str=clean(self.text))
        return self._booster.predict(
            X,
            raw_score=raw_score,
            num_iteration=num_iteration,
            num_threads=self.n_threads,
        )

    def check_state(self) -> None:
        """Raise ValueError unless the branches of all trees lead somewhere."""
        clean(self.text)

    def __getstate__(self) -> dict[str, Any]:
        return {"text": self.text, "n_threads": self.n_threads}


def clean(text: str) -> str:
    """Return a text that LightGBM can read without harm; raise if there is none.

    Parameters
    ----------
    text : str
        The text of a model of two classes.

    Returns
    -------
    text : str
        The same trees, without what scores do not need.
    """
    head, *blocks = re.split(
        r"^Tree=[0-9]+\n", text.partition(f"\n{END}")[0], flags=re.M
    )
    lines = dict(line.partition("=")[::2] for line in head.splitlines())
    if (lines.get("num_class"), lines.get("num_tree_per_iteration")) != ("1", "1"):
        raise ValueError("the boosted trees are not of two classes")
    if not re.fullmatch("[0-9]{1,8}", last := lines.get("max_feature_idx", "")):
        raise ValueError("the boosted trees do not tell their features")
    n_features = int(last) + 1
    # Every feature costs the file a name, so that a small one cannot claim many.
    if n_features != len(lines.get("feature_names", "").split(" ")):
        raise ValueError("the boosted trees have other features than they name")
    trees = [_clean_tree(block, n_features) for block in blocks]
    names = " ".join(f"x{number}" for number in range(n_features))
    infos = " ".join(["none"] * n_features)
    parts = [f"Tree={number}\n{tree}\n\n" for number, tree in enumerate(trees)]
    kept = "".join(f"{line}\n" for line in KEPT.findall(head))
    head = HEADER.format(last=last, kept=kept, names=names, infos=infos)
    return head + "".join(parts) + f"{END}\n"


def _clean_tree(block: str, n_features: int) -> str:
    lines = dict(line.partition("=")[::2] for line in block.splitlines() if line)
    if lines.get("is_linear", "0") != "0":
        raise ValueError("a boosted tree has linear leaves")
    kept = {key: lines[key] for key in KEYS if key in lines}
    if not all(VALUE.fullmatch(value) for value in kept.values()):
        raise ValueError("a boosted tree holds text where numbers are expected")
    n_leaves, n_cat = (int(kept.get(key, "0")) for key in ("num_leaves", "num_cat"))
    if not 1 <= n_leaves <= MOST_LEAVES or not 0 <= n_cat < n_leaves:
        raise ValueError(f"a boosted tree has {n_leaves} leaves, {n_cat} of categories")
    for problem in _problems(kept, n_leaves, n_cat, n_features):
        raise ValueError(f"a boosted tree has {problem}")
    return "\n".join(f"{key}={value}" for key, value in kept.items())


def _problems(
    tree: dict[str, str], n_leaves: int, n_cat: int, n_features: int
) -> Iterator[str]:
    """Yield what is wrong with the places in a tree."""
    if len(_numbers(tree, "leaf_value", float)) != n_leaves:
        yield "too few or too many leaves"
    if n_leaves == 1:
        return
    feature, left, right, kind = (
        _numbers(tree, key, np.int64)
        for key in ("split_feature", "left_child", "right_child", "decision_type")
    )
    threshold = _numbers(tree, "threshold", float)
    if {len(each) for each in (feature, left, right, kind, threshold)} != {
        n_leaves - 1
    }:
        yield "too few or too many splits"
        return
    if feature.min() < 0 or feature.max() >= n_features:
        yield "a feature that there is not"
    own = np.arange(n_leaves - 1)
    for child in (left, right):
        # A leaf is told by its complement; a split comes after the one above it.
        is_leaf = child < 0
        is_right = np.where(is_leaf, ~child < n_leaves, child > own)
        if not is_right.all() or child.max() >= n_leaves - 1:
            yield "a branch to nowhere"
    if _depth(left, right) > MOST_DEPTH:
        yield "more splits below each other than can be followed"
    yield from _category_problems(tree, threshold[(kind & IS_CATEGORY) > 0], n_cat)


def _depth(left: IntArray, right: IntArray) -> int:
    """Return how many splits are below each other at most."""
    depth = np.ones(len(left), dtype=np.int64)
    for own in range(len(left)):
        for child in (left[own], right[own]):
            # It comes later, or has been refused.
            if own < child < len(depth):
                depth[child] = depth[own] + 1
    return int(depth.max())


def _category_problems(tree: dict[str, str], which: Any, n_cat: int) -> Iterator[str]:
    if len(which) and not (
        np.isfinite(which).all() and which.min() >= 0 and which.max() < n_cat
    ):
        yield "categories that there are not"
    if n_cat:
        edges = _numbers(tree, "cat_boundaries", np.int64)
        words = _numbers(tree, "cat_threshold", np.int64)
        if (
            len(edges) != n_cat + 1
            or edges[0] != 0
            or (np.diff(edges) < 0).any()
            or edges[-1] != len(words)
        ):
            yield "sets of categories that do not fit"


def _numbers(tree: dict[str, str], key: str, kind: Any) -> IntArray:
    return np.array(tree.get(key, "").split(), dtype=kind)
