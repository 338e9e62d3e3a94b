# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pytest
from drawing import draw_labels, draw_weight
from hypothesis import given
from hypothesis import strategies as st
from metrics import metric_oracles
from metrics.problems import labelled_scores
from sklearn.metrics import roc_auc_score

from aucmax.metrics import partial_auc, roc_auc


@pytest.mark.parametrize("max_fpr", [None, 1e-3, 0.1, 0.25, 0.5, 0.77, 1])
@pytest.mark.parametrize("min_tpr", [None, 0, 1e-3, 0.3, 0.5, 0.9, 0.999])
@pytest.mark.parametrize("digits", [0, 1, 8])
def test_matches_the_pieces_of_the_curve(digits, min_tpr, max_fpr, rng):
    is_pos = draw_labels(rng, 50, 20)
    scores = np.round(rng.normal(size=50) + is_pos, digits)
    weight = draw_weight(rng, 50, "any")
    bounds = max_fpr or 1.0, min_tpr or 0.0
    for w in (None, weight):
        area = partial_auc(
            is_pos, scores, max_fpr=max_fpr, min_tpr=min_tpr, sample_weight=w
        )
        full = np.ones(50) if w is None else w
        slow = metric_oracles.partial_auc(is_pos, scores, full, *bounds)
        assert area == pytest.approx(slow, abs=1e-12)


@pytest.mark.parametrize("max_fpr", [0.01, 0.1, 0.3, 0.5, 0.9, 1])
@pytest.mark.parametrize("digits", [0, 1, 8])
def test_standardized_matches_sklearn(digits, max_fpr, rng):
    y = (rng.random(3000) < 0.2).astype(int)
    scores = np.round(rng.normal(size=3000) + y, digits)
    weight = rng.random(3000)
    for w in (None, weight):
        area = partial_auc(
            y, scores, max_fpr=max_fpr, standardize=True, sample_weight=w
        )
        expected = roc_auc_score(y, scores, max_fpr=max_fpr, sample_weight=w)
        assert area == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("max_fpr", [0.1, 0.6, 1])
@pytest.mark.parametrize("min_tpr", [0, 0.4, 0.9])
def test_standardized_marks_perfect_and_chance(min_tpr, max_fpr, rng):
    is_pos = draw_labels(rng, 40, 10)
    bounds = {"max_fpr": max_fpr, "min_tpr": min_tpr}
    region = max_fpr * (1 - min_tpr)
    perfect = partial_auc(is_pos, is_pos, **bounds)
    assert perfect == pytest.approx(region, abs=1e-14)
    perfect = partial_auc(is_pos, is_pos, **bounds, standardize=True)
    assert perfect == pytest.approx(1, abs=1e-14)
    chance = partial_auc(is_pos, np.zeros(40), **bounds, standardize=True)
    assert chance == pytest.approx(0.5, abs=1e-14)
    assert partial_auc(is_pos, ~is_pos, **bounds) == 0


@given(labelled_scores(), st.floats(0.01, 1), st.floats(0, 0.99))
def test_areas_add_up(problem, max_fpr, min_tpr):
    is_pos, scores = problem
    auc = roc_auc(is_pos, scores)
    assert partial_auc(is_pos, scores) == pytest.approx(auc, abs=1e-12)
    # Swapping the classes and the sign mirrors the curve at the falling diagonal:
    # what lies right of max_fpr comes to lie below the line TPR = 1 - max_fpr.
    left = partial_auc(is_pos, scores, max_fpr=max_fpr)
    top = partial_auc(~is_pos, -scores, min_tpr=1 - max_fpr)
    assert left == pytest.approx(top, abs=1e-12)
    both = partial_auc(is_pos, scores, max_fpr=max_fpr, min_tpr=min_tpr)
    assert 0 <= both <= min(left, max_fpr * (1 - min_tpr)) + 1e-12


@given(labelled_scores(), st.floats(0.01, 1), st.floats(0, 0.99))
def test_weight_is_repetition(problem, max_fpr, min_tpr):
    is_pos, scores = problem
    weight = 1 + np.arange(len(scores)) % 3
    bounds = {"max_fpr": max_fpr, "min_tpr": min_tpr}
    repeated = partial_auc(is_pos.repeat(weight), scores.repeat(weight), **bounds)
    weighted = partial_auc(is_pos, scores, **bounds, sample_weight=weight)
    assert weighted == pytest.approx(repeated, abs=1e-12)


@pytest.mark.parametrize("max_fpr", [0, -0.1, 1.1, np.nan])
def test_bad_max_fpr_is_refused(max_fpr):
    with pytest.raises(ValueError, match="max_fpr must be above 0 and at most 1"):
        partial_auc([0, 1], [0.1, 0.2], max_fpr=max_fpr)


@pytest.mark.parametrize("min_tpr", [1, -0.1, np.inf, np.nan])
def test_bad_min_tpr_is_refused(min_tpr):
    with pytest.raises(ValueError, match="min_tpr must be at least 0 and below 1"):
        partial_auc([0, 1], [0.1, 0.2], min_tpr=min_tpr)


@pytest.mark.parametrize(
    ("y", "scores", "weight", "message"),
    [
        ([1, 1], [0.1, 0.2], None, "both classes"),
        ([0, 1], [0.1, np.nan], None, "NaN"),
        ([0, 1], [0.1, 0.2, 0.3], None, "one score per label"),
        ([0, 1], [0.1, 0.2], [1, -1], "below zero"),
    ],
)
def test_bad_input_is_refused(y, scores, weight, message):
    with pytest.raises(ValueError, match=message):
        partial_auc(y, scores, max_fpr=0.5, sample_weight=weight)
