# SPDX-License-Identifier: BSD-3-Clause
"""How much each candidate counts: pairwise least squares pulled to a pruned prior."""

from collections.abc import Sequence

import numpy as np
from scipy.linalg import cholesky, solve_triangular
from scipy.optimize import nnls

from aucmax._utils.typing import BoolArray, FloatArray
from aucmax.metrics.auc import roc_auc
from aucmax.metrics.delong import roc_auc_test
from aucmax.summaries.class_moments import ClassMoments

# A candidate this many standard errors below the best is worse, not unlucky.
MAX_DISTANCE = 2.0
# With many positives, choosing candidates one by one no longer fits to chance.
GREEDY_POSITIVES = 200
GREEDY_ROUNDS = 40
LEAST_SHARE = 0.02
# With fewer positives there is nothing to fit weights to.
FIT_POSITIVES = 10


def distances_to_best(scores: FloatArray, is_pos: BoolArray) -> FloatArray:
    """Return how many standard errors each column is below the best.

    Of the paired DeLong difference of the AUCs.
    """
    aucs = [roc_auc(is_pos, column) for column in scores.T]
    best = int(np.argmax(aucs))
    distances = np.zeros(scores.shape[1])
    for k, column in enumerate(scores.T):
        if k != best:
            test = roc_auc_test(is_pos, scores[:, best], column)
            distances[k] = max(test.statistic, 0.0)
    return distances


def combine(
    scores: FloatArray, is_pos: BoolArray, families: Sequence[str]
) -> FloatArray:
    """Return weights of the candidates: not negative, of sum one.

    Parameters
    ----------
    scores : ndarray of shape (n_samples, n_candidates)
        Normal scores of rows left out of training.
    is_pos : ndarray of shape (n_samples,)
        Which rows are positive.
    families : sequence of str
        Family of each candidate.
    """
    distances = distances_to_best(scores, is_pos)
    prior = family_prior(distances, families)
    n_pos = int(np.count_nonzero(is_pos))
    if n_pos < FIT_POSITIVES:
        soft = prior * np.exp(-distances)
        total: FloatArray = soft / soft.sum()
        return total
    pulled = pull_weights(scores, is_pos, prior)
    share = n_pos**2 / (n_pos**2 + GREEDY_POSITIVES**2)
    if share < LEAST_SHARE:
        return pulled
    return share * greedy_weights(scores, is_pos) + (1.0 - share) * pulled


def family_prior(distances: FloatArray, families: Sequence[str]) -> FloatArray:
    """Share weight equally among families, then members not far below the best."""
    kept = distances <= MAX_DISTANCE
    names = np.array(families)
    prior = np.zeros(len(names))
    for family in set(names[kept]):
        chosen = kept & (names == family)
        prior[chosen] = 1.0 / np.count_nonzero(chosen)
    total: FloatArray = prior / prior.sum()
    return total


def pull_weights(
    scores: FloatArray, is_pos: BoolArray, prior: FloatArray
) -> FloatArray:
    r"""Return the least squares weights over all pairs, pulled to ``prior``.

    With :math:`D` the difference of the class means of the scores and :math:`M` the
    second moment of the differences of all pairs, minimises
    :math:`w'(M + tI)w - 2w'(D + tsu)` over :math:`w \ge 0`, where :math:`t` is the mean
    diagonal of :math:`M`, and :math:`su` the best multiple of the prior.
    """
    pos, neg = (
        ClassMoments.of_rows(rows, np.ones(len(rows)))
        for rows in (scores[is_pos], scores[~is_pos])
    )
    gap = pos.mean - neg.mean
    moment = pos.covariance + neg.covariance + np.outer(gap, gap)
    pull = np.trace(moment) / len(prior)
    spread = float(prior @ moment @ prior)
    if spread <= 0.0:
        return prior  # of candidates that score all rows the same
    size = float(gap @ prior) / spread
    factor = cholesky(moment + pull * np.eye(len(prior)), lower=True)
    target = solve_triangular(factor, gap + pull * size * prior, lower=True)
    weights: FloatArray = nnls(factor.T, target)[0]
    total = weights.sum()
    return weights / total if total > 0.0 else prior


def greedy_weights(scores: FloatArray, is_pos: BoolArray) -> FloatArray:
    """Add, again and again, the candidate that raises the AUC of the sum most."""
    n_candidates = scores.shape[1]
    counts = np.zeros(n_candidates)
    best_counts, best_auc = counts, -np.inf
    total = np.zeros(scores.shape[0])
    for _ in range(GREEDY_ROUNDS):
        aucs = [roc_auc(is_pos, total + column) for column in scores.T]
        chosen = int(np.argmax(aucs))
        total = total + scores[:, chosen]
        counts[chosen] += 1
        if aucs[chosen] > best_auc:
            best_auc, best_counts = aucs[chosen], counts.copy()
    weights: FloatArray = best_counts / best_counts.sum()
    return weights
