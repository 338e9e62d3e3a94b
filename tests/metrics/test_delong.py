# SPDX-License-Identifier: BSD-3-Clause
import math
from statistics import NormalDist

import numpy as np
import pytest
from drawing import draw_labels
from hypothesis import given
from hypothesis import strategies as st
from metrics import metric_oracles
from metrics.problems import labelled_scores

from aucmax.metrics import roc_auc, roc_auc_interval, roc_auc_test


@pytest.mark.parametrize("n_pos", [2, 20, 78])
@pytest.mark.parametrize("digits", [0, 1, 8])
def test_interval_matches_the_textbook(digits, n_pos, rng):
    is_pos = draw_labels(rng, 80, n_pos)
    scores = np.round(rng.normal(size=80) + is_pos, digits)
    interval = roc_auc_interval(is_pos, scores, level=0.5)
    std_error = math.sqrt(metric_oracles.delong_variance(is_pos, scores)[0, 0])
    reach = NormalDist().inv_cdf(0.75) * std_error
    assert interval.auc == roc_auc(is_pos, scores)
    assert interval.std_error == pytest.approx(std_error, rel=1e-12)
    assert interval.low == pytest.approx(max(0, interval.auc - reach), abs=1e-12)
    assert interval.high == pytest.approx(min(1, interval.auc + reach), abs=1e-12)


def test_tiny_variance_next_to_one_keeps_its_digits():
    # One misordered pair among 3000 x 2000; uncentred sums would lose half the digits.
    neg, pos = np.arange(3000.0), 3000 + np.arange(2000.0)
    neg[-1] = 3000.5
    is_pos = np.arange(5000) >= 3000
    scores = np.concatenate([neg, pos])
    expected = math.sqrt(metric_oracles.delong_variance(is_pos, scores)[0, 0])
    std_error = roc_auc_interval(is_pos, scores).std_error
    assert std_error == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("only", ["positive", "negative"])
def test_one_row_of_a_class_gets_the_largest_variance(only, rng):
    is_pos = np.arange(20) == 7
    is_pos = is_pos if only == "positive" else ~is_pos
    scores = np.round(rng.normal(size=20), 1)
    interval = roc_auc_interval(is_pos, scores)
    values = metric_oracles.pair_values(is_pos, scores)
    auc = values.mean()
    variance = auc * (1 - auc) + values.var(ddof=1) / values.size
    assert interval.std_error == pytest.approx(math.sqrt(variance), rel=1e-12)


@pytest.mark.parametrize(("sign", "auc"), [(1, 1), (-1, 0), (0, 0.5)])
def test_interval_of_separated_or_constant_scores_has_no_width(sign, auc, rng):
    is_pos = draw_labels(rng, 300, 100)
    assert roc_auc_interval(is_pos, sign * is_pos) == (auc, auc, auc, 0)


def test_two_rows_are_enough():
    assert roc_auc_interval([0, 1], [0.1, 0.2]) == (1, 1, 1, 0)
    assert roc_auc_interval([0, 1], [0.1, 0.1])[:3] == (0.5, 0, 1)


@given(labelled_scores(), st.floats(0.01, 0.999))
def test_interval_contains_the_auc_and_grows_with_the_level(problem, level):
    wide, narrow = (roc_auc_interval(*problem, level=v) for v in (level, level / 2))
    assert 0 <= wide.low <= narrow.low <= wide.auc <= narrow.high <= wide.high <= 1


def test_interval_covers_as_often_as_it_says(rng):
    truth = NormalDist().cdf(1 / math.sqrt(2))
    is_pos = draw_labels(rng, 300, 100)
    covered = 0
    for _ in range(400):
        interval = roc_auc_interval(is_pos, rng.normal(size=300) + is_pos, level=0.9)
        covered += interval.low <= truth <= interval.high
    assert 0.86 < covered / 400 < 0.94


@pytest.mark.parametrize("level", [0, 1, -0.5, 95, np.nan])
def test_bad_level_is_refused(level):
    with pytest.raises(ValueError, match="level must be between 0 and 1"):
        roc_auc_interval([0, 1], [0.1, 0.2], level=level)


@pytest.mark.parametrize("n_pos", [2, 20, 78])
@pytest.mark.parametrize("digits", [0, 1, 8])
def test_paired_test_matches_the_textbook(digits, n_pos, rng):
    is_pos = draw_labels(rng, 80, n_pos)
    first = np.round(rng.normal(size=80) + is_pos, digits)
    second = np.round(first + rng.normal(size=80), digits)
    result = roc_auc_test(is_pos, first, second)
    covariance = metric_oracles.delong_variance(is_pos, first, second)
    contrast = np.array([1, -1])
    std_error = math.sqrt(contrast @ covariance @ contrast)
    z = (roc_auc(is_pos, first) - roc_auc(is_pos, second)) / std_error
    assert result.auc_1 == roc_auc(is_pos, first)
    assert result.auc_2 == roc_auc(is_pos, second)
    assert result.difference == pytest.approx(result.auc_1 - result.auc_2, abs=1e-15)
    assert result.std_error == pytest.approx(std_error, rel=1e-12)
    assert result.statistic == pytest.approx(z, rel=1e-10)
    p_value = 2 * NormalDist().cdf(-abs(z))
    assert result.p_value == pytest.approx(p_value, rel=1e-9)


@given(labelled_scores(n_scores=2))
def test_paired_test_is_antisymmetric_and_finite(problem):
    is_pos, first, second = problem
    there, back = (
        roc_auc_test(is_pos, *pair) for pair in ((first, second), (second, first))
    )
    assert 0 <= there.p_value == back.p_value <= 1
    assert there.difference == -back.difference
    assert there.statistic == -back.statistic
    same = roc_auc_test(is_pos, first, first)
    assert (same.difference, same.statistic, same.p_value) == (0, 0, 1)


def test_certain_difference_has_p_value_zero():
    y = np.repeat([0, 1], 50)
    assert roc_auc_test(y, y, -y) == (1, 0, 1, 0, math.inf, 0)
    assert roc_auc_test(y, -y, y) == (0, 1, -1, 0, -math.inf, 0)


@pytest.mark.parametrize("only", ["positive", "negative"])
def test_paired_test_of_one_row_of_a_class(only, rng):
    is_pos = np.arange(20) == 7
    is_pos = is_pos if only == "positive" else ~is_pos
    first, second = rng.normal(size=(2, 20))
    result = roc_auc_test(is_pos, first, second)
    one, two = (metric_oracles.pair_values(is_pos, s) for s in (first, second))
    largest = min(one.mean() + two.mean(), 2 - one.mean() - two.mean())
    largest -= (one.mean() - two.mean()) ** 2
    variance = largest + (one - two).var(ddof=1) / one.size
    assert result.std_error == pytest.approx(math.sqrt(variance), rel=1e-12)


def test_paired_test_keeps_its_level(rng):
    is_pos = draw_labels(rng, 200, 70)
    rejected = 0
    for _ in range(400):
        signal = rng.normal(size=200) + is_pos
        noise = rng.normal(size=(2, 200))
        rejected += roc_auc_test(is_pos, *(signal + noise)).p_value < 0.1
    assert 0.06 < rejected / 400 < 0.14


@pytest.mark.parametrize(
    ("y", "first", "second", "message"),
    [
        ([1, 1], [0.1, 0.2], [0.1, 0.2], "both classes"),
        ([0, 1], [0.1, np.nan], [0.1, 0.2], "y_score_1 contains NaN"),
        ([0, 1], [0.1, 0.2], [0.1, np.inf], "y_score_2 contains infinity"),
        ([0, 1], [0.1, 0.2], [0.1], "y_score_2 holds 1 scores for 2 labels"),
        ([0, 1], np.ones((2, 2)), [0.1, 0.2], "y_score_1 has shape"),
    ],
)
def test_bad_input_is_refused(y, first, second, message):
    with pytest.raises(ValueError, match=message):
        roc_auc_test(y, first, second)
