# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
from drawing import draw_labels
from numpy.testing import assert_array_equal
from scipy import sparse

from aucmax.estimators._holdout import deal_rows, row_hashes, thin_rows


def test_equal_rows_have_equal_keys(rng):
    X = rng.normal(size=(50, 7))
    twice = np.vstack([X, X[::-1]])
    for rows in (twice, np.asfortranarray(twice), sparse.csr_array(twice)):
        keys = row_hashes(rows)
        assert_array_equal(keys[:50], keys[50:][::-1])
        assert len(np.unique(keys)) == 50


def test_folds_are_stratified_and_keep_copies_together(rng):
    X, is_pos = rng.normal(size=(200, 3)), draw_labels(rng, 200, 60)
    copies = rng.integers(0, 200, size=500)
    keys = row_hashes(X[copies])
    weight = np.ones(500)
    weight[:50] = 0
    folds = deal_rows(keys, is_pos[copies], weight, 5)
    assert np.all(folds[:50] == -1)
    for row in range(200):
        assert len(set(folds[50:][copies[50:] == row])) <= 1
    for mask in (is_pos, ~is_pos):
        kept = mask[copies[50:]]
        distinct = [
            len(np.unique(keys[50:][kept & (folds[50:] == k)])) for k in range(5)
        ]
        assert max(distinct) - min(distinct) <= 1
    order = rng.permutation(500)
    again = deal_rows(keys[order], is_pos[copies][order], weight[order], 5)
    assert_array_equal(again, folds[order])


def test_thinning_keeps_a_quarter_of_the_rarer_class(rng):
    keys, weight = rng.normal(size=1000), np.ones(1000)
    weight[900:] = 0
    is_pos = np.arange(1000) < 100
    assert_array_equal(thin_rows(keys, is_pos, weight, 5000), np.arange(900))
    rows = thin_rows(keys, is_pos, weight, 200)
    assert len(rows) == len(set(rows)) == 200
    assert is_pos[rows].sum() == 50
    assert rows.max() < 900
    few = np.arange(1000) < 3
    assert few[thin_rows(keys, few, weight, 200)].sum() == 3
