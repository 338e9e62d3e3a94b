# SPDX-License-Identifier: BSD-3-Clause
import errno
import json
import os
import pickle
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from batch_files import assert_same, draw, joined, parts, write
from numpy.testing import assert_array_equal

from aucmax.io import read_batches
from aucmax.io.tables import cache, npy


@pytest.fixture
def source(tmp_path):
    (tmp_path / "files").mkdir()
    _, pattern = parts(tmp_path / "files", "parquet")

    def read(**options):
        options = {"target": "town", "batch_rows": 9, "weight": "mass", **options}
        return read_batches(pattern, **options)

    return read


def svm(folder):
    lines = [f"{k % 2} 1:{k} {k + 2}:0.5\n" for k in range(20)]
    lines[9:12] = ["1\n", "0\n", "0\n"]
    for name, low, high in [("a", 0, 13), ("b", 13, 20)]:
        (folder / f"{name}.svm").write_text("".join(lines[low:high]))
    return str(folder / "*.svm")


def files_of(folder):
    return sorted(path.name for path in folder.iterdir())


def made(monkeypatch):
    """Return a list that grows with each cache that is written."""
    written = []

    def write_cache(*given):
        written.append(given)
        write(*given)

    write = cache.write_cache
    monkeypatch.setattr("aucmax.io.tables.batches.write_cache", write_cache)
    return written


@pytest.mark.parametrize("batch_rows", [1, 9, 64, 1000])
def test_equal_to_the_source(tmp_path, source, batch_rows):
    batches = source(batch_rows=batch_rows)
    cached = batches.cached(tmp_path / "deep" / "cache")
    assert_same(cached, batches)
    assert_same(cached, batches)
    for n in (1, 3, 100):
        assert_same(cached.skip(n), list(batches)[n:])
        assert_same(batches.skip(n).cached(tmp_path / "deep" / "cache"), cached.skip(n))
    assert (cached.names, cached.n_features) == (batches.names, batches.n_features)
    assert cached.paths == batches.paths
    assert "cache, n_features=4" in repr(cached)
    assert all(X.flags.c_contiguous and type(X) is np.ndarray for X, *_ in cached)
    assert_same(pickle.loads(pickle.dumps(cached)), cached)
    with pytest.raises(ValueError, match="holds numbers only"):
        cached.record_batches()
    assert_same(cached.cached(tmp_path / "again"), batches)
    assert not [each for each in threading.enumerate() if "aucmax" in each.name]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("target", ["y", "flag", "real"])
def test_types_of_features_and_labels(tmp_path, source, dtype, target):
    batches = source(dtype=dtype, target=target, columns=["whole"])
    assert_same(batches.cached(tmp_path / "cache"), batches)


@pytest.mark.parametrize("batch_rows", [1, 7, 13, 20, 99])
def test_sparse(tmp_path, batch_rows):
    batches = read_batches(svm(tmp_path), batch_rows=batch_rows)
    cached = batches.cached(tmp_path / "cache")
    assert_same(cached, batches)
    assert_same(cached.skip(2), list(batches)[2:])
    for X, _ in cached:
        X.check_format(full_check=True)
    assert files_of(tmp_path / "cache")[0] == "cache.json"


def test_rows_that_are_dropped(tmp_path):
    frame = draw()[["real", "y"]]
    frame.loc[[0, 5, 40], "real"] = np.nan
    write(frame, tmp_path / "a.parquet")
    batches = read_batches(tmp_path, target="y", missing="drop", batch_rows=10)
    assert_same(batches.skip(2).cached(tmp_path / "cache"), list(batches)[2:])


def test_arrays_are_plain(tmp_path, source):
    batches = source()
    batches.cached(tmp_path)
    X, _, weight = joined(batches)
    for name, values in [("X", X), ("weight", weight)]:
        (file,) = tmp_path.glob(f"{name}-*.npy")
        assert_array_equal(np.load(file), values)


def test_used_again_only_if_it_is_the_same(tmp_path, source, monkeypatch):
    written = made(monkeypatch)
    folder = tmp_path / "cache"
    source().cached(folder)
    before = files_of(folder)
    # Sizes of batches and the reading ahead do not change the rows.
    source(batch_rows=5, prefetch=0).skip(1).cached(folder)
    assert (len(written), files_of(folder)) == (1, before)
    others = [
        {"weight": None},
        {"columns": ["real"]},
        {"columns": ["whole"]},
        {"dtype": "float32"},
        {"missing": "drop"},
        {"missing": 1.0},
        {"target": "y", "categories": "drop"},
        {"target": "y", "categories": "one-hot"},
        {"target": "y", "categories": {"town": ["Wels", "Graz", "Linz"]}},
    ]
    for k, other in enumerate(others):
        batches = source(**other)
        assert_same(batches.cached(folder), batches)
        assert len(written) == k + 2
        # Nothing of the last one is left.
        assert len(files_of(folder)) == 3 + ("weight" not in other)
    path = source().paths[0]
    batches = source()
    os.utime(path, ns=(1, 1))
    with pytest.raises(ValueError, match="has changed"):
        batches.cached(folder)
    source().cached(folder)
    os.utime(path, ns=(2, 2))
    source().cached(folder)
    assert len(written) == len(others) + 3


def test_a_type_that_numpy_does_not_know(tmp_path, source):
    list(source().cached(tmp_path))
    marker = tmp_path / "cache.json"
    known = json.loads(marker.read_text())
    known["arrays"]["y"]["dtype"] = "<b8"
    marker.write_text(json.dumps(known))
    with pytest.raises(ValueError, match=f"{tmp_path} .*unknown type '<b8'"):
        list(source().cached(tmp_path))


@pytest.mark.parametrize("harm", ["gone", "short", "marker", "no marker", "version"])
def test_made_anew_if_damaged(tmp_path, source, monkeypatch, harm):
    batches = source()
    batches.cached(tmp_path)
    (file,) = tmp_path.glob("X-*.npy")
    marker = tmp_path / "cache.json"
    if harm == "gone":
        file.unlink()
    elif harm == "short":
        file.write_bytes(file.read_bytes()[:-1])
    elif harm == "marker":
        marker.write_text(marker.read_text()[:-9])
    elif harm == "no marker":
        marker.unlink()
    else:
        marker.write_text(json.dumps(json.loads(marker.read_text()) | {"version": 0}))
    written = made(monkeypatch)
    assert_same(batches.cached(tmp_path), batches)
    assert len(written) == 1


@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "No space left"), KeyError()])
def test_all_or_nothing(tmp_path, source, monkeypatch, error):
    folder = tmp_path / "cache"
    old = source(columns=["real"])
    old.cached(folder)
    before = files_of(folder)
    finish = npy.GrowingArray.finish

    def fail(self):
        if "weight" in str(self._path):
            raise error
        return finish(self)

    monkeypatch.setattr(npy.GrowingArray, "finish", fail)
    with pytest.raises(type(error)) as caught:
        source().cached(folder)
    if isinstance(error, OSError):
        assert caught.value.errno == errno.ENOSPC
        assert f"The cache {folder} cannot be written: No space" in str(caught.value)
    assert files_of(folder) == before
    monkeypatch.undo()
    written = made(monkeypatch)
    assert_same(old.cached(folder), old)
    assert not written


def test_errors_of_the_source(tmp_path):
    frame = draw()[["real", "y"]]
    frame.loc[50, "real"] = np.inf
    write(frame, tmp_path / "a.parquet")
    batches = read_batches(tmp_path, target="y", batch_rows=5)
    with pytest.raises(ValueError, match=r"row 50, .* infinite"):
        batches.cached(tmp_path / "cache")
    assert files_of(tmp_path / "cache") == []


def test_what_a_killed_process_leaves_is_deleted(tmp_path, source):
    old, new = "X-0123456789abcdef.npy", "y-0123456789abcdef.npy"
    for name in (old, new, "X-mine.npy"):
        (tmp_path / name).write_bytes(b"part")
    os.utime(tmp_path / old, (1, 1))
    os.utime(tmp_path / "X-mine.npy", (1, 1))
    source().cached(tmp_path)
    # Another process may be writing the new one.
    assert not (tmp_path / old).exists()
    assert (tmp_path / new).exists()
    assert (tmp_path / "X-mine.npy").exists()


KILLED = """
import os, signal, sys
from aucmax.io import read_batches
from aucmax.io.tables import cache

def kill(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)

setattr(cache, sys.argv[3], kill)
read_batches(sys.argv[1], target="y", categories="drop").cached(sys.argv[2])
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
def test_killed_before_the_marker(tmp_path):
    (tmp_path / "files").mkdir()
    _, pattern = parts(tmp_path / "files", "parquet")
    folder = tmp_path / "cache"
    command = [sys.executable, "-c", KILLED, pattern, folder, "replacing"]
    assert subprocess.run(command).returncode == -9
    assert len(files_of(folder)) == 2
    batches = read_batches(pattern, target="y", categories="drop")
    assert_same(batches.cached(folder), batches)
    assert len(files_of(folder)) == 3 + 2


RESIDENT = """
import sys
from pathlib import Path
import numpy as np
from aucmax.io import read_batches

def resident(key):
    status = Path("/proc/self/status").read_text()
    return int(status.partition(key + ":")[2].split()[0]) * 1024

cached = read_batches(sys.argv[1], target="y", batch_rows=2000).cached(sys.argv[2])
Path("/proc/self/clear_refs").write_text("5")
before = resident("VmRSS")
for X, y in cached:
    X @ np.ones(X.shape[1])
print(resident("VmHWM") - before)
"""


@pytest.mark.skipif(
    not Path("/proc/self/clear_refs").exists(), reason="needs Linux to see the peak"
)
def test_pages_that_were_read_do_not_stay_resident(tmp_path):
    n = 400_000
    file = tmp_path / "a.csv"
    file.write_text("a,b,c,d,e,f,g,h,y\n" + "1,2,3,4,5,6,7,8,0\n" * n)
    command = [sys.executable, "-c", RESIDENT, file, tmp_path / "cache"]
    grown = int(subprocess.check_output(command))
    assert grown < 0.5 * 8 * 8 * n


@pytest.mark.parametrize(
    ("part", "value"), [("indices", 99), ("indices", -1), ("indptr", 1000)]
)
def test_sparse_index_that_is_nowhere(tmp_path, part, value):
    cache = tmp_path / "cache"
    batches = read_batches(svm(tmp_path), batch_rows=9)
    batches.cached(cache)
    (file,) = cache.glob(f"{part}-*.npy")
    np.load(file, mmap_mode="r+")[7] = value
    with pytest.raises(ValueError, match=f"The cache {cache} cannot be read"):
        list(batches.cached(cache))


@pytest.mark.parametrize("code", [-1, 99])
def test_label_that_is_nowhere(tmp_path, source, code):
    cache = tmp_path / "cache"
    source(categories="drop").cached(cache)
    (file,) = cache.glob("y-*.npy")
    np.load(file, mmap_mode="r+")[7] = code
    with pytest.raises(ValueError, match=f"The cache {cache} cannot be read"):
        list(source(categories="drop").cached(cache))
