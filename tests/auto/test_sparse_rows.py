# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
from numpy.testing import assert_array_equal
from scipy import sparse

from aucmax.auto import sparse_rows
from aucmax.auto.sparse_rows import becomes_dense, for_families, in_blocks


def test_few_rows_become_dense(monkeypatch):
    X = sparse.csr_array(np.eye(4))
    assert becomes_dense(X)
    assert_array_equal(for_families(X, True), np.eye(4))
    monkeypatch.setattr(sparse_rows, "DENSE_VALUES", 15)
    assert not becomes_dense(X)
    assert becomes_dense(np.eye(4))


def test_others_are_a_matrix_without_stored_zeros():
    X = sparse.csr_array(np.eye(4))
    X.data[1] = 0.0
    rows = for_families(X, False)
    assert sparse.isspmatrix_csr(rows)
    assert rows.nnz == 3
    assert X.nnz == 4


def test_rows_that_become_dense_come_in_blocks(monkeypatch):
    monkeypatch.setattr(sparse_rows, "BLOCK_VALUES", 10)
    blocks = list(in_blocks(sparse.csr_array(np.eye(5)), True))
    assert [len(block) for block in blocks] == [2, 2, 1]
    assert_array_equal(np.vstack(blocks), np.eye(5))
    assert [block.shape[0] for block in in_blocks(np.eye(5), True)] == [5]
