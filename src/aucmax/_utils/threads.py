# SPDX-License-Identifier: BSD-3-Clause
"""Threads: how many the linear algebra may use, and state that several share."""

import functools
import sys
import threading
from contextlib import AbstractContextManager
from typing import Any

from threadpoolctl import ThreadpoolController


def one_blas_thread() -> AbstractContextManager[Any]:
    """Keep BLAS to one thread inside a ``with`` block.

    For small matrices, where waking a second thread costs more than it saves (ten times
    more on a busy machine), and where the threads are ours.
    """
    return one_thread("blas")


def one_thread(user_api: str | None = None) -> AbstractContextManager[Any]:
    """Keep libraries of this kind, or all, to one thread inside a ``with`` block."""
    controller = _controller(len(sys.modules))
    limit: AbstractContextManager[Any] = controller.limit(limits=1, user_api=user_api)
    return limit


@functools.lru_cache(maxsize=1)
def _controller(n_modules: int) -> ThreadpoolController:
    # Looking for the loaded libraries takes milliseconds; an import may have added one.
    return ThreadpoolController()


class Locked:
    """State that one thread changes, holding ``lock``, while others read it."""

    def __init__(self) -> None:
        self.lock = threading.RLock()

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self.lock = threading.RLock()
