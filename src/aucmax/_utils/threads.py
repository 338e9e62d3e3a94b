# SPDX-License-Identifier: BSD-3-Clause
"""How many threads the linear algebra underneath may use."""

import functools
from contextlib import AbstractContextManager
from typing import Any

from threadpoolctl import ThreadpoolController


def one_blas_thread() -> AbstractContextManager[Any]:
    """Keep BLAS to one thread inside a ``with`` block.

    For small matrices, where waking a second thread costs more than it saves (ten times
    more on a busy machine), and where the threads are ours.
    """
    limit: AbstractContextManager[Any] = _controller().limit(limits=1, user_api="blas")
    return limit


@functools.cache
def _controller() -> ThreadpoolController:
    # Looking for the loaded libraries takes milliseconds; they do not change.
    return ThreadpoolController()
