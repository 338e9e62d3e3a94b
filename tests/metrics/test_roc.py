# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pytest
from drawing import draw_labels, draw_weight
from hypothesis import given
from metrics import metric_oracles
from metrics.problems import labelled_scores
from sklearn import metrics as sklearn_metrics

from aucmax.metrics import roc_auc, roc_curve


@pytest.mark.parametrize("kind", ["ones", "integers", "any"])
@pytest.mark.parametrize("digits", [0, 1, 8])
def test_matches_one_threshold_at_a_time(digits, kind, rng):
    is_pos = draw_labels(rng, 60, 20)
    scores = np.round(rng.normal(size=60) + is_pos, digits)
    weight = draw_weight(rng, 60, kind)
    used = weight > 0
    slow = metric_oracles.roc_points(is_pos[used], scores[used], weight[used])
    curve = roc_curve(is_pos, scores, sample_weight=weight)
    np.testing.assert_allclose(np.c_[curve.fpr, curve.tpr], slow, atol=1e-14)
    assert curve.thresholds[0] == np.inf
    assert curve.thresholds[1:].tolist() == sorted(set(scores[used]))[::-1]


@pytest.mark.parametrize("digits", [0, 8])
def test_matches_sklearn(digits, rng):
    y = rng.integers(0, 2, 500)
    scores = np.round(rng.normal(size=500) + y, digits)
    ours = roc_curve(y, scores)
    theirs = sklearn_metrics.roc_curve(y, scores, drop_intermediate=False)
    for mine, other in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(mine, other)


@given(labelled_scores())
def test_the_area_is_the_auc(problem):
    is_pos, scores = problem
    fpr, tpr, thresholds = roc_curve(is_pos, scores)
    assert sklearn_metrics.auc(fpr, tpr) == pytest.approx(
        roc_auc(is_pos, scores), abs=1e-12
    )
    for threshold, rate in zip(thresholds, tpr, strict=True):
        assert rate == np.mean(scores[is_pos] >= threshold)


def test_precision_is_kept_and_absent_rows_are_no_thresholds():
    scores = np.array([0.1, 0.2, 0.3, 0.4], dtype=np.float32)
    curve = roc_curve([0, 1, 0, 1], scores, sample_weight=[1, 0, 1, 2])
    assert curve.thresholds.dtype == np.float32
    assert curve.thresholds.tolist() == [np.inf, *scores[[3, 2, 0]].tolist()]
    assert curve.tpr.tolist() == [0, 1, 1, 1]


@pytest.mark.parametrize(
    ("y", "scores", "weight", "message"),
    [
        ([1, 1], [0.1, 0.2], None, "roc_curve needs both classes"),
        ([0, 1], [0.1, np.nan], None, "NaN"),
        ([0, 1], [0.1, np.inf], None, "infinity"),
        ([0, 1], [0.1, 0.2, 0.3], None, "one score per label"),
        ([0, 1], [0.1, 0.2], [1, 0], "the positive class has no weight"),
    ],
)
def test_bad_input_is_refused(y, scores, weight, message):
    with pytest.raises(ValueError, match=message):
        roc_curve(y, scores, sample_weight=weight)
