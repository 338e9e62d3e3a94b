# SPDX-License-Identifier: BSD-3-Clause
"""A worker does not outlive the run that started it, even if that was killed."""

import functools
import os
import threading
import time

POLL_SECONDS = 1.0


@functools.cache
def exit_with_parent(pid: int) -> None:
    """End this process soon after the run that started it.

    A run that is killed cannot tell its workers, which would stay for minutes: the
    idle ones wait for more tasks, the others finish what nobody will read. Where the
    operating system gives orphans no new parent (Windows), nothing changes.

    Parameters
    ----------
    pid : int
        Number of the process that the run is in. Only a process that it started
        itself ends with it: not the run's own, nor one on another computer.
    """
    if os.getppid() == pid:
        threading.Thread(target=_watch, args=(pid,), daemon=True).start()


def _watch(pid: int) -> None:
    while os.getppid() == pid:
        time.sleep(POLL_SECONDS)
    # At once: an exception in this thread would end this thread only.
    os._exit(1)
