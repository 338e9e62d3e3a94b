# SPDX-License-Identifier: BSD-3-Clause
import bz2
import errno
import gzip
import hashlib
import re
import socket
import subprocess
import sys
import threading
import time

import filelock
import pytest

from aucmax.datasets import DatasetDamaged, DatasetUnavailable, download, fetch

CONTENT = b"1 1:1 3:2.5\n-1 2:1\n-1 1:4\n" * 40_000
SHA256 = "sha256:" + hashlib.sha256(CONTENT).hexdigest()
LOAD = """
import sys
from pathlib import Path
from aucmax.datasets import Part
from aucmax.datasets.download import download
download(Part("train", 1, "toy.svm.bz2", url=sys.argv[1]), Path(sys.argv[2]))
"""


def names(folder):
    return sorted(file.name for file in folder.iterdir())


@pytest.fixture
def remote(toy, server):
    """Register the toy with its public file on the server, and serve it."""
    server.content = CONTENT
    toy.register(toy.part("train", url=server.url, url_hash=SHA256))
    return server


def test_download_goes_to_the_cache_and_happens_once(remote, tmp_path):
    path = fetch("toy")["train"]
    assert path == tmp_path / "cache" / "toy.txt"
    assert path.read_bytes() == CONTENT
    assert fetch("toy")["train"] == path
    assert remote.ranges == [None]
    assert list(path.parent.iterdir()) == [path]


def test_cut_connection_is_continued(remote):
    remote.cuts = [300_000, 400_000]
    assert fetch("toy")["train"].read_bytes() == CONTENT
    assert remote.ranges[0] is None
    starts = [int(asked.strip("bytes=-")) for asked in remote.ranges[1:]]
    assert len(starts) == 2
    assert 0 < starts[0] <= 300_000
    assert starts[0] < starts[1] <= 700_000


def test_later_call_goes_on_where_an_earlier_one_gave_up(remote, tmp_path):
    # Once cut, once without an answer.
    remote.cuts = [600_000, 0]
    with pytest.raises(DatasetUnavailable, match="no connection"):
        fetch("toy")
    folder = tmp_path / "cache"
    assert names(folder) == ["toy.txt.lock", "toy.txt.part"]
    have = (folder / "toy.txt.part").stat().st_size
    assert have > 0
    assert fetch("toy")["train"].read_bytes() == CONTENT
    assert remote.ranges == [None, f"bytes={have}-", f"bytes={have}-"]
    assert names(folder) == ["toy.txt"]


def test_server_that_ignores_ranges_is_read_from_the_start(remote, cache):
    remote.knows_ranges = False
    (cache / "toy.txt.part").write_bytes(b"something else")
    assert fetch("toy")["train"].read_bytes() == CONTENT
    assert remote.ranges == ["bytes=14-"]


def test_piece_that_is_too_long_is_thrown_away(remote, cache):
    (cache / "toy.txt.part").write_bytes(CONTENT + b"more")
    assert fetch("toy")["train"].read_bytes() == CONTENT
    assert remote.ranges == [f"bytes={len(CONTENT) + 4}-", None]


def test_killed_download_is_continued_at_once(remote, cache):
    remote.pauses = [(600_000, 60)]
    piece = cache / "toy.txt.part"
    command = [sys.executable, "-c", LOAD, remote.url, str(cache)]
    with subprocess.Popen(command) as process:
        deadline = time.monotonic() + 60
        while not (piece.exists() and piece.stat().st_size >= 2 * download.BLOCK):
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.01)
        process.kill()
    have = piece.stat().st_size
    assert fetch("toy")["train"].read_bytes() == CONTENT
    assert remote.ranges == [None, f"bytes={have}-"]
    assert names(cache) == ["toy.txt"]


def test_second_thread_waits_and_finds_the_file(remote, cache):
    # Without a lock, the second request comes within the pause.
    remote.pauses = [(1000, 0.5)]
    found = []
    threads = [
        threading.Thread(target=lambda: found.append(fetch("toy")["train"]))
        for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [cache / "toy.txt"] * 2
    assert found[0].read_bytes() == CONTENT
    assert remote.ranges == [None]
    assert names(cache) == ["toy.txt"]


def test_nothing_is_packed_on_the_way(remote):
    # Offsets would be those of the packed bytes.
    remote.packs_if_it_may = True
    remote.cuts = [600_000]
    assert fetch("toy")["train"].read_bytes() == CONTENT
    assert len(remote.ranges) == 2


def test_server_may_keep_the_length_to_itself(remote):
    remote.sends_length = False
    assert fetch("toy")["train"].read_bytes() == CONTENT
    assert remote.ranges == [None]


PACKED = bz2.compress(CONTENT)
# Only what is at the very end tells that something is missing.
CUT = gzip.compress(3 * CONTENT)[:-4]
PAGE = b"<!DOCTYPE html><html><body>We are moving.</body></html>"


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("toy.gz", CUT, "cannot be unpacked"),
        ("toy.bz2", PAGE, "cannot be unpacked"),
        ("toy.bz2", bz2.compress(PAGE), "begins with '<'"),
        ("toy.txt", PAGE, "begins with '<'"),
        ("toy.txt", b"\xef\xbb\xbf\r\n " + PAGE, "begins with '<'"),
        ("toy.txt", b"", "is empty"),
    ],
)
def test_wrong_content_is_refused_without_a_checksum(
    toy, server, cache, name, content, message
):
    server.content = content
    server.sends_length = False
    toy.register(toy.part("train", url=server.url_of(name)))
    with pytest.raises(DatasetDamaged, match=f"was deleted: it {message}"):
        fetch("toy")
    assert names(cache) == [f"{name}.lock"]


@pytest.mark.parametrize(("name", "content"), [("toy.bz2", PACKED), ("toy", CONTENT)])
def test_right_content_is_taken_without_a_checksum(toy, server, name, content):
    server.content = content
    toy.register(toy.part("train", url=server.url_of(name)))
    assert fetch("toy")["train"].read_bytes() == content


@pytest.mark.parametrize("known", ["url_hash", "text_sha256"])
def test_wrong_checksum_leaves_nothing(toy, server, tmp_path, known):
    server.content = CONTENT[:-1] + b"!"
    expected = {"url_hash": SHA256, "text_sha256": SHA256.removeprefix("sha256:")}
    toy.register(toy.part("train", url=server.url, **{known: expected[known]}))
    with pytest.raises(DatasetDamaged) as caught:
        fetch("toy")
    message = str(caught.value)
    assert server.url in message
    assert expected[known].removeprefix("sha256:") in message
    assert re.search("expected, [0-9a-f]{64} received", message)
    assert names(tmp_path / "cache") == ["toy.txt.lock"]


def test_cut_that_spoils_the_piece_is_found_by_the_checksum(remote, cache):
    (cache / "toy.txt.part").write_bytes(b"wrong start")
    with pytest.raises(DatasetDamaged, match="was deleted"):
        fetch("toy")
    assert names(cache) == ["toy.txt.lock"]
    assert fetch("toy")["train"].read_bytes() == CONTENT


@pytest.mark.parametrize("status", [404, 500])
def test_refusal_of_the_server_is_told(remote, tmp_path, status):
    remote.status = status
    with pytest.raises(DatasetUnavailable) as caught:
        fetch("toy")
    message = str(caught.value)
    assert f"the server answered {status}" in message
    assert remote.url in message
    assert "toy.txt" in message
    assert "AUCMAX_DATA" in message
    assert "toy.txt" not in names(tmp_path / "cache")


def test_no_connection_is_told_at_once(toy):
    with socket.socket() as closed:
        # Bound but not listening: every connection is refused.
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
        toy.register(toy.part("train", url=f"http://127.0.0.1:{port}/toy.txt"))
        with pytest.raises(DatasetUnavailable, match=r"no connection.*AUCMAX_DATA"):
            fetch("toy")


def refuse(*args):
    raise PermissionError(errno.EACCES, "Permission denied", str(args[0]))


@pytest.mark.parametrize("which", ["is a file", "is below a file", "is read-only"])
def test_cache_that_cannot_be_written_is_told(remote, tmp_path, monkeypatch, which):
    folder = tmp_path / "cache"
    if which == "is read-only":
        # As root may write anywhere, the refusal is made up.
        monkeypatch.setattr(filelock, "FileLock", refuse)
    else:
        folder.write_text("a file, not a folder")
    if which == "is below a file":
        folder = folder / "below"
        monkeypatch.setenv("AUCMAX_CACHE", str(folder))
    with pytest.raises(DatasetUnavailable) as caught:
        fetch("toy")
    message = str(caught.value)
    assert f"toy.txt cannot be written to {folder}: " in message
    assert "Name a folder that can be written in the variable AUCMAX_CACHE" in message
    assert "Put that file" not in message
    assert remote.ranges == []


def test_bar_is_drawn_on_request_only(remote, capsys, tmp_path):
    fetch("toy", progress=True)
    shown = capsys.readouterr()
    assert "100%" in shown.err
    assert shown.out == ""
    (tmp_path / "cache" / "toy.txt").unlink()
    fetch("toy", progress=False)
    fetch("toy")
    assert capsys.readouterr() == ("", "")
