# SPDX-License-Identifier: BSD-3-Clause
"""Workers that are killed, and a scheduler that is."""

import contextlib
import logging
import os
import signal
import subprocess
import sys
import time

import dask
import dask.array as da
import distributed
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from aucmax import LeastSquaresAUC, RankSVM
from aucmax.distributed import (
    DaskLeastSquaresAUC,
    DaskRankSVM,
    _binned_fit,
    _cluster,
)
from aucmax.distributed._blocks import BlockwiseDesign
from aucmax.distributed.design import DaskDesign


def on_dask(X, y, sizes=(100, 50, 150)):
    return da.from_array(X, chunks=(sizes, 4)), da.from_array(y, (sizes,))


def kill_at(monkeypatch, client, method, number, kind=DaskDesign):
    """Kill a worker that holds a block, at some call of a method of the design."""
    original, calls = getattr(kind, method), []

    def killing(self, *args, **kwargs):
        calls.append(method)
        if len(calls) == number:
            held = client.who_has(distributed.futures_of(self.blocks[0]))
            address = next(iter(held.values()))[0]
            pid = client.run(os.getpid, workers=[address])[address]
            os.kill(pid, signal.SIGKILL)
            calls.append(pid)
        return original(self, *args, **kwargs)

    monkeypatch.setattr(kind, method, killing)
    return calls


def test_killed_worker_costs_time_only(mortal, data, monkeypatch):
    X, y = data
    calls = kill_at(monkeypatch, mortal, "adjoint", 3)
    model = DaskRankSVM().fit(*on_dask(X, y))
    assert any(isinstance(call, int) for call in calls)
    assert len(calls) > 4
    local = RankSVM().fit(X, y)
    assert_allclose(model.coef_, local.coef_, rtol=0, atol=1e-10)
    assert_allclose(model.intercept_, local.intercept_, rtol=0, atol=1e-10)


@pytest.mark.parametrize(("method", "number"), [("scores", 2), ("adjoint", 3)])
def test_killed_worker_with_binned_scores(mortal, data, monkeypatch, method, number):
    X, y = data
    # From so few rows that some steps are left.
    monkeypatch.setattr(_binned_fit, "LEAST_ROWS", 30)
    monkeypatch.setattr(_binned_fit, "ROWS_PER_FEATURE", 1)
    undisturbed = DaskRankSVM(0.01, scores="binned").fit(*on_dask(X, y))
    calls = kill_at(monkeypatch, mortal, method, number, BlockwiseDesign)
    model = DaskRankSVM(0.01, scores="binned").fit(*on_dask(X, y))
    assert any(isinstance(call, int) for call in calls)
    assert_allclose(model.coef_, undisturbed.coef_, rtol=0, atol=1e-10)
    assert_allclose(model.intercept_, undisturbed.intercept_, rtol=0, atol=1e-10)


SCHEDULER = """
import sys
from distributed.cli.dask_scheduler import main
sys.exit(main(sys.argv[1:]))
"""
WORKER = SCHEDULER.replace("dask_scheduler", "dask_worker")


@pytest.fixture
def own_scheduler(compiled, tmp_path):
    """A scheduler and a worker, each its own process, and a client of them."""
    file = str(tmp_path / "scheduler.json")
    commands = [
        [SCHEDULER, "--host", "127.0.0.1", "--port", "0", "--no-dashboard"],
        [WORKER, "--nthreads", "1", "--no-nanny", "--no-dashboard"],
    ]
    with contextlib.ExitStack() as stack:
        processes = []
        for code, *options in commands:
            process = subprocess.Popen(
                [sys.executable, "-c", code, *options, "--scheduler-file", file],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            stack.callback(process.wait)
            stack.callback(process.kill)
            processes.append(process)
        stack.enter_context(
            dask.config.set({"distributed.comm.timeouts.connect": "5s"})
        )
        for _ in range(600):
            if os.path.exists(file):
                break
            time.sleep(0.1)
        # So long it tries to reach a scheduler that is gone.
        client = distributed.Client(
            scheduler_file=file, timeout=4, set_as_default=False
        )
        stack.callback(client.close, timeout=1)
        client.wait_for_workers(1, timeout=60)
        stack.enter_context(client.as_current())
        yield client, processes[0]


def test_lost_scheduler_is_one_clear_error_and_changes_nothing(
    own_scheduler, data, monkeypatch
):
    client, process = own_scheduler
    address = client.scheduler.address
    X, y = on_dask(*data)
    model = DaskRankSVM(alpha=0.1).fit(X, y)
    before = {name: np.copy(getattr(model, name)) for name in ("coef_", "intercept_")}
    original = DaskDesign.adjoint

    def killing(self, vector):
        process.kill()
        process.wait()
        return original(self, vector)

    monkeypatch.setattr(DaskDesign, "adjoint", killing)
    lost = f"scheduler at {address} was lost"
    with pytest.raises(RuntimeError, match=lost) as caught:
        model.set_params(alpha=0.01).fit(X, y)
    assert "estimator is as it was" in str(caught.value)
    assert "distributed.Client" in str(caught.value)
    for name, value in before.items():
        assert_array_equal(getattr(model, name), value)


@pytest.fixture
def default(compiled):
    """A cluster in this process and a client as most make it: Dask's default."""
    with contextlib.ExitStack() as stack:
        # A client that is closed inside of its own with statement leaves its setting.
        stack.enter_context(dask.config.set(scheduler=None))
        cluster = distributed.LocalCluster(
            n_workers=1,
            threads_per_worker=1,
            processes=False,
            dashboard_address=":0",
            silence_logs=logging.CRITICAL,
        )
        stack.enter_context(cluster)
        client = distributed.Client(cluster, timeout=4)
        stack.callback(client.close)
        yield client, cluster


def wait_until_closed(client):
    for _ in range(600):
        if client.status == "closed":
            return
        time.sleep(0.05)
    raise AssertionError(f"the client is {client.status}")


@pytest.mark.parametrize("is_entered", [False, True])
@pytest.mark.parametrize("closed", ["client", "cluster"])
def test_scheduler_lost_between_two_calls(
    default, data, monkeypatch, closed, is_entered
):
    """Dask forgets a closed client, unless inside of its own with statement."""
    client, cluster = default
    address = client.scheduler.address
    X, y = on_dask(*data)
    model = DaskRankSVM(alpha=0.1).fit(X, y)
    before = {name: np.copy(getattr(model, name)) for name in ("coef_", "intercept_")}
    original = DaskDesign.adjoint

    def closing(self, vector):
        (client if closed == "client" else cluster).close()
        wait_until_closed(client)
        return original(self, vector)

    monkeypatch.setattr(DaskDesign, "adjoint", closing)
    with (
        client if is_entered else contextlib.nullcontext(),
        pytest.raises(RuntimeError, match=f"scheduler at {address} was lost"),
    ):
        model.set_params(alpha=0.01).fit(X, y)
    for name, value in before.items():
        assert_array_equal(getattr(model, name), value)


def test_scheduler_lost_where_another_client_is_left(default, client):
    mine, _ = default
    kept = _cluster.keep([_cluster.later(np.zeros, 3)])
    address = mine.scheduler.address
    mine.close()
    wait_until_closed(mine)
    with (
        client.as_current(),
        pytest.raises(RuntimeError, match=f"scheduler at {address} was lost"),
    ):
        _cluster.fetch([_cluster.later(np.sum, kept[0])])


def test_data_of_a_client_that_is_not_the_active_one(client):
    with client.as_current():
        kept = _cluster.keep([_cluster.later(np.ones, 3)])
        total = _cluster.later(np.sum, kept[0])
    with pytest.raises(RuntimeError, match=r"not the active client.*as_current\(\)"):
        _cluster.fetch([total])
    with client.as_current():
        assert _cluster.fetch([total]) == [3.0]


def test_two_clients_of_one_scheduler(default):
    """What one keeps the other may use, and errors of tasks are their own."""
    _, cluster = default
    kept = _cluster.keep([_cluster.later(np.ones, 3)])
    with distributed.Client(cluster, set_as_default=False) as other, other.as_current():
        assert _cluster.fetch([_cluster.later(np.sum, kept[0])]) == [3.0]
        with pytest.raises(ValueError, match="reshape"):
            _cluster.fetch([_cluster.later(np.reshape, kept[0], (2, 2))])


def test_errors_of_tasks_are_their_own_after_a_client_was_closed(default):
    client, _ = default
    _cluster.keep([_cluster.later(np.zeros, 3)])
    client.close()
    wait_until_closed(client)
    with pytest.raises(ValueError, match="invalid literal"):
        _cluster.fetch([_cluster.later(int, "three")])


def test_errors_of_files_are_their_own(client):
    with client.as_current(), pytest.raises(OSError, match="nowhere"):
        _cluster.fetch([_cluster.later(open, "/nowhere/scheduler.txt")])


def test_data_that_cannot_be_made_again_says_so(client):
    with client.as_current():
        kept = _cluster.keep([_cluster.later(np.zeros, 3)])
        client.cancel(distributed.futures_of(kept), force=True)
        with pytest.raises(RuntimeError, match="Dask gave up data that the work needs"):
            _cluster.fetch([_cluster.later(np.sum, kept[0])])


def test_no_cluster_is_started(data, monkeypatch):
    def refuse(*args, **kwargs):
        raise AssertionError("nobody asked for a cluster")

    monkeypatch.setattr(distributed.LocalCluster, "__init__", refuse)
    monkeypatch.setattr(distributed.Client, "__init__", refuse)
    model = DaskLeastSquaresAUC().fit(*on_dask(*data))
    local = LeastSquaresAUC().fit(*data)
    assert_allclose(model.coef_, local.coef_, rtol=0, atol=1e-10)


@pytest.mark.parametrize("name", ["synchronous", "threads"])
def test_schedulers_of_dask_itself(data, name):
    with dask.config.set(scheduler=name):
        model = DaskLeastSquaresAUC().fit(*on_dask(*data))
    local = LeastSquaresAUC().fit(*data)
    assert_allclose(model.coef_, local.coef_, rtol=0, atol=1e-10)
