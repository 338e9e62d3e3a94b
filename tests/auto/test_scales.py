# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import norm

from aucmax.auto import scales
from aucmax.auto.scales import Scale, normal_scores


def test_normal_scores_are_quantiles_of_ranks():
    assert_allclose(
        normal_scores(np.array([3.0, 1.0, 1.0, 9.0])),
        norm.ppf([0.625, 0.25, 0.25, 0.875]),
    )


def test_a_scale_gives_back_the_normal_scores_it_was_made_of(rng):
    raw = rng.exponential(size=300).round(2)
    assert_allclose(Scale.of_scores(raw)(raw), normal_scores(raw), atol=1e-12)


def test_many_scores_are_kept_as_quantiles(rng):
    raw = rng.normal(size=20_000)
    scale = Scale.of_scores(raw)
    assert len(scale.knots) <= scales.N_KNOTS + 2
    assert_allclose(scale(raw), normal_scores(raw), atol=0.05)


@pytest.mark.parametrize("n", [1, 2, 3, 50, 5000])
def test_order_is_kept_also_beyond_the_ends(rng, n):
    raw = rng.normal(size=n)
    beyond = [raw.min() - 3, raw.min() - 1, raw.max() + 1, raw.max() + 1e6]
    new = np.sort(np.r_[raw, beyond])
    assert (np.diff(Scale.of_scores(raw)(new))[np.diff(new) > 0] > 0).all()
