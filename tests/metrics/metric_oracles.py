# SPDX-License-Identifier: BSD-3-Clause
"""Slow, obvious versions of the metrics: all pairs, one by one."""

import itertools
from fractions import Fraction

import numpy as np


def pair_values(is_pos, scores):
    """One row per positive, one column per negative: 1 if ordered, 1/2 if tied."""
    pos, neg = scores[is_pos][:, None], scores[~is_pos][None, :]
    return (pos > neg) + 0.5 * (pos == neg)


def roc_auc(is_pos, scores, weight=None):
    weight = np.ones(len(scores)) if weight is None else weight
    pair_weight = np.outer(weight[is_pos], weight[~is_pos])
    return np.sum(pair_weight * pair_values(is_pos, scores)) / np.sum(pair_weight)


def roc_points(is_pos, scores, weight):
    """(FPR, TPR) at each threshold, from (0, 0) to (1, 1)."""
    points = [(0.0, 0.0)]
    for threshold in sorted(set(scores.tolist()), reverse=True):
        passed = scores >= threshold
        points.append(
            tuple(
                weight[passed & of].sum() / weight[of].sum() for of in (~is_pos, is_pos)
            )
        )
    return points


def partial_auc(is_pos, scores, weight, max_fpr, min_tpr):
    """Area of the curve inside the region, one piece between two vertices at a time."""
    area = 0.0
    points = roc_points(is_pos, scores, weight)
    for (x0, y0), (x1, y1) in itertools.pairwise(points):
        if x1 == x0 or x0 >= max_fpr:
            continue
        slope = (y1 - y0) / (x1 - x0)
        if x1 > max_fpr:
            x1, y1 = max_fpr, y0 + slope * (max_fpr - x0)
        if y1 <= min_tpr:
            continue
        if y0 < min_tpr:
            x0, y0 = x0 + (min_tpr - y0) / slope, min_tpr
        area += (x1 - x0) * ((y0 - min_tpr) + (y1 - min_tpr)) / 2
    return area


def delong_variance(is_pos, *score_vectors):
    """Covariance matrix of the AUCs, from the placements of all rows."""
    values = [pair_values(is_pos, scores) for scores in score_vectors]
    n_pos, n_neg = values[0].shape
    of_pos = np.atleast_2d(np.cov([v.mean(axis=1) for v in values]))
    of_neg = np.atleast_2d(np.cov([v.mean(axis=0) for v in values]))
    return of_pos / n_pos + of_neg / n_neg


def exact_auc(is_pos, scores):
    """The AUC as a fraction."""
    pos, neg = scores[is_pos], scores[~is_pos]
    doubled = sum(2 * int((neg < s).sum()) + int((neg == s).sum()) for s in pos)
    return Fraction(doubled, 2 * len(pos) * len(neg))
