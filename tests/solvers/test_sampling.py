# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pytest
from drawing import draw_labels

from aucmax.solvers._sampling import draw_rows, spread_sample


def test_drawn_rows_estimate_sums_without_bias(rng):
    importance = rng.gamma(1.0, size=5000).astype(np.float32)
    is_pos = rng.random(5000) < 0.1
    index, chance = draw_rows(importance, is_pos, 800)
    assert len(index) == pytest.approx(800, abs=3)
    assert np.count_nonzero(is_pos[index]) == pytest.approx(400, abs=2)
    assert np.all(np.diff(index) > 0)
    # Horvitz and Thompson: the weighted sum of importance is exact up to one row.
    for mask in (is_pos, ~is_pos):
        mine = mask[index]
        estimate = (importance[index][mine] / chance[mine]).sum()
        assert estimate == pytest.approx(importance[mask].sum(), rel=0.05)


def test_all_rows_when_there_are_few_and_none_that_are_idle(rng):
    importance = rng.gamma(1.0, size=100).astype(np.float32)
    importance[:30] = 0
    index, chance = draw_rows(importance, draw_labels(rng, 100, 50), 500)
    assert index.tolist() == list(range(30, 100))
    assert np.all(chance == 1)


def test_unused_room_of_one_class_goes_to_the_other(rng):
    is_pos = np.arange(1000) < 3
    index, _ = draw_rows(np.ones(1000, dtype=np.float32), is_pos, 200)
    assert np.count_nonzero(is_pos[index]) == 3
    assert len(index) == pytest.approx(200, abs=2)


def test_spread_sample(rng):
    is_pos = rng.random(10_000) < 0.02
    weight = (rng.random(10_000) < 0.9).astype(float)
    index = spread_sample(is_pos, weight, 400)
    assert len(np.unique(index)) == len(index)
    assert np.all(weight[index] > 0)
    # A quarter of the sample is positive although only a fiftieth of the rows is.
    assert np.count_nonzero(is_pos[index]) == pytest.approx(100, abs=2)
    assert np.count_nonzero(~is_pos[index]) == pytest.approx(300, abs=2)


def test_spread_sample_of_any_size(rng):
    for _ in range(200):
        n = int(rng.integers(2, 3000))
        is_pos = draw_labels(rng, n)
        index = spread_sample(is_pos, np.ones(n), int(rng.integers(2, n + 1)))
        assert len(np.unique(index)) == len(index)
        assert is_pos[index].any() or is_pos.sum() == 0
        assert index.max() < n
