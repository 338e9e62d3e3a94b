# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pytest
from drawing import draw_labels, draw_weight

from aucmax.metrics.threshold import balanced_threshold


def balanced_accuracy(scores, is_pos, weight, threshold):
    right = (scores > threshold) == is_pos
    pos = np.average(right[is_pos], weights=weight[is_pos])
    neg = np.average(right[~is_pos], weights=weight[~is_pos])
    return (pos + neg) / 2


@pytest.mark.parametrize("seed", range(30))
def test_no_threshold_is_better(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 40))
    scores = np.round(rng.normal(size=n), 1)
    is_pos = draw_labels(rng, n)
    scores[is_pos] += 0.5
    weight = draw_weight(rng, n, "any")
    chosen = balanced_threshold(scores, is_pos, weight)
    best = max(balanced_accuracy(scores, is_pos, weight, t) for t in scores)
    ours = balanced_accuracy(scores, is_pos, weight, chosen)
    assert ours == pytest.approx(max(best, ours))
    if len(np.unique(scores)) > 1 and best > 0.5:
        assert ours == pytest.approx(best)
        assert np.abs(scores - chosen).min() > 0  # between two scores, not on one


def test_rows_without_weight_are_absent():
    scores = np.array([0.0, 0.9, 1.0])
    is_pos = np.array([False, False, True])
    assert balanced_threshold(scores, is_pos, np.array([1.0, 0.0, 1.0])) == 0.5


def test_neighbouring_floats_and_equal_scores():
    below, above = 1.0, np.nextafter(1.0, 2.0)
    threshold = balanced_threshold(
        np.array([below, above]), np.array([False, True]), np.ones(2)
    )
    assert below <= threshold < above
    assert (
        balanced_threshold(np.ones(3), np.array([True, False, True]), np.ones(3)) == 1
    )
