# SPDX-License-Identifier: BSD-3-Clause
import metrics.metric_oracles as oracles
import numpy as np
import pytest

from aucmax._kernels.prequential import LARGEST_MASS, NODE, absorb, plant


def grow(scores, is_pos, window, growth=1.0):
    """Add all rows to a new tree with room for each of them."""
    tree = plant()
    nodes = np.concatenate([tree.nodes, np.zeros(len(scores), dtype=NODE)])
    ring = np.zeros((min(window, len(scores)), 2))
    tree = tree._replace(nodes=nodes, ring=ring)
    absorb(scores, is_pos, window, growth, *tree)
    return tree


def walk(nodes, node, depth=1):
    """Yield the nodes of a subtree in order, with their depths."""
    if node:
        yield from walk(nodes, nodes[node]["left"], depth + 1)
        yield node, depth
        yield from walk(nodes, nodes[node]["right"], depth + 1)


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
    order = [node for node, _ in walk(nodes, nodes[0]["left"])]
    assert nodes["score"][order].tolist() == sorted(set(scores[-window:].tolist()))
    assert sorted(ring[:, 0]) == sorted(scores[-window:])
    mass = np.abs(ring[:, 1])
    for node in order:
        inside = [inner for inner, _ in walk(nodes, node)]
        for side in ("left", "right"):
            child = nodes[node][side]
            assert not child or nodes[child]["priority"] <= nodes[node]["priority"]
        own = ring[:, 0] == nodes[node]["score"]
        here = np.isin(ring[:, 0], nodes["score"][inside])
        pos = ring[:, 1] > 0
        assert nodes[node]["n_pos"] == (own & pos).sum()
        assert nodes[node]["n_neg"] == (own & ~pos).sum()
        expected = [
            mass[own & pos].sum(),
            mass[own & ~pos].sum(),
            mass[here & pos].sum(),
            mass[here & ~pos].sum(),
            2
            * np.sum(
                np.outer(mass[here & pos], mass[here & ~pos])
                * oracles.pair_values(pos[here], ring[here, 0])
            ),
        ]
        fields = ["pos", "neg", "all_pos", "all_neg", "pairs"]
        found = [nodes[node][field] for field in fields]
        np.testing.assert_allclose(found, expected, rtol=1e-9 if growth > 1 else 0)
    # Every node ever used is in the tree or waits to be used again.
    free, unused, n_seen = counts
    n_free = 0
    while free:
        free = nodes[free]["left"]
        n_free += 1
    assert n_free + len(order) + 1 == unused <= min(window, len(scores)) + 1
    assert n_seen == len(scores)


@pytest.mark.parametrize("kind", ["random", "rising", "falling"])
@pytest.mark.parametrize("window", [1000, 100_000])
def test_the_tree_stays_flat(kind, window, rng):
    scores, is_pos = draw(rng, kind, n=10_000)
    nodes = grow(scores, is_pos, window)[0]
    nodes = nodes[["left", "right"]].tolist()
    level, depth = [nodes[0][0]], 0
    while level:
        level = [child for node in level for child in nodes[node] if child]
        depth += 1
    assert depth < 50  # 2 ln(n) is 18, and three times that very unlikely


def test_paths_longer_than_any_likely_one(rng):
    # Scores in the order of the priorities: the tree is one long branch.
    n = 300
    priority = grow(rng.normal(size=n), rng.random(n) < 0.5, 1000)[0]["priority"][1:]
    scores = np.empty(n)
    scores[np.argsort(-priority)] = np.arange(n)
    is_pos = rng.random(n) < 0.5
    nodes = grow(scores, is_pos, 1000)[0]
    root = nodes[nodes[0]["left"]]
    depths = [depth for _, depth in walk(nodes, nodes[0]["left"])]
    assert max(depths) == n
    assert root["pairs"] == 2 * oracles.pair_values(is_pos, scores).sum()
    # All of them leave again.
    both = np.concatenate([scores, np.full(n, 0.5)])
    nodes = grow(both, np.append(is_pos, is_pos), n)[0]
    assert nodes[nodes[0]["left"]]["n_pos"] == is_pos.sum()


def test_masses_stay_in_range(rng):
    scores, is_pos = draw(rng, "tied", n=2000)
    nodes, ring, _, masses = grow(scores, is_pos, 20, growth=2.0)
    assert 1.0 <= masses[0] <= 2.0 * LARGEST_MASS
    newest = np.abs(ring[(len(scores) - 1) % 20, 1])
    np.testing.assert_array_equal(
        np.sort(np.abs(ring[:, 1])) / newest, 2.0 ** -np.arange(20.0)[::-1]
    )
    assert nodes[nodes[0]["left"]]["all_pos"] == ring[ring[:, 1] > 0, 1].sum()
