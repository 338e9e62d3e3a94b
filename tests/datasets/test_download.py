# SPDX-License-Identifier: BSD-3-Clause
import hashlib
import os
import re
import socket

import pytest

from aucmax.datasets import DatasetDamaged, DatasetUnavailable, download, fetch

CONTENT = b"1 1:1 3:2.5\n-1 2:1\n-1 1:4\n" * 40_000
SHA256 = "sha256:" + hashlib.sha256(CONTENT).hexdigest()


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


def test_later_call_goes_on_where_an_earlier_one_gave_up(remote, tmp_path, monkeypatch):
    monkeypatch.setattr(download, "ATTEMPTS", 1)
    remote.cuts = [600_000]
    with pytest.raises(DatasetUnavailable, match="the connection was cut 1 times"):
        fetch("toy")
    folder = tmp_path / "cache"
    assert [file.name for file in folder.iterdir()] == ["toy.txt.part"]
    have = (folder / "toy.txt.part").stat().st_size
    assert have > 0
    assert fetch("toy")["train"].read_bytes() == CONTENT
    assert remote.ranges == [None, f"bytes={have}-"]
    assert [file.name for file in folder.iterdir()] == ["toy.txt"]


def test_server_that_ignores_ranges_is_read_from_the_start(remote, cache):
    remote.knows_ranges = False
    (cache / "toy.txt.part").write_bytes(b"something else")
    assert fetch("toy")["train"].read_bytes() == CONTENT
    assert remote.ranges == ["bytes=14-"]


def test_piece_that_is_too_long_is_thrown_away(remote, cache):
    (cache / "toy.txt.part").write_bytes(CONTENT + b"more")
    assert fetch("toy")["train"].read_bytes() == CONTENT
    assert remote.ranges == [f"bytes={len(CONTENT) + 4}-", None]


def test_piece_of_a_running_download_is_left_alone(remote, cache):
    other = cache / "toy.txt.part-1"
    other.write_bytes(CONTENT[:1000])
    fetch("toy")
    assert remote.ranges == [None]
    assert other.read_bytes() == CONTENT[:1000]


def test_piece_of_a_killed_download_is_used(remote, cache):
    other = cache / "toy.txt.part-1"
    other.write_bytes(CONTENT[:1000])
    os.utime(other, (0, 0))
    assert fetch("toy")["train"].read_bytes() == CONTENT
    assert remote.ranges == ["bytes=1000-"]
    assert not other.exists()


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
    assert list((tmp_path / "cache").iterdir()) == []


def test_cut_that_spoils_the_piece_is_found_by_the_checksum(remote, cache):
    (cache / "toy.txt.part").write_bytes(b"wrong start")
    with pytest.raises(DatasetDamaged, match="was deleted"):
        fetch("toy")
    assert list(cache.iterdir()) == []
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
    assert str(tmp_path / "cache") in message
    assert "AUCMAX_DATA" in message
    assert list((tmp_path / "cache").iterdir()) == []


def test_no_connection_is_told_at_once(toy):
    with socket.socket() as closed:
        # Bound but not listening: every connection is refused.
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
        toy.register(toy.part("train", url=f"http://127.0.0.1:{port}/toy.txt"))
        with pytest.raises(DatasetUnavailable, match=r"no connection.*AUCMAX_DATA"):
            fetch("toy")


def test_folder_that_cannot_be_made_is_told(remote, tmp_path):
    (tmp_path / "cache").write_text("a file, not a folder")
    with pytest.raises(DatasetUnavailable, match=r"toy.txt cannot be downloaded"):
        fetch("toy")


def test_bar_is_drawn_on_request_only(remote, capsys, tmp_path):
    fetch("toy", progress=True)
    shown = capsys.readouterr()
    assert "toy.txt" in shown.err
    assert shown.out == ""
    (tmp_path / "cache" / "toy.txt").unlink()
    fetch("toy", progress=False)
    fetch("toy")
    assert capsys.readouterr() == ("", "")
