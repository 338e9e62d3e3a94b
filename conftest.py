# SPDX-License-Identifier: BSD-3-Clause
import gc
import os

if "PYTEST_XDIST_WORKER" in os.environ:
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
