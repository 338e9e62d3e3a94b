# SPDX-License-Identifier: BSD-3-Clause
import gc
import os
from pathlib import Path

# numba numbers its cache files without a lock: two workers that compile one kernel for
# two dtypes at once can swap their machine code. So each worker has its own cache.
if worker := os.environ.get("PYTEST_XDIST_WORKER"):
    cache = Path(__file__).parents[1] / ".pytest_cache" / "numba" / worker
    os.environ["NUMBA_CACHE_DIR"] = str(cache)

    # One worker per core already; more threads of BLAS would only wait for each other.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# Without it scikit-learn skips one of its checks; scipy reads it when first imported.
os.environ.setdefault("SCIPY_ARRAY_API", "1")

import numpy as np
import pytest


def pytest_collection_finish():
    # Modules and tests stay to the end, and to look at them all takes the garbage
    # collector half a second each time.
    gc.collect()
    gc.freeze()
    # And what tests leave behind is little: the collector need not come so often.
    gc.set_threshold(10_000, 20, 20)


@pytest.fixture
def rng():
    return np.random.default_rng(20260101)
