# SPDX-License-Identifier: BSD-3-Clause
"""A search tree over scores that knows the pairs of the rows in it.

The tree is a treap: sorted by score, and a heap by priorities that look random, which
keeps it about 2 log2(n) deep in any order of arrival. All rows of one score share a
node. A node knows the mass of either class in its subtree and, of the pairs of one
positive and one negative there, twice the mass of those in order, ties half. That is
added up from its two children, never corrected by subtraction: nothing drifts, and an
update costs the path from one node to the root.

Node 0 stands for "no child" and holds the tree as its left child. Where a field or an
array has an entry per class, that of the negatives comes first.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aucmax._kernels.jit import jit
from aucmax._utils.typing import BoolArray, FloatArray, IntArray
from aucmax.saved import saved_as

NODE = np.dtype(
    [
        ("score", np.float64),
        ("parent", np.int64),
        ("children", np.int64, 2),  # of lower scores, of higher scores
        ("n_rows", np.int32, 2),  # rows of this score per class
        ("mass", np.float64, 2),  # their mass
        ("subtree_mass", np.float64, 2),
        ("pairs", np.float64),  # twice the mass of pairs in order in the subtree
    ]
)

# Masses grow as others fade; above this, all are divided by it, which rounds nothing.
LARGEST_MASS = 2.0**60


@saved_as("PrequentialTree")
class Tree(NamedTuple):
    """A tree, the rows in it and some counts, in flat arrays that are written to.

    Attributes
    ----------
    nodes : ndarray of NODE
        Room for one node per distinct score and node 0.
    ring : ndarray of shape (n_rows, 2)
        Score and mass of the rows that will have to leave, the mass of a negative with
        a minus sign; row t is at ``t % window``. Without rows none ever leaves.
    counts : ndarray of shape (3,)
        First of the free nodes, which are chained by their left children (0 for none);
        first node never used; rows so far.
    masses : ndarray of shape (3,)
        Of all rows of each class that have left; of the next row.
    """

    nodes: NDArray[Any]
    ring: FloatArray
    counts: IntArray
    masses: FloatArray


def empty_tree() -> Tree:
    """Return a tree without rows, with room for none."""
    nodes = np.zeros(1, dtype=NODE)
    nodes["score"] = np.inf  # every score is to its left
    return Tree(nodes, np.empty((0, 2)), np.array([0, 1, 0]), np.array([0.0, 0.0, 1.0]))


@jit
def add_rows(
    scores: FloatArray, is_pos: BoolArray, window: int, growth: float, tree: Tree
) -> None:
    """Add rows one by one; each beyond ``window`` makes the oldest leave.

    Every row is ``growth`` times as heavy as the one before.
    """
    ring, counts, masses = tree.ring, tree.counts, tree.masses
    for i in range(scores.shape[0]):
        if masses[2] > LARGEST_MASS:
            rescale(tree)
        own = 1 if is_pos[i] else 0
        if ring.shape[0] > 0:
            place = counts[2] % window
            if counts[2] >= window:
                old = 1 if ring[place, 1] > 0.0 else 0
                remove_row(tree, ring[place, 0], old, abs(ring[place, 1]))
            ring[place, 0] = scores[i]
            ring[place, 1] = masses[2] if own else -masses[2]
        insert_row(tree, scores[i], own, masses[2])
        masses[2] *= growth
        counts[2] += 1


@jit
def rescale(tree: Tree) -> None:
    """Divide all masses by LARGEST_MASS."""
    for k in range(3):
        tree.masses[k] /= LARGEST_MASS
    for k in range(tree.ring.shape[0]):
        tree.ring[k, 1] /= LARGEST_MASS
    for k in range(1, tree.counts[1]):
        for own in range(2):
            tree.nodes[k]["mass"][own] /= LARGEST_MASS
            tree.nodes[k]["subtree_mass"][own] /= LARGEST_MASS
        tree.nodes[k]["pairs"] /= LARGEST_MASS * LARGEST_MASS


@jit
def insert_row(tree: Tree, score: float, own: int, mass: float) -> None:
    """Add a row of class ``own``."""
    nodes = tree.nodes
    parent, node = find(nodes, score)
    if node == 0:
        node = take_node(tree, score)
        link(nodes, parent, side_of(nodes, parent, score), node)
    nodes[node]["n_rows"][own] += 1
    nodes[node]["mass"][own] += mass
    while parent != 0 and priority(parent) < priority(node):
        rotate_up(nodes, node)
        parent = nodes[node]["parent"]
    add_up_to_root(nodes, node)


@jit
def remove_row(tree: Tree, score: float, own: int, mass: float) -> None:
    """Take out a row of class ``own``, and its node if no row of its score is left."""
    nodes = tree.nodes
    tree.masses[own] += mass
    _, node = find(nodes, score)
    nodes[node]["n_rows"][own] -= 1
    nodes[node]["mass"][own] -= mass
    if nodes[node]["n_rows"][own] == 0:
        nodes[node]["mass"][own] = 0.0  # rounding may have left something
    if nodes[node]["n_rows"][0] + nodes[node]["n_rows"][1] == 0:
        node = drop_node(tree, node)
    add_up_to_root(nodes, node)


@jit
def find(nodes: NDArray[Any], score: float) -> tuple[int, int]:
    """Return the parent and the node of a score, node 0 if there is none."""
    parent, node = 0, nodes[0]["children"][0]
    while node != 0 and nodes[node]["score"] != score:
        parent, node = node, nodes[node]["children"][side_of(nodes, node, score)]
    return parent, node


@jit
def side_of(nodes: NDArray[Any], node: int, score: float) -> int:
    """Say whether a score belongs among the left children of a node, 0, or right, 1."""
    return 0 if score < nodes[node]["score"] else 1


@jit
def priority(node: int) -> int:
    """Return the number of a node with its bits mixed; no product overflows."""
    bits = ((node ^ (node >> 16)) * 0x45D9F3B) & 0xFFFFFFFF
    bits = ((bits ^ (bits >> 16)) * 0x45D9F3B) & 0xFFFFFFFF
    return bits ^ (bits >> 16)


@jit
def take_node(tree: Tree, score: float) -> int:
    """Return a node without rows, children or mass."""
    nodes, counts = tree.nodes, tree.counts
    node: int = counts[0]
    if node != 0:
        counts[0] = nodes[node]["children"][0]
        nodes[node]["children"][0] = 0
    else:
        node = counts[1]
        counts[1] += 1
    nodes[node]["score"] = score
    return node


@jit
def drop_node(tree: Tree, node: int) -> int:
    """Free a node without rows; return the lowest one whose subtree has changed."""
    nodes = tree.nodes
    left, right = nodes[node]["children"]
    while left != 0 or right != 0:
        is_left = right == 0 or (left != 0 and priority(left) > priority(right))
        rotate_up(nodes, left if is_left else right)
        left, right = nodes[node]["children"]
    parent: int = nodes[node]["parent"]
    link(nodes, parent, side_of(nodes, parent, nodes[node]["score"]), 0)
    nodes[node]["children"][0] = tree.counts[0]
    tree.counts[0] = node
    return parent


@jit
def rotate_up(nodes: NDArray[Any], node: int) -> None:
    """Let a node and its parent change places."""
    parent = nodes[node]["parent"]
    grandparent = nodes[parent]["parent"]
    score = nodes[node]["score"]
    side = side_of(nodes, parent, score)
    link(nodes, grandparent, side_of(nodes, grandparent, score), node)
    link(nodes, parent, side, nodes[node]["children"][1 - side])
    link(nodes, node, 1 - side, parent)
    add_up(nodes, parent)


@jit
def link(nodes: NDArray[Any], parent: int, side: int, child: int) -> None:
    """Make a node, 0 for none, the child of another."""
    nodes[parent]["children"][side] = child
    if child != 0:
        nodes[child]["parent"] = parent


@jit
def add_up_to_root(nodes: NDArray[Any], node: int) -> None:
    """Add up what a node and all above it know."""
    while node != 0:
        add_up(nodes, node)
        node = nodes[node]["parent"]


@jit
def add_up(nodes: NDArray[Any], node: int) -> None:
    """Add up what a node knows from its rows and its children."""
    here = nodes[node]
    left, right = nodes[here["children"][0]], nodes[here["children"][1]]
    for own in range(2):
        below, above = left["subtree_mass"][own], right["subtree_mass"][own]
        here["subtree_mass"][own] = below + here["mass"][own] + above
    neg, pos = here["mass"]
    below, above = left["subtree_mass"][0], right["subtree_mass"][1]
    in_order = pos * (2.0 * below + neg) + 2.0 * above * (below + neg)
    here["pairs"] = left["pairs"] + right["pairs"] + in_order
