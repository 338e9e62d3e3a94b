# SPDX-License-Identifier: BSD-3-Clause
"""A search tree over scores that knows the pairs of the rows in it.

The tree is a treap: sorted by score, and a heap by priorities that look random, which
keeps it about 2 log2(n) deep in any order of arrival. All rows of one score share a
node. A node knows the mass of either class in its subtree and, of the pairs of one
positive and one negative there, twice the mass of those in order, ties half. What a
node knows is added up from its two children, never corrected by subtraction: nothing
drifts, and an update costs the path from one node to the root.

Node 0 stands for "no child" and holds the tree as its left child.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aucmax._kernels.jit import jit
from aucmax._utils.typing import BoolArray, FloatArray, IntArray

NODE = np.dtype(
    [
        ("score", np.float64),
        ("left", np.int32),
        ("right", np.int32),
        ("priority", np.int64),
        ("n_pos", np.int32),  # rows of this score; not counted if none ever leaves
        ("n_neg", np.int32),
        ("pos", np.float64),  # mass of the positives of this score
        ("neg", np.float64),
        ("all_pos", np.float64),  # the same in the whole subtree
        ("all_neg", np.float64),
        ("pairs", np.float64),  # twice the mass of pairs in order in the subtree
    ]
)
# Masses grow as others fade; above this, all are divided by it, which rounds nothing.
LARGEST_MASS = 2.0**60


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
        First of the nodes given back, which are chained through ``left`` (0 for none);
        first node never used; rows so far.
    masses : ndarray of shape (3,)
        Mass of the next row; of all negatives, and of all positives, that have left.
    """

    nodes: NDArray[Any]
    ring: FloatArray
    counts: IntArray
    masses: FloatArray


def plant() -> Tree:
    """Return an empty tree."""
    nodes = np.zeros(1, dtype=NODE)
    nodes["score"] = np.inf  # every score is to its left
    return Tree(nodes, np.empty((0, 2)), np.array([0, 1, 0]), np.array([1.0, 0.0, 0.0]))


@jit
def absorb(
    scores: FloatArray,
    is_pos: BoolArray,
    window: int,
    growth: float,
    nodes: NDArray[Any],
    ring: FloatArray,
    counts: IntArray,
    masses: FloatArray,
) -> None:
    """Add rows one by one; each beyond ``window`` makes the oldest leave.

    Every row is ``growth`` times as heavy as the one before.
    """
    path = np.empty(64, np.int64)
    keeps_rows = ring.shape[0] > 0
    free, unused, n_seen = counts[0], counts[1], counts[2]
    for i in range(scores.shape[0]):
        place = n_seen % window
        if masses[0] > LARGEST_MASS:
            masses /= LARGEST_MASS
            ring[:, 1] /= LARGEST_MASS
            for k in range(1, unused):
                nodes[k]["pos"] /= LARGEST_MASS
                nodes[k]["neg"] /= LARGEST_MASS
                nodes[k]["all_pos"] /= LARGEST_MASS
                nodes[k]["all_neg"] /= LARGEST_MASS
                nodes[k]["pairs"] /= LARGEST_MASS * LARGEST_MASS
        # First the oldest row leaves, if it must; then the new one comes in.
        for comes in range(0 if keeps_rows and n_seen >= window else 1, 2):
            if comes == 1:
                score, mass = scores[i], masses[0]
                positive = is_pos[i]
            else:
                score, mass = ring[place, 0], ring[place, 1]
                positive = mass > 0.0
                mass = -abs(mass)
                masses[2 if positive else 1] -= mass

            # Down to the node of this score, or to where it would be.
            depth, node = 0, np.int64(0)
            while True:
                if depth + 1 == path.shape[0]:
                    longer = np.empty(2 * depth + 2, np.int64)
                    longer[:depth] = path[:depth]
                    path = longer
                path[depth] = node
                depth += 1
                if score < nodes[node]["score"]:
                    node = np.int64(nodes[node]["left"])
                else:
                    node = np.int64(nodes[node]["right"])
                if node == 0 or score == nodes[node]["score"]:
                    break
            parent = path[depth - 1]
            is_left = score < nodes[parent]["score"]
            top = depth  # where the node belongs on the path

            if node == 0:
                # A new node, which changes places with parents of lower priority; they
                # move down on the path.
                if free != 0:
                    node = free
                    free = np.int64(nodes[node]["left"])
                else:
                    node = unused
                    unused += 1
                    # The number of the node with its bits mixed; no product overflows.
                    bits = ((node ^ (node >> 16)) * 0x45D9F3B) & 0xFFFFFFFF
                    bits = ((bits ^ (bits >> 16)) * 0x45D9F3B) & 0xFFFFFFFF
                    nodes[node]["priority"] = bits ^ (bits >> 16)
                nodes[node]["score"] = score
                nodes[node]["left"] = 0
                nodes[node]["right"] = 0
                nodes[node]["n_pos"] = 0
                nodes[node]["n_neg"] = 0
                nodes[node]["pos"] = 0.0
                nodes[node]["neg"] = 0.0
                while top > 1 and nodes[parent]["priority"] < nodes[node]["priority"]:
                    if score < nodes[parent]["score"]:
                        nodes[parent]["left"] = nodes[node]["right"]
                        nodes[node]["right"] = parent
                    else:
                        nodes[parent]["right"] = nodes[node]["left"]
                        nodes[node]["left"] = parent
                    path[top] = parent
                    top -= 1
                    parent = path[top - 1]
                    is_left = score < nodes[parent]["score"]
                if is_left:
                    nodes[parent]["left"] = node
                else:
                    nodes[parent]["right"] = node
            path[top] = node
            depth += 1

            if positive:
                nodes[node]["pos"] += mass
            else:
                nodes[node]["neg"] += mass
            if keeps_rows:
                # With the last row goes what rounding has left of its mass.
                if positive:
                    nodes[node]["n_pos"] += 2 * comes - 1
                    if nodes[node]["n_pos"] == 0:
                        nodes[node]["pos"] = 0.0
                else:
                    nodes[node]["n_neg"] += 2 * comes - 1
                    if nodes[node]["n_neg"] == 0:
                        nodes[node]["neg"] = 0.0
            if keeps_rows and nodes[node]["n_pos"] + nodes[node]["n_neg"] == 0:
                # The last row of its score: the two subtrees become one in its place.
                depth -= 1
                low = np.int64(nodes[node]["left"])
                high = np.int64(nodes[node]["right"])
                while True:
                    if high == 0 or (
                        low != 0 and nodes[low]["priority"] > nodes[high]["priority"]
                    ):
                        child = low
                    else:
                        child = high
                    if is_left:
                        nodes[parent]["left"] = child
                    else:
                        nodes[parent]["right"] = child
                    if low == 0 or high == 0:
                        break
                    if depth == path.shape[0]:
                        longer = np.empty(2 * depth, np.int64)
                        longer[:depth] = path
                        path = longer
                    path[depth] = child
                    depth += 1
                    parent = child
                    is_left = child == high
                    if is_left:
                        high = np.int64(nodes[child]["left"])
                    else:
                        low = np.int64(nodes[child]["right"])
                nodes[node]["left"] = free
                free = node

            # Up again, adding up what each node knows.
            for k in range(depth - 1, 0, -1):
                node = path[k]
                left, right = nodes[node]["left"], nodes[node]["right"]
                pos, neg = nodes[node]["pos"], nodes[node]["neg"]
                below, above = nodes[left]["all_neg"], nodes[right]["all_pos"]
                nodes[node]["all_pos"] = nodes[left]["all_pos"] + pos + above
                nodes[node]["all_neg"] = below + neg + nodes[right]["all_neg"]
                nodes[node]["pairs"] = (
                    nodes[left]["pairs"]
                    + nodes[right]["pairs"]
                    + pos * (2.0 * below + neg)
                    + 2.0 * above * (below + neg)
                )
        if keeps_rows:
            ring[place, 0] = score
            ring[place, 1] = masses[0] if is_pos[i] else -masses[0]
        masses[0] *= growth
        n_seen += 1
    counts[0], counts[1], counts[2] = free, unused, n_seen
