# SPDX-License-Identifier: BSD-3-Clause
"""Reading ahead in a thread."""

import atexit
from collections.abc import Callable, Generator
from contextlib import closing
from queue import Empty, Queue
from threading import Event, Thread
from typing import Any, TypeVar

Item = TypeVar("Item")
END = object()


class Failure:
    """An error that travels like an item."""

    def __init__(self, error: BaseException) -> None:
        self.error = error


def ahead(
    start: Callable[[], Generator[Item, None, None]], depth: int, *, inner: bool = False
) -> Generator[Item, None, None]:
    """Yield what a generator yields that runs in a thread.

    The thread ends with its generator, when the iterator is closed or dropped, and when
    the interpreter ends. What is raised in it is raised here.

    Parameters
    ----------
    start : callable
        Returns the generator.
    depth : int
        Items that may wait; 0: there is no thread.
    inner : bool, default=False
        Whether it is iterated over in such a thread. It then ends with that one, which
        waits for items until then.
    """
    if not depth:
        with closing(start()) as items:
            yield from items
        return
    queue: Queue[Any] = Queue(depth)
    stop = Event()
    thread = Thread(
        target=_run,
        args=(start, queue, stop),
        name="aucmax-columns" if inner else "aucmax-batches",
        # While it waits, it must not keep the interpreter from ending. As one that runs
        # on could bring that down, atexit ends it.
        daemon=True,
    )

    def end() -> None:
        stop.set()
        # At least one place becomes free, and the thread takes no more than one.
        try:
            while True:
                queue.get_nowait()
        except Empty:
            thread.join()

    if not inner:
        atexit.register(end)
    thread.start()
    item: Any = None
    try:
        while (item := queue.get()) is not END:
            if isinstance(item, Failure):
                raise item.error
            yield item
            # Not kept while the next one is waited for.
            item = None
    finally:
        # An error holds this frame, which would hold the error.
        item = None
        atexit.unregister(end)
        end()


def _run(
    start: Callable[[], Generator[Any, None, None]], queue: Queue[Any], stop: Event
) -> None:
    last: Any = END
    try:
        with closing(start()) as items:
            for item in items:
                queue.put(item)
                # Not kept while the next one is made.
                del item
                if stop.is_set():
                    return
    except BaseException as error:
        last = Failure(error)
    if not stop.is_set():
        queue.put(last)
    # An error holds this frame, which would hold the error, also where nobody takes it
    # out of the queue.
    del last, queue
