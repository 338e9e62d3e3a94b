# SPDX-License-Identifier: BSD-3-Clause
import itertools
import math

import numpy as np
import pytest
from drawing import draw_labels
from metrics import metric_oracles
from scipy.special import ndtr, ndtri
from scipy.stats import binomtest

from aucmax.metrics import roc_band, roc_curve

RATES = np.array([0.0, 0.03, 0.1, 0.25, 0.5, 0.8, 1.0])


def heights(is_pos, scores, rate):
    """Least and greatest height of the curve at a rate, looking at every piece."""
    points = metric_oracles.roc_points(is_pos, scores, np.ones(len(scores)))
    found = []
    for (x0, y0), (x1, y1) in itertools.pairwise(points):
        if x0 <= rate <= x1:
            if x0 == x1:
                found += [y0, y1]
            else:
                found.append(y0 + (rate - x0) / (x1 - x0) * (y1 - y0))
    # The curve goes on down at the left and up at the right.
    return (0 if rate <= 0 else min(found)), (1 if rate >= 1 else max(found))


@pytest.mark.parametrize("digits", [0, 1, 8])
@pytest.mark.parametrize("n_pos", [1, 2, 25])
def test_joint_band_is_the_shifted_curve(n_pos, digits, rng):
    is_pos = draw_labels(rng, 200, n_pos)
    scores = np.round(rng.normal(size=200) + is_pos, digits)
    band = roc_band(is_pos, scores, fpr=RATES, kind="joint", level=0.9)
    a = 1 - math.sqrt(0.9)
    d_pos = math.sqrt(math.log(2 / a) / (2 * n_pos))
    d_neg = math.sqrt(math.log(2 / a) / (2 * (200 - n_pos)))
    for k, rate in enumerate(RATES):
        low = heights(is_pos, scores, max(0, rate - d_neg))[0] - d_pos
        high = heights(is_pos, scores, min(1, rate + d_neg))[1] + d_pos
        assert band.low[k] == pytest.approx(max(0, low), abs=1e-12)
        assert band.high[k] == pytest.approx(min(1, high), abs=1e-12)


@pytest.mark.parametrize("digits", [0, 1, 8])
@pytest.mark.parametrize("n_pos", [1, 2, 25])
def test_pointwise_band_adds_squares(n_pos, digits, rng):
    is_pos = draw_labels(rng, 80, n_pos)
    scores = np.round(rng.normal(size=80) + is_pos, digits)
    z = ndtri(0.95)
    band = roc_band(is_pos, scores, fpr=RATES, level=0.9)
    for k, rate in enumerate(RATES):
        reach = z * math.sqrt(rate * (1 - rate) / (80 - n_pos))
        low, high = heights(is_pos, scores, rate)
        far_low = heights(is_pos, scores, max(0, rate - reach))[0]
        far_high = heights(is_pos, scores, min(1, rate + reach))[1]
        low -= math.hypot(low - wilson(low, n_pos, -z), low - far_low)
        high += math.hypot(wilson(high, n_pos, z) - high, far_high - high)
        assert band.low[k] == pytest.approx(max(0, low), abs=1e-12)
        assert band.high[k] == pytest.approx(min(1, high), abs=1e-12)


def wilson(share, n, z):
    """Where the share seen is z standard errors of the true share away from it."""
    roots = np.roots([1 + z**2 / n, -(2 * share + z**2 / n), share**2])
    return max(roots) if z > 0 else min(roots)


def test_one_rate_alone_is_wilsons_interval():
    # With separated classes and many negatives, only the positives are unsure.
    is_pos = np.r_[np.zeros(10_000, dtype=bool), np.ones(20, dtype=bool)]
    band = roc_band(is_pos, is_pos, fpr=[0.5])
    wilsons = binomtest(20, 20).proportion_ci(method="wilson")
    assert band.low[0] == pytest.approx(wilsons.low)
    assert band.high[0] == 1


def covers(band, true):
    # Up to rounding, where both are one.
    return (band.low <= true + 1e-12) & (true - 1e-12 <= band.high)


@pytest.mark.parametrize(("n_pos", "n_neg"), [(15, 200), (60, 60), (200, 30)])
def test_coverage_of_normal_scores(n_pos, n_neg):
    rng = np.random.default_rng(7)
    is_pos = np.arange(n_pos + n_neg) < n_pos
    rates = np.array([0.05, 0.1, 0.2, 0.4, 0.7])
    true = ndtr(ndtri(rates) + 1.2)
    each, narrow, everywhere = [], [], []
    grid = np.linspace(0.001, 0.999, 200)
    true_grid = ndtr(ndtri(grid) + 1.2)
    for _ in range(300):
        scores = rng.normal(size=len(is_pos)) + 1.2 * is_pos
        each.append(covers(roc_band(is_pos, scores, fpr=rates), true))
        half = roc_band(is_pos, scores, fpr=rates, level=0.5)
        narrow.append(covers(half, true))
        joint = roc_band(is_pos, scores, fpr=grid, kind="joint")
        everywhere.append(covers(joint, true_grid).all())
    # Three standard errors of 300 runs are 0.038.
    assert np.mean(each, axis=0).min() > 0.95 - 0.038
    assert 0.95 < np.mean(each) < 0.99
    assert 0.45 < np.mean(narrow) < 0.75
    assert np.mean(everywhere) > 0.95


def test_coverage_with_ties():
    """The true curve then has corners with straight lines between them."""
    rng = np.random.default_rng(8)
    is_pos = np.arange(150) < 50
    cuts = np.array([2.0, 1.0, 0.0, -1.0])
    fpr, tpr = np.r_[0, ndtr(-cuts), 1], np.r_[0, ndtr(1 - cuts), 1]
    rates = np.linspace(0.02, 0.98, 60)
    true = np.interp(rates, fpr, tpr)
    each, everywhere = [], []
    for _ in range(300):
        scores = np.digitize(rng.normal(size=150) + is_pos, cuts[::-1])
        each.append(covers(roc_band(is_pos, scores, fpr=rates), true))
        everywhere.append(
            covers(roc_band(is_pos, scores, fpr=rates, kind="joint"), true).all()
        )
    assert np.mean(each, axis=0).min() > 0.95 - 0.038
    assert np.mean(each) < 0.99
    assert np.mean(everywhere) > 0.95


@pytest.mark.parametrize("kind", ["pointwise", "joint"])
@pytest.mark.parametrize("digits", [0, 3])
def test_contains_the_curve_and_never_falls(digits, kind, rng):
    y = rng.integers(0, 2, 300)
    scores = np.round(rng.normal(size=300) + y, digits)
    band = roc_band(y, scores, kind=kind)
    assert len(band.fpr) == 501
    curve = roc_curve(y, scores)
    at = np.interp(band.fpr, curve.fpr, curve.tpr)
    assert np.all(band.low <= at + 1e-12)
    assert np.all(at <= band.high + 1e-12)
    if kind == "joint":
        assert np.all(np.diff(band.low) >= 0)
        assert np.all(np.diff(band.high) >= 0)


def test_more_rows_or_less_level_are_narrower(rng):
    y = np.arange(2000) % 2
    scores = rng.normal(size=2000) + y
    for kind in ("pointwise", "joint"):
        few = roc_band(y[:200], scores[:200], kind=kind)
        many = roc_band(y, scores, kind=kind)
        unsure = roc_band(y, scores, kind=kind, level=0.5)
        widths = [np.mean(band.high - band.low) for band in (few, many, unsure)]
        assert widths == sorted(widths, reverse=True)


def test_all_tied_is_the_diagonal():
    band = roc_band(np.arange(400) % 2, np.zeros(400), fpr=[0.2, 0.5])
    assert np.all(band.low < [0.2, 0.5])
    assert np.all(band.high > [0.2, 0.5])
    assert np.all(band.high - band.low < 0.25)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"level": 1}, "level must be between 0 and 1, got 1"),
        ({"kind": "both"}, "kind='both' is not known"),
        ({"fpr": [0.5, 1.1]}, "fpr must hold false positive rates"),
        ({"fpr": 0.5}, "fpr must hold false positive rates"),
        ({"fpr": [np.nan]}, "fpr must hold false positive rates"),
    ],
)
def test_bad_options_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        roc_band([0, 1], [0.1, 0.2], **options)


def test_bad_scores_are_refused():
    with pytest.raises(ValueError, match="roc_band needs both classes"):
        roc_band([1, 1], [0.1, 0.2])
