# SPDX-License-Identifier: BSD-3-Clause
import pickle

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse, stats

from aucmax.summaries.row_sample import RowSample, Slots


def kept_rows(slots, is_pos, size):
    """Which row is in each slot at the end; -1 for none."""
    kept = np.full((2, size), -1)
    for i, slot in enumerate(slots):
        if slot >= 0:
            kept[int(is_pos[i]), slot] = i
    return kept


class TestSlots:
    def test_every_row_is_kept_with_the_same_chance(self):
        n, size, n_seeds = 12, 5, 2000
        is_pos = np.arange(n) % 4 == 0
        times = np.zeros(n)
        for seed in range(n_seeds):
            slots = Slots(size, np.random.default_rng(seed)).assign(is_pos)
            kept = kept_rows(slots, is_pos, size)
            times[kept[kept >= 0]] += 1
        # Three positives fit; of nine negatives five are kept.
        assert_array_equal(times[is_pos], n_seeds)
        observed = times[~is_pos]
        assert observed.sum() == size * n_seeds
        # Rows are drawn without replacement: less spread than independent draws.
        expected = np.full(9, size * n_seeds / 9)
        statistic = np.sum((observed - expected) ** 2 / expected) / (1 - size / 9)
        assert stats.chi2.cdf(statistic * 8 / 9, 8) < 0.999
        assert statistic > 0.5

    def test_first_rows_fill_the_slots_in_order(self):
        is_pos = np.array([1, 0, 0, 1, 1, 0], dtype=bool)
        slots = Slots(3, np.random.default_rng(0)).assign(is_pos)
        assert slots.tolist() == [0, 0, 1, 1, 2, 2]

    def test_late_rows_are_kept_in_any_slot_or_not(self, rng):
        slots = Slots(4, rng).assign(np.zeros(2000, dtype=bool))[4:]
        assert set(slots.tolist()) == {-1, 0, 1, 2, 3}
        # 4 (1/5 + ... + 1/2000) are kept on average.
        assert 12 < np.count_nonzero(slots >= 0) < 36

    def test_batches_of_any_size(self, rng):
        is_pos = rng.random(200) < 0.3
        whole = Slots(10, np.random.default_rng(1))
        expected = whole.assign(is_pos)
        for size in (1, 7, 199):
            parts = Slots(10, np.random.default_rng(1))
            found = []
            for low in range(0, 200, size):
                found.append(parts.assign(is_pos[low : low + size]))
                found.append(parts.assign(is_pos[:0]))
                parts = pickle.loads(pickle.dumps(parts))
            assert_array_equal(np.concatenate(found), expected)
            assert_array_equal(parts.n_seen, [np.sum(~is_pos), np.sum(is_pos)])


class TestRowSample:
    @pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix, sparse.csr_array])
    def test_rows_are_those_of_the_slots(self, rng, make):
        X, is_pos = rng.normal(size=(60, 3)).round(1), rng.random(60) < 0.4
        X[rng.random(X.shape) < 0.5] = 0.0
        sample = RowSample(8, np.random.default_rng(2))
        for low in range(0, 60, 7):
            sample.add(make(X[low : low + 7]), is_pos[low : low + 7])
        kept = kept_rows(Slots(8, np.random.default_rng(2)).assign(is_pos), is_pos, 8)
        rows, marks = sample.rows()
        rows = rows.toarray() if sparse.issparse(rows) else rows
        assert_array_equal(rows, X[kept.ravel()])
        assert_array_equal(marks, np.repeat([False, True], 8))

    def test_fewer_rows_than_slots_and_one_class(self, rng):
        X = rng.normal(size=(3, 2))
        sample = RowSample(8, rng)
        sample.add(X, np.ones(3, dtype=bool))
        rows, marks = sample.rows()
        assert_array_equal(rows, X)
        assert marks.all()

    @pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix])
    def test_rows_are_copies(self, make):
        X = make(np.ones((4, 2)))
        sample = RowSample(8, np.random.default_rng(0))
        sample.add(X, np.array([0, 1, 0, 1], dtype=bool))
        if sparse.issparse(X):
            X.data[:] = 7.0
        else:
            X[:] = 7.0
        assert sample.rows()[0].sum() == 8.0
