# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import expit, log_ndtr

from aucmax.auto.calibration import Calibration, _fit_beta
from aucmax.auto.scales import normal_scores


def draw(rng, n, rate):
    is_pos = rng.random(n) < rate
    is_pos[:2] = True, False
    return normal_scores(rng.normal(size=n) + 1.5 * is_pos), is_pos


def ece(probability, is_pos, n_bins=10):
    order = np.argsort(probability)
    bins = np.array_split(order, n_bins)
    return sum(
        len(rows) * abs(probability[rows].mean() - is_pos[rows].mean()) for rows in bins
    ) / len(is_pos)


@pytest.mark.parametrize("rate", [0.02, 0.5, 0.9])
@pytest.mark.parametrize("n", [30, 3000])
def test_order_is_kept_strictly(rng, n, rate):
    scores, is_pos = draw(rng, n, rate)
    new = np.linspace(-6, 6, 2001)
    probability = Calibration.of_scores(scores, is_pos)(new)
    assert (np.diff(probability) > 0).all()
    assert (probability > 0).all()
    assert (probability < 1).all()


def test_probabilities_are_those_of_new_rows(rng):
    scores, is_pos = draw(rng, 4000, 0.1)
    calibration = Calibration.of_scores(scores[:2000], is_pos[:2000])
    probability = calibration(scores[2000:])
    raw = (scores[2000:] - scores.min()) / np.ptp(scores)
    assert ece(probability, is_pos[2000:]) < 0.03
    assert ece(probability, is_pos[2000:]) < 0.5 * ece(raw, is_pos[2000:])


def test_beta_maximises_the_likelihood(rng):
    """The gradient vanishes, or points outwards where a slope is at its least."""
    scores, is_pos = draw(rng, 500, 0.3)
    targets = np.where(is_pos, 0.99, 0.01)
    beta = _fit_beta(scores, targets)
    terms = np.c_[log_ndtr(scores), -log_ndtr(-scores), np.ones(500)]
    grad = terms.T @ (expit(terms @ beta) - targets) / 500
    free = beta > 1.1e-3
    free[2] = True
    assert_allclose(grad[free], 0, atol=1e-4)
    assert (grad[~free] > -1e-4).all()
