# SPDX-License-Identifier: BSD-3-Clause
"""Threads: one that reads ahead, and some that share work."""

import atexit
from collections import deque
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from queue import Empty, Queue
from threading import Event, Thread
from typing import Any, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")
END = object()


class Failure:
    """An error that travels like an item."""

    def __init__(self, error: BaseException) -> None:
        self.error = error


def ahead(
    start: Callable[[], Generator[Item, None, None]], depth: int
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
        name="aucmax-batches",
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


def side_by_side(
    function: Callable[[Item], Result], items: Sequence[Item], n_threads: int
) -> list[Result]:
    """Return what a function returns for each item, called in several threads.

    This thread is one of them. If calls fail, the error of the first such item is
    raised. In any case, no call goes on when this one has ended.
    """
    # Not an executor, which takes no more work once the main thread has ended.
    waiting = deque(enumerate(items))
    results: dict[int, Result] = {}
    errors: dict[int, BaseException] = {}

    def work() -> None:
        while not errors:
            try:
                k, item = waiting.popleft()
            except IndexError:
                return
            try:
                results[k] = function(item)
            except BaseException as error:
                errors[k] = error

    n_more = min(n_threads, len(items)) - 1
    threads = [Thread(target=work, name="aucmax-columns") for _ in range(n_more)]
    try:
        for thread in threads:
            thread.start()
        work()
    finally:
        for thread in threads:
            if thread.ident is not None:
                thread.join()
    if errors:
        error = errors[min(errors)]
        try:
            raise error
        finally:
            # An error holds this frame, which must not hold the error.
            errors.clear()
            del error
    return [results[k] for k in range(len(items))]
