# SPDX-License-Identifier: BSD-3-Clause
import metrics.metric_oracles as oracles
import numpy as np
import pytest

from aucmax._kernels.prequential import (
    LARGEST_MASS,
    NODE,
    add_rows,
    empty_tree,
    priority,
)


def grow(scores, is_pos, window, growth=1.0):
    """Add all rows to a new tree with room for each of them."""
    tree = empty_tree()
    nodes = np.concatenate([tree.nodes, np.zeros(len(scores), dtype=NODE)])
    ring = np.zeros((min(window, len(scores)), 2))
    tree = tree._replace(nodes=nodes, ring=ring)
    add_rows(scores, is_pos, window, growth, tree)
    return tree


def walk(nodes, node, depth=1):
    """Yield the nodes of a subtree in order, with their depths."""
    if node:
        left, right = nodes[node]["children"]
        yield from walk(nodes, left, depth + 1)
        yield node, depth
        yield from walk(nodes, right, depth + 1)


def root_of(nodes):
    return nodes[0]["children"][0]


def draw(rng, kind, n=400):
    scores = {
        "random": rng.normal(size=n),
        "tied": rng.integers(0, 6, n).astype(float),
        "rising": np.arange(n, dtype=float),
        "falling": -np.arange(n, dtype=float),
    }[kind]
    return scores, rng.random(n) < 0.4


@pytest.mark.parametrize("kind", ["random", "tied", "rising", "falling"])
@pytest.mark.parametrize("window", [1, 30, 1000])
@pytest.mark.parametrize("growth", [1.0, 1.5])
def test_nodes_know_their_subtrees(kind, window, growth, rng):
    scores, is_pos = draw(rng, kind)
    nodes, ring, counts, _ = grow(scores, is_pos, window, growth)
    order = [node for node, _ in walk(nodes, root_of(nodes))]
    assert nodes["score"][order].tolist() == sorted(set(scores[-window:].tolist()))
    assert sorted(ring[:, 0]) == sorted(scores[-window:])
    mass = np.abs(ring[:, 1])
    for node in order:
        inside = [inner for inner, _ in walk(nodes, node)]
        for child in nodes[node]["children"]:
            assert not child or nodes[child]["parent"] == node
            assert not child or priority(child) <= priority(node)
        own = ring[:, 0] == nodes[node]["score"]
        here = np.isin(ring[:, 0], nodes["score"][inside])
        pos = ring[:, 1] > 0
        values = oracles.pair_values(pos[here], ring[here, 0])
        values = values * np.outer(mass[here & pos], mass[here & ~pos])
        expected = {
            "n_rows": [(own & ~pos).sum(), (own & pos).sum()],
            "mass": [mass[own & ~pos].sum(), mass[own & pos].sum()],
            "subtree_mass": [mass[here & ~pos].sum(), mass[here & pos].sum()],
            "pairs": 2 * values.sum(),
        }
        for field, value in expected.items():
            rtol = 1e-9 if growth > 1 else 0
            np.testing.assert_allclose(nodes[node][field], value, rtol=rtol)
    # Every node ever used is in the tree or waits to be used again.
    free, unused, n_seen = counts
    n_free = 0
    while free:
        free = nodes[free]["children"][0]
        n_free += 1
    assert n_free + len(order) + 1 == unused <= min(window, len(scores)) + 1
    assert n_seen == len(scores)


@pytest.mark.parametrize("kind", ["random", "rising", "falling"])
@pytest.mark.parametrize("window", [1000, 100_000])
def test_the_tree_stays_flat(kind, window, rng):
    scores, is_pos = draw(rng, kind, n=10_000)
    nodes = grow(scores, is_pos, window)[0]
    level, depth = nodes["children"][0], 0
    while level.any():
        level = nodes["children"][level[level > 0]].ravel()
        depth += 1
    assert depth < 50  # 2 ln(n) is 18, and three times that very unlikely


def test_paths_longer_than_any_likely_one(rng):
    # Scores in the order of the priorities: the tree is one long branch.
    n = 300
    scores = np.empty(n)
    scores[np.argsort([-priority(node) for node in range(1, n + 1)])] = np.arange(n)
    is_pos = rng.random(n) < 0.5
    nodes = grow(scores, is_pos, 1000)[0]
    root = nodes[root_of(nodes)]
    depths = [depth for _, depth in walk(nodes, root_of(nodes))]
    assert max(depths) == n
    assert root["pairs"] == 2 * oracles.pair_values(is_pos, scores).sum()
    # All of them leave again.
    both = np.concatenate([scores, np.full(n, 0.5)])
    nodes = grow(both, np.append(is_pos, is_pos), n)[0]
    assert nodes[root_of(nodes)]["n_rows"][1] == is_pos.sum()


def test_masses_stay_in_range(rng):
    scores, is_pos = draw(rng, "tied", n=2000)
    nodes, ring, _, masses = grow(scores, is_pos, 20, growth=2.0)
    assert 1.0 <= masses[2] <= 2.0 * LARGEST_MASS
    newest = np.abs(ring[(len(scores) - 1) % 20, 1])
    np.testing.assert_array_equal(
        np.sort(np.abs(ring[:, 1])) / newest, 2.0 ** -np.arange(20.0)[::-1]
    )
    expected = ring[ring[:, 1] > 0, 1].sum()
    assert nodes[root_of(nodes)]["subtree_mass"][1] == expected
