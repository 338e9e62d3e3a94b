# SPDX-License-Identifier: BSD-3-Clause
import os
import subprocess
import sys

import numba
import numpy as np
import pytest
from numba.core.caching import IndexDataCacheFile

from aucmax._kernels import cache
from aucmax._kernels.cache import CheckedCacheFile
from aucmax._kernels.jit import jit


def kernel(values):
    return values[0] + values[1]


DAMAGES = {
    "empty": lambda content: b"",
    "truncated": lambda content: content[: len(content) // 2],
    "one byte short": lambda content: content[:-1],
    "random": lambda content: np.random.default_rng(0).bytes(1000),
    "one bit": lambda content: (
        content[:-50] + bytes([content[-50] ^ 1]) + content[-49:]
    ),
}
PAIR = np.array([1.0, 2.0])
# Prints the result and how many warnings there were.
SCORE = """
import warnings
from aucmax.metrics import roc_auc
with warnings.catch_warnings(record=True) as caught:
    print(roc_auc([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]), len(caught))
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    return tmp_path


def when_written(folder, ending="nb?"):
    return {path: path.stat().st_mtime_ns for path in folder.rglob(f"*.{ending}")}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
@pytest.mark.parametrize("ending", ["nbi", "nbc"])
def test_a_damaged_file_is_replaced(ending, damage, folder):
    assert jit(kernel)(PAIR) == 3
    (path,) = when_written(folder, ending)
    path.write_bytes(damage(path.read_bytes()))
    with pytest.warns(UserWarning, match="is damaged") as caught:
        assert jit(kernel)(PAIR) == 3
    assert [str(path) in str(warning.message) for warning in caught] == [True]
    before = when_written(folder)
    assert jit(kernel)(PAIR) == 3
    assert when_written(folder) == before


@pytest.mark.parametrize("ending", ["nbi", "nbc"])
def test_a_missing_file_is_replaced(ending, folder):
    assert jit(kernel)(PAIR) == 3
    (path,) = when_written(folder, ending)
    path.unlink()
    assert jit(kernel)(PAIR) == 3
    before = when_written(folder)
    assert jit(kernel)(PAIR) == 3
    assert when_written(folder) == before


def test_an_index_of_other_kernels_is_not_unpickled(folder, monkeypatch):
    """It may name a class that is gone; such an index once raised."""

    class Gone:
        def __reduce__(self):
            return (int, ("no number",))

    old = jit(kernel)._cache._cache_file
    old._save_index({"signature": Gone()})
    with pytest.raises(ValueError, match="no number"):
        old._load_index()
    monkeypatch.setattr(cache, "stamp_of_kernels", lambda: "other")
    assert jit(kernel)(PAIR) == 3


@pytest.mark.parametrize("ending", ["nbi", "nbc"])
def test_another_process_replaces_damaged_files(ending, tmp_path):
    def score():
        done = subprocess.run(
            [sys.executable, "-c", SCORE],
            env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.split()

    assert score() == ["0.75", "0"]
    damaged = when_written(tmp_path, ending)
    for path in damaged:
        path.write_bytes(path.read_bytes()[:-10])
    assert score() == ["0.75", str(len(damaged))]
    before = when_written(tmp_path)
    assert score() == ["0.75", "0"]
    assert when_written(tmp_path) == before


def test_files_written_by_numba_alone_are_not_looked_at(folder):
    compiled = numba.njit(cache=True)(kernel)
    assert compiled(PAIR) == 3
    before = when_written(folder)
    assert jit(kernel)(PAIR) == 3
    assert when_written(folder).items() > before.items()


def test_a_full_disk_does_not_stop_a_call(folder, monkeypatch):
    def fail(*args):
        raise OSError("No space left on device")

    monkeypatch.setattr(IndexDataCacheFile, "_open_for_write", fail)
    assert jit(kernel)(PAIR) == 3
    assert when_written(folder) == {}


def test_numba_has_the_methods_that_are_replaced():
    """They are private; a new numba may call others, and damage go unseen."""
    replaced = [
        name for name, value in vars(CheckedCacheFile).items() if callable(value)
    ]
    own = [name for name in replaced if not hasattr(IndexDataCacheFile, name)]
    assert own == ["_is_whole"]
