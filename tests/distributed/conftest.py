# SPDX-License-Identifier: BSD-3-Clause
"""One small cluster of processes for all tests of this folder."""

import logging
from contextlib import contextmanager

import distributed
import numpy as np
import pytest

from aucmax import NBAUC, RankSVM


@pytest.fixture(scope="session")
def compiled():
    """All that the workers run is compiled once, here, and they load it.

    numba's cache has no lock: two workers should not compile at the same time.
    """
    X = np.random.default_rng(0).normal(size=(60, 4))
    y = X[:, 0] > 0
    for dtype in (np.float64, np.float32):
        RankSVM().fit(X.astype(dtype), y)
        NBAUC(20, gamma=0.1, alpha=0.1).fit(X.astype(dtype), y)


@contextmanager
def two_workers():
    """A client of two workers that are processes, each with one thread."""
    with (
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            # The port that is free; the usual one may not be.
            dashboard_address=":0",
            silence_logs=logging.CRITICAL,
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client


@pytest.fixture(scope="session")
def client(compiled):
    with two_workers() as client:
        yield client


@pytest.fixture
def mortal(compiled):
    """Two workers that a test may kill."""
    with two_workers() as client, client.as_current():
        yield client


@pytest.fixture(params=["threads", "cluster"])
def scheduler(request):
    """Threads of this process, then workers that are processes."""
    if request.param == "threads":
        yield None
        return
    client = request.getfixturevalue("client")
    with client.as_current():
        yield client


@pytest.fixture
def data(rng):
    """Rows far from zero, of several scales, and labels 0 and 1."""
    X = rng.normal(size=(300, 4)) * [1.0, 3.0, 0.5, 1.0] + [5.0, -2.0, 0.0, 100.0]
    y = (X[:, 0] + 0.4 * X[:, 1] + rng.normal(size=300) > 4.8).astype(int)
    return X, y


@pytest.fixture
def weight(rng):
    return rng.integers(0, 4, 300) * np.float64(0.5)
