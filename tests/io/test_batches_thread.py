# SPDX-License-Identifier: BSD-3-Clause
import contextlib
import gc
import subprocess
import sys
import threading
import weakref

import numpy as np
import pytest
from batch_files import parts

from aucmax.io import read_batches
from aucmax.io.tables import columnar
from aucmax.io.tables.ahead import ahead


class Broken(RuntimeError):
    pass


def count_to(n, closed, error=None):
    try:
        for k in range(n):
            yield np.array([k])
        if error is not None:
            raise error
    finally:
        closed.append(threading.current_thread().name)


def readers():
    names = [each.name for each in threading.enumerate()]
    return [name for name in names if name.startswith("aucmax-")]


@pytest.mark.parametrize("depth", [0, 1, 2, 50])
@pytest.mark.parametrize("n", [0, 1, 3, 20])
def test_all_items_in_order(depth, n):
    closed = []
    items = ahead(lambda: count_to(n, closed), depth)
    assert not readers()
    assert [int(item[0]) for item in items] == list(range(n))
    assert not readers()
    assert closed == ["aucmax-batches" if depth else threading.current_thread().name]


@pytest.mark.parametrize("depth", [0, 1, 2, 50])
@pytest.mark.parametrize("n", [0, 1, 20])
def test_errors_come_after_the_items_before_them(depth, n):
    closed, error = [], Broken("as it is")
    items = ahead(lambda: count_to(n, closed, error), depth)
    found = []
    with pytest.raises(Broken, match="as it is") as caught:
        found.extend(int(item[0]) for item in items)
    assert found == list(range(n))
    assert caught.value is error
    assert not readers()
    assert len(closed) == 1
    assert next(items, "end") == "end"


@pytest.mark.parametrize("depth", [0, 1, 2])
@pytest.mark.parametrize("is_taken", [True, False])
def test_errors_are_in_no_cycle(depth, is_taken):
    found, raised = [], threading.Event()

    def fail():
        error = Broken()
        found.append(weakref.ref(error))
        try:
            yield 1
            raised.set()
            raise error
        finally:
            # Else this frame, which the error holds, would hold the error.
            del error

    gc.disable()
    try:
        items = ahead(fail, depth)
        next(items)
        if is_taken:
            with contextlib.suppress(Broken):
                next(items)
        elif depth:
            assert raised.wait(60)
        items.close()
        assert found[0]() is None
    finally:
        gc.enable()


@pytest.mark.parametrize("depth", [0, 1, 2, 5])
@pytest.mark.parametrize("taken", [0, 1, 5])
def test_thread_ends_when_the_iterator_is_closed_or_dropped(depth, taken):
    for drop in (True, False):
        closed = []
        items = ahead(lambda closed=closed: count_to(20, closed), depth)
        for _ in range(taken):
            next(items)
        assert bool(readers()) == bool(depth and taken)
        if drop:
            del items
            gc.collect()
        else:
            items.close()
        assert not readers()
        assert len(closed) == bool(taken)


def test_few_items_wait():
    made = []

    def make():
        for k in range(20):
            made.append(k)
            yield k

    with contextlib.closing(ahead(make, 3)) as items:
        next(items)
        # Until nothing more can happen: three wait, and one could not be put.
        limit = threading.Event()
        for _ in range(100):
            if len(made) >= 5:
                break
            limit.wait(0.02)
        limit.wait(0.05)
        assert made == [0, 1, 2, 3, 4]


def test_two_at_a_time(tmp_path):
    _, pattern = parts(tmp_path, "parquet")
    batches = read_batches(pattern, target="y", categories="drop", batch_rows=3)
    for (X, y), (other, labels) in zip(batches, batches, strict=True):
        assert np.array_equal(X, other)
        assert np.array_equal(y, labels)
    for _ in batches:
        for _ in batches:
            break
        assert readers().count("aucmax-batches") == 1
        break
    assert not readers()


def test_columns_are_decoded_in_a_thread_of_the_thread(tmp_path, monkeypatch):
    monkeypatch.setattr(columnar, "COPIED_BYTES", 1)
    monkeypatch.setattr(columnar, "MOST_ROWS", 1)
    monkeypatch.setattr(columnar, "LEAST_ROWS", 1)
    _, pattern = parts(tmp_path, "parquet")
    options = {"target": "y", "categories": "drop", "batch_rows": 1}
    for prefetch, names in [(0, []), (1, ["aucmax-batches", "aucmax-columns"])]:
        batches = iter(read_batches(pattern, prefetch=prefetch, **options))
        next(batches)
        assert sorted(readers()) == names
        batches.close()
        assert not readers()


@pytest.mark.parametrize("kind", ["parquet", "feather", "csv", "csv.gz"])
def test_no_thread_after_break_or_error(tmp_path, kind):
    frame, pattern = parts(tmp_path, kind)
    for X, _ in read_batches(pattern, target="y", categories="drop", batch_rows=2):
        assert X.shape == (2, 4)
        assert readers().count("aucmax-batches") == 1
        break
    assert not readers()
    frame.loc[40, "real"] = np.nan
    _, pattern = parts(tmp_path, kind, frame=frame)
    batches = read_batches(pattern, target="y", categories="drop", batch_rows=8)
    found = []
    with pytest.raises(ValueError, match="row 20, counted from 0: a value is missing"):
        found.extend(batches)
    assert not readers()


# The interpreter ends while the threads wait and the iterators are alive.
ENDING = """
import sys, threading
from aucmax.io import read_batches
others, *patterns = sys.argv[1:]
kinds = [
    iter(read_batches(pattern, target="y", categories="drop", batch_rows=2))
    for pattern in patterns
]
for batches in kinds:
    next(batches)
def go_on():
    # After the main thread: no row may get lost.
    threading.main_thread().join()
    for batches in kinds:
        print(1 + sum(1 for _ in batches))
if others:
    threading.Thread(target=go_on).start()
"""


@pytest.mark.parametrize(("others", "out"), [("", ""), ("go on", "32\n32\n")])
def test_the_interpreter_ends(tmp_path, others, out):
    patterns = []
    for kind in ("parquet", "csv"):
        (tmp_path / kind).mkdir()
        patterns.append(parts(tmp_path / kind, kind)[1])
    command = [sys.executable, "-c", ENDING, others, *patterns]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout, done.stderr) == (0, out, "")
