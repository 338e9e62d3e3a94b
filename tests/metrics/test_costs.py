# SPDX-License-Identifier: BSD-3-Clause
import math

import numpy as np
import pytest
from drawing import draw_labels, draw_weight
from hypothesis import given
from hypothesis import strategies as st
from metrics.problems import labelled_scores
from sklearn.metrics import fbeta_score, precision_score

from aucmax.metrics import best_threshold, cost_curve


def cost_at(is_pos, called, weight, costs, prevalence=None):
    """Cost per row of one way to call rows positive."""
    false = np.average(called[~is_pos], weights=weight[~is_pos])
    missed = np.average(~called[is_pos], weights=weight[is_pos])
    share = np.average(is_pos, weights=weight) if prevalence is None else prevalence
    return (1 - share) * costs[0] * false + share * costs[1] * missed


@pytest.mark.parametrize("costs", [(1, 20), (2.5, 0.3), (0, 1)])
@pytest.mark.parametrize("prevalence", [None, 0.01, 0.7])
@pytest.mark.parametrize("kind", ["ones", "integers", "any"])
@pytest.mark.parametrize("digits", [0, 8])
def test_matches_one_threshold_at_a_time(digits, kind, prevalence, costs, rng):
    is_pos = draw_labels(rng, 50, 15)
    scores = np.round(rng.normal(size=50) + is_pos, digits)
    weight = draw_weight(rng, 50, kind)
    curve = cost_curve(
        is_pos, scores, cost_fp=costs[0], cost_fn=costs[1], prevalence=prevalence,
        sample_weight=weight,
    )  # fmt: skip
    used = weight > 0
    is_pos, scores, weight = is_pos[used], scores[used], weight[used]
    assert curve.thresholds.tolist() == [math.inf, *sorted(set(scores))[::-1]]
    for k, threshold in enumerate(curve.thresholds):
        called = scores >= threshold
        slow = cost_at(is_pos, called, weight, costs, prevalence)
        assert curve.cost[k] == pytest.approx(slow, abs=1e-12)
        tpr = np.average(called[is_pos], weights=weight[is_pos])
        assert curve.tpr[k] == pytest.approx(tpr)
        fpr = np.average(called[~is_pos], weights=weight[~is_pos])
        assert curve.fpr[k] == pytest.approx(fpr)
        if k == 0:
            assert math.isnan(curve.precision[k])
            continue
        share = prevalence or np.average(is_pos, weights=weight)
        precision = share * tpr / (share * tpr + (1 - share) * fpr)
        assert curve.precision[k] == pytest.approx(precision)


@given(
    labelled_scores(),
    st.integers(0, 5),
    st.integers(1, 5),
    st.sampled_from([None, 0.1, 0.5]),
)
def test_no_threshold_is_cheaper(problem, cost_fp, cost_fn, prevalence):
    is_pos, scores = problem
    options = {"cost_fp": cost_fp, "cost_fn": cost_fn, "prevalence": prevalence}
    best = best_threshold(is_pos, scores, **options)
    ones, costs = np.ones(len(scores)), (cost_fp, cost_fn)
    ours = cost_at(is_pos, scores >= best, ones, costs, prevalence)
    every = [
        (cost_at(is_pos, scores >= t, ones, costs, prevalence), t)
        for t in [math.inf, *scores]
    ]
    least = min(cost for cost, _ in every)
    assert ours == pytest.approx(least, abs=1e-12)
    # Of equals the largest: fewer rows above it would cost more.
    highest = max(t for cost, t in every if cost <= least + 1e-12)
    assert np.sum(scores >= best) == np.sum(scores >= highest)
    point = cost_curve(is_pos, scores, **options).best()
    assert point.threshold == best
    assert point.cost == pytest.approx(ours, abs=1e-12)
    assert point.sensitivity == pytest.approx(np.mean(scores[is_pos] >= best))
    assert point.specificity == pytest.approx(np.mean(scores[~is_pos] < best))


@given(labelled_scores(), st.floats(0.1, 10))
def test_weight_is_repetition(problem, cost_fn):
    is_pos, scores = problem
    times = np.arange(len(scores)) % 3
    times[[np.argmax(is_pos), np.argmin(is_pos)]] = 2
    weighted = cost_curve(is_pos, scores, cost_fn=cost_fn, sample_weight=times)
    repeated = cost_curve(is_pos.repeat(times), scores.repeat(times), cost_fn=cost_fn)
    for one, other in zip(weighted, repeated, strict=True):
        np.testing.assert_array_equal(one, other)
    assert weighted.best() == pytest.approx(repeated.best(), nan_ok=True)


def test_in_the_middle_of_the_gap():
    assert best_threshold([0, 0, 1], [0.0, 1.0, 3.0]) == 2.0
    # A row of weight zero does not bound the gap.
    threshold = best_threshold([0, 1, 1], [0.0, 1.0, 4.0], sample_weight=[1, 0, 1])
    assert threshold == 2.0


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_neighbouring_floats_are_kept_apart(dtype):
    low = dtype(1)
    high = np.nextafter(low, dtype(2))
    scores = np.array([low, high])
    for below, above in [(low, high), (-high, -low)]:
        scores = np.array([below, above])
        called = scores >= best_threshold([0, 1], scores)
        assert called.tolist() == [False, True]


def test_huge_scores_do_not_overflow():
    assert best_threshold([0, 1], [1e308, 1.7e308]) == pytest.approx(1.35e308)


def test_calling_all_or_none():
    y, scores = [0, 1, 0, 1], [0.9, 0.8, 0.2, 0.1]
    assert best_threshold(y, scores, cost_fn=100) == -math.inf
    assert best_threshold(y, scores, cost_fp=100) == math.inf
    never = cost_curve(y, scores, cost_fp=100).best()
    assert never[1:4] == (0.5, 0.0, 1.0)
    assert math.isnan(never.precision)
    # All tied: one threshold for all.
    assert best_threshold([0, 0, 1], [1, 1, 1]) == math.inf
    assert best_threshold([0, 1, 1], [1, 1, 1]) == -math.inf


def test_rounding_makes_no_best():
    # Three times 0.1 is a little more than 0.3, but the larger threshold is right.
    y, scores = [1, 1, 1, 0, 1], [5, 4, 3, 2, 1]
    shuffled = cost_curve(y, scores, cost_fp=0.3, cost_fn=0.1)
    assert shuffled.best().threshold == 2.5
    y, scores = [0, 1, 1, 1], [4, 3, 2, 1]
    assert best_threshold(y, scores, cost_fp=0.3, cost_fn=0.1) == math.inf


@pytest.mark.parametrize("beta", [0.5, 1, 2])
def test_f_score_and_precision_match_sklearn(beta, rng):
    y = rng.integers(0, 2, 40)
    scores = np.round(rng.normal(size=40) + y, 1)
    curve = cost_curve(y, scores)
    f_score = curve.f_score(beta)
    assert f_score[0] == 0
    for k in range(1, len(f_score)):
        called = scores >= curve.thresholds[k]
        assert f_score[k] == pytest.approx(fbeta_score(y, called, beta=beta))
        expected = precision_score(y, called)
        assert curve.precision[k] == pytest.approx(expected)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"cost_fp": -1}, "cost_fp must be from 0 to .*, got -1"),
        ({"cost_fn": np.nan}, "cost_fn must be from 0 to .*, got nan"),
        ({"cost_fn": np.inf}, "cost_fn must be from 0 to .*, got inf"),
        ({"cost_fp": 0, "cost_fn": 0}, "both zero"),
        ({"prevalence": 0}, "prevalence must be between 0 and 1, got 0"),
        ({"prevalence": 30}, "prevalence must be between 0 and 1, got 30"),
        ({"sample_weight": [1, 0]}, "positive class has no weight"),
    ],
)
def test_bad_options_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        cost_curve([0, 1], [0.1, 0.2], **options)


def test_other_bad_input_is_refused():
    with pytest.raises(ValueError, match="cost_curve needs both classes"):
        best_threshold([1, 1], [0.1, 0.2])
    with pytest.raises(ValueError, match="beta must be positive, got 0"):
        cost_curve([0, 1], [0.1, 0.2]).f_score(0)
