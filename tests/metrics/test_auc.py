# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pytest
from drawing import draw_labels, draw_weight
from hypothesis import given
from hypothesis import strategies as st
from metrics import metric_oracles
from metrics.problems import labelled_scores
from sklearn.metrics import roc_auc_score

from aucmax.metrics import roc_auc


@pytest.mark.parametrize("n_pos", [1, 20, 79])
@pytest.mark.parametrize("digits", [0, 1, 8])
def test_matches_all_pairs_and_sklearn(digits, n_pos, rng):
    is_pos = draw_labels(rng, 80, n_pos)
    scores = np.round(rng.normal(size=80) + is_pos, digits)
    auc = roc_auc(is_pos, scores)
    assert auc == float(metric_oracles.exact_auc(is_pos, scores))
    assert auc == pytest.approx(roc_auc_score(is_pos, scores), abs=1e-12)


@pytest.mark.parametrize("kind", ["ones", "integers", "any"])
@pytest.mark.parametrize("digits", [0, 1, 8])
def test_weighted_matches_all_pairs_and_sklearn(digits, kind, rng):
    is_pos = draw_labels(rng, 80, 30)
    scores = np.round(rng.normal(size=80) + is_pos, digits)
    weight = draw_weight(rng, 80, kind)
    auc = roc_auc(is_pos, scores, sample_weight=weight)
    slow = metric_oracles.roc_auc(is_pos, scores, weight)
    assert auc == pytest.approx(slow, abs=1e-12)
    sklearn_auc = roc_auc_score(is_pos, scores, sample_weight=weight)
    assert auc == pytest.approx(sklearn_auc, abs=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
def test_matches_sklearn_on_many_rows(weighted, rng):
    y = (rng.random(200_000) < 0.1).astype(int)
    scores = np.round(rng.normal(size=y.size) + y, 3)
    weight = rng.random(y.size) if weighted else None
    expected = roc_auc_score(y, scores, sample_weight=weight)
    auc = roc_auc(y, scores, sample_weight=weight)
    assert auc == pytest.approx(expected, abs=1e-12)


def test_pairs_beyond_the_low_part_are_counted(rng):
    # 2 * 10^10 half pairs: both parts of the count are in use.
    scores = np.concatenate([np.zeros(100_000), np.ones(100_000)])
    assert roc_auc(scores, scores) == 1
    assert roc_auc(scores, -scores) == 0
    assert roc_auc(scores, np.zeros_like(scores)) == 0.5


@pytest.mark.parametrize(
    "labels",
    [
        [0, 1],
        [-1, 1],
        [1.5, 2.5],
        [False, True],
        ["no", "yes"],
        np.array(["no", "yes"], dtype=object),
        np.array([0, 1], dtype=np.uint8),
    ],
    ids=str,
)
def test_larger_label_is_positive(labels, rng):
    is_pos = draw_labels(rng, 40)
    scores = rng.normal(size=40)
    y = np.asarray(labels)[is_pos.astype(int)]
    expected = roc_auc(is_pos, scores)
    assert roc_auc(y, scores) == expected
    assert roc_auc(y.tolist(), scores.tolist()) == expected
    assert roc_auc(y[:, None], scores[:, None]) == expected


@pytest.mark.parametrize(
    "dtype",
    [np.float32, np.float16, np.longdouble, ">f8", np.int8, np.int64, np.uint8, object],
)
@pytest.mark.parametrize("weighted", [False, True])
def test_any_number_can_be_a_score(dtype, weighted, rng):
    is_pos = draw_labels(rng, 40)
    scores = rng.integers(0, 9, 40)
    weight = rng.random(40) if weighted else None
    expected = roc_auc(is_pos, scores.astype(float), sample_weight=weight)
    assert roc_auc(is_pos, scores.astype(dtype), sample_weight=weight) == expected


def test_float32_scores_tie_as_float32(rng):
    scores = np.array([1.0, 1.0 + 1e-12])
    assert roc_auc([0, 1], scores) == 1
    assert roc_auc([0, 1], scores.astype(np.float32)) == 0.5


def test_scores_are_not_rounded_to_ties():
    one, step = np.longdouble(1), np.finfo(np.longdouble).eps
    close = np.array([one, one + step])
    if step < np.finfo(np.float64).eps:  # elsewhere longdouble is float64
        with pytest.raises(ValueError, match="differ, but not in float64"):
            roc_auc([0, 1], close)
    assert roc_auc([0, 1], np.array([one / 3, 2 * one / 3])) == 1
    assert roc_auc([0, 1], np.array([one / 3, one / 3])) == 0.5
    assert roc_auc([0, 1], [2**64, 2**65]) == 1
    assert roc_auc([0, 1], [2**64, 2**64]) == 0.5


@pytest.mark.parametrize("weighted", [False, True])
def test_inputs_are_left_alone(weighted, rng):
    is_pos = draw_labels(rng, 40)
    scores = rng.normal(size=(40, 2))[:, 1]
    weight = rng.random(40) if weighted else None
    copies = is_pos.copy(), scores.copy()
    expected = roc_auc(is_pos, scores, sample_weight=weight)
    for array in (is_pos, scores, *([weight] if weighted else [])):
        array.flags.writeable = False
    assert roc_auc(is_pos, scores, sample_weight=weight) == expected
    assert roc_auc(*copies, sample_weight=weight) == expected


def test_negative_zero_ties_with_zero():
    assert roc_auc([0, 1], [0.0, -0.0]) == 0.5
    assert roc_auc([0, 1], [0.0, -0.0], sample_weight=[1, 2]) == 0.5


@pytest.mark.parametrize("factor", [1e-140, 0.1, 1e140])
def test_separated_classes_score_exactly_one_whatever_the_weights(factor, rng):
    is_pos = draw_labels(rng, 60)
    weight = factor * rng.random(60)
    for sign, auc in ((1.0, 1.0), (0.0, 0.5), (-1.0, 0.0)):
        assert roc_auc(is_pos, sign * is_pos, sample_weight=weight) == auc


@given(labelled_scores())
def test_flipping_the_scores_flips_the_auc(problem):
    is_pos, scores = problem
    auc = roc_auc(is_pos, scores)
    assert 0 <= auc <= 1
    assert roc_auc(is_pos, -scores) == pytest.approx(1 - auc, abs=1e-15)
    assert roc_auc(~is_pos, scores) == pytest.approx(1 - auc, abs=1e-15)


@given(labelled_scores(), st.integers(0, 20))
def test_increasing_maps_change_nothing(problem, power):
    is_pos, scores = problem
    assert roc_auc(is_pos, scores * 2.0**power) == roc_auc(is_pos, scores)
    ranks = np.unique(scores, return_inverse=True)[1]
    assert roc_auc(is_pos, ranks) == roc_auc(is_pos, scores)


@given(labelled_scores(), st.randoms(use_true_random=False))
def test_weight_is_repetition(problem, random):
    is_pos, scores = problem
    weight = np.array([random.randint(0, 3) for _ in scores])
    weight[np.argmax(is_pos)] += 1
    weight[np.argmin(is_pos)] += 1
    repeated = roc_auc(is_pos.repeat(weight), scores.repeat(weight))
    assert roc_auc(is_pos, scores, sample_weight=weight) == repeated


@pytest.mark.parametrize(
    ("y", "scores", "weight", "message"),
    [
        ([], [], None, "empty"),
        ([1, 1], [0.1, 0.2], None, "both classes"),
        ([0, 1, 2], [0.1, 0.2, 0.3], None, "3 classes"),
        ([0, np.nan], [0.1, 0.2], None, "NaN"),
        ([0, 1], [0.1], None, "holds 1 scores for 2 labels"),
        ([0, 1], [[0.1, 0.9], [0.8, 0.2]], None, r"predict_proba\(X\)\[:, 1\]"),
        ([0, 1], [[[0.1], [0.9]]], None, "one dimension"),
        ([0, 1], 0.5, None, "one dimension"),
        ([0, 1], ["low", "high"], None, "real numbers"),
        ([0, 1], [1j, 2j], None, "real numbers"),
        ([0, 1], np.array([0.1, "high"], dtype=object), None, "real numbers"),
        ([0, 1], [2**60, 2**60 + 1], None, r"beyond 2\*\*53"),
        ([0, 1], [2**64, 2**64 + 1], None, "near 18446744073709551616 that differ"),
        ([0, 1, 0], [2**63, 2**63 + 1, -1], None, "differ, but not in float64"),
        ([0, 1, 0], (2**60, 2**60 + 1, 0.5), None, "differ, but not in float64"),
        ([0, 1], [1, 10**400], None, "too large to convert"),
        ([0, 1], [0.1, 0.2], [1], "one weight per row"),
        ([0, 1], [0.1, 0.2], [-1, 1], "below zero"),
        ([0, 1], [0.1, 0.2], [0, 0], "weight zero"),
        ([0, 1], [0.1, 0.2], [0, 1], "negative class has no weight"),
        ([0, 1], [0.1, 0.2], [1, np.nan], "NaN"),
        ([0, 1], [0.1, 0.2], [1, 1e-300], "underflow"),
    ],
)
def test_bad_input_is_refused(y, scores, weight, message):
    with pytest.raises(ValueError, match=message):
        roc_auc(y, scores, sample_weight=weight)


@pytest.mark.parametrize("weight", [None, np.ones(6)])
@pytest.mark.parametrize("row", [0, 2, 5])
@pytest.mark.parametrize(
    ("bad", "message"),
    [(np.nan, "NaN"), (-np.nan, "NaN"), (np.inf, "infinity"), (-np.inf, "infinity")],
)
def test_scores_that_are_not_finite_are_refused(bad, message, row, weight):
    scores = np.arange(6.0)
    scores[row] = bad
    with pytest.raises(ValueError, match=f"y_score contains {message}"):
        roc_auc([0, 1, 0, 1, 0, 1], scores, sample_weight=weight)
