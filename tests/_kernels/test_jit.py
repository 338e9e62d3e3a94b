# SPDX-License-Identifier: BSD-3-Clause
import numba
import numpy as np
import pytest
from numba.core.caching import IndexDataCacheFile

from aucmax._kernels.jit import jit


def kernel(values):
    return values[0] + values[1]


@pytest.mark.parametrize("in_turn", [True, False], ids=["in turn", "at once"])
def test_processes_that_compile_one_kernel(in_turn, tmp_path, monkeypatch):
    """Each loads the code of its own type, whoever else was compiling meanwhile."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    pairs = [np.array([1, 2], dtype) for dtype in (np.float64, np.float32, np.int64)]
    with monkeypatch.context() as meanwhile:
        if not in_turn:
            # All look what is there before any of them has written.
            meanwhile.setattr(IndexDataCacheFile, "_load_index", lambda self: {})
        for pair in pairs:
            assert jit(kernel)(pair) == 3
    assert len(list(tmp_path.rglob("*.nbc"))) == len(pairs)
    for pair in pairs:
        assert jit(kernel)(pair) == 3
    n_compiled = len(list(tmp_path.rglob("*.nbc")))
    assert n_compiled == len(pairs) if in_turn else n_compiled > len(pairs)
