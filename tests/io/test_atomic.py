# SPDX-License-Identifier: BSD-3-Clause
"""Files that are written whole, and only where a regular file may be."""

import os
import secrets
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from aucmax.io._atomic import check_replaceable, replacing

posix = pytest.mark.skipif(os.name != "posix", reason="links, pipes and signals")
WRITER = """\
import sys, time
from pathlib import Path
from aucmax.io._atomic import replacing
with replacing(Path(sys.argv[1])) as draft:
    draft.write_bytes(b"half")
    print(draft, flush=True)
    time.sleep(600)
"""


def write(path, data=b"new"):
    with replacing(path) as draft:
        draft.write_bytes(data)


def start_writer(path):
    """Return a process that is writing the file, and the name of its draft."""
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, text=True
    )
    return process, Path(process.stdout.readline().strip())


def stop(process):
    process.kill()
    process.communicate()
    assert process.returncode == -signal.SIGKILL


def test_a_file_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    path = tmp_path / "a.md"
    write(path)
    monkeypatch.setattr(Path, "replace", lambda *args: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        write(path, b"other")
    assert path.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [path]


@posix
@pytest.mark.parametrize("is_there", [False, True])
def test_a_link_is_not_replaced(tmp_path, is_there):
    target, link = tmp_path / "target", tmp_path / "link"
    if is_there:
        target.write_bytes(b"old")
    link.symlink_to(target)
    with pytest.raises(FileExistsError, match=f"is a link to {target}.*that file"):
        write(link)
    assert link.is_symlink()
    assert target.exists() == is_there


@posix
def test_what_is_no_file_is_not_replaced(tmp_path, monkeypatch):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(FileExistsError, match=r"pipe is a named pipe.*name of a file"):
        write(tmp_path / "pipe")
    assert (tmp_path / "pipe").is_fifo()
    # The path of a socket has to be short.
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket")
        with pytest.raises(FileExistsError, match="is a socket"):
            write(tmp_path / "socket")
    assert (tmp_path / "socket").is_socket()
    # Not written to, in case that works.
    with pytest.raises(FileExistsError, match="null is a device"):
        check_replaceable(Path("/dev/null"))


@posix
def test_a_link_in_the_place_of_a_draft_is_not_followed(tmp_path, monkeypatch):
    monkeypatch.setattr(secrets, "token_hex", lambda n: "ab" * n)
    target, path = tmp_path / "target", tmp_path / "file"
    target.write_bytes(b"old")
    path.with_name(f"file.{os.getpid()}-abababab.tmp").symlink_to(target)
    with pytest.raises(FileExistsError, match="cannot be written"):
        write(path)
    assert target.read_bytes() == b"old"
    assert not path.exists()


@posix
def test_drafts_of_a_killed_process_go_with_the_next_write(tmp_path):
    path, other = tmp_path / "file", tmp_path / "file.csv"
    killed, draft = start_writer(path)
    stop(killed)
    assert draft.read_bytes() == b"half"
    write(other)
    assert draft.exists()
    write(path)
    assert sorted(tmp_path.iterdir()) == [path, other]


@posix
def test_drafts_of_a_living_process_stay(tmp_path):
    path = tmp_path / "file"
    living, draft = start_writer(path)
    try:
        write(path)
        assert draft.read_bytes() == b"half"
    finally:
        stop(living)
