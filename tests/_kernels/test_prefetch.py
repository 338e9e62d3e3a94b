# SPDX-License-Identifier: BSD-3-Clause
import numba
import numpy as np
import pytest

from aucmax._kernels.prefetch import prefetch, register


def copy_ahead(source, target, ahead):
    for i in range(len(source)):
        prefetch(target, np.uint64(i) + ahead)
        target[i] = source[i]


@pytest.mark.parametrize("dtype", [np.int64, np.int32, np.float64])
def test_changes_nothing_but_asks_the_processor(dtype):
    register()
    compiled = numba.njit(copy_ahead)
    source, target = np.arange(100, dtype=dtype), np.zeros(100, dtype)
    compiled(source, target, np.uint64(2**30))
    np.testing.assert_array_equal(target, source)
    (code,) = compiled.inspect_llvm().values()
    assert "llvm.prefetch" in code


def test_does_nothing_where_nothing_is_compiled():
    target = np.zeros(3)
    copy_ahead(np.arange(3.0), target, np.uint64(8))
    assert target.tolist() == [0, 1, 2]
