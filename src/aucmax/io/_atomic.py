# SPDX-License-Identifier: BSD-3-Clause
"""Files that are there as a whole or not at all."""

import os
import re
import secrets
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

if sys.platform != "win32":
    import fcntl


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Give the name of a draft, which takes the file's place if all goes well.

    The draft is beside the file and on the disk before it is moved, so that a reader,
    or a machine that stops, never sees half a file. Whoever comes last wins. Drafts of
    the same file that a killed process has left are deleted.
    """
    folder = path.parent
    if not folder.is_dir():
        raise FileNotFoundError(f"There is no folder {folder} to write {path.name} to.")
    check_replaceable(path)
    draft: Path | None = None
    try:
        _delete_left_over(path)
        draft, file = _new_draft(path)
        with file:
            yield draft
            os.fsync(file.fileno())
            if sys.platform == "win32":
                file.close()  # A file that is open cannot be moved there.
            draft.replace(path)
        _sync_folder(folder)
    except OSError as error:
        if error.errno is None:
            raise
        # Of the same kind, but about the file rather than its draft.
        raise OSError(
            error.errno, f"{path} cannot be written: {error.strerror}"
        ) from error
    finally:
        if draft is not None:
            with suppress(OSError):
                draft.unlink(missing_ok=True)


def check_replaceable(path: Path) -> None:
    """Raise if a name is taken by anything but a regular file."""
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder. Give the name of a file in it.")
    if path.is_symlink():
        raise FileExistsError(
            f"{path} is a link to {path.readlink()}, which would be lost. Name that "
            "file itself, or delete the link."
        )
    if path.exists() and not path.is_file():
        raise FileExistsError(
            f"{path} is a {_kind(path)}, which would be lost. Give the name of a file."
        )


def _kind(path: Path) -> str:
    mode = path.stat().st_mode
    if stat.S_ISFIFO(mode):
        return "named pipe"
    return "socket" if stat.S_ISSOCK(mode) else "device"


def _new_draft(path: Path) -> tuple[Path, IO[bytes]]:
    """Make a draft under a name that is new, so that no link is followed; lock it.

    The system drops the lock of a process that is killed.
    """
    while True:
        token = f"{os.getpid()}-{secrets.token_hex(4)}"
        draft = path.with_name(f"{path.name}.{token}.tmp")
        file = draft.open("xb")
        if sys.platform != "win32":
            # Not every file system has locks; left-over drafts then stay.
            with suppress(OSError):
                fcntl.flock(file, fcntl.LOCK_EX)
        if draft.exists():
            return draft, file
        # Somebody took it for a left-over one, before it was locked.
        file.close()


def _delete_left_over(path: Path) -> None:
    """Delete drafts of the file that no process has open."""
    name = re.compile(re.escape(path.name) + r"\.\d+-[0-9a-f]{8}\.tmp")
    with os.scandir(path.parent) as entries:
        drafts = [
            Path(entry.path)
            for entry in entries
            if name.fullmatch(entry.name) and entry.is_file(follow_symlinks=False)
        ]
    for draft in drafts:
        # It is locked by who writes it, belongs to somebody else, or is gone by now.
        with suppress(OSError):
            if sys.platform == "win32":
                draft.unlink()  # This fails while it is open.
            else:
                with draft.open("r+b") as file:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    draft.unlink()


def _sync_folder(folder: Path) -> None:
    """Bring names to the disk too, where folders can be opened."""
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
