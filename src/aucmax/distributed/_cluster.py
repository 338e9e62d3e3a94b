# SPDX-License-Identifier: BSD-3-Clause
"""The one place that hands work to Dask, on whatever scheduler is active.

That is the cluster of a ``distributed.Client`` if there is one, else threads of this
process. Nothing here starts a cluster.
"""

import functools
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from aucmax._utils.optional import import_optional
from aucmax._utils.threads import one_blas_thread
from aucmax._utils.typing import FloatArray

dask: Any = import_optional("dask", "dask")

# Results merged by one task.
FAN_IN = 8
# Slices of score vectors are part of the graph, so that a lost worker's can be sent
# again: Dask need not warn of them.
SETTINGS = {"distributed.admin.large-graph-warning-threshold": "1PB"}
SCHEDULER_LOST = (
    "The Dask scheduler at {address} was lost ({error}), so the work was given up and "
    "the estimator is as it was before. Start the scheduler and its workers, connect "
    "with distributed.Client(address), and call again."
)
DATA_LOST = (
    "Dask gave up data that the work needs ({error}). Data put on a worker by "
    "client.scatter is gone with that worker; read it from files, or make it with "
    "dask.array or dask.dataframe, so that it can be made again."
)
NOT_ACTIVE = (
    "The data is with {client!r}, which is not the active client of Dask. Call inside "
    "`with client.as_current():`."
)
UNKNOWN = "an unknown address"
CLOSED = ("closing", "closed")
# Of the schedulers of clients.
ADDRESSES: WeakKeyDictionary[Any, str] = WeakKeyDictionary()


def later(function: Callable[..., Any], *args: Any) -> Any:
    """Return the task of calling ``function``; arguments may be tasks."""
    return dask.delayed(function, pure=False)(*args)


def shared(value: Any) -> Any:
    """Return a value as a task, so that it travels once for all that need it."""
    return dask.delayed(value, pure=False, traverse=False)


def keep(tasks: Sequence[Any]) -> list[Any]:
    """Start tasks whose results stay where they are computed."""
    with _on_the_cluster(tasks):
        return list(dask.persist(*tasks))


def fetch(tasks: Sequence[Any]) -> list[Any]:
    """Return the results of tasks."""
    with _on_the_cluster(tasks):
        return list(dask.compute(*tasks))


def merged(parts: Sequence[Any], merge: Callable[[Any, Any], Any]) -> Any:
    """Return what merging the results of all tasks gives, in their order, as a task.

    Few at a time, on the workers, so that no one holds all of them.
    """
    while len(parts) > 1:
        groups = [parts[low : low + FAN_IN] for low in range(0, len(parts), FAN_IN)]
        # Not as a list: in those, Dask forgets the futures.
        parts = [later(_merge_all, merge, *group) for group in groups]
    return parts[0]


def _merge_all(merge: Callable[[Any, Any], Any], *parts: Any) -> Any:
    return functools.reduce(merge, parts)


def writable(vector: FloatArray) -> FloatArray:
    """Return a vector that has travelled as loops were compiled for: not read-only."""
    return np.require(vector, requirements=["C", "W"])


@contextmanager
def _on_the_cluster(tasks: Sequence[Any]) -> Iterator[None]:
    client = _active_client()
    # Without a client they would hide the defaults, which are read when one is made.
    settings = {} if client is None else SETTINGS
    # Asked now: a client that has given up its scheduler no longer knows it.
    if (address := _address(client)) is not None:
        ADDRESSES[client] = address
    try:
        # Where the tasks run in threads of this process, those are threads enough.
        with dask.config.set(settings), one_blas_thread():
            yield
    # Where data is with a client that is not the active one, Dask fails in many ways.
    except Exception as error:
        message = _of_another_client(tasks, client) or _of_the_cluster(error, client)
        if message is None:
            raise
        raise RuntimeError(message) from error


def _of_another_client(tasks: Sequence[Any], client: Any) -> str | None:
    """Say that tasks need data which is not with the active client, if they do.

    Dask forgets a client as soon as that is closed, and goes on without it.
    """
    distributed = sys.modules.get("distributed")
    if distributed is None:
        return None
    for owner in {future.client for future in distributed.futures_of(tasks)}:
        if owner is None or owner is client:
            continue
        if owner.status in CLOSED:
            address = ADDRESSES.get(owner, UNKNOWN)
            return SCHEDULER_LOST.format(address=address, error="its client is closed")
        # Two clients of one scheduler share what is there.
        if client is None or _address(owner) != _address(client):
            return NOT_ACTIVE.format(client=owner)
    return None


def _of_the_cluster(error: Exception, client: Any) -> str | None:
    """Say what an error means for the active client, if it comes from there."""
    if client is None:
        return None
    reason = f"{type(error).__name__}: {error}".rstrip(": ")
    is_cancelled = isinstance(error, CancelledError)
    is_lost = client.status in CLOSED or (is_cancelled and "scheduler" in reason)
    if is_cancelled or isinstance(error, OSError):
        is_lost |= client.status != "running"
    if is_lost:
        address = ADDRESSES.get(client, UNKNOWN)
        return SCHEDULER_LOST.format(address=address, error=reason)
    return DATA_LOST.format(error=reason) if is_cancelled else None


def _address(client: Any) -> str | None:
    address: str | None = getattr(getattr(client, "scheduler", None), "address", None)
    return address


def _active_client() -> Any:
    """Return the client of a cluster, or None; it can only be if it was imported."""
    distributed = sys.modules.get("distributed")
    if distributed is None:
        return None
    try:
        return distributed.default_client()
    except ValueError:
        return None
