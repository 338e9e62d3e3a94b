# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize

from aucmax.auto.weights import (
    combine,
    distances_to_best,
    family_prior,
    greedy_weights,
    pull_weights,
)
from aucmax.metrics import roc_auc, roc_auc_test


def draw(rng, n=120, k=4, signal=(1.0, 0.8, 0.3, 0.0)):
    is_pos = rng.random(n) < 0.3
    is_pos[:2] = True, False
    scores = rng.normal(size=(n, k)) + is_pos[:, None] * np.array(signal)
    return scores, is_pos


def test_pull_minimises_the_loss_over_all_pairs(rng):
    """Against the double sum over pairs, minimised by a general solver."""
    scores, is_pos = draw(rng)
    prior = np.array([0.5, 0.25, 0.25, 0.0])
    pairs = (scores[is_pos][:, None] - scores[~is_pos][None]).reshape(-1, 4)
    gap, moment = pairs.mean(axis=0), pairs.T @ pairs / len(pairs)
    pull = np.trace(moment) / 4
    size = gap @ prior / (prior @ moment @ prior)

    def loss(w):
        misfit = ((pairs @ w - 1) ** 2).mean()
        return misfit + pull * ((w - size * prior) ** 2).sum()

    best = minimize(loss, prior, bounds=[(0, None)] * 4, tol=1e-14).x
    assert_allclose(pull_weights(scores, is_pos, prior), best / best.sum(), atol=1e-5)


def test_pull_returns_the_prior_when_nothing_ranks():
    scores = np.zeros((10, 2))
    scores[:, 0] = np.arange(10)
    is_pos = np.arange(10) < 3  # the wrong way round
    assert_allclose(pull_weights(scores, is_pos, np.array([1.0, 0.0])), [1.0, 0.0])


def test_prior_prunes_and_shares_among_families():
    distances = np.array([0.0, 1.9, 2.1, 0.5, 9.0])
    families = ["a", "a", "a", "b", "c"]
    assert_allclose(family_prior(distances, families), [0.25, 0.25, 0, 0.5, 0])


def test_distances_are_those_of_delong(rng):
    scores, is_pos = draw(rng)
    distances = distances_to_best(scores, is_pos)
    aucs = [roc_auc(is_pos, column) for column in scores.T]
    best = int(np.argmax(aucs))
    assert distances[best] == 0
    for k in range(4):
        if k != best:
            test = roc_auc_test(is_pos, scores[:, best], scores[:, k])
            assert distances[k] == pytest.approx(test.statistic)


def test_greedy_is_at_least_as_good_as_any_single_one(rng):
    scores, is_pos = draw(rng)
    weights = greedy_weights(scores, is_pos)
    assert weights.sum() == pytest.approx(1)
    mixed = roc_auc(is_pos, scores @ weights)
    assert mixed >= max(roc_auc(is_pos, column) for column in scores.T)


def test_with_few_positives_nothing_is_fitted(rng):
    scores, is_pos = draw(rng)
    rows = np.r_[np.flatnonzero(is_pos)[:5], np.flatnonzero(~is_pos)]
    scores, is_pos = scores[rows], is_pos[rows]
    distances = distances_to_best(scores, is_pos)
    soft = family_prior(distances, list("abcc")) * np.exp(-distances)
    assert_allclose(combine(scores, is_pos, list("abcc")), soft / soft.sum())


def test_many_positives_are_chosen_greedily(rng):
    scores, is_pos = draw(rng, n=20_000)
    families = ["a", "b", "c", "c"]
    n_pos = is_pos.sum()
    share = n_pos**2 / (n_pos**2 + 200**2)
    prior = family_prior(distances_to_best(scores, is_pos), families)
    expected = share * greedy_weights(scores, is_pos)
    expected += (1 - share) * pull_weights(scores, is_pos, prior)
    assert_allclose(combine(scores, is_pos, families), expected)


def test_combine_leaves_out_chance_and_sums_to_one(rng):
    scores, is_pos = draw(rng, n=4000)
    weights = combine(scores, is_pos, ["a", "b", "c", "c"])
    assert weights.sum() == pytest.approx(1)
    assert (weights >= 0).all()
    assert weights[3] < 0.05
    assert weights[0] > weights[2]
