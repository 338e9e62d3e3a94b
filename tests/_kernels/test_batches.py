# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
from numpy.testing import assert_array_equal

from aucmax._kernels.batches import draw_slots, keep_rows
from aucmax.summaries.row_buffer import as_batch, empty_buffer


def test_slots_are_those_of_algorithm_r(rng):
    n, size = 300, 7
    draws, is_pos = rng.random(n), rng.random(n) < 0.3
    slots, n_seen = np.empty(n, dtype=np.int64), np.zeros(2, dtype=np.int64)
    draw_slots(draws, is_pos, n_seen, size, slots)
    for own in (0, 1):
        mine = np.flatnonzero(is_pos == own)
        assert n_seen[own] == len(mine)
        for rank, i in enumerate(mine):
            slot = rank if rank < size else int(draws[i] * (rank + 1))
            assert slots[i] == (slot if slot < size else -1)
    assert np.count_nonzero(slots[200:] >= 0) > 0


def test_the_last_row_of_a_slot_stays():
    X = np.arange(8.0).reshape(4, 2)
    is_pos = np.array([True, False, True, True])
    kept = empty_buffer(6, 2, sparse_rows=False)
    keep_rows(as_batch(X, is_pos, np.array([2, 0, -1, 2])), kept)
    assert_array_equal(kept.values[:3], [[2.0, 3.0], [0.0, 0.0], [0.0, 0.0]])
    assert_array_equal(kept.values[3:], [[0.0, 0.0], [0.0, 0.0], [6.0, 7.0]])
    assert_array_equal(kept.norms, [13.0, 0.0, 0.0, 0.0, 0.0, 85.0])
